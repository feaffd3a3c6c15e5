// Two classes, unweighted, at most 512 samples: the walk kernel rules out most probes at once.
#include <algorithm>

#include "dispatch.hpp"
#include "sorted_members.hpp"

namespace nullforest {

namespace {

class WalkJudge final : public Judge {
public:
    WalkJudge(const RankTable& table, const RankTable& probes, const Outcome& outcome,
              const Settings& settings, WalkKernel kernel, std::unique_ptr<Judge> exact)
        : probes_(probes),
          outcome_(outcome),
          members_(table),
          kernel_(kernel),
          exact_(std::move(exact)) {
        task_.order = probes.order(0);
        task_.stride = probes.stride();
        task_.n_samples = static_cast<std::uint32_t>(probes.n_samples());
        task_.n_words = static_cast<std::uint32_t>(probes.n_words());
        task_.min_leaf = settings.min_leaf;
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        exact_->begin_tree(bag, pool);
    }

    void judge(const NodeQuery& node, const Split* winner, const std::vector<Question>& questions,
               std::vector<Verdict>& won) override {
        if (!winner) return exact_->judge(node, winner, questions, won);
        enter(node, *winner);
        const bool perfect = task_.perfect();
        open_.clear();
        before_.clear();
        after_.clear();
        for (const Question& question : questions) {
            if (question.place > winner->place && perfect) continue;  // cannot be beaten
            if (question.place == winner->place || probes_.n_known(question.probe) < task_.n_samples)
                open_.push_back(question);
            else
                (question.place < winner->place ? before_ : after_).push_back(question);
        }
        screen(before_, true);
        screen(after_, false);
        exact_->judge(node, winner, open_, won);
    }

private:
    void enter(const NodeQuery& node, const Split& winner) {
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
        members_.enter(node.samples, node.n);
        members_.sort_by(winner.feature);
        members_.leave();
        std::uint32_t k = 0, ones = 0;
        for (std::uint32_t j = 0; j < node.n; ++j)
            if (j < winner.n_left || (winner.missing_left && j >= members_.n_known)) {
                ++k;
                ones += outcome_.label[members_.sample[j]];
            }
        task_.take(winner.feature, k, ones);
    }

    // Those that the kernel does not rule out stay open.
    void screen(const std::vector<Question>& questions, bool or_equal) {
        if (questions.empty()) return;
        columns_.clear();
        for (const Question& question : questions) columns_.push_back(question.probe);
        may_win_.resize(questions.size());
        task_.asked = columns_.data();
        task_.n_asked = static_cast<std::uint32_t>(columns_.size());
        task_.or_equal = or_equal;
        task_.may_win = may_win_.data();
        kernel_(task_);
        for (std::size_t i = 0; i < questions.size(); ++i)
            if (may_win_[i]) open_.push_back(questions[i]);
    }

    const RankTable& probes_;
    const Outcome& outcome_;
    SortedMembers members_;
    WalkKernel kernel_;
    std::unique_ptr<Judge> exact_;
    WalkTask task_{};
    std::vector<Question> open_, before_, after_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint8_t> may_win_;
};

}  // namespace

std::unique_ptr<Judge> make_walk_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       WalkKernel kernel, std::unique_ptr<Judge> exact) {
    return std::make_unique<WalkJudge>(table, probes, outcome, settings, kernel,
                                       std::move(exact));
}

}  // namespace nullforest
