// A node as the scan kernel sees it: classes or one number, at most 1024 samples, drawn once or
// several times.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "kernels/ceiling.hpp"
#include "kernels/kernel_node.hpp"
#include "kernels/scan_kernel.hpp"

namespace nullforest {

class ScanNode : public KernelNode<ScanTask> {
public:
    ScanNode(const RankTable& table, const Outcome& outcome, const Settings& settings,
             Weighting weighting)
        : KernelNode(table, outcome, settings),
          label_(outcome.label.begin(), outcome.label.end()),
          class_total_(outcome.n_classes),
          crossing_(outcome.classes() ? 0 : table.n_samples()),
          present_(outcome.n_classes) {
        task.kind = outcome.criterion == Criterion::gini      ? ScanTask::gini
                    : outcome.criterion == Criterion::entropy ? ScanTask::entropy
                                                              : ScanTask::variance;
        task.counts = weighting == Weighting::counts;
        task.label = label_.data();
        task.crossing = crossing_.data();
        task.class_total = class_total_.data();
        task.n_classes = outcome.n_classes;
        task.entropy_terms = outcome.entropy_terms.data();
    }

    void begin_tree(const Bag& bag) {
        task.multiplicity = bag.count.data();
        may_screen_ = true;
        for (std::uint32_t s = 0; s < task.n_samples && task.counts; ++s) {
            may_screen_ = may_screen_ && bag.count[s] <= ScanTask::kMostScreenedDraws;
            task.unary[s] = static_cast<std::uint8_t>((1u << bag.count[s] % 32) - 1);
        }
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        std::fill(task.member, task.member + task.n_words, 0);
        task.weight = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            task.member[s / 64] |= std::uint64_t{1} << s % 64;
            task.weight += task.multiplicity[s];
        }
        task.has_ceiling = task.screens = false;
        if (outcome_.classes())
            enter_classes(node);
        else
            enter_numbers(node);
    }

private:
    void enter_classes(const NodeQuery& node) {
        std::fill(class_total_.begin(), class_total_.end(), 0);
        for (std::uint32_t i = 0; i < node.n; ++i)
            class_total_[label_[node.samples[i]]] += task.multiplicity[node.samples[i]];
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
            task.low[node.samples[i]] = present_[label_[node.samples[i]]];
        task.screens = true;
    }
    // D = W s_left - W_left s is the sum of w (W y - s) over the members on the left.
    void enter_numbers(const NodeQuery& node) {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < node.n; ++i)
            sum += task.multiplicity[node.samples[i]] * outcome_.fixed[node.samples[i]];
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            crossing_[s] = static_cast<std::int64_t>(task.multiplicity[s]) *
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
            positive += std::max<std::int64_t>(crossing_[node.samples[i]], 0);
        task.scale = (32700.0 - 0.5001 * static_cast<double>(task.weight)) /
                     static_cast<double>(positive);
        long total = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            const std::int64_t one = task.weight * outcome_.fixed[s] - sum;
            const long rounded = std::lrint(static_cast<double>(one) * task.scale);
            task.low[s] = static_cast<std::uint8_t>(rounded);
            task.high[s] = static_cast<std::uint8_t>(rounded >> 8);
            total += rounded * static_cast<long>(task.multiplicity[s]);
        }
        task.rounded_total = static_cast<double>(std::labs(total));
    }
    void enter_ceiling(const NodeQuery& node) {
        constexpr std::uint32_t kMost = ScanTask::kMostCeiling;
        if (node.n > (task.counts ? ScanTask::kMostWeightedCeiling : kMost)) return;
        std::int64_t crossing[kMost];
        std::uint32_t draws[kMost];
        for (std::uint32_t i = 0; i < node.n; ++i) {
            crossing[i] = crossing_[node.samples[i]];
            draws[i] = task.multiplicity[node.samples[i]];
        }
        task.has_ceiling = true;
        task.ceiling_top =
            task.counts ? highest_of_weighted_numbers(crossing, draws, node.n, task.min_leaf)
                        : highest_of_numbers(crossing, node.n, task.min_leaf);
    }

    std::vector<std::uint16_t> label_;
    std::vector<std::int64_t> class_total_, crossing_;
    std::vector<std::uint8_t> present_;  // new number of each class
    bool may_screen_ = false;
};

}  // namespace nullforest
