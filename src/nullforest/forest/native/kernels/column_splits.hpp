// The splits of a node by one column, in the order in which they are tried, and the best of them.
#pragma once
#include "kernels/evaluator.hpp"
#include "kernels/sorted_members.hpp"

namespace nullforest {

// Feeds `score` the members in the order of the column (sorted already) and calls
// `offer(n_left, missing_left)` at every split that leaves `min_leaf` samples on both sides:
// positions ascending, missing values on the right before missing values on the left.
// Ends when `offer` returns true.
template <class Score, class Offer>
void try_splits(const SortedMembers& members, Score& score, std::uint32_t min_leaf, Offer offer) {
    const std::uint32_t n = members.n, known = members.n_known;
    const auto allowed = [&](std::uint32_t left) {
        return left >= min_leaf && n - left >= min_leaf;
    };
    score.restart();
    for (std::uint32_t k = 1; k < n; ++k) {
        score.cross(members.sample[k - 1]);
        if (members.boundary[k - 1] && allowed(k) && offer(k, false)) return;
    }
    if (known == n || known == 0) return;
    score.restart();
    for (std::uint32_t i = known; i < n; ++i) score.cross(members.sample[i]);
    for (std::uint32_t k = 1; k < known; ++k) {
        score.cross(members.sample[k - 1]);
        if (members.boundary[k - 1] && allowed(k + n - known) && offer(k, true)) return;
    }
}

// The best split of a node by one column: the first of those with the highest score.
template <class Score>
struct ColumnBest {
    bool found = false;
    typename Score::Value value{};
    Split split;

    ColumnBest() = default;
    // The members are sorted by the column already.
    ColumnBest(std::uint32_t column, const SortedMembers& members, Score& score,
               std::uint32_t min_leaf) {
        try_splits(members, score, min_leaf, [&](std::uint32_t n_left, bool missing_left) {
            const auto offered = score.score();
            if (found && !(offered > value)) return false;
            found = true;
            value = offered;
            split = {column, n_left, missing_left};
            return score.perfect(value);
        });
    }
};

}  // namespace nullforest
