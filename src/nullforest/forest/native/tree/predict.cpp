// Leaves, predictions and out-of-bag errors of a forest's trees.
#include "tree/predict.hpp"

#include <algorithm>

#include "tree/grower.hpp"

namespace nullforest {

void find_leaves(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 std::int32_t* leaf) {
    parallel_for(x.n_samples, n_threads, poll, [&](Tasks& tasks) {
        for (std::size_t s; tasks.next(s);)
            for (std::size_t t = 0; t < trees.n_trees && !ended(t, tasks); ++t)
                leaf[s * trees.n_trees + t] =
                    leaf_of(trees, t, [&](std::size_t f) { return x.at(s, f); });
    });
}

void mean_values(const TreesView& trees, const Matrix& x, std::size_t n_threads, const Poll& poll,
                 double* out) {
    const std::size_t V = trees.n_values;
    parallel_for(x.n_samples, n_threads, poll, [&](Tasks& tasks) {
        for (std::size_t s; tasks.next(s);) {
            double* sum = out + s * V;
            std::fill(sum, sum + V, 0.0);
            for (std::size_t t = 0; t < trees.n_trees && !ended(t, tasks); ++t) {
                const std::size_t at =
                    trees.offsets[t] + leaf_of(trees, t, [&](std::size_t f) { return x.at(s, f); });
                for (std::size_t v = 0; v < V; ++v) sum[v] += trees.value[at * V + v];
            }
            for (std::size_t v = 0; v < V; ++v) sum[v] /= static_cast<double>(trees.n_trees);
        }
    });
}

namespace {

struct Increase {
    std::uint32_t feature;
    double error;
};

// The scratch of one thread.
class TreePermuter {
public:
    TreePermuter(const TreesView& trees, const Matrix& x, const Truth& truth,
                 const Settings& settings)
        : trees_(trees),
          x_(x),
          truth_(truth),
          settings_(settings),
          samples_(static_cast<std::uint32_t>(x.n_samples)) {}

    void measure(std::size_t t, Tasks& tasks, std::vector<Increase>& out) {
        out.clear();
        const std::uint64_t key = tree_key(settings_.seed, settings_.first_tree + std::uint64_t{t});
        draw_bag(settings_, samples_, key, count_, scratch_);
        oob_.clear();
        for (std::uint32_t s = 0; s < count_.size(); ++s)
            if (count_[s] == 0) oob_.push_back(s);
        if (oob_.empty()) return;
        find_features(t);
        before_.resize(oob_.size());
        for (std::size_t i = 0; i < oob_.size() && !ended(i, tasks); ++i)
            before_[i] = error(t, oob_[i], -1, oob_[i]);

        const ShuffleShape shape(static_cast<std::uint32_t>(oob_.size()));
        const std::uint64_t stream = oob_permutation_key(key);
        scratch_.resize(oob_.size());
        for (std::uint32_t f : features_) {
            if (tasks.stopped()) return;
            Shuffle(shape, step(stream, f)).next(shape.n, scratch_.data());
            double sum = 0.0;
            for (std::size_t i = 0; i < oob_.size() && !ended(i, tasks); ++i)
                sum += error(t, oob_[i], static_cast<std::int32_t>(f), oob_[scratch_[i]]) -
                       before_[i];
            out.push_back({f, sum / static_cast<double>(oob_.size())});
        }
    }

private:
    void find_features(std::size_t t) {
        features_.clear();
        for (std::int64_t at = trees_.offsets[t]; at < trees_.offsets[t + 1]; ++at)
            if (trees_.feature[at] >= 0)
                features_.push_back(static_cast<std::uint32_t>(trees_.feature[at]));
        std::sort(features_.begin(), features_.end());
        features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
    }

    // Error of tree t on sample s, with the value of feature `permuted` taken from sample `donor`.
    double error(std::size_t t, std::uint32_t s, std::int32_t permuted, std::uint32_t donor) const {
        const std::int32_t leaf = leaf_of(trees_, t, [&](std::size_t f) {
            return x_.at(static_cast<std::int32_t>(f) == permuted ? donor : s, f);
        });
        const std::size_t V = trees_.n_values;
        const double* predicted =
            trees_.value + static_cast<std::size_t>(trees_.offsets[t] + leaf) * V;
        if (truth_.classes) {
            const auto largest = std::max_element(predicted, predicted + V) - predicted;
            return largest == truth_.classes[s] ? 0.0 : 1.0;
        }
        double sum = 0.0;
        for (std::size_t v = 0; v < V; ++v) {
            const double off = truth_.numbers[s * V + v] - predicted[v];
            sum += off * off;
        }
        return sum / static_cast<double>(V);
    }

    const TreesView& trees_;
    const Matrix& x_;
    const Truth& truth_;
    const Settings& settings_;
    ShuffleShape samples_;
    std::vector<std::uint32_t> count_, scratch_, oob_, features_;
    std::vector<double> before_;
};

}  // namespace

void oob_permutation(const TreesView& trees, const Matrix& x, const Truth& truth,
                     const Settings& settings, std::size_t n_threads, const Poll& poll,
                     std::vector<double>& sum, std::vector<double>& sum_of_squares) {
    sum.assign(x.n_features, 0.0);
    sum_of_squares.assign(x.n_features, 0.0);
    std::vector<std::vector<Increase>> increases(trees.n_trees);
    parallel_for(trees.n_trees, n_threads, poll, [&](Tasks& tasks) {
        TreePermuter permuter(trees, x, truth, settings);
        for (std::size_t t; tasks.next(t);) permuter.measure(t, tasks, increases[t]);
    });
    // Sums of doubles depend on their order: added in that of the trees, for any number of threads.
    for (const auto& tree : increases)
        for (const Increase& increase : tree) {
            sum[increase.feature] += increase.error;
            sum_of_squares[increase.feature] += increase.error * increase.error;
        }
}

}  // namespace nullforest
