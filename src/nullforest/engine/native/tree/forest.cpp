#include "tree/forest.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace nullforest {

namespace {

using Clock = std::chrono::steady_clock;

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

void add_tree(const TreeResult& tree, std::size_t n_bins, const Settings& settings,
              ForestResult& forest) {
    double total = 0.0;
    for (double d : tree.decrease) total += d;
    if (settings.listed) {
        Listing& list = forest.listing;
        append(list.feature, tree.winner);
        append(list.coupling_bin, tree.coupling_bin);
        for (double d : tree.decrease) list.importance.push_back(total > 0.0 ? d / total : 0.0);
        append(list.oob_sample, tree.oob_sample);
        append(list.oob_value, tree.oob_value);
    }
    for (std::size_t i = 0; i < tree.winner.size() && !settings.listed; ++i) {
        const std::size_t f = tree.winner[i];
        ++forest.counts[f];
        ++forest.couplings[f * n_bins + tree.coupling_bin[i]];
        if (total > 0.0) forest.importance[f] += tree.decrease[i] / total;
    }
    forest.nodes_per_tree.push_back(static_cast<std::int64_t>(tree.winner.size()));
    const std::size_t V = tree.oob_sample.empty() ? 0
                                                  : tree.oob_value.size() / tree.oob_sample.size();
    for (std::size_t i = 0; i < tree.oob_sample.size() && !settings.listed; ++i) {
        const std::size_t s = tree.oob_sample[i];
        ++forest.oob_trees[s];
        for (std::size_t v = 0; v < V; ++v)
            forest.oob_sum[s * V + v] += tree.oob_value[i * V + v];
    }
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
                 const ProbeSet* probes, const std::vector<double>& coupling_edges, int n_threads, double max_seconds,
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

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::unique_ptr<TreeResult>> waiting(settings.n_trees);  // finished, not yet added
    std::vector<std::unique_ptr<TreeResult>> spare;
    std::atomic<std::uint32_t> next{0};
    std::atomic<bool> cancel{false}, late{false};
    std::exception_ptr failure;
    int running = 0;

    const auto work = [&] {
        try {
            TreeGrower grower(table, outcome, settings, probes, coupling_edges);
            std::unique_ptr<TreeResult> result(new TreeResult);
            for (;;) {
                // Whatever the clock says the first tree is grown: no forest is empty.
                const std::uint32_t t = next.fetch_add(1);
                if (t >= settings.n_trees || cancel || (late && t > 0)) break;
                if (!grower.grow(settings.first_tree + std::uint64_t{t}, t == 0 ? cancel : late,
                                 *result))
                    break;
                std::lock_guard<std::mutex> lock(mutex);
                waiting[t] = std::move(result);
                while (forest.n_trees < settings.n_trees && waiting[forest.n_trees]) {
                    std::unique_ptr<TreeResult>& ready = waiting[forest.n_trees];
                    if (probes)
                        add_probes(*ready, *probes, n_bins, forest);
                    add_tree(*ready, n_bins, settings, forest);
                    spare.push_back(std::move(ready));
                }
                if (spare.empty())
                    result.reset(new TreeResult);
                else {
                    result = std::move(spare.back());
                    spare.pop_back();
                }
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            failure = std::current_exception();
            cancel = late = true;
        }
        std::lock_guard<std::mutex> lock(mutex);
        --running;
        changed.notify_all();
    };

    const auto deadline = Clock::now() + std::chrono::duration<double>(std::max(0.0, max_seconds));
    running = static_cast<int>(
        std::min<std::uint64_t>(std::max(1, n_threads), settings.n_trees));
    std::vector<std::thread> threads;
    for (int i = 0, count = running; i < count; ++i) threads.emplace_back(work);
    {
        std::unique_lock<std::mutex> lock(mutex);
        while (running > 0) {
            auto wake = Clock::now() + std::chrono::milliseconds(100);
            if (max_seconds > 0.0 && !late)
                wake = std::min(wake, std::chrono::time_point_cast<Clock::duration>(deadline));
            changed.wait_until(lock, wake);
            if (running == 0) break;
            if (max_seconds > 0.0 && Clock::now() >= deadline) late = true;
            if (failure) continue;
            const std::uint32_t done = forest.n_trees;
            lock.unlock();
            try {
                poll(done);
            } catch (...) {
                cancel = late = true;
                lock.lock();
                if (!failure) failure = std::current_exception();
                continue;
            }
            lock.lock();
        }
    }
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    poll(forest.n_trees);
    forest.stopped_early = forest.n_trees < settings.n_trees;
}

}  // namespace nullforest
