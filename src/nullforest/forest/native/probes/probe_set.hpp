// The virtual probes of a forest: columns independent of the target, made like its features.
//
// A specification, as in keyed_random.hpp, whose functions it uses. A probe is scored at nodes and
// never splits one; probe_evaluator.hpp says where and how.
//
// Strata. Features are sorted into strata by the ties of their columns alone
// (data/strata.py), so that a feature is compared with probes of its own stratum.
//
// The probes of a stratum without missing values are rankings (i, j), see below, with the ties
// of a real feature where the stratum has ties. They are drawn from many by importance
// sampling (forest/importance_sampling.py), with Horvitz-Thompson weights.
//
// Probe k of a stratum s with missing values, with weight one:
//   probe_key        step(family, k), the family as below
//   id               step(probe_key, 2) >> 1             (so that it fits a signed word)
//   arrangement      v(i) = value i of Shuffle(S, step(probe_key, 0)), i = 0..S-1
//   column           that of the real feature f, number below(step(probe_key, 1), M) among the M
//                    features of the stratum, ascending, with its samples rearranged: the sample at
//                    position i of the probe's order is v(i); ties and missing values go along
//   missing values   stay with the samples where they are shared. Of the 8 features number
//                    below(step(step(probe_key, 3), t), M), t = 0..7, without f itself, the first
//                    that shares most missing samples with f is its partner, here with m' missing
//                    values and m_shared of the m that f has. Where
//                    2 S m_shared > m (S + m'), beyond half-way from independence to all, the
//                    shared ones are missing in the probe too: they are struck out of v and come
//                    last.
//
// Numbers. Probe k of the n_s of stratum s has the rank (2k + 1) / n_s; probes are numbered
// p = 0..P-1 by rank, equal ones by stratum, so that any run of numbers holds all strata.
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
#include <memory>
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

inline std::uint64_t probe_id(std::uint64_t probe) { return step(probe, 2) >> 1; }

// Per feature: distinct values (missing is one), pairs of samples with equal values (each with
// itself too), missing values.
struct TieProfile {
    std::vector<std::int64_t> n_levels, equal_pairs, n_missing;
};
TieProfile profile_ties(const RankTable& table, const Poll& poll);

// The share of the trees, and there of the nodes, at which a probe is evaluated, in units of 2^-16.
struct EvaluationRates {
    static constexpr std::uint32_t kAlways = 1u << 16;
    std::uint32_t in_tree = kAlways, at_node = kAlways;
};

// The probes of a forest: a rank table of their own.
struct ProbeSet {
    std::unique_ptr<RankTable> table;
    std::vector<std::uint64_t> id;
    std::vector<double> weight;
    std::vector<std::uint64_t> acceptance;  // weight / largest of the stratum, in units of 2^-32
    std::vector<std::uint32_t> stratum, number_in_stratum;
    std::vector<std::vector<std::uint32_t>> members;  // of each stratum: number k to p
    EvaluationRates rates;

    std::uint32_t size() const { return static_cast<std::uint32_t>(id.size()); }
    std::uint32_t n_strata() const { return static_cast<std::uint32_t>(members.size()); }
};

// The rankings of a stratum: i * side + j of each, and its weight. No side: it has missing values.
struct Rankings {
    std::uint32_t side = 0;
    std::vector<std::uint32_t> number;
    std::vector<double> weight;
};

// The features of each stratum of copies, ascending.
std::vector<std::vector<std::uint32_t>> features_by_stratum(
    const RankTable& table, const std::int64_t* feature_stratum,
    const std::vector<std::uint8_t>& copies);

// `feature_stratum`: of each of the F features. `n_probes`: in each stratum. `copies`: whether a
// stratum's probes have the ties of its features.
ProbeSet make_probes(const RankTable& table, const std::int64_t* feature_stratum,
                     const std::vector<std::uint32_t>& n_probes,
                     const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                     const EvaluationRates& rates, const std::vector<Rankings>& rankings,
                     std::size_t n_threads, const Poll& poll);

}  // namespace nullforest
