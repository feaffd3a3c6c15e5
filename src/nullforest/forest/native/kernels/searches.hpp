// The searches for the best split of a node, and which of them runs when.
//
// All find the same split (evaluator.hpp says which), so that the choice is a matter of time alone;
// benchmarks/ablation.py measures what each is worth. S: samples of the table, n: members of the node.
//
// How the table lies in memory (table/rank_table.hpp)
//   S <= 1 024    by order: the samples of a column in ascending order
//   S >  1 024    by rank: the rank of each sample; with at most 256 distinct values in every column
//                 (bins, categories, genotypes; then from S = 513 on) also as codes of one byte
//
// Which kernel searches a node (choose_kernel in searches.cpp)
//   two classes, Gini, every member counts once
//     by order            walk (walk.hpp): bits pick the members out of the order; counts of ones that
//                         leave an envelope around the best split so far are scored. From 9 to 255
//                         members the first candidates are scored together, in floats (AVX-512).
//     by rank, by codes   sweep (sweep.hpp): members and ones are counted in steps of rank, and only
//                         steps that may hold a better split are sorted; up to 32 members are compared
//                         in pairs; a code is a step. With AVX-512 steps are counted on planes of bits
//                         (step_search.hpp; table/rank_steps.hpp makes the planes).
//   other classes, entropy, one number, bootstrap, weights; nodes of at most 1 024 draws
//                         scan (scan.hpp): members in sorted order, then all positions at once. Columns
//                         that cannot hold a split as good as the best are rejected before: by
//                         envelopes (envelopes.hpp; by order, AVX-512) or by steps of rank
//                         (stairs_screen.hpp; by rank). Small nodes end at the highest score that any
//                         column could give (scan_node.hpp).
//   the same, more members, by rank, without weights, at most 8 classes or one number
//                         stairs (stairs.hpp, stairs_search.hpp): sums in 64 steps of rank bound the scores within each;
//                         only the members of open steps are sorted and scored.
//   all else              one column at a time (generic_evaluator.cpp, column_search.hpp): several
//                         outputs, distances, entropy and weights of large nodes. Codes are added up,
//                         other columns sorted (sorted_members.hpp).
// Columns with missing values are scored one split at a time in every search (column_splits.hpp).
//
// What belongs to an instruction set lies in a folder of its own: portable/ (any processor), avx2/,
// avx512/, neon/. Each compiles the kernels anew, with its own way to look samples up and to count.
//
// Virtual probes are compared with the best split of a node by the same kernels: task.screened.
#pragma once
#include <string>

#include "kernels/evaluator.hpp"
#include "kernels/kernels.hpp"

namespace nullforest {

// The best instruction set of the processor, or the one that the environment variable
// NULLFOREST_ISA names (generic, portable, avx2, avx512, neon); portable where this build or
// processor does not have that. Throws InputError for any other name.
Isa chosen_isa();
std::string isa_name(Isa isa);
const Kernels& kernels_of(Isa isa);

// The kernels of these that serve a forest; all null: the generic search.
Kernels choose_kernels(const RankTable& table, const Outcome& outcome, const Settings& settings,
                       Weighting weighting);

// Makes the steps of a table that these kernels count.
void make_steps(const RankTable& table, const Outcome& outcome, const Settings& settings,
                std::size_t n_threads, const Poll& poll);

// The search of one column at a time, by the stairs where these kernels have them.
std::unique_ptr<Evaluator> make_column_evaluator(const RankTable& table, const Outcome& outcome,
                                                 const Settings& settings, Weighting weighting,
                                                 const Kernels& kernels);

}  // namespace nullforest
