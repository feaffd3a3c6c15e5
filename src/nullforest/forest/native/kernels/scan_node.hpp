// A node as the scan kernel sees it: classes or one number, at most 1024 members, drawn once or
// several times.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/column_splits.hpp"
#include "kernels/kernel_node.hpp"
#include "kernels/scan_task.hpp"
#include "kernels/split_scores.hpp"

namespace nullforest {

// ---- The highest score that any division of a node's members can have, whatever the feature.
//
// A search may stop at a split of that score: a later one would have to be greater. Small nodes
// reach it soon, since a random order of n members has a given division into k and n - k among its
// splits with probability 2 / (n choose k). Scores are those of the kernels, operation by operation.

// Numbers, every member once. With k members on the left the score grows with |D|, which is largest
// for the k smallest or the k largest numbers; roundings are monotone. `crossing`: what each of the
// n members adds to D.
inline double highest_of_numbers(std::int64_t* crossing, std::uint32_t n, std::uint32_t min_leaf) {
    std::sort(crossing, crossing + n);
    double highest = 0.0;
    std::int64_t d = 0;
    for (std::uint32_t k = 1; k < n; ++k) {
        d += crossing[k - 1];
        if (k < min_leaf || k + min_leaf > n) continue;
        const double spread = static_cast<double>(k) * static_cast<double>(n - k);
        const double exact = static_cast<double>(d);
        highest = std::max(highest, exact * exact * (1.0 / spread));
    }
    return highest;
}

// Numbers drawn several times: with the roundings of 1 / (W_left W_right) only a look at every
// division is sure.
inline double highest_of_weighted_numbers(const std::int64_t* crossing, const std::uint32_t* draws,
                                          std::uint32_t n, std::uint32_t min_leaf) {
    constexpr std::uint32_t kMost = ScanTask::kMostWeightedCeiling;
    std::int64_t d[1u << (kMost - 1)], left[1u << (kMost - 1)], all = 0;
    std::uint32_t members[1u << (kMost - 1)];
    d[0] = left[0] = members[0] = 0;
    for (std::uint32_t i = 0; i < n; ++i) all += draws[i];
    // The last member stays on the right.
    for (std::uint32_t i = 0; i + 1 < n; ++i)
        for (std::uint32_t set = 0; set < 1u << i; ++set) {
            d[set | 1u << i] = d[set] + crossing[i];
            left[set | 1u << i] = left[set] + draws[i];
            members[set | 1u << i] = members[set] + 1;
        }
    double highest = 0.0;
    for (std::uint32_t set = 1; set < 1u << (n - 1); ++set) {
        if (members[set] < min_leaf || n - members[set] < min_leaf) continue;
        const double spread = static_cast<double>(left[set]) * static_cast<double>(all - left[set]);
        const double exact = static_cast<double>(d[set]);
        highest = std::max(highest, exact * exact * (1.0 / spread));
    }
    return highest;
}

// Classes: both scores are convex in the counts on the left, so that the highest leaves every class
// on one side. (With the fixed-point terms of entropy too: any other division is below by more than
// 2^-22 bits, and their roundings add up to less than 2^-28.) Sets task.ceiling_top and
// task.ceiling_bottom, or task.ceiling_terms.
inline void highest_of_classes(ScanTask& task) {
    std::int64_t present[ScanTask::kMostCeilingClasses];
    std::uint32_t n_present = 0;
    for (std::uint32_t c = 0; c < task.n_classes; ++c) {
        if (task.class_total[c] == 0) continue;
        if (n_present == ScanTask::kMostCeilingClasses) return;
        present[n_present++] = task.class_total[c];
    }
    const std::int64_t* q = task.entropy_terms;
    task.has_ceiling = true;
    task.ceiling_top = 0.0;
    task.ceiling_bottom = 1.0;
    task.ceiling_terms = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t set = 1; set < 1u << (n_present - 1); ++set) {
        std::int64_t left = 0, squares_left = 0;
        for (std::uint32_t c = 0; c < n_present; ++c) {
            if (!(set >> c & 1)) continue;
            left += present[c];
            squares_left += present[c] * present[c];
        }
        const std::int64_t right = task.weight - left;
        if (task.kind == ScanTask::entropy) {
            task.ceiling_terms =
                std::max(task.ceiling_terms, task.sum_of_terms - q[left] - q[right]);
            continue;
        }
        const double top = static_cast<double>(squares_left * right +
                                               (task.sum_of_squares - squares_left) * left);
        const double bottom = static_cast<double>(left * right);
        if (top * task.ceiling_bottom > task.ceiling_top * bottom) {
            task.ceiling_top = top;
            task.ceiling_bottom = bottom;
        }
    }
}

// ---- The node

