// The best split of two classes by a column with missing values: the slow way that the fast kernels
// fall back to, for any task with `beats` and `take`.
#pragma once
#include "kernels/sorted_members.hpp"
#include "table/outcome.hpp"

namespace nullforest {

// Missing values are tried on the right, then on the left, as the generic kernel does. `members`
// are sorted by `feature`.
template <class Task>
void try_missing(Task& task, std::uint32_t feature, const SortedMembers& members,
                 const Outcome& outcome) {
    const std::uint32_t n = members.n, known = members.n_known;
    const auto offer = [&](std::uint32_t k, std::uint32_t l, std::uint32_t n_left, bool left) {
        if (k < task.min_leaf || k + task.min_leaf > n || !task.beats(k, l)) return;
        task.take(feature, k, l);
        task.n_left = n_left;
        task.missing_left = left;
    };
    std::uint32_t ones = 0;
    for (std::uint32_t k = 1; k < n; ++k) {
        ones += outcome.label[members.sample[k - 1]];
        if (members.boundary[k - 1]) offer(k, ones, k, false);
    }
    if (known == n || known == 0) return;
    ones = 0;
    for (std::uint32_t i = known; i < n; ++i) ones += outcome.label[members.sample[i]];
    for (std::uint32_t k = 1; k < known; ++k) {
        ones += outcome.label[members.sample[k - 1]];
        if (members.boundary[k - 1]) offer(k + n - known, ones, k, true);
    }
}

}  // namespace nullforest
