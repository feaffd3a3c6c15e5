// Leaves and predictions of a forest's trees.
#include "tree/predict.hpp"

#include <algorithm>

namespace nullforest {

void find_leaves(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 std::int32_t* leaf) {
    parallel_for(x.n_samples, n_threads, poll, [&](Tasks& tasks) {
        for (std::size_t s; tasks.next(s);)
            for (std::size_t t = 0; t < trees.n_trees && !ended(t, tasks); ++t)
                leaf[s * trees.n_trees + t] =
                    leaf_of(trees, t, [&](std::size_t f) { return x.at(s, f); });
    });
}

void mean_values(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 double* out) {
    const std::size_t V = trees.n_values;
    parallel_for(x.n_samples, n_threads, poll, [&](Tasks& tasks) {
        for (std::size_t s; tasks.next(s);) {
            double* sum = out + s * V;
            std::fill(sum, sum + V, 0.0);
            for (std::size_t t = 0; t < trees.n_trees && !ended(t, tasks); ++t) {
                const std::size_t at =
                    trees.offsets[t] + leaf_of(trees, t, [&](std::size_t f) { return x.at(s, f); });
                for (std::size_t v = 0; v < V; ++v) sum[v] += trees.value[at * V + v];
            }
            for (std::size_t v = 0; v < V; ++v) sum[v] /= static_cast<double>(trees.n_trees);
        }
    });
}

}  // namespace nullforest
