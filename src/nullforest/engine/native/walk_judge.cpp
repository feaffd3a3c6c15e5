// Two classes, unweighted, at most 512 samples: the walk kernel holds the probes against the best.
#include <algorithm>

#include "candidates.hpp"
#include "dispatch.hpp"
#include "sorted_members.hpp"

namespace nullforest {

namespace {

class WalkJudge final : public Judge {
public:
    WalkJudge(const RankTable& table, const RankTable& probes, const Outcome& outcome,
              const Settings& settings, WalkKernel kernel, std::unique_ptr<Judge> exact)
        : table_(table),
          probes_(probes),
          outcome_(outcome),
          settings_(settings),
          shape_(settings.pool),
          members_(table),
          probe_members_(probes),
          kernel_(kernel),
          exact_(std::move(exact)) {
        task_.stride = table.stride();
        task_.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task_.n_words = static_cast<std::uint32_t>(table.n_words());
        task_.min_leaf = settings.min_leaf;
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_ = pool;
        exact_->begin_tree(bag, pool);
    }

    void judge(const NodeQuery& node, const Split* winner, const std::vector<Question>& questions,
               std::vector<Verdict>& won) override {
        if (questions.empty()) return;
        // Where the split itself is wanted, or nothing was found, the exact judge says it all.
        if (!winner || settings_.min_gain > 0.0)
            return exact_->judge(node, winner, questions, won);
        enter(node);
        take_winner(node, *winner);
        open_.clear();
        sort_out(questions, winner->place);
        ask(probes_);
        for (std::uint32_t i = 0; i < task_.n_asked; ++i) {
            if (!passes_[i]) continue;
            const Question& question = questions[who_[i]];
            if (probes_.flags()[question.column])
                open_.push_back(question);
            else
                won.push_back({question.probe, Split()});
        }
        for (const Question& question : in_its_place_) stand_in(node, question, won);
        exact_->judge(node, winner, open_, won);
    }

private:
    void enter(const NodeQuery& node) {
        std::fill(task_.member, task_.member + 8, 0);
        std::fill(task_.one, task_.one + 8, 0);
        task_.n = node.n;
        task_.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], label = outcome_.label[s];
            task_.member[s / 64] |= std::uint64_t{1} << s % 64;
            task_.one[s / 64] |= std::uint64_t{label} << s % 64;
            task_.n_ones += label;
        }
    }

    void take_winner(const NodeQuery& node, const Split& winner) {
        sort_by(members_, node, winner.feature);
        std::uint32_t k = winner.n_left, ones = 0;
        for (std::uint32_t j = 0; j < winner.n_left; ++j) ones += outcome_.label[members_.sample[j]];
        if (winner.missing_left)
            for (std::uint32_t j = members_.n_known; j < node.n; ++j, ++k)
                ones += outcome_.label[members_.sample[j]];
        task_.take(winner.feature, k, ones);
    }

    static void sort_by(SortedMembers& members, const NodeQuery& node, std::uint32_t column) {
        members.enter(node.samples, node.n);
        members.sort_by(column);
        members.leave();
    }

    // Columns that stand before the winner, then those after it. What the kernel cannot judge
    // stays open.
    void sort_out(const std::vector<Question>& questions, std::uint32_t place) {
        columns_.resize(questions.size());
        who_.resize(questions.size());
        in_its_place_.clear();
        task_.n_asked = task_.n_or_equal = 0;
        const bool missing = probes_.has_missing();
        for (std::uint32_t i = 0; i < questions.size(); ++i) {
            const Question& question = questions[i];
            if (missing && (probes_.flags()[question.column] & RankTable::kMissing)) {
                open_.push_back(question);
                continue;
            }
            if (question.place == place) {
                in_its_place_.push_back(question);
                continue;
            }
            who_[task_.n_asked] = i;
            columns_[task_.n_asked++] = question.column;
            task_.n_or_equal += question.place < place;
        }
    }

    void ask(const RankTable& table) {
        if (task_.n_asked == 0) return;
        passes_.resize(task_.n_asked);
        task_.order = table.order(0);
        task_.asked = columns_.data();
        task_.passes = passes_.data();
        kernel_(task_);
    }

    // The probe takes the winner's place and has to face all other candidates. Most are beaten by
    // one of the first.
    void stand_in(const NodeQuery& node, const Question& question, std::vector<Verdict>& won) {
        if (probes_.flags()[question.column]) return open_.push_back(question);
        sort_by(probe_members_, node, question.column);
        task_.found = false;
        for (std::uint32_t k = 1, ones = 0; k < node.n; ++k) {
            ones += outcome_.label[probe_members_.sample[k - 1]];
            if (k >= task_.min_leaf && k + task_.min_leaf <= node.n && task_.beats(k, ones))
                task_.take(question.column, k, ones);
        }
        if (!task_.found) return;
        bool sure = true;
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        columns_.resize(Candidates::kBatch);
        std::uint32_t place = 0, drawn[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(drawn)) {
            task_.n_asked = task_.n_or_equal = 0;
            for (std::uint32_t c = 0; c < count; ++c, ++place) {
                if (place == question.place) continue;
                sure = sure && !(table_.flags()[drawn[c]] & RankTable::kMissing);
                columns_[task_.n_asked++] = drawn[c];
                task_.n_or_equal += place < question.place;
            }
            ask(table_);
            for (std::uint32_t i = 0; i < task_.n_asked; ++i)
                if (passes_[i]) {
                    if (!table_.flags()[columns_[i]]) return;
                    sure = false;
                }
        }
        if (sure)
            won.push_back({question.probe, Split()});
        else
            open_.push_back(question);
    }

    const RankTable &table_, &probes_;
    const Outcome& outcome_;
    const Settings& settings_;
    ShuffleShape shape_;
    const std::uint32_t* pool_ = nullptr;
    SortedMembers members_, probe_members_;
    WalkKernel kernel_;
    std::unique_ptr<Judge> exact_;
    WalkTask task_{};
    std::vector<Question> open_, in_its_place_;
    std::vector<std::uint32_t> columns_, who_;
    std::vector<std::uint8_t> passes_;
};

}  // namespace

std::unique_ptr<Judge> make_walk_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       WalkKernel kernel, std::unique_ptr<Judge> exact) {
    return std::make_unique<WalkJudge>(table, probes, outcome, settings, kernel,
                                       std::move(exact));
}

}  // namespace nullforest
