// Two classes, unweighted, at most 512 samples: hands every node to the walk kernel.
#include <algorithm>

#include "table/binary_columns.hpp"
#include "kernels/dispatch.hpp"
#include "tree/keyed_random.hpp"
#include "kernels/sorted_members.hpp"
#include "kernels/walk_kernel.hpp"

namespace nullforest {

namespace {

class WalkEvaluator final : public Evaluator {
public:
    WalkEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                  WalkKernel kernel)
        : outcome_(outcome), members_(table), kernel_(kernel) {
        const ShuffleShape shape(settings.pool);
        task_.order = table.order(0);
        task_.stride = table.stride();
        task_.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task_.n_words = static_cast<std::uint32_t>(table.n_words());
        task_.flags = table.flags();
        task_.min_leaf = settings.min_leaf;
        task_.pool_size = shape.n;
        task_.side_a = shape.a;
        task_.side_b = shape.b;
        task_.candidates = settings.candidates;
        task_.owner = this;
        task_.try_slowly = [](void* self, WalkTask& task, std::uint32_t feature) {
            static_cast<WalkEvaluator*>(self)->try_slowly(task, feature);
        };
        task_.boundaries = [](void* self, std::uint32_t feature) {
            return static_cast<WalkEvaluator*>(self)->boundaries(feature);
        };
    }

    void begin_tree(const Bag&, const std::uint32_t* pool) override { task_.pool = pool; }

    bool best_split(const NodeQuery& node, Split& split) override {
        node_ = &node;
        std::fill(task_.member, task_.member + 8, 0);
        std::fill(task_.one, task_.one + 8, 0);
        task_.n = node.n;
        task_.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], label = outcome_.label[s];
            task_.member[s / 64] |= std::uint64_t{1} << s % 64;
            task_.one[s / 64] |= std::uint64_t{label} << s % 64;
            task_.n_ones += label;
        }
        task_.draw_key = node.draw_key;
        task_.found = false;
        task_.best_num = 0;
        task_.best_den = 1;
        kernel_(task_);
        split = {task_.feature, task_.n_left, task_.missing_left, task_.place, task_.perfect()};
        return task_.found;
    }

private:
    void sort_by(std::uint32_t feature) {
        members_.enter(node_->samples, node_->n);
        members_.sort_by(feature);
        members_.leave();
    }

    const std::uint8_t* boundaries(std::uint32_t feature) {
        sort_by(feature);
        return members_.boundary.data();
    }

    void try_slowly(WalkTask& task, std::uint32_t feature) {
        sort_by(feature);
        try_missing(task, feature, members_, outcome_);
    }

    const Outcome& outcome_;
    SortedMembers members_;
    WalkKernel kernel_;
    const NodeQuery* node_ = nullptr;
    WalkTask task_{};
};

}  // namespace

std::unique_ptr<Evaluator> make_walk_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, WalkKernel kernel) {
    return std::make_unique<WalkEvaluator>(table, outcome, settings, kernel);
}

}  // namespace nullforest
