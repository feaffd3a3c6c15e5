// The best split of a node of two classes: columns of ranks (more than 1 024 samples) or of codes
// (more than 512).
//
// A node that is not tiny counts its members and its ones in steps of rank: on planes of bits, where
// the table has them (step_search.hpp), else one by one, in equal steps of some 3 to 8 members
// each. Within a step the path of (k members, l ones) stays inside the polygon of its two
// ends, "all ones first" and "all zeros first"; the score D^2 / (k (n - k)) is convex, so a step
// whose corners do not beat the best cannot hold a better split. The members of the few steps
// left are sorted and scored one by one. A tiny node counts for each member how many ones and
// zeros are not greater, which are the k and l of the split behind it.
//
// Columns of at most 256 distinct values come as codes of one byte. A large node then counts its
// members and its ones for each value, and only the splits between values are scored.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

struct SweepTask : BinaryTask<unsigned __int128> {
    // Nodes below this size count members and ones in the halves of 32 bits, others of 64 bits.
    static constexpr std::uint32_t kNarrow = 1u << 16;
    static constexpr std::uint32_t kVector = 16;  // entries of scratch that may be read too many
    static constexpr std::uint32_t kPlanes = 6;  // of a column
    // Members from which planes are worth it, among fewer than so many candidates and more; measured.
    static constexpr std::uint32_t kFewestByPlanes = 33, kFewCandidates = 64;
    static constexpr std::uint32_t kFewestByPlanesOfMany = 16;

    // the rank table
    std::uint32_t rank_bytes;  // 1: codes
    // scratch: counts of the steps, zeros before; sums up to and with a step, entry -1 is 0
    std::uint32_t *counts, *sums;
    std::uint64_t *wide_counts, *wide_sums;
    std::uint8_t* open;  // whether a step may hold a better split
    std::uint32_t* key;  // rank << 1 | label, for n_samples members
    // steps of the table (RankSteps): `plane_words` for each of the planes of a column, null where the
    // node does not count on them, and the first rank of each step
    const std::uint64_t* planes;
    const std::uint32_t* step_begins;
    std::uint32_t plane_words;
    const std::uint64_t *member, *one;  // bitmaps of the node, as long as a plane
    // the node: the ones among its members ascending, then the others ascending
    const std::uint32_t* members;
};

}  // namespace nullforest
