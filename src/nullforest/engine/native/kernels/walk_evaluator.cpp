// The search of nodes by the walk kernel: two classes, unweighted, at most 512 samples.
#include "kernels/dispatch.hpp"
#include "kernels/walk_node.hpp"
#include "random/keyed_random.hpp"

namespace nullforest {

namespace {

class WalkEvaluator final : public Evaluator {
public:
    WalkEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                  WalkKernel kernel)
        : node_(table, outcome, settings), kernel_(kernel) {
        const ShuffleShape shape(settings.pool);
        node_.task.pool_size = shape.n;
        node_.task.side_a = shape.a;
        node_.task.side_b = shape.b;
        node_.task.candidates = settings.candidates;
    }

    void begin_tree(const Bag&, const std::uint32_t* pool) override { node_.task.pool = pool; }

    bool best_split(const NodeQuery& node, Split& split) override {
        node_.enter(node);
        WalkTask& task = node_.task;
        task.draw_key = node.draw_key;
        kernel_(task);
        split = {task.feature, task.n_left, task.missing_left, task.place, task.perfect()};
        return task.found;
    }

private:
    WalkNode node_;
    WalkKernel kernel_;
};

}  // namespace

std::unique_ptr<Evaluator> make_walk_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, WalkKernel kernel) {
    return std::make_unique<WalkEvaluator>(table, outcome, settings, kernel);
}

}  // namespace nullforest
