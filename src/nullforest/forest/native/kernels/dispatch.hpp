// The choice of the fastest kernel by data, criterion and processor.
#pragma once
#include <string>

#include "kernels/evaluator.hpp"
#include "kernels/scan_kernel.hpp"
#include "kernels/shuffle_kernel.hpp"
#include "kernels/stairs_kernel.hpp"
#include "kernels/sweep_kernel.hpp"
#include "kernels/walk_kernel.hpp"

namespace nullforest {

// The best instruction set of the processor, or the one that the environment variable
// NULLFOREST_ISA names (generic, portable, avx2, avx512, neon); portable where this build or
// processor does not have that. Throws InputError for any other name.
Isa chosen_isa();
std::string isa_name(Isa isa);

ShuffleKernel shuffle_kernel(Isa isa);

// The kernel that fits, in the version for the instruction set; all null: the generic one.
struct Kernel {
    WalkKernel walk = nullptr;
    SweepKernel sweep = nullptr;
    ScanKernel scan = nullptr;
    StairsKernel stairs = nullptr;
};
Kernel choose_kernel(const RankTable& table, const Outcome& outcome, const Settings& settings,
                     Weighting weighting);

// Makes the steps of a table that this kernel counts.
void make_steps(const RankTable& table, const Outcome& outcome, const Settings& settings,
                std::size_t n_threads, const Poll& poll);

std::unique_ptr<Evaluator> make_stairs_evaluator(const RankTable& table, const Outcome& outcome,
                                                 const Settings& settings, StairsKernel kernel);

}  // namespace nullforest
