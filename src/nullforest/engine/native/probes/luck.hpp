// How well does a ranking go with the outcome by chance? Many rankings at once.
//
// Rankings come as products of two families of arrangements of the S samples, with the key
//   family           step(step(1, probe_seed), stratum)
//   a_i              Shuffle(S, step(step(family, 0), i))
//   b_j              Shuffle(S, step(step(family, 1), j))
//   ranking (i, j)   has the sample a_i(b_j(x)) at position x; its id is
//                    step(step(step(family, 2), i), j) >> 1
//   ties             in a stratum of copies those of the real feature number
//                    below(step(step(family, 3), j), M) among its M features, ascending: positions
//                    that are equal there are equal here; else no two are equal
// Each is equally likely to be any order of the samples, and any two are independent, so a mean over
// them is as good as one over rankings that have nothing in common; but B^2 of them cost little more
// than one addition per sample each.
//
// The luck of a ranking is the gain of its best cut in the whole sample, up to a constant factor:
//   max over k of |sum over x < k of w (y - mean)|^2 / (k (S - k)),   least <= k <= S - least,
// k between values that differ, y one-hot for classes, rounded to a 32-bit number so that rankings with the same best cut are
// equal. It says which probes will win often, and decides nothing else.
#pragma once
#include <cstdint>
#include <vector>

#include "tree/keyed_random.hpp"
#include "table/outcome.hpp"
#include "table/rank_table.hpp"

namespace nullforest {

inline std::uint64_t family_key(std::uint64_t seed, std::uint64_t stratum) {
    return step(step(1, seed), stratum);
}
inline std::uint64_t ranking_id(std::uint64_t family, std::uint32_t i, std::uint32_t j) {
    return step(step(step(family, 2), i), j) >> 1;
}

// The arrangements of one family (0: a, 1: b), one after the other: side x S.
std::vector<std::uint32_t> arrangements(std::uint32_t n_samples, std::uint64_t family, int which,
                                        std::uint32_t side);

// The feature that lends its ties to the rankings (., j), of the features of a stratum.
inline std::uint32_t tied_like(std::uint64_t family, std::uint32_t j,
                               const std::vector<std::uint32_t>& among) {
    return among[below(step(step(family, 3), j), static_cast<std::uint32_t>(among.size()))];
}

// The luck of all rankings: (i, j) at i * side + j. `among`: the features of a stratum of copies,
// else empty. Not for distances.
std::vector<float> luck_of_rankings(const RankTable& table,
                                    const std::vector<std::uint32_t>& among,
                                    const Outcome& outcome, std::uint64_t family,
                                    std::uint32_t side, std::uint32_t least);

}  // namespace nullforest
