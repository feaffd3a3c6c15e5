// The instruction sets of this processor, and the choice of the kernels.
#include "kernels/searches.hpp"

#include <cstdlib>

#include "errors.hpp"

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

}  // namespace

std::string isa_name(Isa isa) {
    switch (isa) {
        case Isa::generic: return "generic";
        case Isa::portable: return "portable";
        case Isa::avx2: return "avx2";
        case Isa::avx512: return "avx512";
        default: return "neon";
    }
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

}  // namespace nullforest
