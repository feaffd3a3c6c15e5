// Would a probe have won a node in the place of one of its candidates?
#pragma once
#include <memory>
#include <vector>

#include "kernels/evaluator.hpp"

namespace nullforest {

// Which probe asks, the column that it wears, and the place that it takes.
struct Question {
    std::uint32_t probe, column, place;
};

// A probe that wins, and the split it makes (`feature` is its column). The split is there only
// with `min_gain`, which needs it.
struct Verdict {
    std::uint32_t probe;
    Split split;
};

// One per thread.
class Judge {
public:
    virtual ~Judge() = default;
    virtual void begin_tree(const Bag& bag, const std::uint32_t* pool) = 0;
    // Appends the winners among the probes asked, each on its own, in any order. Questions come in
    // ascending places. `winner` is the split that the evaluator found, null where there is none.
    virtual void judge(const NodeQuery& node, const Split* winner,
                       const std::vector<Question>& questions, std::vector<Verdict>& won) = 0;
};

// The judge for any criterion, weighting and data.
std::unique_ptr<Judge> make_generic_judge(const RankTable& table, const RankTable& probes,
                                          const Outcome& outcome, const Settings& settings,
                                          Weighting weighting);

// The fastest judge that fits.
std::unique_ptr<Judge> make_judge(const RankTable& table, const RankTable& probes,
                                  const Outcome& outcome, const Settings& settings,
                                  Weighting weighting);

}  // namespace nullforest
