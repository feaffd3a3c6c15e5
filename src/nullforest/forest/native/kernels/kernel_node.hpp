// A node as a fast kernel sees it; shared by the search for a split and the scoring of probes.
#pragma once
#include "kernels/evaluator.hpp"
#include "kernels/kernel_task.hpp"
#include "kernels/sorted_members.hpp"

namespace nullforest {

template <class NodeTask>
class KernelNode {
    static_assert(KernelTask::kMostByOrder == RankLayout::kWalkSamples);

public:
    using Task = NodeTask;
    using Kernel = void (*)(Task& task);

    Task task{};

    KernelNode(const KernelNode&) = delete;
    KernelNode& operator=(const KernelNode&) = delete;

    void begin_tree(const Bag&) {}
    static bool fits(const Bag&, const NodeQuery&) { return true; }  // into the kernel
    // The table whose columns are scored, and the scratch to sort members by them.
    void use(const RankTable& table, SortedMembers& members) {
        task.order = table.order(0);
        task.flags = table.flags();
        task.differs = table.differs(0);
        sorted_ = &members;
    }
    SortedMembers& own_members() { return members_; }

protected:
    KernelNode(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : outcome_(outcome), members_(table) {
        task.stride = table.stride();
        task.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task.n_words = static_cast<std::uint32_t>(table.n_words());
        task.min_leaf = settings.min_leaf;
        task.owner = this;
        task.boundaries = [](void* self, std::uint32_t feature) -> const std::uint8_t* {
            return static_cast<KernelNode*>(self)->sort_by(feature).boundary.data();
        };
        use(table, members_);
    }

    void enter_members(const NodeQuery& node) {
        node_ = &node;
        task.n = node.n;
        task.draw_key = node.draw_key;
        task.found = false;
    }
    // The members of the node in the order of a column.
    SortedMembers& sort_by(std::uint32_t column) {
        sorted_->sort(node_->samples, node_->n, column);
        return *sorted_;
    }

    const Outcome& outcome_;

private:
    SortedMembers members_, *sorted_ = nullptr;
    const NodeQuery* node_ = nullptr;
};

}  // namespace nullforest
