// Scoring of probes: for any criterion, weights and data, and by the kernels; the choice of the fastest.
#include <cstring>

#include "kernels/column_search.hpp"
#include "kernels/searches.hpp"
#include "kernels/scan_node.hpp"
#include "kernels/binary_node.hpp"
#include "kernels/split_scores.hpp"
#include "probes/probe_evaluator.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericScorer final : public ProbeScorer {
public:
    GenericScorer(const RankTable& table, const RankTable& probes, const Outcome& outcome,
                  const Settings& settings)
        : outcome_(outcome),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          features_(table, outcome, settings),
          probes_(probes, outcome, settings) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        bag_ = &bag;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    void score(const NodeQuery& node, const Split* winner,
               const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) override {
        if (evaluations.empty()) return;
        score_->enter(node.samples, node.n);
        features_.enter(*bag_, node, *score_);
        probes_.enter(*bag_, node, *score_);
        Best winning;
        if (winner) winning = features_.best_of(winner->feature);
        for (const Evaluation& probe : evaluations) {
            const Best best = probes_.best_of(probe.column);
            if (!best.found) continue;
            bool won = true;
            if (winner && score_->perfect(winning.value) && score_->perfect(best.value))
                won = probe.place <= winner->place;  // the first of equals
            else if (winner && probe.place < winner->place)
                won = !(winning.value > best.value);
            else if (winner && probe.place > winner->place)
                won = best.value > winning.value;
            else if (winner)  // as good as the winner: beats the others as the winner did
                won = !(winning.value > best.value) || beats_all_others(node, best, winner->place);
            if (won) wins.push_back({probe.probe, best.split});
        }
        probes_.leave();
        features_.leave();
    }

private:
    using Best = ColumnBest<Score>;

    // The probe takes the winner's place. Most are beaten by one of the first candidates.
    bool beats_all_others(const NodeQuery& node, const Best& probe, std::uint32_t place) {
        bool beaten = false;
        Candidates(pool_, node.draw_key).each([&](std::uint32_t feature, std::uint32_t i) {
            if (i == place) return false;
            const Best other = features_.best_of(feature);
            beaten = other.found && (i < place ? !(probe.value > other.value)
                                               : other.value > probe.value);
            return beaten;
        });
        return !beaten;
    }

    const Outcome& outcome_;
    const Bag* bag_ = nullptr;
    CandidatePool pool_;
    ColumnSearch<Score> features_, probes_;
    std::unique_ptr<Score> score_;
};

// Screening of many probes at once: a kernel compares them with the best split of the node.
// Leaves to `exact` what the kernel cannot decide: columns with missing values.
template <class Node>
class ScreenedScorer final : public ProbeScorer {
public:
    ScreenedScorer(const RankTable& table, const RankTable& probes, const Outcome& outcome,
                   const Settings& settings, Weighting weighting, typename Node::Kernel kernel,
                   std::unique_ptr<ProbeScorer> exact)
        : table_(table),
          probes_(probes),
          settings_(settings),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          probe_members_(probes),
          node_(table, outcome, settings, weighting),
          kernel_(kernel),
          exact_(std::move(exact)) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        exact_->begin_tree(bag, pool);
        node_.begin_tree(bag);
        bag_ = &bag;
        pool_.features = pool;
    }

    void score(const NodeQuery& node, const Split* winner,
               const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) override {
        if (evaluations.empty()) return;
        // Where the split itself is wanted, or nothing was found, or the node is too large for the
        // kernel, the exact scorer does it all.
        if (!winner || settings_.min_gain > 0.0 || !Node::fits(*bag_, node))
            return exact_->score(node, winner, evaluations, wins);
        undecided_.clear();
        sort_out(evaluations, winner->place);
        node_.enter(node);
        if (n_screened_ > 0) {
            passes_.resize(n_screened_);
            node_.use(table_, node_.own_members());
            take_best_of(winner->feature);
            node_.use(probes_, probe_members_);
            screen(columns_.data(), n_screened_, n_or_equal_, passes_.data(), false);
        }
        for (std::uint32_t i = 0; i < n_screened_; ++i) {
            const Evaluation& evaluation = evaluations[which_[i]];
            Result result = passes_[i] ? Result::wins : Result::loses;
            // In the winner's own place one as good as the winner beats the others as it did.
            if (!passes_[i] && evaluation.place == winner->place)
                result = replace_winner(node, evaluation, *winner);
            if (result == Result::undecided) undecided_.push_back(evaluation);
            if (result == Result::wins) wins.push_back({evaluation.probe, Split()});
        }
        exact_->score(node, winner, undecided_, wins);
    }

