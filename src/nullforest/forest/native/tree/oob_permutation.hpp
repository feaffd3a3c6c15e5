// The increase of each tree's out-of-bag error when one feature is permuted.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/evaluator.hpp"
#include "tree/predict.hpp"

namespace nullforest {

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
