// Whether a step of rank may hold a split that is better than the best so far.
#pragma once
#include "kernels/sweep_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// The score D^2 / (k (n - k)) of the best so far; less than any where there is none.
inline double level_of(const SweepTask& task) {
    return task.found ? static_cast<double>(task.best_num) / static_cast<double>(task.best_den)
                      : -1.0;
}

// In floats, many at once. D = l n - k n1 may have lost some units to the roundings of two products of
// at most n n1, which are added; the other roundings are far below the margin. So a test never
// misses. For n below 2^16.
struct StepTest {
    float n, ones, level, lost;

    StepTest(const SweepTask& task, double best)
        : n(static_cast<float>(task.n)),
          ones(static_cast<float>(task.n_ones)),
          level(static_cast<float>(best * (1.0 - 0x1p-18))),
          lost(n * ones * 0x1p-22f) {}

    bool beats(float k, float l) const {
        const float d = l * n - k * ones, more = (d < 0.0f ? -d : d) + lost;
        const float spread = k * (n - k);
        return (more * more > level * spread) & (spread > 0.0f);
    }
    // A step runs from the counts before it to those with it, ones in the upper half of an entry:
    // its end, all of its ones first, all of its zeros first.
    bool opens(std::uint32_t before, std::uint32_t with) const {
        const float k0 = real(before & 0xffff), l0 = real(before >> 16);
        const float k1 = real(with & 0xffff), l1 = real(with >> 16), more = l1 - l0;
        return beats(k1, l1) | beats(k0 + more, l1) | beats(k1 - more, l0);
    }
    bool opens_at(std::uint32_t with) const { return beats(real(with & 0xffff), real(with >> 16)); }

private:
    static float real(std::uint32_t count) {
        return static_cast<float>(static_cast<std::int32_t>(count));
    }
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
