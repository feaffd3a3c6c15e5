// How much worse does a tree predict when one feature is shuffled among its out-of-bag samples?
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/evaluator.hpp"
#include "tree/predict.hpp"

namespace nullforest {

// What the samples truly are: classes where given, else numbers (S x n_values).
struct Truth {
    const std::int64_t* classes;
    const double* numbers;
};

// Over the trees, in their order: sum[f] and sum_of_squares[f] of the increase of the error when
// feature f is shuffled. The error of a tree is the share of its out-of-bag samples that it puts
// into the wrong class, or their mean squared deviation (mean over outputs). A feature that the
// tree does not use adds nothing, nor does a tree without out-of-bag samples.
void oob_permutation(const TreesView& trees, const Matrix& x, const Truth& truth,
                     const Settings& settings, int n_threads, std::vector<double>& sum,
                     std::vector<double>& sum_of_squares);

}  // namespace nullforest
