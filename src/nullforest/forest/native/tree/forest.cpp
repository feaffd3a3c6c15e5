// Growth of a forest and its sums.
#include "tree/forest.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "kernels/searches.hpp"

namespace nullforest {

namespace {

using Clock = std::chrono::steady_clock;

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

void add_tree(const TreeResult& tree, std::size_t n_bins, const Settings& settings,
              ForestResult& forest) {
    const Listing& list = tree.list;
    if (settings.listed) {
        append(forest.listing.feature, list.feature);
        append(forest.listing.coupling_bin, list.coupling_bin);
        append(forest.listing.importance, list.importance);
        append(forest.listing.oob_sample, list.oob_sample);
        append(forest.listing.oob_value, list.oob_value);
    } else {
        for (std::size_t i = 0; i < list.feature.size(); ++i) {
            const std::size_t f = list.feature[i];
            ++forest.counts[f];
            ++forest.couplings[f * n_bins + list.coupling_bin[i]];
            forest.importance[f] += list.importance[i];
        }
        const std::size_t n = list.oob_sample.size(), V = n ? list.oob_value.size() / n : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t s = list.oob_sample[i];
            ++forest.oob_trees[s];
            for (std::size_t v = 0; v < V; ++v)
                forest.oob_sum[s * V + v] += list.oob_value[i * V + v];
        }
    }
    forest.nodes_per_tree.push_back(static_cast<std::int64_t>(list.feature.size()));
    if (settings.keep_trees) {
        append(forest.trees.feature, tree.tree.feature);
        append(forest.trees.left, tree.tree.left);
        append(forest.trees.right, tree.tree.right);
        append(forest.trees.threshold, tree.tree.threshold);
        append(forest.trees.missing_left, tree.tree.missing_left);
        append(forest.trees.impurity, tree.tree.impurity);
        append(forest.trees.n_samples, tree.tree.n_samples);
        append(forest.trees.value, tree.tree.value);
        forest.offsets.push_back(static_cast<std::int64_t>(forest.trees.feature.size()));
    }
    ++forest.n_trees;
}

void add_probes(const TreeResult& tree, const ProbeSet& probes, std::size_t n_bins,
                ForestResult& forest) {
    for (std::size_t i = 0; i < tree.probe_winner.size(); ++i) {
        const std::size_t p = tree.probe_winner[i];
        ++forest.probe_wins[p];
        ++forest.probe_couplings[probes.stratum[p] * n_bins + tree.probe_coupling_bin[i]];
    }
}

}  // namespace

void grow_forest(const RankTable& table, const Outcome& outcome, const Settings& settings,
                 const ProbeSet* probes, const std::vector<double>& coupling_edges,
                 std::size_t n_threads, double max_seconds,
                 const std::function<void(std::uint32_t)>& poll, ForestResult& forest) {
    const std::size_t n_bins = coupling_edges.size() - 1, F = table.n_features();
    const std::size_t summed = settings.listed ? 0 : F;
    forest.counts = Zeros<std::int64_t>(summed);
    forest.couplings = Zeros<std::int32_t>(summed * n_bins);
    // Sums of doubles depend on their order, so trees are added in theirs, to the sums of earlier
    // trees where the caller brings some.
    if (!forest.importance) forest.importance = Zeros<double>(summed);
    const bool oob_sums = settings.oob && !settings.listed;
    forest.oob_sum.resize(oob_sums ? table.n_samples() * outcome.n_values() : 0);
    forest.oob_trees.resize(oob_sums ? table.n_samples() : 0);
    forest.offsets.assign(1, 0);
    if (probes) {
        forest.probe_wins.assign(probes->size(), 0);
        forest.probe_couplings.assign(probes->n_strata() * n_bins, 0);
    }

    const Poll begun = [&] { poll(0); };
    make_steps(table, outcome, settings, n_threads, begun);
    if (probes && probes->size() > 0)
        make_steps(*probes->table, outcome, settings, n_threads, begun);

    // A century at most: longer ones overflow the clock.
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(std::clamp(max_seconds, 0.0, 3e9)));
    const auto over = [&] { return max_seconds > 0.0 && Clock::now() >= deadline; };
    // Trees are queued under the lock and added without it, by whichever thread finds no other at it:
    // none waits while another adds.
    alignas(64) std::mutex mutex;  // `late`, which is read at every node, has a line of its own
    std::map<std::size_t, std::unique_ptr<TreeResult>> waiting;  // for an earlier tree
    std::vector<std::unique_ptr<TreeResult>> spare;
    bool adding = false;
    std::uint32_t added = 0;
    alignas(64) std::atomic<bool> late{false};
    alignas(64) const auto watch = [&] {
        if (over()) late = true;
        std::unique_lock<std::mutex> lock(mutex);
        const std::uint32_t done = added;
        lock.unlock();
        poll(done);
    };
    const auto add_waiting = [&](std::unique_lock<std::mutex>& lock) {
        if (adding) return;
        adding = true;
        while (!waiting.empty() && waiting.begin()->first == added) {
            std::unique_ptr<TreeResult> ready = std::move(waiting.begin()->second);
            waiting.erase(waiting.begin());
            lock.unlock();
            if (probes) add_probes(*ready, *probes, n_bins, forest);
            add_tree(*ready, n_bins, settings, forest);
            lock.lock();
            ++added;
            spare.push_back(std::move(ready));
        }
        adding = false;
    };
    parallel_for(settings.n_trees, n_threads, watch, [&](Tasks& tasks) {
        TreeGrower grower(table, outcome, settings, probes, coupling_edges);
        auto result = std::make_unique<TreeResult>();
        for (std::size_t t; tasks.next(t);) {
            // The first tree is grown whatever the clock says: no forest is empty.
            if (t > 0 && over()) late = true;
            const auto stop = [&] { return tasks.stopped() || (t > 0 && late); };
            if (!grower.grow(settings.first_tree + std::uint64_t{t}, stop, *result)) break;
            std::unique_lock<std::mutex> lock(mutex);
            waiting.emplace(t, std::move(result));
            add_waiting(lock);
            if (spare.empty()) {
                result = std::make_unique<TreeResult>();
            } else {
                result = std::move(spare.back());
                spare.pop_back();
            }
        }
    });
    poll(forest.n_trees);
    forest.stopped_early = forest.n_trees < settings.n_trees;
}

}  // namespace nullforest
