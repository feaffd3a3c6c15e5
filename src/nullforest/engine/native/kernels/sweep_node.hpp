// A node as the sweep kernel sees it: two classes, unweighted, more than 512 samples.
#pragma once
#include <vector>

#include "kernels/kernel_node.hpp"
#include "kernels/sweep_kernel.hpp"

namespace nullforest {

class SweepNode : public BinaryNode<SweepTask> {
public:
    SweepNode(const RankTable& table, const Outcome& outcome, const Settings& settings, Weighting)
        : BinaryNode(table, outcome, settings),
          label_(table.n_samples()),
          open_(table.n_samples()),
          key_(table.n_samples()),
          open_key_(table.n_samples() + 1),
          counts_(table.n_samples()),
          steps_members_(table.n_samples() + 1),
          steps_ones_(table.n_samples() + 1) {
        task.rank_bytes = static_cast<std::uint32_t>(table.rank_bytes());
        task.key = key_.data();
        task.open_key = open_key_.data();
        task.counts = counts_.data();
        task.members = steps_members_.data() + 1;  // entry -1 stays 0
        task.ones = steps_ones_.data() + 1;
        task.open = open_.data();
        task.label = label_.data();
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        task.samples = node.samples;
        task.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t label = outcome_.label[node.samples[i]];
            label_[i] = static_cast<std::uint8_t>(label);
            task.n_ones += label;
        }
    }

private:
    std::vector<std::uint8_t> label_, open_;
    std::vector<std::uint32_t> key_, open_key_, counts_;
    std::vector<std::int32_t> steps_members_, steps_ones_;
};

}  // namespace nullforest
