// The search of nodes by the fastest kernel that fits.
#include "kernels/searches.hpp"
#include "kernels/scan_node.hpp"
#include "kernels/sweep_node.hpp"
#include "kernels/walk_node.hpp"

namespace nullforest {

namespace {

template <class Node>
class KernelEvaluator final : public Evaluator {
public:
    KernelEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                    Weighting weighting, typename Node::Kernel kernel)
        : node_(table, outcome, settings, weighting), kernel_(kernel) {
        node_.task.pool = {ShuffleShape(settings.pool), settings.candidates, nullptr, &first_};
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        node_.begin_tree(bag);
        node_.task.pool.features = pool;
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        node_.enter(node);
        const auto& task = node_.task;
        kernel_(node_.task);
        split = {task.feature, task.n_left,     task.missing_left,
                 task.place,   task.perfect(), &first_};
        return task.found;
    }

private:
    Node node_;
    typename Node::Kernel kernel_;
    FirstCandidates first_;
};

// Nodes that are too large for the scan are searched by another evaluator.
class ScanEvaluator final : public Evaluator {
public:
    ScanEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                  Weighting weighting, ScanNode::Kernel kernel,
                  std::unique_ptr<Evaluator> large)
        : small_(table, outcome, settings, weighting, kernel), large_(std::move(large)) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        bag_ = &bag;
        small_.begin_tree(bag, pool);
        large_->begin_tree(bag, pool);
    }
    bool best_split(const NodeQuery& node, Split& split) override {
        return ScanNode::fits(*bag_, node) ? small_.best_split(node, split)
                                           : large_->best_split(node, split);
    }

private:
    const Bag* bag_ = nullptr;
    KernelEvaluator<ScanNode> small_;
    std::unique_ptr<Evaluator> large_;
};

}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const RankTable& table, const Outcome& outcome,
                                          const Settings& settings, Weighting weighting) {
    const auto make = [&](auto* node, auto kernel) -> std::unique_ptr<Evaluator> {
        using Node = std::remove_pointer_t<decltype(node)>;
        return std::make_unique<KernelEvaluator<Node>>(table, outcome, settings, weighting, kernel);
    };
    const Kernels kernels = choose_kernels(table, outcome, settings, weighting);
    if (kernels.walk) return make((WalkNode*)nullptr, kernels.walk);
    if (kernels.sweep) return make((SweepNode*)nullptr, kernels.sweep);
    if (kernels.scan && table.by_order()) return make((ScanNode*)nullptr, kernels.scan);
    auto any = kernels.stairs ? make_stairs_evaluator(table, outcome, settings, kernels)
                             : make_generic_evaluator(table, outcome, settings, weighting);
    if (!kernels.scan) return any;
    return std::make_unique<ScanEvaluator>(table, outcome, settings, weighting, kernels.scan,
                                           std::move(any));
}

}  // namespace nullforest
