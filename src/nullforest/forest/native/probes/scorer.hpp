// Scoring of virtual probes: whether each would have won a node in place of one of its candidates.
#pragma once
#include <memory>
#include <vector>

#include "kernels/evaluator.hpp"

namespace nullforest {

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

// The scorer for any criterion, weighting and data.
std::unique_ptr<ProbeScorer> make_generic_scorer(const RankTable& table, const RankTable& probes,
                                                 const Outcome& outcome, const Settings& settings,
                                                 Weighting weighting);

// The fastest scorer that fits.
std::unique_ptr<ProbeScorer> make_scorer(const RankTable& table, const RankTable& probes,
                                         const Outcome& outcome, const Settings& settings,
                                         Weighting weighting);

}  // namespace nullforest
