// A node of two classes, unweighted, as the walk and the sweep see it.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/binary_task.hpp"
#include "kernels/column_splits.hpp"
#include "kernels/kernel_node.hpp"

namespace nullforest {

// Two classes: columns with missing values are tried one split at a time.
template <class NodeTask>
class BinaryNode : public KernelNode<NodeTask> {
protected:
    BinaryNode(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : KernelNode<NodeTask>(table, outcome, settings) {
        this->task.try_slowly = [](void* self, std::uint32_t feature) {
            static_cast<BinaryNode*>(static_cast<KernelNode<NodeTask>*>(self))->try_all(feature);
        };
    }

private:
    struct Left {
        const Outcome& outcome;
        std::uint32_t members = 0, ones = 0;
        void restart() { members = ones = 0; }
        void cross(std::uint32_t sample) {
            ++members;
            ones += outcome.label[sample];
        }
    };

    void try_all(std::uint32_t feature) {
        NodeTask& task = this->task;
        Left left{this->outcome_};
        try_splits(this->sort_by(feature), left, task.min_leaf,
                   [&](std::uint32_t n_left, bool missing_left) {
                       if (task.beats(left.members, left.ones)) {
                           task.take(feature, left.members, left.ones);
                           task.n_left = n_left;
                           task.missing_left = missing_left;
                       }
                       return false;
                   });
    }
};

// Of a table by order.
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
        task.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            task.member[s / 64] |= std::uint64_t{1} << s % 64;
            task.n_ones += outcome_.label[s];
        }
        for (std::uint32_t w = 0; w < task.n_words; ++w) task.one[w] = task.member[w] & ones_[w];
    }

private:
    std::uint64_t ones_[WalkTask::kMostByOrder / 64] = {};  // the samples of the second class
};

// Of a table by ranks or by codes.
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
        task.plane_words = static_cast<std::uint32_t>(RankSteps::plane_words(table.n_samples()));
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
        steps_ = codes ? nullptr : table.steps();
        if (steps_ && steps_->planes() && !bitmaps_) {
            bitmaps_ = map_zeros(2 * task.plane_words * sizeof(std::uint64_t));
            task.member = words_of(0);
            task.one = words_of(1);
        }
        use_steps();
    }

    void enter(const NodeQuery& node) {
        enter_members(node);
        std::uint32_t ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) ones += outcome_.label[node.samples[i]];
        std::uint32_t* next[2] = {members_.data() + ones, members_.data()};
        for (std::uint32_t i = 0; i < node.n; ++i)
            *next[outcome_.label[node.samples[i]]]++ = node.samples[i];
        task.n_ones = ones;
        const bool few = task.pool.count < SweepTask::kFewCandidates;
        const std::uint32_t fewest =
            few ? SweepTask::kFewestByPlanes : SweepTask::kFewestByPlanesOfMany;
        by_planes_ = bitmaps_ && node.n >= fewest && node.n < SweepTask::kNarrow;
        if (by_planes_) {
            std::uint64_t *member = words_of(0), *one = words_of(1);
            std::fill(member, member + 2 * task.plane_words, 0);
            for (std::uint32_t i = 0; i < node.n; ++i) {
                const std::uint32_t s = members_[i];
                member[s / 64] |= std::uint64_t{1} << s % 64;
                one[s / 64] |= std::uint64_t{i < ones} << s % 64;
            }
        }
        use_steps();
    }

private:
    static_assert(SweepTask::kPlanes == RankSteps::kPlanes);

    std::uint64_t* words_of(std::uint32_t bitmap) {
        return reinterpret_cast<std::uint64_t*>(bitmaps_.get()) + bitmap * task.plane_words;
    }
    void use_steps() {
        task.planes = steps_ && by_planes_ ? steps_->planes() : nullptr;
        task.step_begins = steps_ ? steps_->begins() : nullptr;
    }
    static std::size_t n_steps(const RankTable& table) {
        return std::max<std::size_t>(table.n_samples() / 3 + 2, 256) + SweepTask::kVector;
    }

    std::vector<std::uint32_t> members_, key_, counts_, sums_;
    std::vector<std::uint8_t> open_;
    std::vector<std::uint64_t> wide_counts_, wide_sums_;
    const RankSteps* steps_ = nullptr;
    MappedBytes bitmaps_;
    bool by_planes_ = false;
};

}  // namespace nullforest
