// The best split of a node by each column: members added up by codes where that pays, else sorted.
//
// By codes: columns of at most 256 distinct values, and scores whose members add. Every member adds one and its draws to its class, or its draws and what it adds to each output. Only
// the splits between codes are scored; missing values are the last code.
#pragma once
#include <type_traits>
#include <vector>

#include "kernels/column_splits.hpp"
#include "kernels/split_scores.hpp"

namespace nullforest {

// The scratch of one thread.
template <class Score>
class CodedMembers {
public:
    CodedMembers(const RankTable& table, const Outcome& outcome)
        : table_(table),
          outcome_(outcome),
          width_(outcome.classes() ? outcome.n_classes : 1 + outcome.n_outputs),
          fewest_(kFewest + kFewestPerSum * static_cast<std::uint32_t>(width_)),
          one_code_(width_) {}

    // Whether adding up so many members costs less than sorting them.
    bool pays(std::uint32_t n) const { return n >= fewest_ && table_.codes(); }
    // Classes and a single output are copied to the members; many outputs would take much memory.
    void enter(const Bag& bag, const std::uint32_t* samples, std::uint32_t n) {
        bag_ = &bag;
        samples_ = samples;
        n_ = n;
        const std::size_t parts = Score::kClasses ? 1 : width_ == 2 ? 2 : 0;
        parts_.resize(parts * n);
        label_.resize(Score::kClasses ? n : 0);
        for (std::uint32_t i = 0; i < n && parts > 0; ++i) {
            const std::uint32_t s = samples[i];
            const std::int64_t draws = bag.count[s];
            parts_[parts * i] = kMember | draws;
            if (Score::kClasses) label_[i] = outcome_.label[s];
            if (parts == 2) parts_[2 * i + 1] = draws * outcome_.fixed[s];
        }
    }

    // The best split of a column; `score` has entered the node.
    ColumnBest<Score> best_of(std::uint32_t column, Score& score, std::uint32_t min_leaf) {
        std::uint32_t end = table_.n_codes(column), missing = 0;
        sums_.assign(end * width_, 0);
        add_up(table_.codes() + column * table_.code_stride());
        ColumnBest<Score> best;
        if (table_.flags()[column] & RankTable::kMissing) missing = read(--end);
        const std::uint32_t known = n_ - missing;
        if (!try_codes(end, known, 0, column, score, min_leaf, best) && missing > 0 && known > 0)
            try_codes(end, known - 1, missing, column, score, min_leaf, best);
        return best;
    }

private:
    // Members and classes or outputs from which this pays; measured.
    static constexpr std::uint32_t kFewest = 96, kFewestPerSum = 16;
    static constexpr std::int64_t kMember = std::int64_t{1} << 32;  // above the draws

    void add_up(const std::uint8_t* code) {
        std::int64_t* sums = sums_.data();
        const std::int64_t* part = parts_.data();
        const std::size_t width = width_;
        if (Score::kClasses)
            for (std::uint32_t i = 0; i < n_; ++i)
                sums[width * code[samples_[i]] + label_[i]] += part[i];
        else if (width == 2)
            for (std::uint32_t i = 0; i < n_; ++i) {
                std::int64_t* at = sums + 2 * std::size_t{code[samples_[i]]};
                at[0] += part[2 * i];
                at[1] += part[2 * i + 1];
            }
        else
            for (std::uint32_t i = 0; i < n_; ++i) {
                const std::size_t s = samples_[i];
                const std::int64_t draws = bag_->count[s], *y = &outcome_.fixed[s * (width - 1)];
                std::int64_t* at = sums + width * code[s];
                at[0] += kMember | draws;
                for (std::size_t q = 1; q < width; ++q) at[q] += draws * y[q - 1];
            }
    }
    // The members of a code; what they add to the score is left in `one_code_`.
    std::uint32_t read(std::uint32_t code) {
        const std::int64_t* sums = sums_.data() + width_ * code;
        std::int64_t members = 0;
        for (std::size_t q = 0; q < width_; ++q) {
            const bool draws = Score::kClasses || q == 0;
            members += draws ? sums[q] / kMember : 0;
            one_code_[q] = draws ? sums[q] % kMember : sums[q];
        }
        return static_cast<std::uint32_t>(members);
    }
    // The splits between codes, up to that after `last` known members, with so many missing values on
    // the left. True when nothing can beat the best.
    bool try_codes(std::uint32_t end, std::uint32_t last, std::uint32_t missing_left,
                   std::uint32_t column, Score& score, std::uint32_t min_leaf,
                   ColumnBest<Score>& best) {
        score.restart();
        if (missing_left > 0) {
            read(end);
            score.cross_all(one_code_.data());
        }
        for (std::uint32_t code = 0, k = 0; code < end; ++code) {
            const std::uint32_t members = read(code);
            if (members == 0) continue;
            k += members;
            const std::uint32_t left = k + missing_left;
            if (k > last || left >= n_) break;
            score.cross_all(one_code_.data());
            if (left < min_leaf || n_ - left < min_leaf) continue;
            const auto value = score.score();
            if (best.found && !(value > best.value)) continue;
            best.found = true;
            best.value = value;
            best.split = {column, k, missing_left > 0};
            if (score.perfect(value)) return true;
        }
        return false;
    }

    const RankTable& table_;
    const Outcome& outcome_;
    std::size_t width_;
    std::uint32_t fewest_, n_ = 0;
    const Bag* bag_ = nullptr;
    const std::uint32_t* samples_ = nullptr;
    std::vector<std::uint32_t> label_;
    std::vector<std::int64_t> parts_, sums_, one_code_;
};

// The scratch of one thread. The generic kernels always sort.
template <class Score>
class ColumnSearch {
public:
    ColumnSearch(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : min_leaf_(settings.min_leaf),
          may_use_codes_(settings.isa != Isa::generic),
          sorted_(table),
          coded_(table, outcome) {}

    void enter(const Bag& bag, const NodeQuery& node, Score& score) {
        score_ = &score;
        by_codes_ = false;
        if constexpr (Score::kAdds) by_codes_ = may_use_codes_ && coded_.pays(node.n);
        if (!by_codes_) return sorted_.enter(node.samples, node.n);
        if constexpr (Score::kAdds) coded_.enter(bag, node.samples, node.n);
    }
    // `so_far`: of other columns, for searches that find only what is better.
    ColumnBest<Score> best_of(std::uint32_t column, const ColumnBest<Score>& = {}) {
        if constexpr (Score::kAdds)
            if (by_codes_) return coded_.best_of(column, *score_, min_leaf_);
        return {column, sorted_.sort_by(column), *score_, min_leaf_};
    }
    void leave() {
        if (!by_codes_) sorted_.leave();
    }

private:
    struct Nothing {
        Nothing(const RankTable&, const Outcome&) {}
    };
    std::uint32_t min_leaf_;
    bool may_use_codes_, by_codes_ = false;
    Score* score_ = nullptr;
    SortedMembers sorted_;
    std::conditional_t<Score::kAdds, CodedMembers<Score>, Nothing> coded_;
};

}  // namespace nullforest
