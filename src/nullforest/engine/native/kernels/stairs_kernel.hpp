// Which columns may hold a better split of a node of one number, on more than 512 ranked samples.
//
// A bound, not a score: what passes is scored exactly elsewhere. D, the sum of what the members on
// the left add to it (their y less the mean of the node, scaled to at most 1), is compared by
// D^2 / (k (n - k)). A node that is not tiny adds up its members in equal steps of rank, those with
// positive and negative parts apart: within a step D stays between its value before the step plus all
// negative parts and that plus all positive ones. A tiny node adds up D for each member. The
// roundings of the sums are added to |D|, so that no better split is ever missed.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cstdint>

namespace nullforest {

struct StairsTask {
    static constexpr std::uint32_t kVector = 16;  // entries of scratch that may be read too many
    static constexpr std::uint32_t kExactInFloats = 4096;

    // the rank table
    const std::uint8_t* block;
    std::uint64_t stride;
    std::uint32_t n_samples, rank_bytes;
    // the node; entry i of the parts belongs to member i: positive part, negative part, 1, 0
    std::uint32_t n, min_leaf;
    const std::uint32_t* members;
    const float* parts;
    const double* wide_parts;
    double sum_of_absolutes;
    // to be beaten or reached: D^2 / (k (n - k)), less a margin
    double level;
    // scratch of the steps, zeros before
    float *sums, *steps;  // 4 for each step
    double *wide_sums, *wide_steps;

    const std::uint8_t* column(std::uint32_t feature) const { return block + feature * stride; }
};

// The first of the columns that may reach the level; `count` where none does.
using StairsKernel = std::uint32_t (*)(const StairsTask& task, const std::uint32_t* columns,
                                       std::uint32_t count);
std::uint32_t stairs_portable(const StairsTask&, const std::uint32_t*, std::uint32_t);
std::uint32_t stairs_avx2(const StairsTask&, const std::uint32_t*, std::uint32_t);
std::uint32_t stairs_avx512(const StairsTask&, const std::uint32_t*, std::uint32_t);
std::uint32_t stairs_neon(const StairsTask&, const std::uint32_t*, std::uint32_t);

}  // namespace nullforest
