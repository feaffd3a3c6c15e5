// The instruction sets of this processor, the choice of the kernels, and the search of nodes by them.
#include "kernels/searches.hpp"

#include <cstdlib>

#include "errors.hpp"
#include "kernels/binary_node.hpp"
#include "kernels/scan_node.hpp"

namespace nullforest {

namespace {

// Every option that CMakeLists.txt compiles the kernels with has its test here.
bool supported(Isa isa) {
    if (isa == Isa::generic || isa == Isa::portable) return true;
#if defined(NULLFOREST_HAS_AVX)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (isa == Isa::avx2) return avx2;
    return isa == Isa::avx512 && avx2 && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
#elif defined(NULLFOREST_HAS_NEON)
    return isa == Isa::neon;
#else
    return false;
#endif
}

bool scan_fits(const RankTable& table, const Outcome& outcome, const Settings& settings,
               Weighting weighting) {
    if (table.by_order() && settings.n_drawn > ScanTask::kMostDraws) return false;
    const bool reals = weighting == Weighting::reals;
    return outcome.n_classes <= (reals ? ScanTask::kMostRealClasses : ScanTask::kMost) &&
           (outcome.classes() ||
            (outcome.criterion == Criterion::variance && outcome.n_outputs == 1));
}

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

std::string isa_name(Isa isa) {
    constexpr const char* kNames[] = {"generic", "portable", "avx2", "avx512", "neon"};
    return kNames[static_cast<int>(isa)];
}

Isa chosen_isa() {
    const char* variable = std::getenv("NULLFOREST_ISA");
    const std::string name = variable ? variable : "";
    bool known = name.empty();
    for (Isa isa : {Isa::avx512, Isa::avx2, Isa::neon, Isa::portable, Isa::generic}) {
        if (supported(isa) && (name.empty() || name == isa_name(isa))) return isa;
        known = known || name == isa_name(isa);
    }
    require(known, "The environment variable NULLFOREST_ISA is '" + name +
                       "', which is no instruction set; unset it, or use generic, portable, avx2, "
                       "avx512 or neon.");
    return Isa::portable;
}

const Kernels& kernels_of(Isa isa) {
#if defined(NULLFOREST_HAS_AVX)
    if (isa == Isa::avx512) return avx512_kernels;
    if (isa == Isa::avx2) return avx2_kernels;
#elif defined(NULLFOREST_HAS_NEON)
    if (isa == Isa::neon) return neon_kernels;
#endif
    static_cast<void>(isa);
    return portable_kernels;
}

Kernels choose_kernels(const RankTable& table, const Outcome& outcome, const Settings& settings,
                       Weighting weighting) {
    const Kernels& all = kernels_of(settings.isa);
    Kernels chosen{};
    if (settings.isa == Isa::generic) return chosen;
    const bool binary = outcome.criterion == Criterion::gini && outcome.n_classes == 2;
    const bool by_rank = !table.by_order() && !table.codes();
    if (binary && weighting == Weighting::ones) {
        if (table.by_order() && !table.codes())
            chosen.walk = all.walk;
        else
            chosen.sweep = all.sweep;
        return chosen;
    }
    if (scan_fits(table, outcome, settings, weighting)) chosen.scan = all.scan;
    if (by_rank && weighting != Weighting::reals &&
        ((outcome.criterion == Criterion::variance && outcome.n_outputs == 1) ||
         (outcome.criterion == Criterion::gini && outcome.n_classes <= StairsTask::kMostClasses)))
        chosen.stairs = all.stairs;
    return chosen;
}

void make_steps(const RankTable& table, const Outcome& outcome, const Settings& settings,
                std::size_t n_threads, const Poll& poll) {
    const Weighting weighting = weighting_of(outcome, settings);
    if (settings.isa == Isa::avx512 && table.steps() && !table.in_files() && !table.codes() &&
        choose_kernels(table, outcome, settings, weighting).sweep)
        table.steps()->make_planes(n_threads, poll);
}

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
    auto any = make_column_evaluator(table, outcome, settings, weighting, kernels);
    if (!kernels.scan) return any;
    return std::make_unique<ScanEvaluator>(table, outcome, settings, weighting, kernels.scan,
                                           std::move(any));
}

}  // namespace nullforest