private:
    enum class Result { loses, wins, undecided };

    // Makes the best split of a column the one to compare with: a search among one candidate.
    bool take_best_of(const std::uint32_t& column) {
        auto& task = node_.task;
        task.screened = nullptr;
        task.pool = {ShuffleShape(1), 1, &column};
        task.found = false;
        kernel_(task);
        return task.found;
    }

    // Marks the columns that score as much (the first `n_or_equal`) or more.
    void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                std::uint8_t* passes, bool until_one_passes) {
        auto& task = node_.task;
        task.screened = columns;
        task.n_screened = n;
        task.n_or_equal = n_or_equal;
        task.passes = passes;
        task.until_one_passes = until_one_passes;
        kernel_(task);
    }

    // The probe takes the winner's place; candidates are compared with it. Most probes are beaten
    // by one of the first.
    Result replace_winner(const NodeQuery& node, const Evaluation& probe, const Split& winner) {
        node_.use(probes_, probe_members_);
        if (!take_best_of(probe.column)) return Result::loses;
        node_.use(table_, node_.own_members());
        bool sure = true;
        std::uint32_t place = 0;
        const auto beaten_by = [&](const std::uint32_t* feature, std::uint32_t count) {
            std::uint32_t rival[Candidates::kBatch], n = 0, n_or_equal = 0;
            std::uint8_t passes[Candidates::kBatch] = {};
            for (std::uint32_t c = 0; c < count; ++c, ++place) {
                if (place == probe.place) continue;
                sure = sure && !(table_.flags()[feature[c]] & RankTable::kMissing);
                rival[n++] = feature[c];
                n_or_equal += place < probe.place;
            }
            screen(rival, n, n_or_equal, passes, true);
            // Missing values on the left, which the kernel does not try, could only add to this.
            return std::memchr(passes, 1, n) != nullptr;
        };
        const FirstCandidates* first = winner.first;
        if (first && beaten_by(first->feature, first->count)) return Result::loses;
        if (!first || first->count < pool_.count) {
            Candidates candidates(pool_, node.draw_key, first ? first->count : 0);
            std::uint32_t feature[Candidates::kBatch];
            if (first) candidates.next_batch(feature);
            while (const std::uint32_t count = candidates.next_batch(feature))
                if (beaten_by(feature, count)) return Result::loses;
        }
        return sure ? Result::wins : Result::undecided;
    }

    // Columns in places up to the winner's, then those after it.
    void sort_out(const std::vector<Evaluation>& evaluations, std::uint32_t place) {
        columns_.resize(evaluations.size());
        which_.resize(evaluations.size());
        n_screened_ = n_or_equal_ = 0;
        const bool missing = probes_.has_missing();
        for (std::uint32_t i = 0; i < evaluations.size(); ++i) {
            const Evaluation& evaluation = evaluations[i];
            if (missing && (probes_.flags()[evaluation.column] & RankTable::kMissing)) {
                undecided_.push_back(evaluation);
            } else {
                which_[n_screened_] = i;
                columns_[n_screened_++] = evaluation.column;
                n_or_equal_ += evaluation.place <= place;
            }
        }
    }

    const RankTable &table_, &probes_;
    const Settings& settings_;
    CandidatePool pool_;
    const Bag* bag_ = nullptr;
    SortedMembers probe_members_;
    Node node_;
    typename Node::Kernel kernel_;
    std::unique_ptr<ProbeScorer> exact_;
    std::uint32_t n_screened_ = 0, n_or_equal_ = 0;
    std::vector<Evaluation> undecided_;
    std::vector<std::uint32_t> columns_, which_;
    std::vector<std::uint8_t> passes_;
};

}  // namespace

std::unique_ptr<ProbeScorer> make_scorer(const RankTable& table, const RankTable& probes,
                                         const Outcome& outcome, const Settings& settings,
                                         Weighting weighting) {
    auto exact = with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<ProbeScorer> {
        using Scorer = GenericScorer<std::remove_pointer_t<decltype(score)>>;
        return std::make_unique<Scorer>(table, probes, outcome, settings);
    });
    const auto screened = [&](auto* node, auto kernel) -> std::unique_ptr<ProbeScorer> {
        using Scorer = ScreenedScorer<std::remove_pointer_t<decltype(node)>>;
        return std::make_unique<Scorer>(table, probes, outcome, settings, weighting, kernel,
                                        std::move(exact));
    };
    const Kernels kernels = choose_kernels(table, outcome, settings, weighting);
    if (kernels.walk) return screened((WalkNode*)nullptr, kernels.walk);
    if (kernels.sweep && (!probes.by_order() || probes.codes()))
        return screened((SweepNode*)nullptr, kernels.sweep);
    if (kernels.scan) return screened((ScanNode*)nullptr, kernels.scan);
    return exact;
}

}  // namespace nullforest
