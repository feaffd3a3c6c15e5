// A node as the stairs kernel sees it: one number, unweighted, more than 512 samples.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/ceiling.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/stairs_kernel.hpp"

namespace nullforest {

class StairsNode {
public:
    StairsNode(const RankTable& table, const Outcome& outcome, const Settings& settings,
               StairsKernel kernel)
        : outcome_(outcome), kernel_(kernel) {
        const std::size_t S = table.n_samples(), most = std::max(S, std::size_t{33});
        const std::size_t n_steps = most / 3 + 2 + 3 * StairsTask::kVector;
        parts_.resize(4 * std::min<std::size_t>(most, StairsTask::kExactInFloats));
        sums_.resize(4 * std::min<std::size_t>(n_steps, StairsTask::kExactInFloats));
        steps_.resize(sums_.size());
        if (S > StairsTask::kExactInFloats) {
            wide_parts_.resize(4 * S);
            wide_sums_.resize(4 * n_steps);
            wide_steps_.resize(4 * n_steps);
        }
        task_.n_samples = static_cast<std::uint32_t>(S);
        task_.rank_bytes = static_cast<std::uint32_t>(table.rank_bytes());
        task_.stride = table.stride();
        task_.min_leaf = settings.min_leaf;
        task_.parts = parts_.data();
        task_.sums = sums_.data();
        task_.steps = steps_.data();
        task_.wide_parts = wide_parts_.data();
        task_.wide_sums = wide_sums_.data();
        task_.wide_steps = wide_steps_.data();
    }

    void enter(const NodeQuery& node) {
        const std::uint32_t n = node.n, *samples = node.samples;
        task_.n = n;
        task_.members = samples;
        double mean = 0.0, largest = 0.0;
        std::int64_t sum = 0;  // below 2^62
        for (std::uint32_t i = 0; i < n; ++i) sum += outcome_.fixed[samples[i]];
        mean = static_cast<double>(sum) / n;
        for (std::uint32_t i = 0; i < n; ++i)
            largest = std::max(largest, std::fabs(static_cast<double>(outcome_.fixed[samples[i]]) -
                                                  mean));
        // D is n times the sum of y less its mean.
        scale_ = largest > 0.0 ? 1.0 / largest : 1.0;
        task_.sum_of_absolutes = 0.0;
        for (std::uint32_t i = 0; i < n; ++i) {
            const double part = (static_cast<double>(outcome_.fixed[samples[i]]) - mean) * scale_;
            task_.sum_of_absolutes += std::fabs(part);
            const double both[2] = {std::max(part, 0.0), std::min(part, 0.0)};
            if (n <= StairsTask::kExactInFloats) {
                for (int p = 0; p < 2; ++p) parts_[4 * i + p] = static_cast<float>(both[p]);
                parts_[4 * i + 2] = 1.0f;
            } else {
                for (int p = 0; p < 2; ++p) wide_parts_[4 * i + p] = both[p];
                wide_parts_[4 * i + 2] = 1.0;
            }
        }
        scale_ /= n;
        enter_ceiling(node);
    }

    // The first of these columns that may reach a score (of split_scores.hpp).
    std::uint32_t first(const RankTable& table, double score, const std::uint32_t* columns,
                        std::uint32_t count) {
        task_.block = table.order(0);
        task_.level = score * scale_ * scale_ * (1.0 - 0x1p-16);
        return kernel_(task_, columns, count);
    }
    // Whether no division of the members scores more.
    bool highest(double score) const { return score >= ceiling_; }

private:
    void enter_ceiling(const NodeQuery& node) {
        ceiling_ = std::numeric_limits<double>::infinity();
        if (node.n > ScanTask::kMostCeiling) return;
        std::int64_t crossing[ScanTask::kMostCeiling], sum = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) sum += outcome_.fixed[node.samples[i]];
        for (std::uint32_t i = 0; i < node.n; ++i)
            crossing[i] = std::int64_t{node.n} * outcome_.fixed[node.samples[i]] - sum;
        ceiling_ = highest_of_numbers(crossing, node.n, task_.min_leaf);
    }

    const Outcome& outcome_;
    StairsKernel kernel_;
    StairsTask task_{};
    double scale_ = 1.0, ceiling_ = 0.0;
    std::vector<float> parts_, sums_, steps_;
    std::vector<double> wide_parts_, wide_sums_, wide_steps_;
};

}  // namespace nullforest
