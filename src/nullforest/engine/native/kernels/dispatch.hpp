// Which instruction set is used, and which evaluators stand on it?
#pragma once
#include <memory>
#include <string>

#include "kernels/evaluator.hpp"
#include "probes/judge.hpp"
#include "kernels/scan_kernel.hpp"
#include "kernels/sweep_kernel.hpp"
#include "kernels/walk_kernel.hpp"

namespace nullforest {

enum class Isa { generic, portable, avx2, avx512 };

// The best that the processor has, or what the environment variable NULLFOREST_ISA asks for
// (generic, portable, avx2, avx512) where that is possible. Read anew for every forest.
Isa chosen_isa();
std::string isa_name(Isa isa);

std::unique_ptr<Evaluator> make_walk_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, WalkKernel kernel);
std::unique_ptr<Evaluator> make_sweep_evaluator(const RankTable& table, const Outcome& outcome,
                                                const Settings& settings, SweepKernel kernel);
bool scan_fits(const RankTable& table, const Outcome& outcome, const Settings& settings,
               Weighting weighting);
std::unique_ptr<Evaluator> make_scan_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, Weighting weighting,
                                               ScanKernel kernel);

// `exact` has the last word on the few probes that pass the kernel.
std::unique_ptr<Judge> make_walk_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       WalkKernel kernel, std::unique_ptr<Judge> exact);

std::unique_ptr<Judge> make_scan_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       Weighting weighting, ScanKernel kernel,
                                       std::unique_ptr<Judge> exact);

}  // namespace nullforest
