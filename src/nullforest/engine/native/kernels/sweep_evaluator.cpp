// The search of nodes by the sweep kernel: two classes, unweighted, more than 512 samples.
#include <algorithm>
#include <vector>

#include "kernels/binary_columns.hpp"
#include "kernels/dispatch.hpp"
#include "random/keyed_random.hpp"

namespace nullforest {

namespace {

class SweepEvaluator final : public Evaluator {
public:
    SweepEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                   SweepKernel kernel)
        : outcome_(outcome),
          members_(table),
          kernel_(kernel),
          label_(table.n_samples()),
          open_(table.n_samples()),
          key_(table.n_samples()),
          open_key_(table.n_samples() + 1),
          counts_(table.n_samples()),
          steps_members_(table.n_samples() + 1),
          steps_ones_(table.n_samples() + 1) {
        const ShuffleShape shape(settings.pool);
        task_.ranks = table.order(0);
        task_.stride = table.stride();
        task_.rank_bytes = static_cast<std::uint32_t>(table.rank_bytes());
        task_.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task_.differs = table.differs(0);
        task_.n_words = table.n_words();
        task_.flags = table.flags();
        task_.key = key_.data();
        task_.open_key = open_key_.data();
        task_.counts = counts_.data();
        task_.members = steps_members_.data() + 1;  // entry -1 stays 0
        task_.ones = steps_ones_.data() + 1;
        task_.open = open_.data();
        task_.label = label_.data();
        task_.min_leaf = settings.min_leaf;
        task_.pool_size = shape.n;
        task_.side_a = shape.a;
        task_.side_b = shape.b;
        task_.candidates = settings.candidates;
        task_.owner = this;
        task_.try_slowly = [](void* self, SweepTask& task, std::uint32_t feature) {
            static_cast<SweepEvaluator*>(self)->try_slowly(task, feature);
        };
    }

    void begin_tree(const Bag&, const std::uint32_t* pool) override { task_.pool = pool; }

    bool best_split(const NodeQuery& node, Split& split) override {
        task_.samples = node.samples;
        task_.n = node.n;
        task_.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t label = outcome_.label[node.samples[i]];
            label_[i] = static_cast<std::uint8_t>(label);
            task_.n_ones += label;
        }
        task_.draw_key = node.draw_key;
        task_.found = false;
        task_.best_num = 0;
        task_.best_den = 1;
        kernel_(task_);
        split = {task_.feature, task_.n_left, task_.missing_left, Split::kUnknown, task_.perfect()};
        return task_.found;
    }

private:
    void try_slowly(SweepTask& task, std::uint32_t feature) {
        members_.enter(task.samples, task.n);
        members_.sort_by(feature);
        members_.leave();
        try_missing(task, feature, members_, outcome_);
    }

    const Outcome& outcome_;
    SortedMembers members_;
    SweepKernel kernel_;
    std::vector<std::uint8_t> label_, open_;
    std::vector<std::uint32_t> key_, open_key_, counts_;
    std::vector<std::int32_t> steps_members_, steps_ones_;
    SweepTask task_{};
};

}  // namespace

std::unique_ptr<Evaluator> make_sweep_evaluator(const RankTable& table, const Outcome& outcome,
                                                const Settings& settings, SweepKernel kernel) {
    return std::make_unique<SweepEvaluator>(table, outcome, settings, kernel);
}

}  // namespace nullforest
