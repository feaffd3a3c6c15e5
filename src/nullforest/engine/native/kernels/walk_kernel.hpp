// The best split of a node of two classes, on at most 512 ranked samples.
//
// The presorted order of a feature is walked 64 positions at a time; bit masks pick out the node's
// members and their labels, and the labels in sorted order become one bit string. With n members,
// n1 of them ones, the split after k members with l ones on the left scores D^2 / (k (n - k)),
// D = l n - k n1. It beats the best so far exactly when l leaves an interval [lo_k, hi_k] (the
// envelope), which is computed again only when the best improves.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cstdint>

namespace nullforest {

struct WalkTask {
    // the rank table
    const std::uint8_t* order;
    std::uint64_t stride;
    std::uint32_t n_samples, n_words;
    const std::uint8_t* flags;
    // the node: bitmaps indexed by sample
    alignas(64) std::uint64_t member[8];
    alignas(64) std::uint64_t one[8];
    std::uint32_t n, n_ones, min_leaf;
    // its candidates
    std::uint64_t draw_key;
    const std::uint32_t* pool;
    std::uint32_t pool_size, side_a, side_b, candidates;
    // the best so far; best_num = D^2, best_den = k (n - k)
    bool found, missing_left;
    std::uint32_t feature, n_left, place;
    std::uint64_t best_num, best_den;
    // instead of a search (`screened` is null then): whether each of these columns has a split as
    // good as the best (the first `n_or_equal` of them) or better (the others). Missing values are
    // not considered.
    const std::uint32_t* screened;
    std::uint32_t n_screened, n_or_equal;
    std::uint8_t* passes;
    // too rare to be fast: features with missing values, and positions at which values differ
    void* owner;
    void (*try_slowly)(void* owner, WalkTask& task, std::uint32_t feature);
    const std::uint8_t* (*boundaries)(void* owner, std::uint32_t feature);

    bool perfect() const {  // two pure children: D^2 / (k (n - k)) = n1 (n - n1)
        return found && best_num == std::uint64_t{n_ones} * (n - n_ones) * best_den;
    }
    // Whether the split after k members, l of them ones, beats the best.
    bool beats(std::uint32_t k, std::uint32_t l) const {
        const std::int64_t d = std::int64_t{l} * n - std::int64_t{k} * n_ones;
        return !found || static_cast<std::uint64_t>(d * d) * best_den >
                             best_num * (std::uint64_t{k} * (n - k));
    }
    bool equals(std::uint32_t k, std::uint32_t l) const {
        const std::int64_t d = std::int64_t{l} * n - std::int64_t{k} * n_ones;
        return static_cast<std::uint64_t>(d * d) * best_den ==
               best_num * (std::uint64_t{k} * (n - k));
    }
    void take(std::uint32_t winner, std::uint32_t k, std::uint32_t l) {
        const std::int64_t d = std::int64_t{l} * n - std::int64_t{k} * n_ones;
        best_num = static_cast<std::uint64_t>(d * d);
        best_den = std::uint64_t{k} * (n - k);
        found = true;
        feature = winner;
        n_left = k;
        missing_left = false;
    }
};

using WalkKernel = void (*)(WalkTask& task);
void walk_portable(WalkTask& task);
void walk_avx2(WalkTask& task);
void walk_avx512(WalkTask& task);

}  // namespace nullforest
