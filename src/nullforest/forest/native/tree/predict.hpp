// The leaves that samples fall into, the mean of their values, and the increase of each tree's
// out-of-bag error when one feature is permuted.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/evaluator.hpp"
#include "table/rank_table.hpp"

namespace nullforest {

// A view of the forest's flat trees (see ForestResult).
struct TreesView {
    const std::int32_t *feature, *left, *right;
    const double *threshold, *value;
    const std::uint8_t* missing_left;
    const std::int64_t* offsets;
    std::size_t n_trees, n_values;
};

// The leaf of tree t that a sample falls into; `value(f)` is the sample's value of feature f.
template <class Value>
std::int32_t leaf_of(const TreesView& trees, std::size_t t, const Value& value) {
    const std::int64_t root = trees.offsets[t];
    std::int32_t node = 0;
    while (trees.feature[root + node] >= 0) {
        const std::int64_t at = root + node;
        const double x = value(static_cast<std::size_t>(trees.feature[at]));
        const bool left = std::isnan(x) ? trees.missing_left[at] != 0 : x <= trees.threshold[at];
        node = left ? trees.left[at] : trees.right[at];
    }
    return node;
}

// Whether the work has to end; looked at once in a while, since a walk down a tree is short.
inline bool ended(std::size_t walks, Tasks& tasks) { return walks % 64 == 63 && tasks.stopped(); }

// leaf[s * n_trees + t]: number of the leaf, counted from the root of its tree.
void find_leaves(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 std::int32_t* leaf);

// out[s * n_values + v]: mean over the trees, added in tree order.
void mean_values(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 double* out);

// The target of the samples: classes where given, else numbers (S x n_values).
struct Truth {
    const std::int64_t* classes;
    const double* numbers;
};

// Over the trees, in their order: sum[f] and sum_of_squares[f] of the increase of the error when
// feature f is permuted. The error of a tree is the misclassified share of its out-of-bag samples,
// or their mean squared error (mean over outputs). A feature that the
// tree does not use adds nothing, nor does a tree without out-of-bag samples.
void oob_permutation(const TreesView& trees, const Matrix& x, const Truth& truth,
                     const Settings& settings, std::size_t n_threads, const Poll& poll,
                     std::vector<double>& sum, std::vector<double>& sum_of_squares);

}  // namespace nullforest
