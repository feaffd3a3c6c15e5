// The stairs, written once for the compiler to make the most of each instruction set.
#pragma once
#include "kernels/stairs_kernel.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Rank>
class Stairs {
public:
    Stairs(const StairsTask& task, std::uint32_t column)
        : task_(task), rank_(reinterpret_cast<const Rank*>(task.column(column))) {}

    std::uint64_t open() {
        for (int b = 0; b < kSteps; ++b) square_[b] = 0.0;
        task_.n_classes ? add_classes() : add_numbers();
        const double least = task_.counts ? 1.0 : task_.min_leaf, most = task_.weight - least;
        std::uint64_t open = 0;
        for (int b = 0; b < kSteps; ++b) {
            // k runs from one past the draws before the step to those with it; k (W - k) is least at
            // one of the two.
            const double first = upto_[b] + 1 > least ? upto_[b] + 1 : least;
            const double last = upto_[b + 1] < most ? upto_[b + 1] : most;
            const double s0 = first * (task_.weight - first), s1 = last * (task_.weight - last);
            const double spread = s0 < s1 ? s0 : s1;
            const bool reaches = (square_[b] >= task_.level * spread) & (first <= last) &
                                 (upto_[b] != upto_[b + 1]);
            open |= std::uint64_t{reaches} << b;
        }
        return open;
    }

private:
    static constexpr int kSteps = StairsTask::kSteps, kClasses = StairsTask::kMostClasses;

    std::uint32_t step(std::uint32_t i) const { return task_.step_of[rank_[task_.samples[i]]]; }
    static double squared(double up, double down, double lost) {
        const double most = (up > down ? up : down) + lost;
        return most > 0 ? most * most : 0;
    }

    void add_numbers() {
        typedef double Four __attribute__((vector_size(32), aligned(8)));
        Four sum[kSteps] = {}, before{};
        const Four* part = reinterpret_cast<const Four*>(task_.parts);
        for (std::uint32_t i = 0; i < task_.n; ++i) sum[step(i)] += part[i];
        upto_[0] = 0.0;
        for (int b = 0; b < kSteps; ++b) {
            const double d = before[1] + before[2];
            square_[b] = squared(d + sum[b][1], -(d + sum[b][2]), task_.lost);
            before += sum[b];
            upto_[b + 1] = before[0];
        }
    }
    void add_classes() {
        std::uint32_t sum[kSteps][kClasses] = {};
        for (std::uint32_t i = 0; i < task_.n; ++i)
            sum[step(i)][task_.classes[i]] += task_.draws[i];
        double before[kClasses] = {};
        upto_[0] = 0.0;
        for (int b = 0; b < kSteps; ++b) {
            double here = 0.0;
            for (int c = 0; c < kClasses; ++c) here += sum[b][c];
            const double k0 = upto_[b], k1 = upto_[b + 1] = k0 + here;
            for (int c = 0; c < kClasses; ++c) {
                const double own = sum[b][c], l0 = before[c], all = task_.total[c];
                square_[b] += squared(task_.weight * (l0 + own) - (k0 + own) * all,
                                      (k1 - own) * all - task_.weight * l0, task_.lost);
                before[c] = l0 + own;
            }
        }
    }

    const StairsTask& task_;
    const Rank* rank_;
    double square_[kSteps], upto_[kSteps + 1];
};

inline std::uint64_t stairs(const StairsTask& task, std::uint32_t column) {
    return task.rank_bytes == 2 ? Stairs<std::uint16_t>(task, column).open()
                                : Stairs<std::uint32_t>(task, column).open();
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
