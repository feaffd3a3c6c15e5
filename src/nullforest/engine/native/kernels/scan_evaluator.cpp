// The search of nodes by the scan kernel: classes or one number, at most 512 samples, drawn once or
// several times.
#include "kernels/dispatch.hpp"
#include "kernels/scan_node.hpp"
#include "random/keyed_random.hpp"

namespace nullforest {

namespace {

class ScanEvaluator final : public Evaluator {
public:
    ScanEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                  Weighting weighting, ScanKernel kernel)
        : node_(table, outcome, settings, weighting), kernel_(kernel) {
        const ShuffleShape shape(settings.pool);
        node_.task.pool_size = shape.n;
        node_.task.side_a = shape.a;
        node_.task.side_b = shape.b;
        node_.task.candidates = settings.candidates;
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        node_.begin_tree(bag);
        node_.task.pool = pool;
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        node_.enter(node);
        ScanTask& task = node_.task;
        task.draw_key = node.draw_key;
        kernel_(task);
        split = {task.feature, task.n_left, false, task.place, task.perfect};
        return task.found;
    }

private:
    ScanNode node_;
    ScanKernel kernel_;
};

}  // namespace

std::unique_ptr<Evaluator> make_scan_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, Weighting weighting,
                                               ScanKernel kernel) {
    return std::make_unique<ScanEvaluator>(table, outcome, settings, weighting, kernel);
}

}  // namespace nullforest
