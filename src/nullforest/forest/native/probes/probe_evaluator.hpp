// The evaluation of virtual probes at the nodes of a tree.
//
// A specification, as in keyed_random.hpp. A probe never changes a tree: at a node it takes the
// place of one of the C candidates and is compared with the others.
//
// Which probes are evaluated. A probe is treated as a feature, only more often. A feature is in the
// pool of a tree with probability F_t/V and then a candidate at a node with probability C/F_t; a
// probe is evaluated in a tree with probability R_t/2^16 and then at a node with probability
// R_n/2^16 (forest/null_column_budget.py sets R_t, R_n: the product is above C/V by a factor that does
// not depend on the number of trees). Of a list of n those are evaluated with
//   (w + floor(i 2^32 / n)) mod 2^32  <  R 2^16,        i = 0..n-1,
// in ascending order of this number (all, in their own order, where R = 2^16), with w the upper
// half of a random word:
//   in tree t        step(tree_key, 4), of the list of all P probes
//   at a node        step(node_key, 3), of the list of the tree
// so that each has probability R/2^16 exactly, and they lie close together.
//
// Places. At a node where a split is sought, the n probes evaluated, i = 0..n-1 in their order,
// take places spread evenly from a start, each equally likely for each probe:
//   start            below(step(node_key, 4), C)
//   place            (start + floor(i C / n)) mod C
// The probe takes the place of that candidate in the draw order. It wins if it would then win by
// the rules of evaluator.hpp: its best score is strictly greater than those of all candidates
// before it and not smaller than those of all after it. (For the whole node: with c of the C
// candidates tied at the best score g*, a probe of score g wins with probability
//   (1 - c/C) T(c) + (c/C) (T(c-1) if c > 1 else [g beats the others]),
// T(c) = [g > g*] + [g = g*] / (c + 1), over the draw of the place.) Where no candidate splits the
// node at all, any split of the probe wins. With `min_gain`, its split must gain that much.
//
// After a win. A real feature that wins is used up: what lies below was split by it, and its order
// of the samples there is independent of how it won. So below a node that a probe won (the lowest
// such), in this tree, its column is replaced by another of its stratum, where n_s > 1: that of
//   k' = below(word, n_s - 1), plus 1 if not below k,  word = step(step(step(node_key, 5), id), t),
// for the first t = 0, 1, ... with (word mod 2^32) < floor(2^32 weight(k') / largest weight):
// rejection sampling, so that replacements are drawn in proportion to their weights.
#pragma once
#include <memory>
#include <vector>

#include "kernels/evaluator.hpp"
#include "probes/probe_set.hpp"

namespace nullforest {

inline std::uint64_t evaluated_in_tree_key(std::uint64_t tree) { return step(tree, 4); }
inline std::uint64_t evaluated_at_node_key(std::uint64_t node) { return step(node, 3); }
inline std::uint64_t start_key(std::uint64_t node) { return step(node, 4); }
inline std::uint64_t replacement_key(std::uint64_t node) { return step(node, 5); }

// One evaluation of a probe at a node: its column there, and the place that it takes.
struct Evaluation {
    std::uint32_t probe, column, place;
};

// A probe that wins, and its split (`feature` is its column). The split is there only with
// `min_gain`, which needs it.
struct Win {
    std::uint32_t probe;
    Split split;
};

// One per thread.
class ProbeScorer {
public:
    virtual ~ProbeScorer() = default;
    virtual void begin_tree(const Bag& bag, const std::uint32_t* pool) = 0;
    // Appends the probes that win, each evaluated on its own, in any order. Evaluations come in
    // ascending places. `winner` is the split that the evaluator found, null where there is none.
    virtual void score(const NodeQuery& node, const Split* winner,
                       const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) = 0;
};

// The fastest scorer that fits.
std::unique_ptr<ProbeScorer> make_scorer(const RankTable& table, const RankTable& probes,
                                         const Outcome& outcome, const Settings& settings,
                                         Weighting weighting);

// Evaluates the probes of one tree after the other; one per thread.
class ProbeEvaluator {
public:
    ProbeEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                   const ProbeSet& probes, Weighting weighting);

    void begin_tree(std::uint64_t tree_key, const Bag& bag, const std::uint32_t* pool);

    // The probes that would have won the node with members [begin, end) of the tree's samples.
    // `winner` is null where no candidate splits it.
    const std::vector<Win>& wins(const NodeQuery& node, std::uint64_t node_key,
                                 std::uint32_t begin, std::uint32_t end, const Split* winner);
    // Counts a win: below the node the probe's column is replaced.
    void count(const Win& win, std::uint64_t node_key, std::uint32_t begin, std::uint32_t end);

private:
    struct Replacement {
        std::uint32_t begin, end, column;
        std::int32_t before;  // the replacement higher up, or -1
    };
    // A run of a list, continued at its start where it passes its end.
    struct Run {
        std::uint32_t first = 0, count = 0;
    };
    static Run run_of(std::uint64_t word, std::uint32_t n, std::uint32_t rate);
    void add_evaluations(std::uint32_t from, std::uint32_t to, std::uint32_t offset,
                         std::uint32_t begin, std::uint32_t end);

    const Settings& settings_;
    const ProbeSet& probes_;
    std::unique_ptr<ProbeScorer> scorer_;
    Run tree_, node_;
    std::vector<std::int32_t> latest_;  // replacement of each probe of the tree, or -1
    std::vector<Replacement> replacements_;
    std::vector<Evaluation> evaluations_;
    std::vector<Win> wins_;
};

}  // namespace nullforest
