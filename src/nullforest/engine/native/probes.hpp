// How would a null feature fare in this forest? Virtual probes, asked at the nodes as it grows.
//
// A probe never changes a tree. It is a column that knows nothing of y. At a node it takes the
// place of one of the C candidates and is asked whether it would have won. A specification, as in
// keyed_random.hpp, whose functions it uses:
//
// Strata. Features are sorted into strata (engine/probing.py says how: from the ties of the
// columns alone), so that a feature is judged by probes of its own kind. Probe k of stratum s:
//   probe_key        step(step(step(1, probe_seed), s), k)
//   id               step(probe_key, 2) >> 1             (so that it fits a signed word)
//   arrangement      v(i) = value i of Shuffle(S, step(probe_key, 0)), i = 0..S-1
//   stratum of rankings (features without ties to speak of): the sample at position i of the
//                    probe's order is v(i); no two values are equal
//   stratum of copies: a copy of the real feature number below(step(probe_key, 1), M) among the M
//                    features of the stratum, ascending, with its samples rearranged: what sample
//                    i has there, sample v(i) has here; ties and missing values go along
//
// Which trees. Probes are numbered p = 0, 1, ... through stratum 0, then stratum 1, and so on.
// Tree t asks the probes with p mod G = t mod G; G is the period. So every tree asks a share 1/G
// of the probes, and every probe is asked in a share 1/G of the trees.
//
// At a node with key `node_key` where a split is sought, probe p (if not depleted) draws
//   word             step(step(node_key, 3), id)
//   place            below(word, C)
// and takes the place of candidate `place` in the draw order. It wins if it would then win by the
// rules of evaluator.hpp: its best score is strictly greater than those of all candidates before
// it and not smaller than those of all after it. (Seen from the whole node: with c of the C
// candidates tied at the best score g*, a probe of score g wins with probability
//   (1 - c/C) T(c) + (c/C) (T(c-1) if c > 1 else [g beats the others]),
// T(c) = [g > g*] + [g = g*] / (c + 1), over the draw of the place.) Where no candidate splits the
// node at all, any split of the probe wins. With `min_gain`, its split must gain that much.
//
// Depletion. A real feature that wins is used up: what lies below was split by it. A probe that
// wins a node is depleted below it, in this tree, if
//   below(word << 32, F_t) < C
// (as often as a feature of the tree's pool is a candidate), and not asked there.
#pragma once
#include <memory>

#include "judge.hpp"
#include "keyed_random.hpp"

namespace nullforest {

inline std::uint64_t probe_key(std::uint64_t seed, std::uint64_t stratum, std::uint64_t number) {
    return step(step(step(1, seed), stratum), number);
}
inline std::uint64_t probe_id(std::uint64_t probe) { return step(probe, 2) >> 1; }
inline std::uint64_t ask_key(std::uint64_t node) { return step(node, 3); }

// How many distinct values does each feature have, and how common is the commonest?
struct TieProfile {
    std::vector<std::int64_t> n_levels, commonest, n_missing;  // missing values are one level
};
TieProfile profile_ties(const RankTable& table);

// The probes of a forest: a rank table of their own.
struct ProbeSet {
    std::unique_ptr<RankTable> table;
    std::vector<std::uint64_t> id;
    std::vector<std::uint32_t> stratum;
    std::uint32_t n_strata = 0, period = 1;

    std::uint32_t size() const { return static_cast<std::uint32_t>(id.size()); }
};

// `feature_stratum`: of each of the F features. `n_probes`: in each stratum. `copies`: whether a
// stratum's probes are copies of its features rather than rankings.
ProbeSet make_probes(const RankTable& table, const std::int64_t* feature_stratum,
                     const std::vector<std::uint32_t>& n_probes,
                     const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                     std::uint32_t period);

// Asks the probes of one tree after the other; one per thread.
class ProbeAsker {
public:
    ProbeAsker(const RankTable& table, const Outcome& outcome, const Settings& settings,
               const ProbeSet& probes, Weighting weighting);

    void begin_tree(std::uint64_t tree, const Bag& bag, const std::uint32_t* pool);

    // The probes that would have won the node with members [begin, end) of the tree's samples.
    // `winner` is null where no candidate splits it.
    const std::vector<Verdict>& winners(const NodeQuery& node, std::uint64_t node_key,
                                        std::uint32_t begin, std::uint32_t end,
                                        const Split* winner);
    // Says that a win counts.
    void count(const Verdict& verdict, std::uint64_t node_key, std::uint32_t begin,
               std::uint32_t end);

private:
    struct Span {
        std::uint32_t begin = 1, end = 0;  // nothing lies inside
    };
    std::uint32_t find_place(std::uint64_t draw_key, std::uint32_t feature) const;

    const Settings& settings_;
    const ProbeSet& probes_;
    ShuffleShape shape_;
    const std::uint32_t* pool_ = nullptr;
    std::unique_ptr<Judge> judge_;
    std::uint32_t first_ = 0;
    std::vector<Span> depleted_;  // of the probes asked in this tree
    std::vector<Question> questions_;
    std::vector<Verdict> won_;
};

}  // namespace nullforest
