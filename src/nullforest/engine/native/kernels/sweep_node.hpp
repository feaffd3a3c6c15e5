// A node as the sweep kernel sees it: two classes, unweighted, more than 512 samples.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/kernel_node.hpp"
#include "kernels/sweep_kernel.hpp"

namespace nullforest {

class SweepNode : public BinaryNode<SweepTask> {
public:
    SweepNode(const RankTable& table, const Outcome& outcome, const Settings& settings, Weighting)
        : BinaryNode(table, outcome, settings),
          members_(table.n_samples()),
          key_(table.n_samples()),
          counts_(n_steps(table)),
          sums_(n_steps(table) + 1),
          open_(n_steps(table)),
          wide_counts_(table.n_samples() < SweepTask::kNarrow ? 0 : n_steps(table)),
          wide_sums_(wide_counts_.size() + 1) {
        use(table, own_members());
        task.members = members_.data();
        task.key = key_.data();
        task.counts = counts_.data();
        task.sums = sums_.data() + 1;  // entry -1 stays 0
        task.open = open_.data();
        task.wide_counts = wide_counts_.data();
        task.wide_sums = wide_sums_.data() + 1;
    }

    // The table whose columns are scored: by codes where it has few distinct values.
    void use(const RankTable& table, SortedMembers& members) {
        BinaryNode::use(table, members);
        const std::uint8_t* codes = table.codes();
        task.rank_bytes = codes ? 1 : static_cast<std::uint32_t>(table.rank_bytes());
        task.stride = codes ? table.code_stride() : table.stride();
        if (codes) task.order = codes;
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        std::uint32_t ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) ones += outcome_.label[node.samples[i]];
        std::uint32_t* next[2] = {members_.data() + ones, members_.data()};
        for (std::uint32_t i = 0; i < node.n; ++i)
            *next[outcome_.label[node.samples[i]]]++ = node.samples[i];
        task.n_ones = ones;
    }

private:
    static std::size_t n_steps(const RankTable& table) {
        return std::max<std::size_t>(table.n_samples() / 3 + 2, 256) + SweepTask::kVector;
    }

    std::vector<std::uint32_t> members_, key_, counts_, sums_;
    std::vector<std::uint8_t> open_;
    std::vector<std::uint64_t> wide_counts_, wide_sums_;
};

}  // namespace nullforest
