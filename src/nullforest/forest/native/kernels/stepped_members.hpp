// The splits of a large node by a column of ranks within some of the steps of rank alone.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/column_splits.hpp"
#include "kernels/kernel_task.hpp"
#include "kernels/stairs_task.hpp"

namespace nullforest {

// The scratch of one thread.
class SteppedMembers {
public:
    explicit SteppedMembers(const RankTable& table) : table_(table) {}

    // The members of a node by a column without missing values, added up in steps already.
    void enter(const NodeQuery& node, std::uint32_t feature, const StairsSums& sums) {
        node_ = &node;
        feature_ = feature;
        sums_ = &sums;
    }
    // The best split of the open steps, one bit each. A score does not depend on the order in which
    // the members of other steps cross.
    template <class Score>
    ColumnBest<Score> best_of(std::uint64_t open, Score& score, std::uint32_t min_leaf) {
        table_.rank_bytes() == 2 ? sort_those_in(open, table_.ranks16(feature_))
                                 : sort_those_in(open, table_.ranks32(feature_));
        ColumnBest<Score> best;
        score.restart();
        const std::uint64_t* member = sorted_.data();
        for (std::uint32_t b = 0, k = 0; b < RankSteps::kSteps; ++b) {
            if (!(open >> b & 1)) {
                if (sums_->count[b]) score.cross_all(sums_->of[b]);
                k += sums_->count[b];
                continue;
            }
            for (const std::uint64_t* end = member + sums_->count[b]; member < end; ++member) {
                score.cross(static_cast<std::uint32_t>(*member));
                const auto rank = static_cast<std::uint32_t>(*member >> 32);
                const auto differ = [&] {
                    const std::uint32_t next = member + 1 == end
                                                   ? rank_after(rank)
                                                   : static_cast<std::uint32_t>(member[1] >> 32);
                    return any_bit(table_.differs(feature_), rank, next);
                };
                if (offer(++k, score, min_leaf, best, differ)) return best;
            }
        }
        return best;
    }

private:
    // The split after k members; true when nothing can beat it. differ(): whether the values on both
    // sides do.
    template <class Score, class Differ>
    bool offer(std::uint32_t k, Score& score, std::uint32_t min_leaf, ColumnBest<Score>& best,
               const Differ& differ) const {
        if (k < min_leaf || k + min_leaf > node_->n || k == node_->n) return false;
        const auto value = score.score();
        if (best.found && !(value > best.value)) return false;
        if ((table_.flags()[feature_] & RankTable::kTied) && !differ()) return false;
        best.found = true;
        best.value = value;
        best.split = {feature_, k, false};
        return score.perfect(value);
    }
    // The rank of the next member. (A damaged table may have none: then the last of all.)
    std::uint32_t rank_after(std::uint32_t rank) const {
        auto next = static_cast<std::uint32_t>(table_.n_samples()) - 1;
        const auto look = [&](const auto* ranks) {
            for (std::uint32_t i = 0; i < node_->n; ++i) {
                const std::uint32_t r = ranks[node_->samples[i]];
                next = r > rank && r < next ? r : next;
            }
        };
        table_.rank_bytes() == 2 ? look(table_.ranks16(feature_)) : look(table_.ranks32(feature_));
        return next;
    }

    template <class Rank>
    void sort_those_in(std::uint64_t open, const Rank* rank) {
        const std::uint8_t* step_of = table_.steps()->step_of();
        sorted_.resize(node_->n + 1);
        std::uint32_t found = 0;
        for (std::uint32_t i = 0; i < node_->n; ++i) {  // written, and overwritten if not wanted
            const std::uint32_t s = node_->samples[i];
            sorted_[found] = std::uint64_t{rank[s]} << 32 | s;
            found += open >> step_of[rank[s]] & 1;
        }
        std::sort(sorted_.begin(), sorted_.begin() + found);
    }

    const RankTable& table_;
    std::uint32_t feature_ = 0;
    const NodeQuery* node_ = nullptr;
    const StairsSums* sums_ = nullptr;
    std::vector<std::uint64_t> sorted_;  // rank and sample of the members of open steps
};

}  // namespace nullforest
