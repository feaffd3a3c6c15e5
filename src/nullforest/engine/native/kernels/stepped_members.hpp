// The splits of a large node by a column of ranks within some of the steps of rank alone.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/column_splits.hpp"

namespace nullforest {

// The scratch of one thread.
class SteppedMembers {
public:
    explicit SteppedMembers(const RankTable& table) : table_(table) {}

    // Asks for what a look at a column reads: the ranks of the members one by one, or all of them
    // where that is less.
    void fetch(const NodeQuery& node, std::uint32_t feature) const {
        constexpr std::size_t kLine = 64, kMost = 512;  // two batches fit a second-level cache
        const std::size_t bytes = static_cast<std::size_t>(table_.rank_bytes());
        const std::uint8_t* column = table_.order(feature);
        const std::size_t n_lines = table_.n_samples() * bytes / kLine;
        if (node.n < n_lines && node.n <= kMost)
            for (std::uint32_t i = 0; i < node.n; ++i)
                __builtin_prefetch(column + bytes * node.samples[i], 0, 2);
        else if (node.n >= n_lines && n_lines <= kMost)
            for (std::size_t b = 0; b < n_lines; ++b) __builtin_prefetch(column + kLine * b, 0, 2);
    }

    // Sorts the members of a node into the steps of a column without missing values.
    void enter(const NodeQuery& node, std::uint32_t feature) {
        feature_ = feature;
        table_.rank_bytes() == 2 ? sort_into_steps(node, table_.ranks16(feature))
                                 : sort_into_steps(node, table_.ranks32(feature));
    }
    // The best of the splits at the ends of steps.
    template <class Score>
    ColumnBest<Score> best_end(Score& score, std::uint32_t min_leaf) const {
        ColumnBest<Score> best;
        score.restart();
        for (std::uint32_t b = 0, k = 0; b < RankSteps::kSteps; ++b) {
            if (k == end_[b]) continue;
            for (; k < end_[b]; ++k) score.cross(sample(k));
            offer(k, b, score, min_leaf, best);
        }
        return best;
    }
    // The best split of the open steps, one bit each. A score does not depend on the order in which
    // the members of other steps cross.
    template <class Score>
    ColumnBest<Score> best_of(std::uint64_t open, Score& score, std::uint32_t min_leaf) {
        ColumnBest<Score> best;
        score.restart();
        for (std::uint32_t b = 0, k = 0; b < RankSteps::kSteps; ++b) {
            const bool is_open = open >> b & 1;
            if (is_open) std::sort(member_.begin() + k, member_.begin() + end_[b]);
            while (k < end_[b]) {
                score.cross(sample(k++));
                if (is_open && offer(k, b, score, min_leaf, best)) return best;
            }
        }
        return best;
    }

private:
    std::uint32_t sample(std::uint32_t k) const { return static_cast<std::uint32_t>(member_[k]); }

    // The split after k members, the last of them in step b; true when nothing can beat it.
    template <class Score>
    bool offer(std::uint32_t k, std::uint32_t b, Score& score, std::uint32_t min_leaf,
               ColumnBest<Score>& best) const {
        const std::uint32_t n = static_cast<std::uint32_t>(member_.size());
        if (k < min_leaf || k + min_leaf > n || k == n) return false;
        const auto value = score.score();
        if (best.found && !(value > best.value)) return false;
        if ((table_.flags()[feature_] & RankTable::kTied) && !differ_after(k, b)) return false;
        best.found = true;
        best.value = value;
        best.split = {feature_, k, false};
        return score.perfect(value);
    }

    template <class Rank>
    void sort_into_steps(const NodeQuery& node, const Rank* rank) {
        const std::uint8_t* step_of = table_.steps()->step_of();
        std::uint32_t next[RankSteps::kSteps + 1] = {};
        member_.resize(node.n);
        step_.resize(node.n);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            step_[i] = step_of[rank[node.samples[i]]];
            ++next[step_[i] + 1];
        }
        for (std::uint32_t b = 0; b < RankSteps::kSteps; ++b) next[b + 1] += next[b];
        std::copy(next + 1, next + RankSteps::kSteps + 1, end_);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            member_[next[step_[i]]++] = std::uint64_t{rank[s]} << 32 | s;
        }
    }
    // Whether the values of the members k and k + 1, counted from 1, differ; the first is in step b,
    // which is sorted, or at its end.
    bool differ_after(std::uint32_t k, std::uint32_t b) const {
        const auto at = [&](std::uint32_t i) { return member_.begin() + i; };
        std::uint64_t before = member_[k - 1], after = member_[k];
        if (k == end_[b]) {
            before = *std::max_element(at(b ? end_[b - 1] : 0), at(k));
            while (end_[b] == k) ++b;
            after = *std::min_element(at(k), at(end_[b]));
        }
        return any_bit(table_.differs(feature_), static_cast<std::uint32_t>(before >> 32),
                       static_cast<std::uint32_t>(after >> 32));
    }

    const RankTable& table_;
    std::uint32_t feature_ = 0;
    std::vector<std::uint64_t> member_;  // rank and sample
    std::vector<std::uint8_t> step_;
    std::uint32_t end_[RankSteps::kSteps];
};

}  // namespace nullforest