// The best split of a column with missing values, which are tried on both sides. The scratch of one
// thread.
class ScoredSplits {
public:
    virtual ~ScoredSplits() = default;
    virtual void begin_tree(const Bag& bag) = 0;
    // The node, which has to stay where it is.
    virtual void enter(const NodeQuery& node) = 0;
    // Takes it, the members sorted by the column, if it beats the best of the task; returns whether it
    // did.
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
        const ColumnBest<Score> best(column, sorted, *score_, task.min_leaf);
        if (!best.found || (task.found && !beats(task, best.value))) return false;
        take(task, best.value);
        task.found = true;
        task.feature = column;
        task.n_left = best.split.n_left;
        task.missing_left = best.split.missing_left;
        return true;
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

class ScanNode : public KernelNode<ScanTask> {
public:
    ScanNode(const RankTable& table, const Outcome& outcome, const Settings& settings,
             Weighting weighting)
        : KernelNode(table, outcome, settings),
          label_of_(outcome.label.begin(), outcome.label.end()),
          label_(table.by_order() ? 0 : ScanTask::kMost),
          multiplicity_(label_.size()),
          class_total_(outcome.n_classes),
          crossing_(outcome.classes() ? 0 : ScanTask::kMost),
          present_(outcome.n_classes),
          splits_(ScoredSplits::of(outcome, weighting)),
          n_shares_(outcome.classes() ? outcome.n_classes : 1) {
        task.kind = outcome.criterion == Criterion::gini      ? ScanTask::gini
                    : outcome.criterion == Criterion::entropy ? ScanTask::entropy
                                                              : ScanTask::variance;
        task.counts = weighting == Weighting::counts;
        task.reals = weighting == Weighting::reals;
        real_.resize(task.reals ? (n_shares_ + 1) * ScanTask::kMost : 0);
        task.real_weight = real_.data();
        for (std::uint32_t c = 0; c < n_shares_ && task.reals; ++c)
            task.share[c] = share(c);
        task.by_rank = !table.by_order();
        task.rank_bytes = static_cast<std::uint32_t>(table.rank_bytes());
        task.step_of = task.by_rank ? table.steps()->step_of() : nullptr;
        task.label = task.by_rank ? label_.data() : label_of_.data();
        task.crossing = crossing_.data();
        task.class_total = class_total_.data();
        task.n_classes = outcome.n_classes;
        task.entropy_terms = outcome.entropy_terms.data();
        task.try_slowly = [](void* self, std::uint32_t feature) {
            auto* node = static_cast<ScanNode*>(static_cast<KernelNode<ScanTask>*>(self));
            return node->splits_->improve(node->task, node->sort_by(feature), feature);
        };
    }

    // Whether every integer of a node is exact in a double, and has room.
    static bool fits(const Bag& bag, const NodeQuery& node) {
        if (node.n > ScanTask::kMost) return false;
        if (bag.weighting != Weighting::counts) return true;
        std::uint32_t draws = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) draws += bag.count[node.samples[i]];
        return draws <= ScanTask::kMostDraws;
    }

    void begin_tree(const Bag& bag) {
        splits_->begin_tree(bag);
        drawn_ = bag.count.data();
        weight_ = bag.weight.data();
        task.multiplicity = task.by_rank ? multiplicity_.data() : drawn_;
        for (std::uint32_t s = 0; s < task.n_samples && task.counts && !task.by_rank; ++s)
            task.unary[s] = unary(bag.count[s]);
        may_screen_ = true;
        for (std::uint32_t s = 0; s < task.n_samples && task.counts; ++s)
            may_screen_ = may_screen_ && bag.count[s] <= ScanTask::kMostScreenedDraws;
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        splits_->enter(node);
        task.samples = node.samples;
        task.weight = 0;
        if (!task.by_rank) std::fill(task.member, task.member + task.n_words, 0);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            task.weight += drawn_[s];
            if (!task.by_rank) {
                task.member[s / 64] |= std::uint64_t{1} << s % 64;
                continue;
            }
            multiplicity_[i] = drawn_[s];
            if (task.counts) task.unary[i] = unary(drawn_[s]);
            if (outcome_.classes()) label_[i] = label_of_[s];
        }
        task.has_ceiling = task.screens = false;
        if (task.reals)
            enter_reals(node);
        else if (outcome_.classes())
            enter_classes(node);
        else
            enter_numbers(node);
    }

