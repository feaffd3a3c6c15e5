// A node as the walk kernel sees it; shared by the search for a split and the scoring of probes.
#pragma once
#include <algorithm>

#include "kernels/binary_columns.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/sorted_members.hpp"
#include "kernels/walk_kernel.hpp"

namespace nullforest {

class WalkNode {
public:
    WalkNode(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : outcome_(outcome), members_(table) {
        task.stride = table.stride();
        task.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task.n_words = static_cast<std::uint32_t>(table.n_words());
        task.min_leaf = settings.min_leaf;
        task.owner = this;
        task.try_slowly = [](void* self, WalkTask& task, std::uint32_t feature) {
            auto& node = *static_cast<WalkNode*>(self);
            try_missing(task, feature, node.sort_by(feature), node.outcome_);
        };
        task.boundaries = [](void* self, std::uint32_t feature) -> const std::uint8_t* {
            return static_cast<WalkNode*>(self)->sort_by(feature).boundary.data();
        };
        use(table, members_);
    }
    WalkNode(const WalkNode&) = delete;
    WalkNode& operator=(const WalkNode&) = delete;

    WalkTask task{};

    // The table whose columns are scored, and the scratch to sort members by them.
    void use(const RankTable& table, SortedMembers& members) {
        task.order = table.order(0);
        task.flags = table.flags();
        sorted_ = &members;
    }
    SortedMembers& own_members() { return members_; }

    void enter(const NodeQuery& node) {
        node_ = &node;
        std::fill(task.member, task.member + 8, 0);
        std::fill(task.one, task.one + 8, 0);
        task.n = node.n;
        task.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], label = outcome_.label[s];
            task.member[s / 64] |= std::uint64_t{1} << s % 64;
            task.one[s / 64] |= std::uint64_t{label} << s % 64;
            task.n_ones += label;
        }
        task.found = false;
        task.best_num = 0;
        task.best_den = 1;
    }

    // The members of the node in the order of a column.
    SortedMembers& sort_by(std::uint32_t column) {
        sorted_->enter(node_->samples, node_->n);
        sorted_->sort_by(column);
        sorted_->leave();
        return *sorted_;
    }

private:
    const Outcome& outcome_;
    SortedMembers members_, *sorted_ = &members_;
    const NodeQuery* node_ = nullptr;
};

}  // namespace nullforest
