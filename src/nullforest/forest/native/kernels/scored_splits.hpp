// The splits of one column, scored one after the other as the general search does, for the nodes of
// the scan: columns with missing values, which are tried on both sides.
#pragma once
#include <memory>

#include "kernels/column_splits.hpp"
#include "kernels/scan_task.hpp"
#include "kernels/split_scores.hpp"

namespace nullforest {

// The scratch of one thread.
class ScoredSplits {
public:
    virtual ~ScoredSplits() = default;
    virtual void begin_tree(const Bag& bag) = 0;
    // The node, which has to stay where it is.
    virtual void enter(const NodeQuery& node) = 0;
    // Takes the best split of a column, its members sorted, if it beats the best of the task;
    // returns whether it did.
    virtual bool improve(ScanTask& task, const SortedMembers& sorted, std::uint32_t column) = 0;

    static std::unique_ptr<ScoredSplits> of(const Outcome& outcome, Weighting weighting);
};

template <class Score>
class ScoredSplitsBy final : public ScoredSplits {
public:
    explicit ScoredSplitsBy(const Outcome& outcome) : outcome_(outcome) {}

    void begin_tree(const Bag& bag) override { score_ = std::make_unique<Score>(outcome_, bag); }
    void enter(const NodeQuery& node) override {
        node_ = &node;
        entered_ = false;
    }
    bool improve(ScanTask& task, const SortedMembers& sorted, std::uint32_t column) override {
        if (!entered_) score_->enter(node_->samples, node_->n);
        entered_ = true;
        bool better = false;
        try_splits(sorted, *score_, task.min_leaf, [&](std::uint32_t n_left, bool missing_left) {
            const auto value = score_->score();
            if (task.found && !beats(task, value)) return false;
            take(task, value);
            better = task.found = true;
            task.feature = column;
            task.n_left = n_left;
            task.missing_left = missing_left;
            return score_->perfect(value);
        });
        return better;
    }

private:
    // In doubles, as the scan compares: with at most 1024 draws the integers are exact.
    static bool beats(const ScanTask& task, const Fraction& value) {
        return static_cast<double>(value.top) * task.best_bottom >
               task.best_top * static_cast<double>(value.bottom);
    }
    static void take(ScanTask& task, const Fraction& value) {
        task.best_top = static_cast<double>(value.top);
        task.best_bottom = static_cast<double>(value.bottom);
    }
    static bool beats(const ScanTask& task, std::int64_t terms) { return terms > task.best_terms; }
    static void take(ScanTask& task, std::int64_t terms) { task.best_terms = terms; }
    static bool beats(const ScanTask& task, double value) {
        return value > (Score::kReal ? task.best_value : task.best_top);
    }
    static void take(ScanTask& task, double value) {
        (Score::kReal ? task.best_value : task.best_top) = value;
    }

    const Outcome& outcome_;
    const NodeQuery* node_ = nullptr;
    bool entered_ = false;
    std::unique_ptr<Score> score_;
};

inline std::unique_ptr<ScoredSplits> ScoredSplits::of(const Outcome& outcome, Weighting weighting) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<ScoredSplits> {
        return std::make_unique<ScoredSplitsBy<std::remove_pointer_t<decltype(score)>>>(outcome);
    });
}

}  // namespace nullforest
