// A node as the walk kernel sees it: two classes, unweighted, at most 1024 samples.
#pragma once
#include <algorithm>

#include "kernels/kernel_node.hpp"
#include "kernels/walk_kernel.hpp"

namespace nullforest {

class WalkNode : public BinaryNode<WalkTask> {
public:
    WalkNode(const RankTable& table, const Outcome& outcome, const Settings& settings, Weighting)
        : BinaryNode(table, outcome, settings) {}

    void enter(const NodeQuery& node) {
        enter_members(node);
        std::fill(task.member, task.member + task.n_words, 0);
        std::fill(task.one, task.one + task.n_words, 0);
        task.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], label = outcome_.label[s];
            task.member[s / 64] |= std::uint64_t{1} << s % 64;
            task.one[s / 64] |= std::uint64_t{label} << s % 64;
            task.n_ones += label;
        }
    }
};

}  // namespace nullforest
