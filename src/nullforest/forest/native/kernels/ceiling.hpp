// The highest score that any division of a node's members can have, whatever the feature.
//
// A search may stop at a split of that score: a later one would have to be greater. Small nodes
// reach it soon, since a random order of n members has a given division into k and n - k among its
// splits with probability 2 / (n choose k). Scores are those of the kernels, operation by operation.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/scan_task.hpp"

namespace nullforest {

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

}  // namespace nullforest
