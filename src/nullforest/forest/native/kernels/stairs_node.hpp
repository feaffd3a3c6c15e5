// A large node as the stairs kernel sees it.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/evaluator.hpp"
#include "kernels/kernels.hpp"
#include "kernels/split_scores.hpp"

namespace nullforest {

class StairsNode {
    static_assert(StairsSums::kSteps == RankSteps::kSteps);

public:
    StairsNode(const RankTable& table, const Outcome& outcome, const Settings& settings,
               const Kernels& kernels)
        : outcome_(outcome),
          kernel_(kernels.stairs),
          parts_(outcome.classes() ? 0 : 4 * table.n_samples()),
          one_(outcome.classes() ? 0 : table.n_samples()),
          draws_(outcome.classes() ? table.n_samples() : 0),
          classes_(draws_.size()) {
        task_.rank_bytes = static_cast<std::uint32_t>(table.rank_bytes());
        task_.stride = table.stride();
        task_.step_of = table.steps()->step_of();
        task_.min_leaf = settings.min_leaf;
        task_.n_classes = outcome.classes() ? outcome.n_classes : 0;
        task_.parts = parts_.data();
        task_.draws = draws_.data();
        task_.classes = classes_.data();
        task_.unit = 1.0 / kUnits;
        task_.sums = &sums_;
        task_.block = table.order(0);
    }

    void begin_tree(const Bag& bag) {
        bag_ = &bag;
        task_.counts = bag.weighting == Weighting::counts;
    }
    void enter(const NodeQuery& node) {
        task_.n = node.n;
        task_.column = StairsTask::kNone;
        task_.samples = node.samples;
        outcome_.classes() ? enter_classes(node) : enter_numbers(node);
    }

    // Of the column that was asked for last.
    const StairsSums& sums() const { return sums_; }

    // The steps of a column that hold a split, one bit each, or of them those that may reach a score.
    std::uint64_t open(std::uint32_t column) {
        task_.level = -1.0;
        return kernel_(task_, column);
    }
    std::uint64_t open(std::uint32_t column, double score) {
        task_.level = score * scale_ * scale_ * (1.0 - 0x1p-30);
        return kernel_(task_, column);
    }
    std::uint64_t open(std::uint32_t column, const Fraction& score) {
        // The squares of D over all classes add up to so much, times k (W - k).
        const double gain = task_.weight * static_cast<double>(score.top) /
                                static_cast<double>(score.bottom) - squares_;
        task_.level = gain - 0x1p-40 * squares_;
        return kernel_(task_, column);
    }

private:
    void enter_numbers(const NodeQuery& node) {
        Wide weight = 0, sum = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            sum += Wide{bag_->count[s]} * outcome_.fixed[s];
            weight += bag_->count[s];
        }
        // What one draw of a member adds to D, at most 1.
        double largest = 0.0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            one_[i] = static_cast<double>(weight * outcome_.fixed[node.samples[i]] - sum);
            largest = std::max(largest, std::fabs(one_[i]));
        }
        scale_ = largest > 0.0 ? 1.0 / largest : 1.0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            const std::int64_t draws = bag_->count[s];
            const std::int64_t part = std::llrint(kUnits * one_[i] * scale_) * draws;
            parts_[4 * i] = draws | std::int64_t{1} << 32;
            parts_[4 * i + 1] = std::max<std::int64_t>(part, 0);
            parts_[4 * i + 2] = std::min<std::int64_t>(part, 0);
            parts_[4 * i + 3] = draws * outcome_.fixed[s];
        }
        task_.weight = static_cast<double>(weight);
        // Half a unit for each draw, and the roundings of products and sums of doubles.
        task_.lost = task_.weight * (0.5 / kUnits + 0x1p-48);
    }
    void enter_classes(const NodeQuery& node) {
        std::fill(task_.total, task_.total + StairsTask::kMostClasses, 0.0);
        task_.weight = task_.lost = squares_ = 0.0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], c = outcome_.label[s];
            draws_[i] = bag_->count[s];
            classes_[i] = static_cast<std::uint8_t>(c);
            task_.total[c] += draws_[i];
            task_.weight += draws_[i];
        }
        for (const double total : task_.total) squares_ += total * total;
    }

    static constexpr double kUnits = 0x1p30;  // sums of 2^32 draws have room

    const Outcome& outcome_;
    decltype(Kernels::stairs) kernel_;
    const Bag* bag_ = nullptr;
    StairsTask task_{};
    double scale_ = 1.0, squares_ = 0.0;
    StairsSums sums_;
    std::vector<std::int64_t> parts_;
    std::vector<double> one_;
    std::vector<std::uint32_t> draws_;
    std::vector<std::uint8_t> classes_;
};

}  // namespace nullforest
