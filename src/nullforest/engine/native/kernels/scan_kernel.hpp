// The best split of a node for every other criterion, on at most 512 ranked samples.
//
// The members are picked out of the presorted order with a bitmap; one pass adds up what crosses
// the split (classes: sums of squared counts or entropy terms; numbers: D), a second compares all
// positions with the best at once. Scores are those of split_scores.hpp to the last bit: with at
// most 1 024 draws every integer involved is exact in a double.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cstdint>

namespace nullforest {

struct ScanTask {
    static constexpr std::uint32_t kMost = 512, kMostDraws = 1024;
    enum Kind { gini, entropy, variance };

    Kind kind;
    bool counts;  // bootstrap: members count as often as they were drawn
    // the rank table
    const std::uint8_t* order;
    std::uint64_t stride;
    std::uint32_t n_samples, n_words;
    const std::uint8_t* flags;
    // the node; tables indexed by sample
    alignas(64) std::uint64_t member[8];
    std::uint32_t n, min_leaf;
    std::int64_t weight;               // draws in the node
    const std::uint16_t* label;        // classes
    const std::uint32_t* multiplicity;
    const std::int64_t* crossing;      // variance: what a member adds to D
    const std::int64_t* class_total;
    std::int64_t sum_of_squares, sum_of_terms;  // over the classes of the node
    std::uint32_t n_classes;
    const std::int64_t* entropy_terms;
    // its candidates
    std::uint64_t draw_key;
    const std::uint32_t* pool;
    std::uint32_t pool_size, side_a, side_b, candidates;
    // the best so far: top / bottom (Gini), top (variance), terms (entropy)
    bool found, perfect;
    std::uint32_t feature, n_left, place;
    double best_top, best_bottom;
    std::int64_t best_terms;
    // instead of a search (`screened` is null then): whether each of these columns has a split as
    // good as the best (the first `n_or_equal` of them) or better (the others)
    const std::uint32_t* screened;
    std::uint32_t n_screened, n_or_equal;
    std::uint8_t* passes;
    // positions at which the values of a feature differ
    void* owner;
    const std::uint8_t* (*boundaries)(void* owner, std::uint32_t feature);
};

using ScanKernel = void (*)(ScanTask& task);
void scan_portable(ScanTask& task);
void scan_avx2(ScanTask& task);
void scan_avx512(ScanTask& task);

}  // namespace nullforest
