// The best split of a node of two classes, on more than 512 ranked samples.
//
// A node that is not tiny counts its members and its ones in equal steps of rank, some 4 to 8
// members each. Within a step the path of (k members, l ones) stays inside the polygon of its two
// ends, "all ones first" and "all zeros first"; the score D^2 / (k (n - k)) is convex, so a step
// whose corners do not beat the best cannot hold a better split. The members of the few steps
// left are sorted and scored one by one. A tiny node ranks its members by counting how many are
// smaller.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

struct SweepTask : BinaryTask<unsigned __int128> {
    // the rank table
    std::uint32_t rank_bytes;
    // scratch for n_samples entries each
    std::uint32_t *key, *open_key;   // rank << 1 | label
    std::uint32_t* counts;           // of a step: members, and ones in the upper half; zeros before
    std::int32_t *members, *ones;    // up to and with a step; entry -1 is 0
    std::uint8_t* open;              // steps that may hold a better split; zeros before
    // the node
    const std::uint32_t* samples;
    const std::uint8_t* label;  // per member
};

using SweepKernel = void (*)(SweepTask& task);
void sweep_portable(SweepTask& task);
void sweep_avx2(SweepTask& task);
void sweep_avx512(SweepTask& task);
void sweep_neon(SweepTask& task);

}  // namespace nullforest
