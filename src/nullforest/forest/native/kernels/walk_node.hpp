// A node as the walk kernel sees it: two classes, unweighted, at most 1024 samples.
#pragma once
#include "kernels/kernel_node.hpp"
#include "kernels/walk_task.hpp"

namespace nullforest {

class WalkNode : public BinaryNode<WalkTask> {
public:
    WalkNode(const RankTable& table, const Outcome& outcome, const Settings& settings, Weighting)
        : BinaryNode(table, outcome, settings) {
        for (std::uint32_t s = 0; s < outcome.label.size(); ++s)
            ones_[s / 64] |= std::uint64_t{outcome.label[s]} << s % 64;
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        task.samples = node.samples;
        task.ones = ones_;
        task.is_new = true;
    }

private:
    std::uint64_t ones_[WalkTask::kMostByOrder / 64] = {};  // the samples of the second class
};

}  // namespace nullforest
