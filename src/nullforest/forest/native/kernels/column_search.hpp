// The best split of a node by each column: members added up by codes where that pays, else sorted.
#pragma once
#include <type_traits>

#include "kernels/coded_members.hpp"
#include "kernels/column_splits.hpp"

namespace nullforest {

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
    ColumnBest<Score> best_of(std::uint32_t column) {
        if constexpr (Score::kAdds)
            if (by_codes_) return coded_.best_of(column, *score_, min_leaf_);
        return {column, sorted_, *score_, min_leaf_};
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
