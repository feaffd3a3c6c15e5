// Which kernel answers fastest here? Chosen by data, criterion and processor.
#include "evaluator.hpp"

namespace nullforest {

std::unique_ptr<Evaluator> make_evaluator(const RankTable& table, const Outcome& outcome,
                                          const Settings& settings, Weighting weighting) {
    return make_generic_evaluator(table, outcome, settings, weighting);
}

}  // namespace nullforest
