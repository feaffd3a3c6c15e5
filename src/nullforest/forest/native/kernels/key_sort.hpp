// Short lists of different keys, sorted; no library code compiled for one instruction set alone.
#pragma once
#include <initializer_list>

#include "random/keyed_random.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

inline void insert_keys(std::uint32_t* key, std::uint32_t n, std::uint32_t gap) {
    for (std::uint32_t i = gap; i < n; ++i) {
        const std::uint32_t mine = key[i];
        std::uint32_t j = i;
        for (; j >= gap && key[j - gap] > mine; j -= gap) key[j] = key[j - gap];
        key[j] = mine;
    }
}

// Sorts the keys first and first + 1, the next two, and so on.
inline void exchange_pairs(std::uint32_t* key, std::uint32_t n, std::uint32_t first) {
    for (std::uint32_t i = first; i + 1 < n; i += 2) {
        const std::uint32_t one = key[i], other = key[i + 1];
        key[i] = one < other ? one : other;
        key[i + 1] = one < other ? other : one;
    }
}

// At most 1024 keys from 0 to `highest`, in as many buckets as there are keys, about evenly.
inline void bucket_keys(std::uint32_t* key, std::uint32_t n, std::uint32_t highest) {
    constexpr std::uint32_t kMost = 1024;
    std::uint16_t begin[kMost + 1] = {};
    std::uint32_t mine[kMost], shift = 0;
    while (highest >> shift >= n) ++shift;
    for (std::uint32_t i = 0; i < n; ++i) {
        mine[i] = key[i];
        ++begin[(key[i] >> shift) + 1];
    }
    const std::uint32_t n_buckets = (highest >> shift) + 1;
    for (std::uint32_t b = 0; b < n_buckets; ++b)
        begin[b + 1] = static_cast<std::uint16_t>(begin[b + 1] + begin[b]);
    for (std::uint32_t i = 0; i < n; ++i) key[begin[mine[i] >> shift]++] = mine[i];
    // Most keys lie at most a place away: branches that cannot be foretold are spared.
    for (const std::uint32_t first : {0, 1, 0, 1}) exchange_pairs(key, n, first);
    insert_keys(key, n, 1);
}

// Keys from 0 to `highest`, none equal.
inline void sort_keys(std::uint32_t* key, std::uint32_t n, std::uint32_t highest) {
    if (n <= 1024) return bucket_keys(key, n, highest);
    constexpr std::uint32_t kGaps[] = {3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (std::uint32_t gap : kGaps) insert_keys(key, n, gap);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
