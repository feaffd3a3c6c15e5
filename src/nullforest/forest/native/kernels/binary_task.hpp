// The best split of a node of two classes: what the walk and the sweep are given.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

// Two classes. With n members, n1 of them ones, the split after k members with l ones on the left
// scores D^2 / (k (n - k)), D = l n - k n1. `Wide` holds the products that are compared.
template <class Wide>
struct BinaryTask : KernelTask {
    std::uint32_t n_ones;
    // of the best so far: D^2 and k (n - k)
    Wide best_num = 0;
    std::uint64_t best_den = 1;
    // for features with missing values
    void (*try_slowly)(void* owner, std::uint32_t feature);

    bool perfect() const {  // two pure children: D^2 / (k (n - k)) = n1 (n - n1)
        return found && best_num == Wide{n_ones} * (n - n_ones) * best_den;
    }
    Wide square(std::uint32_t k, std::uint32_t l) const {
        const auto d = static_cast<Wide>(std::int64_t{l} * n - std::int64_t{k} * n_ones);
        return d * d;  // the same for a negative D: words wrap around
    }
    // Whether the split after k members, l of them ones, beats the best.
    bool beats(std::uint32_t k, std::uint32_t l) const {
        return !found || square(k, l) * best_den > best_num * (std::uint64_t{k} * (n - k));
    }
    // Whether one division scores higher than another.
    bool scores_higher(std::uint32_t k, std::uint32_t l, std::uint32_t k2, std::uint32_t l2) const {
        return square(k, l) * (std::uint64_t{k2} * (n - k2)) >
               square(k2, l2) * (std::uint64_t{k} * (n - k));
    }
    bool equals(std::uint32_t k, std::uint32_t l) const {
        return square(k, l) * best_den == best_num * (std::uint64_t{k} * (n - k));
    }
    void take(std::uint32_t winner, std::uint32_t k, std::uint32_t l) {
        best_num = square(k, l);
        best_den = std::uint64_t{k} * (n - k);
        found = true;
        feature = winner;
        n_left = k;
        missing_left = false;
    }
};

// At most 1024 samples: columns by order.
//
// The presorted order of a feature is walked 64 positions at a time; bit masks pick out the node's
// members and their labels, and the labels in sorted order become one bit string. The split after k
// members with l ones beats the best so far exactly when l leaves an interval [lo_k, hi_k] (the
// envelope), which is computed again only when the best improves.
struct WalkTask : BinaryTask<std::uint64_t> {
    // bitmaps of the node, indexed by sample
    alignas(64) std::uint64_t member[kMostByOrder / 64];
    alignas(64) std::uint64_t one[kMostByOrder / 64];
};

// More samples, or columns of few distinct values: columns of ranks or of codes.
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
