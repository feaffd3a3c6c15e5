// What the fast kernels are given: columns of a rank table, a node, its candidates.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cstdint>

#include "random/candidates.hpp"

namespace nullforest {

struct KernelTask {
    static constexpr std::uint32_t kMostByOrder = 1024;  // samples

    // the rank table
    const std::uint8_t* order;
    std::uint64_t stride;
    std::uint32_t n_samples, n_words;
    const std::uint8_t* flags;
    const std::uint64_t* differs;  // n_words per feature: whether a position differs from the next
    // the node
    std::uint32_t n, min_leaf;
    // its candidates
    CandidatePool pool;
    std::uint64_t draw_key;
    // the best so far
    bool found, missing_left;
    std::uint32_t feature, n_left, place;
    // instead of a search (`screened` is null then): whether each of these columns has a split as
    // good as the best (the first `n_or_equal` of them) or better (the others), or only of those up
    // to the first that has one. Missing values are not considered.
    const std::uint32_t* screened;
    std::uint32_t n_screened, n_or_equal;
    bool until_one_passes;
    std::uint8_t* passes;
    // too rare to be fast: positions at which the values of a feature differ
    void* owner;
    const std::uint8_t* (*boundaries)(void* owner, std::uint32_t feature);

    // Candidates drawn at first: of so few members one of them has the best split there can be.
    std::uint32_t n_first() const { return n <= 3 ? 4 : 0; }
    const std::uint8_t* column(std::uint32_t feature) const { return order + feature * stride; }
    // By order: n_words ninth bits of the samples, above 256, then the tenth, above 512.
    const std::uint64_t* high_bits(std::uint32_t feature) const {
        return reinterpret_cast<const std::uint64_t*>(column(feature) + 64 * n_words);
    }
    std::uint32_t high_planes() const { return (n_samples > 256) + (n_samples > 512); }
};

inline namespace NULLFOREST_ISA {

// Whether any bit is set in positions [begin, end).
inline bool any_bit(const std::uint64_t* words, std::uint32_t begin, std::uint32_t end) {
    if (begin >= end) return false;
    const std::uint32_t first = begin / 64, last = (end - 1) / 64;
    const std::uint64_t low = ~std::uint64_t{0} << (begin % 64);
    const std::uint64_t high = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    if (first == last) return words[first] & low & high;
    if (words[first] & low) return true;
    for (std::uint32_t w = first + 1; w < last; ++w)
        if (words[w]) return true;
    return words[last] & high;
}
// Whether the values of a feature differ anywhere between two positions.
inline bool differ(const KernelTask& task, std::uint32_t feature, std::uint32_t first,
                   std::uint32_t second) {
    return any_bit(task.differs + std::uint64_t{feature} * task.n_words, first, second);
}

// Fills in `passes`, by passes(column, whether as good is enough).
template <class Passes>
void screen_columns(const KernelTask& task, const Passes& passes) {
    for (std::uint32_t i = 0; i < task.n_screened; ++i) {
        task.passes[i] = passes(task.screened[i], i < task.n_or_equal);
        if (task.until_one_passes && task.passes[i]) return;
    }
}

// The positions of the last word that hold a sample.
inline std::uint64_t last_word(const KernelTask& task) {
    return task.n_samples % 64 ? (std::uint64_t{1} << task.n_samples % 64) - 1 : ~std::uint64_t{0};
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
