// A node as the walk kernel sees it: two classes, unweighted, at most 1024 samples.
#pragma once
#include <algorithm>

#include "kernels/kernel_node.hpp"
#include "kernels/walk_kernel.hpp"

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
        std::fill(task.member, task.member + task.n_words, 0);
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            task.member[s / 64] |= std::uint64_t{1} << s % 64;
        }
        task.n_ones = 0;
        for (std::uint32_t w = 0; w < task.n_words; ++w) {
            task.one[w] = task.member[w] & ones_[w];
            task.n_ones += static_cast<std::uint32_t>(__builtin_popcountll(task.one[w]));
        }
    }

private:
    std::uint64_t ones_[WalkTask::kMostByOrder / 64] = {};  // the samples of the second class
};

}  // namespace nullforest
