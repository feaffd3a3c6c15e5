// The best split of a node for every other criterion, on at most 512 ranked samples.
//
// The members are picked out of the presorted order with a bitmap; one pass adds up what crosses
// the split (classes: sums of squared counts or entropy terms; numbers: D), a second compares all
// positions with the best at once. Scores are those of split_scores.hpp to the last bit: with at
// most 1 024 draws every integer involved is exact in a double.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

struct ScanTask : KernelTask {
    static constexpr std::uint32_t kMost = 512, kMostDraws = 1024;
    enum Kind { gini, entropy, variance };

    Kind kind;
    bool counts;  // bootstrap: members count as often as they were drawn
    // the node; tables indexed by sample
    alignas(64) std::uint64_t member[8];
    std::int64_t weight;               // draws in the node
    const std::uint16_t* label;        // classes
    const std::uint32_t* multiplicity;
    const std::int64_t* crossing;      // variance: what a member adds to D
    const std::int64_t* class_total;
    std::int64_t sum_of_squares, sum_of_terms;  // over the classes of the node
    std::uint32_t n_classes;
    const std::int64_t* entropy_terms;
    // the best so far: top / bottom (Gini), top (variance), terms (entropy)
    bool both_pure;
    double best_top, best_bottom;
    std::int64_t best_terms;

    bool perfect() const { return found && both_pure; }
};

using ScanKernel = void (*)(ScanTask& task);
void scan_portable(ScanTask& task);
void scan_avx2(ScanTask& task);
void scan_avx512(ScanTask& task);

}  // namespace nullforest
