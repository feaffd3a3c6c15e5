// Where does a sample end, and what do the trees say there?
#pragma once
#include <cstdint>

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

// leaf[s * n_trees + t]: number of the leaf, counted from the root of its tree.
void find_leaves(const TreesView& trees, const Matrix& x, int n_threads, std::int32_t* leaf);

// out[s * n_values + v]: mean over the trees, added in tree order.
void mean_values(const TreesView& trees, const Matrix& x, int n_threads, double* out);

}  // namespace nullforest
