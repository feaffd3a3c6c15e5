// The association of many random rankings with the target in the whole sample.
//
// Rankings are products of two families of arrangements of the S samples, with the key
//   family           step(step(1, probe_seed), stratum)
//   a_i              Shuffle(S, step(step(family, 0), i))
//   b_j              Shuffle(S, step(step(family, 1), j))
//   ranking (i, j)   has the sample a_i(b_j(x)) at position x; its id is
//                    step(step(step(family, 2), i), j) >> 1
//   ties             in a stratum of copies those of the real feature number
//                    below(step(step(family, 3), j), M) among its M features, ascending: positions
//                    that are equal there are equal here; else no two are equal
// Each ranking is uniform over the orders of the samples, and any two are independent, so a mean
// over them has the variance of one over independent rankings; yet B^2 of them cost little more
// than one addition per sample each.
//
// The sample association of a ranking is the gain of its best split of the whole sample, up to a
// constant factor:
//   max over k of |sum over x < k of w (y - mean)|^2 / (k (S - k)),   least <= k <= S - least,
// k between values that differ, y one-hot for classes, rounded to a 32-bit number so that rankings
// with the same best split are equal. It sets the probabilities of importance sampling and nothing
// else.
#pragma once
#include <cstdint>
#include <vector>

#include "random/keyed_random.hpp"
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
                                        std::uint32_t side, std::size_t n_threads,
                                        const Poll& poll);

// The feature that lends its ties to the rankings (., j), of the features of a stratum.
inline std::uint32_t tied_like(std::uint64_t family, std::uint32_t j,
                               const std::vector<std::uint32_t>& among) {
    return among[below(step(step(family, 3), j), static_cast<std::uint32_t>(among.size()))];
}

// The association of all rankings: (i, j) at i * side + j. `among`: the features of a stratum of
// copies, else empty. Not for distances.
std::vector<float> association_of_rankings(const RankTable& table,
                                           const std::vector<std::uint32_t>& among,
                                           const Outcome& outcome, std::uint64_t family,
                                           std::uint32_t side, std::uint32_t least,
                                           std::size_t n_threads, const Poll& poll);

}  // namespace nullforest
