// The best split of a large node by each column, where it may be better than the best so far: the stairs
// bound the scores within steps of rank, and only the members of open steps are sorted and scored.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/column_splits.hpp"
#include "kernels/kernels.hpp"
#include "kernels/split_scores.hpp"

namespace nullforest {

// The node as the stairs kernel sees it.
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

    void enter(const Bag& bag, const NodeQuery& node) {
        bag_ = &bag;
        task_.counts = bag.weighting == Weighting::counts;
        task_.n = node.n;
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

// The scratch of one thread.
template <class Score>
class StairsSearch {
public:
    StairsSearch(const RankTable& table, const Outcome& outcome, const Settings& settings,
                 const Kernels& kernels)
        : table_(table),
          min_leaf_(settings.min_leaf),
          sorted_(table),
          bounds_(table, outcome, settings, kernels) {}

    void enter(const Bag& bag, const NodeQuery& node, Score& score) {
        node_ = &node;
        score_ = &score;
        sorted_.enter(node.samples, node.n);
        bounds_.enter(bag, node);
    }
    ColumnBest<Score> best_of(std::uint32_t column, const ColumnBest<Score>& so_far) {
        if (table_.flags()[column] & RankTable::kMissing)
            return {column, sorted_.sort_by(column), *score_, min_leaf_};
        const std::uint64_t open =
            so_far.found ? bounds_.open(column, so_far.value) : bounds_.open(column);
        if (!open) return {};
        return best_within(open, column);
    }
    void leave() { sorted_.leave(); }

private:
    // The best split within the open steps, one bit each. A score does not depend on the order in which
    // the members of other steps cross.
    ColumnBest<Score> best_within(std::uint64_t open, std::uint32_t column) {
        const StairsSums& sums = bounds_.sums();
        table_.with_ranks(column, [&](const auto* rank) { sort_those_in(open, rank); });
        ColumnBest<Score> best;
        score_->restart();
        const std::uint64_t* member = members_.data();
        for (std::uint32_t b = 0, k = 0; b < RankSteps::kSteps; ++b) {
            if (!(open >> b & 1)) {
                if (sums.count[b]) score_->cross_all(sums.of[b]);
                k += sums.count[b];
                continue;
            }
            for (const std::uint64_t* end = member + sums.count[b]; member < end; ++member) {
                score_->cross(static_cast<std::uint32_t>(*member));
                const auto rank = static_cast<std::uint32_t>(*member >> 32);
                const auto differ = [&] {
                    const std::uint32_t next = member + 1 == end
                                                   ? rank_after(rank, column)
                                                   : static_cast<std::uint32_t>(member[1] >> 32);
                    return any_bit(table_.differs(column), rank, next);
                };
                if (offer(++k, column, best, differ)) return best;
            }
        }
        return best;
    }
    // The split after k members; true when nothing can beat it. differ(): whether the values on both
    // sides do.
    template <class Differ>
    bool offer(std::uint32_t k, std::uint32_t column, ColumnBest<Score>& best,
               const Differ& differ) const {
        if (k < min_leaf_ || k + min_leaf_ > node_->n || k == node_->n) return false;
        const auto value = score_->score();
        if (best.found && !(value > best.value)) return false;
        if ((table_.flags()[column] & RankTable::kTied) && !differ()) return false;
        best.found = true;
        best.value = value;
        best.split = {column, k, false};
        return score_->perfect(value);
    }
    // The rank of the next member. (A damaged table may have none: then the last of all.)
    std::uint32_t rank_after(std::uint32_t rank, std::uint32_t column) const {
        auto next = static_cast<std::uint32_t>(table_.n_samples()) - 1;
        table_.with_ranks(column, [&](const auto* ranks) {
            for (std::uint32_t i = 0; i < node_->n; ++i) {
                const std::uint32_t r = ranks[node_->samples[i]];
                next = r > rank && r < next ? r : next;
            }
        });
        return next;
    }

    template <class Rank>
    void sort_those_in(std::uint64_t open, const Rank* rank) {
        const std::uint8_t* step_of = table_.steps()->step_of();
        members_.resize(node_->n + 1);
        std::uint32_t found = 0;
        for (std::uint32_t i = 0; i < node_->n; ++i) {  // written, and overwritten if not wanted
            const std::uint32_t s = node_->samples[i];
            members_[found] = std::uint64_t{rank[s]} << 32 | s;
            found += open >> step_of[rank[s]] & 1;
        }
        std::sort(members_.begin(), members_.begin() + found);
    }

    const RankTable& table_;
    std::uint32_t min_leaf_;
    const NodeQuery* node_ = nullptr;
    Score* score_ = nullptr;
    SortedMembers sorted_;
    StairsNode bounds_;
    std::vector<std::uint64_t> members_;  // rank and sample of those in open steps
};

}  // namespace nullforest
