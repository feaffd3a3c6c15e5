// The judge for everything: the best score of the probe against those of the candidates.
#include "tree/candidates.hpp"
#include "table/column_splits.hpp"
#include "probes/judge.hpp"
#include "kernels/split_scores.hpp"
#include "kernels/weighted_scores.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericJudge final : public Judge {
public:
    GenericJudge(const RankTable& table, const RankTable& probes, const Outcome& outcome,
                 const Settings& settings)
        : outcome_(outcome),
          settings_(settings),
          shape_(settings.pool),
          members_(table),
          probe_members_(probes) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_ = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    void judge(const NodeQuery& node, const Split* winner, const std::vector<Question>& questions,
               std::vector<Verdict>& won) override {
        if (questions.empty()) return;
        members_.enter(node.samples, node.n);
        probe_members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        Best winning;
        if (winner) winning = best_of(members_, winner->feature);
        for (const Question& question : questions) {
            const Best best = best_of(probe_members_, question.column);
            if (!best.found) continue;
            bool wins = true;
            if (winner && score_->perfect(winning.value) && score_->perfect(best.value))
                wins = question.place <= winner->place;  // the first of equals
            else if (winner && question.place < winner->place)
                wins = !(winning.value > best.value);
            else if (winner && question.place > winner->place)
                wins = best.value > winning.value;
            else if (winner)  // what does as well as the winner beats the others as it did
                wins = !(winning.value > best.value) ||
                       beats_all_others(node, best, winner->place);
            if (wins) won.push_back({question.probe, best.split});
        }
        probe_members_.leave();
        members_.leave();
    }

private:
    struct Best {
        bool found = false;
        typename Score::Value value{};
        Split split;
    };

    Best best_of(SortedMembers& members, std::uint32_t column) {
        Best best;
        members.sort_by(column);
        try_splits(members, *score_, settings_.min_leaf,
                   [&](std::uint32_t n_left, bool missing_left) {
                       const auto value = score_->score();
                       if (!best.found || value > best.value)
                           best = {true, value, {column, n_left, missing_left}};
                       return false;
                   });
        return best;
    }

    // The probe stands where the winner stood. Most are beaten by one of the first candidates.
    bool beats_all_others(const NodeQuery& node, const Best& probe, std::uint32_t place) {
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        std::uint32_t i = 0, drawn[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(drawn))
            for (std::uint32_t c = 0; c < count; ++c, ++i) {
                if (i == place) continue;
                const Best other = best_of(members_, drawn[c]);
                if (!other.found) continue;
                if (i < place ? !(probe.value > other.value) : other.value > probe.value)
                    return false;
            }
        return true;
    }

    const Outcome& outcome_;
    const Settings& settings_;
    ShuffleShape shape_;
    SortedMembers members_, probe_members_;
    const std::uint32_t* pool_ = nullptr;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<Judge> make_generic_judge(const RankTable& table, const RankTable& probes,
                                          const Outcome& outcome, const Settings& settings,
                                          Weighting weighting) {
    const bool real = weighting == Weighting::reals;
    const auto make = [&](auto* kind) -> std::unique_ptr<Judge> {
        using Score = std::remove_pointer_t<decltype(kind)>;
        return std::make_unique<GenericJudge<Score>>(table, probes, outcome, settings);
    };
    switch (outcome.criterion) {
        case Criterion::gini:
            return real ? make((WeightedClassScore*)nullptr) : make((GiniScore*)nullptr);
        case Criterion::entropy:
            return real ? make((WeightedClassScore*)nullptr) : make((EntropyScore*)nullptr);
        case Criterion::variance:
            return real ? make((WeightedVarianceScore*)nullptr) : make((VarianceScore*)nullptr);
        default:
            return real ? make((WeightedNeighbourhoodScore*)nullptr)
                        : make((NeighbourhoodScore*)nullptr);
    }
}

}  // namespace nullforest
