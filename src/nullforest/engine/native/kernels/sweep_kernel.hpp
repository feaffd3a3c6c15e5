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
#include <cstdint>

namespace nullforest {

struct SweepTask {
    // the rank table
    const std::uint8_t* ranks;
    std::uint64_t stride;
    std::uint32_t rank_bytes, n_samples;
    const std::uint64_t* differs;
    std::uint64_t n_words;
    const std::uint8_t* flags;
    // scratch for n_samples entries each
    std::uint32_t *key, *open_key;   // rank << 1 | label
    std::uint32_t* counts;           // of a step: members, and ones in the upper half; zeros before
    std::int32_t *members, *ones;    // up to and with a step; entry -1 is 0
    std::uint8_t* open;              // steps that may hold a better split; zeros before
    // the node
    const std::uint32_t* samples;
    const std::uint8_t* label;  // per member
    std::uint32_t n, n_ones, min_leaf;
    // its candidates
    std::uint64_t draw_key;
    const std::uint32_t* pool;
    std::uint32_t pool_size, side_a, side_b, candidates;
    // the best so far; best_num = D^2, best_den = k (n - k)
    bool found, missing_left;
    std::uint32_t feature, n_left;
    unsigned __int128 best_num;
    std::uint64_t best_den;
    // features with missing values
    void* owner;
    void (*try_slowly)(void* owner, SweepTask& task, std::uint32_t feature);

    bool perfect() const {
        using Wide = unsigned __int128;
        return found && best_num == Wide{n_ones} * (n - n_ones) * best_den;
    }
    bool beats(std::uint32_t k, std::uint32_t l) const {
        const std::int64_t d = std::int64_t{l} * n - std::int64_t{k} * n_ones;
        const auto size = static_cast<unsigned __int128>(d < 0 ? -d : d);
        return !found || size * size * best_den > best_num * (std::uint64_t{k} * (n - k));
    }
    void take(std::uint32_t winner, std::uint32_t k, std::uint32_t l) {
        const std::int64_t d = std::int64_t{l} * n - std::int64_t{k} * n_ones;
        const auto size = static_cast<unsigned __int128>(d < 0 ? -d : d);
        best_num = size * size;
        best_den = std::uint64_t{k} * (n - k);
        found = true;
        feature = winner;
        n_left = k;
        missing_left = false;
    }
};

using SweepKernel = void (*)(SweepTask& task);
void sweep_portable(SweepTask& task);
void sweep_avx2(SweepTask& task);
void sweep_avx512(SweepTask& task);

}  // namespace nullforest
