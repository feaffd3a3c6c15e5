// The best split of a node of two classes, on at most 1024 ranked samples.
//
// The presorted order of a feature is walked 64 positions at a time; bit masks pick out the node's
// members and their labels, and the labels in sorted order become one bit string. The split after k
// members with l ones beats the best so far exactly when l leaves an interval [lo_k, hi_k] (the
// envelope), which is computed again only when the best improves.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

struct WalkTask : BinaryTask<std::uint64_t> {
    const std::uint32_t* samples;  // n of them, ascending
    const std::uint64_t* ones;     // bitmap of all samples of the second class
    // bitmaps of the node, indexed by sample; `is_new`: to be made
    bool is_new;
    alignas(64) std::uint64_t member[kMostByOrder / 64];
    alignas(64) std::uint64_t one[kMostByOrder / 64];
};

}  // namespace nullforest
