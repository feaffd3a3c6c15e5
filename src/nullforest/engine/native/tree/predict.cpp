#include "tree/predict.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace nullforest {

namespace {

std::int32_t leaf_of(const TreesView& trees, std::size_t tree, const Matrix& x, std::size_t s) {
    const std::int64_t root = trees.offsets[tree];
    std::int32_t node = 0;
    while (trees.feature[root + node] >= 0) {
        const std::int64_t at = root + node;
        const double value = x.at(s, static_cast<std::size_t>(trees.feature[at]));
        const bool left = std::isnan(value) ? trees.missing_left[at] != 0
                                            : value <= trees.threshold[at];
        node = left ? trees.left[at] : trees.right[at];
    }
    return node;
}

template <class Body>
void for_each_sample(std::size_t n, int n_threads, const Body& body) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t s; (s = next.fetch_add(1)) < n;) body(s);
    };
    std::vector<std::thread> threads;
    for (std::size_t t = 1; t < std::min<std::size_t>(std::max(1, n_threads), n); ++t)
        threads.emplace_back(work);
    work();
    for (auto& thread : threads) thread.join();
}

}  // namespace

void find_leaves(const TreesView& trees, const Matrix& x, int n_threads, std::int32_t* leaf) {
    for_each_sample(x.n_samples, n_threads, [&](std::size_t s) {
        for (std::size_t t = 0; t < trees.n_trees; ++t)
            leaf[s * trees.n_trees + t] = leaf_of(trees, t, x, s);
    });
}

void mean_values(const TreesView& trees, const Matrix& x, int n_threads, double* out) {
    const std::size_t V = trees.n_values;
    for_each_sample(x.n_samples, n_threads, [&](std::size_t s) {
        double* sum = out + s * V;
        std::fill(sum, sum + V, 0.0);
        for (std::size_t t = 0; t < trees.n_trees; ++t) {
            const std::size_t at = trees.offsets[t] + leaf_of(trees, t, x, s);
            for (std::size_t v = 0; v < V; ++v) sum[v] += trees.value[at * V + v];
        }
        for (std::size_t v = 0; v < V; ++v) sum[v] /= static_cast<double>(trees.n_trees);
    });
}

}  // namespace nullforest
