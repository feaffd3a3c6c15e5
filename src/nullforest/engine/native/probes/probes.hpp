// How would a null feature fare in this forest? Virtual probes, asked at the nodes as it grows.
//
// A probe never changes a tree. It is a column that knows nothing of y. At a node it takes the
// place of one of the C candidates and is asked whether it would have won. A specification, as in
// keyed_random.hpp, whose functions it uses:
//
// Strata. Features are sorted into strata (engine/probing.py says how: from the ties of the
// columns alone), so that a feature is judged by probes of its own kind.
//
// The probes of a stratum without missing values are rankings (i, j) of luck.hpp, with the ties of
// a real feature where the stratum has ties. engine/probing.py picks them out of many, each with a
// weight: lucky ones are picked more often and weigh less.
//
// Probe k of a stratum s with missing values, with weight one:
//   probe_key        step(family, k), the family as in luck.hpp
//   id               step(probe_key, 2) >> 1             (so that it fits a signed word)
//   arrangement      v(i) = value i of Shuffle(S, step(probe_key, 0)), i = 0..S-1
//   column           that of the real feature f, number below(step(probe_key, 1), M) among the M
//                    features of the stratum, ascending, with its samples rearranged: the sample at
//                    position i of the probe's order is v(i); ties and missing values go along
//   missing values   stay with the samples where they are shared. Of the 8 features number
//                    below(step(step(probe_key, 3), t), M), t = 0..7, without f itself, the first
//                    that shares most missing samples with f is its partner, here with m' missing
//                    values and m_shared of the m that f has. Where
//                    2 S m_shared > m (S + m'), beyond half-way from chance to all, the shared ones
//                    are missing in the probe too: they are struck out of v and come last.
//
// Numbers. Probe k of the n_s of stratum s has the rank (2k + 1) / n_s; probes are numbered
// p = 0..P-1 by rank, equal ones by stratum, so that any run of numbers holds all strata.
//
// Who is asked. A probe fares as a feature does, only more often. A feature is in the pool of a
// tree with probability F_t/F and then a candidate at a node with probability C/F_t; a probe is
// asked in a tree with probability R_t/2^16 and then at a node with probability R_n/2^16
// (engine/probing.py says which R_t, R_n: the product is above C/F by a factor that does not depend
// on the number of trees). Asked in a list of n are those with
//   (w + floor(i 2^32 / n)) mod 2^32  <  R 2^16,        i = 0..n-1,
// in ascending order of this number (all, in their own order, where R = 2^16), with w the upper
// half of a random word:
//   in tree t        step(tree_key, 4), of the list of all P probes
//   at a node        step(node_key, 3), of the list that the tree asks
// so that each is asked with probability R/2^16 exactly, and they lie close together.
//
// At a node where a split is sought, the n probes asked, i = 0..n-1 in their order, stand in places
// spread evenly from a start, each equally likely for each probe:
//   start            below(step(node_key, 4), C)
//   place            (start + floor(i C / n)) mod C
// The probe takes the place of that candidate in the draw order. It wins if it would then win by
// the rules of evaluator.hpp: its best score is strictly greater than those of all candidates before
// it and not smaller than those of all after it. (Seen from the whole node: with c of the C
// candidates tied at the best score g*, a probe of score g wins with probability
//   (1 - c/C) T(c) + (c/C) (T(c-1) if c > 1 else [g beats the others]),
// T(c) = [g > g*] + [g = g*] / (c + 1), over the draw of the place.) Where no candidate splits the
// node at all, any split of the probe wins. With `min_gain`, its split must gain that much.
//
// After a win. A real feature that wins is used up: what lies below was split by it, and how it
// orders the samples there says nothing of how it won. So below a node that a probe won (the
// lowest such), in this tree, it wears another column of its stratum, where n_s > 1: that of
//   k' = below(word, n_s - 1), plus 1 if not below k,   word = step(step(step(node_key, 5), id), t),
// for the first t = 0, 1, ... with (word mod 2^32) < floor(2^32 weight(k') / largest weight), so
// that lucky ones are not worn too often.
#pragma once
#include <memory>

#include "probes/judge.hpp"
#include "tree/keyed_random.hpp"
#include "probes/luck.hpp"

namespace nullforest {

inline std::uint64_t probe_id(std::uint64_t probe) { return step(probe, 2) >> 1; }
inline std::uint64_t asked_in_tree_key(std::uint64_t tree) { return step(tree, 4); }
inline std::uint64_t asked_at_node_key(std::uint64_t node) { return step(node, 3); }
inline std::uint64_t start_key(std::uint64_t node) { return step(node, 4); }
inline std::uint64_t change_key(std::uint64_t node) { return step(node, 5); }

// How many distinct values does each feature have, and how many pairs of samples are alike?
struct TieProfile {
    std::vector<std::int64_t> n_levels, alike, n_missing;  // missing values are one level
};
TieProfile profile_ties(const RankTable& table);

// In what share of the trees, and there of the nodes, is a probe asked? In units of 2^-16.
struct AskingRates {
    static constexpr std::uint32_t kAlways = 1u << 16;
    std::uint32_t in_tree = kAlways, at_node = kAlways;
};

// The probes of a forest: a rank table of their own.
struct ProbeSet {
    std::unique_ptr<RankTable> table;
    std::vector<std::uint64_t> id;
    std::vector<double> weight;
    std::vector<std::uint64_t> wearing;  // weight / largest of the stratum, in units of 2^-32
    std::vector<std::uint32_t> stratum, number_in_stratum;
    std::vector<std::vector<std::uint32_t>> members;  // of each stratum: number k to p
    AskingRates rates;

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
                     const AskingRates& rates, const std::vector<Rankings>& rankings);

// Asks the probes of one tree after the other; one per thread.
class ProbeAsker {
public:
    ProbeAsker(const RankTable& table, const Outcome& outcome, const Settings& settings,
               const ProbeSet& probes, Weighting weighting);

    void begin_tree(std::uint64_t tree_key, const Bag& bag, const std::uint32_t* pool);

    // The probes that would have won the node with members [begin, end) of the tree's samples.
    // `winner` is null where no candidate splits it.
    const std::vector<Verdict>& winners(const NodeQuery& node, std::uint64_t node_key,
                                        std::uint32_t begin, std::uint32_t end,
                                        const Split* winner);
    // Says that a win counts.
    void count(const Verdict& verdict, std::uint64_t node_key, std::uint32_t begin,
               std::uint32_t end);

private:
    // Below a node that the probe won it wears another column.
    struct Change {
        std::uint32_t begin, end, column;
        std::int32_t before;  // the change higher up, or -1
    };
    // A run of a list, round its end.
    struct Run {
        std::uint32_t first = 0, count = 0;
    };
    static Run run_of(std::uint64_t word, std::uint32_t n, std::uint32_t rate);
    void add_questions(std::uint32_t from, std::uint32_t to, std::uint32_t offset,
                       std::uint32_t begin, std::uint32_t end);
    std::uint32_t find_place(std::uint64_t draw_key, std::uint32_t feature) const;

    const Settings& settings_;
    const ProbeSet& probes_;
    ShuffleShape shape_;
    const std::uint32_t* pool_ = nullptr;
    std::unique_ptr<Judge> judge_;
    Run tree_, node_;
    std::vector<std::int32_t> latest_;  // change of each probe that the tree asks, or -1
    std::vector<Change> changes_;
    std::vector<Question> questions_;
    std::vector<Verdict> won_;
};

}  // namespace nullforest
