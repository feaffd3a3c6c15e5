// How do many trees become one forest? Grown by threads, added strictly in tree order.
#pragma once
#include <functional>
#include <string>

#include "grower.hpp"

namespace nullforest {

struct ForestResult {
    std::uint32_t n_trees = 0;  // trees 0..n_trees-1 of those asked for are inside
    bool stopped_early = false;
    std::vector<std::int64_t> counts;        // F
    std::vector<std::int32_t> couplings;     // F x bins
    std::vector<std::int64_t> nodes_per_tree;
    std::vector<double> importance;          // F: sum over trees of the shares of the decrease
    std::vector<double> oob_sum;             // S x n_values
    std::vector<std::int64_t> oob_trees;     // S: trees that did not see the sample
    std::vector<std::int64_t> probe_wins, probe_trees;  // P
    std::vector<std::int64_t> probe_couplings;          // strata x bins
    FlatTree trees;                          // one after the other; children count from the root
    std::vector<std::int64_t> offsets;       // where each tree begins; n_trees + 1 of them
};

// `poll(done)` is called on the calling thread a few times a second and may throw to stop.
// `max_seconds` <= 0: no limit. At least one tree is always finished.
void grow_forest(const RankTable& table, const Outcome& outcome, const Settings& settings,
                 const ProbeSet* probes, const std::vector<double>& coupling_edges, int n_threads, double max_seconds,
                 const std::function<void(std::uint32_t)>& poll, ForestResult& forest);

}  // namespace nullforest
