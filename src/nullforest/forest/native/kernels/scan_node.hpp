// A node as the scan kernel sees it: classes or one number, at most 1024 members, drawn once or
// several times.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels/ceiling.hpp"
#include "kernels/kernel_node.hpp"
#include "kernels/scan_task.hpp"
#include "kernels/scored_splits.hpp"

namespace nullforest {

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