private:
    static std::uint8_t unary(std::uint32_t draws) {
        return static_cast<std::uint8_t>((1u << draws % 32) - 1);
    }
    // As the kernel knows a member.
    std::uint32_t id(const NodeQuery& node, std::uint32_t i) const {
        return task.by_rank ? i : node.samples[i];
    }

    double* share(std::uint32_t c) { return real_.data() + (c + 1) * ScanTask::kMost; }
    void enter_reals(const NodeQuery& node) {
        double sum = 0.0;
        task.real_total = 0.0;
        std::fill(task.real_class_total, task.real_class_total + ScanTask::kMostRealClasses, 0.0);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            real_[id(node, i)] = weight_[s];
            task.real_total += weight_[s];
            if (outcome_.classes())
                task.real_class_total[outcome_.label[s]] += weight_[s];
            else
                sum += weight_[s] * outcome_.value[s];
        }
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            for (std::uint32_t c = 0; c < n_shares_ && outcome_.classes(); ++c)
                share(c)[id(node, i)] = outcome_.label[s] == c ? weight_[s] : 0.0;
            if (!outcome_.classes())
                share(0)[id(node, i)] = weight_[s] * (outcome_.value[s] - sum / task.real_total);
        }
    }
    void enter_classes(const NodeQuery& node) {
        std::fill(class_total_.begin(), class_total_.end(), 0);
        for (std::uint32_t i = 0; i < node.n; ++i)
            class_total_[label_of_[node.samples[i]]] += drawn_[node.samples[i]];
        task.sum_of_squares = task.sum_of_terms = 0;
        for (std::int64_t total : class_total_) {
            task.sum_of_squares += total * total;
            if (task.kind == ScanTask::entropy) task.sum_of_terms += outcome_.entropy_terms[total];
        }
        highest_of_classes(task);
        if (may_screen_ && task.kind == ScanTask::gini &&
            node.n >= ScanTask::kFewestScreenedWeighted)
            enter_present(node);
    }
    // The classes that the node holds, numbered anew.
    void enter_present(const NodeQuery& node) {
        task.n_present = 0;
        for (std::uint32_t c = 0; c < task.n_classes; ++c) {
            if (class_total_[c] == 0) continue;
            if (task.n_present == ScanTask::kMostScreenedClasses) return;
            task.present_total[task.n_present] = class_total_[c];
            present_[c] = static_cast<std::uint8_t>(task.n_present++);
        }
        for (std::uint32_t i = 0; i < node.n; ++i)
            task.low[id(node, i)] = present_[label_of_[node.samples[i]]];
        task.screens = true;
    }
    // D = W s_left - W_left s is the sum of w (W y - s) over the members on the left.
    void enter_numbers(const NodeQuery& node) {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < node.n; ++i)
            sum += drawn_[node.samples[i]] * outcome_.fixed[node.samples[i]];
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            crossing_[id(node, i)] = static_cast<std::int64_t>(drawn_[s]) *
                                     (task.weight * outcome_.fixed[s] - sum);
        }
        enter_ceiling(node);
        task.screens = may_screen_ && node.n >= (task.counts ? ScanTask::kFewestScreenedWeighted
                                                             : ScanTask::kFewestScreened);
        if (task.screens) enter_rounded(node, sum);
    }
    // Sums over any of the draws stay within 16 bits.
    void enter_rounded(const NodeQuery& node, std::int64_t sum) {
        std::int64_t positive = 0;
        for (std::uint32_t i = 0; i < node.n; ++i)
            positive += std::max<std::int64_t>(crossing_[id(node, i)], 0);
        task.scale = (32700.0 - 0.5001 * static_cast<double>(task.weight)) /
                     static_cast<double>(positive);
        long total = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], member = id(node, i);
            const std::int64_t one = task.weight * outcome_.fixed[s] - sum;
            const long rounded = std::lrint(static_cast<double>(one) * task.scale);
            task.low[member] = static_cast<std::uint8_t>(rounded);
            task.high[member] = static_cast<std::uint8_t>(rounded >> 8);
            total += rounded * static_cast<long>(drawn_[s]);
        }
        task.rounded_total = static_cast<double>(std::labs(total));
    }
    void enter_ceiling(const NodeQuery& node) {
        constexpr std::uint32_t kMost = ScanTask::kMostCeiling;
        if (node.n > (task.counts ? ScanTask::kMostWeightedCeiling : kMost)) return;
        std::int64_t crossing[kMost];
        std::uint32_t draws[kMost];
        for (std::uint32_t i = 0; i < node.n; ++i) {
            crossing[i] = crossing_[id(node, i)];
            draws[i] = drawn_[node.samples[i]];
        }
        task.has_ceiling = true;
        task.ceiling_top =
            task.counts ? highest_of_weighted_numbers(crossing, draws, node.n, task.min_leaf)
                        : highest_of_numbers(crossing, node.n, task.min_leaf);
    }

    const std::uint32_t* drawn_ = nullptr;  // how often, of each sample
    std::vector<std::uint16_t> label_of_;   // of each sample
    std::vector<std::uint16_t> label_;      // of each member of a table by ranks
    std::vector<std::uint32_t> multiplicity_;
    std::vector<std::int64_t> class_total_, crossing_;
    std::vector<std::uint8_t> present_;  // new number of each class
    std::unique_ptr<ScoredSplits> splits_;
    bool may_screen_ = false;
    const double* weight_ = nullptr;  // real, of each sample
    std::uint32_t n_shares_;
    std::vector<double> real_;  // of the members: weights, then the share of each class
};

}  // namespace nullforest
