// Which kernel answers fastest here? Chosen by data, criterion and processor.
#include "kernels/dispatch.hpp"

#include <cstdlib>

namespace nullforest {

namespace {

bool supported(Isa isa) {
#ifdef NULLFOREST_PORTABLE_ONLY
    return isa == Isa::generic || isa == Isa::portable;
#else
    if (isa == Isa::avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
               __builtin_cpu_supports("avx512bitalg") &&
               __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2");
    if (isa == Isa::avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    return true;
#endif
}

// One kernel, in the version for an instruction set.
template <class Kernel>
Kernel version(Isa isa, Kernel portable, Kernel avx2, Kernel avx512) {
    return isa == Isa::avx512 ? avx512 : isa == Isa::avx2 ? avx2 : portable;
}

#ifdef NULLFOREST_PORTABLE_ONLY
#define NULLFOREST_VERSION(isa, kernel) \
    version(isa, kernel##_portable, kernel##_portable, kernel##_portable)
#else
#define NULLFOREST_VERSION(isa, kernel) \
    version(isa, kernel##_portable, kernel##_avx2, kernel##_avx512)
#endif

}  // namespace

std::string isa_name(Isa isa) {
    switch (isa) {
        case Isa::generic: return "generic";
        case Isa::portable: return "portable";
        case Isa::avx2: return "avx2";
        default: return "avx512";
    }
}

Isa chosen_isa() {
    const char* wish = std::getenv("NULLFOREST_ISA");
    for (Isa isa : {Isa::avx512, Isa::avx2, Isa::portable, Isa::generic})
        if (supported(isa) && (!wish || !*wish || isa_name(isa) == wish)) return isa;
    return Isa::portable;
}

std::unique_ptr<Evaluator> make_evaluator(const RankTable& table, const Outcome& outcome,
                                          const Settings& settings, Weighting weighting) {
    const Isa isa = chosen_isa();
    const bool binary = outcome.criterion == Criterion::gini && outcome.n_classes == 2;
    if (isa == Isa::generic)
        return make_generic_evaluator(table, outcome, settings, weighting);
    if (binary && weighting == Weighting::ones && table.by_order())
        return make_walk_evaluator(table, outcome, settings, NULLFOREST_VERSION(isa, walk));
    if (binary && weighting == Weighting::ones)
        return make_sweep_evaluator(table, outcome, settings, NULLFOREST_VERSION(isa, sweep));
    if (scan_fits(table, outcome, settings, weighting))
        return make_scan_evaluator(table, outcome, settings, weighting,
                                   NULLFOREST_VERSION(isa, scan));
    return make_generic_evaluator(table, outcome, settings, weighting);
}

std::unique_ptr<Judge> make_judge(const RankTable& table, const RankTable& probes,
                                  const Outcome& outcome, const Settings& settings,
                                  Weighting weighting) {
    const Isa isa = chosen_isa();
    const bool binary = outcome.criterion == Criterion::gini && outcome.n_classes == 2;
    auto exact = make_generic_judge(table, probes, outcome, settings, weighting);
    if (isa == Isa::generic) return exact;
    if (binary && weighting == Weighting::ones && table.by_order())
        return make_walk_judge(table, probes, outcome, settings, NULLFOREST_VERSION(isa, walk),
                               std::move(exact));
    if (scan_fits(table, outcome, settings, weighting) && !(binary && weighting == Weighting::ones))
        return make_scan_judge(table, probes, outcome, settings, weighting,
                               NULLFOREST_VERSION(isa, scan), std::move(exact));
    return exact;
}

}  // namespace nullforest
