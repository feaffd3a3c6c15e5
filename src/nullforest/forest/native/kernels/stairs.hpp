// The stairs, written once for the compiler to make the most of each instruction set.
#pragma once
#include "kernels/stairs_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

class Stairs {
public:
    explicit Stairs(const StairsTask& task) : task_(task), sums_(*task.sums) {}

    template <class Rank>
    void add_up(std::uint32_t column) {
        const Rank* rank = reinterpret_cast<const Rank*>(task_.ranks(column));
        const auto step = [&](std::uint32_t i) { return task_.step_of[rank[task_.samples[i]]]; };
        for (int b = 0; b < kSteps; ++b) sums_.square[b] = 0.0;
        sums_.upto[0] = 0.0;
        task_.n_classes ? add_classes(step) : add_numbers(step);
    }

    std::uint64_t open() const {
        const double *square = sums_.square, *upto = sums_.upto;
        const double least = task_.counts ? 1.0 : task_.min_leaf, most = task_.weight - least;
        std::uint64_t open = 0;
        for (int b = 0; b < kSteps; ++b) {
            // k runs from one past the draws before the step to those with it; k (W - k) is least at
            // one of the two.
            const double first = upto[b] + 1 > least ? upto[b] + 1 : least;
            const double last = upto[b + 1] < most ? upto[b + 1] : most;
            const double s0 = first * (task_.weight - first), s1 = last * (task_.weight - last);
            const double spread = s0 < s1 ? s0 : s1;
            const bool reaches =
                (square[b] >= task_.level * spread) & (first <= last) & (upto[b] != upto[b + 1]);
            open |= std::uint64_t{reaches} << b;
        }
        return open;
    }

private:
    static constexpr int kSteps = StairsTask::kSteps, kClasses = StairsTask::kMostClasses;

    static double squared(double up, double down, double lost) {
        const double most = (up > down ? up : down) + lost;
        return most > 0 ? most * most : 0;
    }

    template <class Step>
    void add_numbers(const Step& step) {
        typedef std::int64_t Four __attribute__((vector_size(32), aligned(8)));
        Four sum[kSteps] = {};
        const Four* part = reinterpret_cast<const Four*>(task_.parts);
        for (std::uint32_t i = 0; i < task_.n; ++i) sum[step(i)] += part[i];
        std::int64_t before = 0;
        for (int b = 0; b < kSteps; ++b) {
            const auto draws = static_cast<std::uint32_t>(sum[b][0]);
            const double up = static_cast<double>(before + sum[b][1]) * task_.unit;
            const double down = static_cast<double>(before + sum[b][2]) * task_.unit;
            sums_.count[b] = static_cast<std::uint32_t>(sum[b][0] >> 32);
            sums_.of[b][0] = draws;
            sums_.of[b][1] = sum[b][3];
            sums_.square[b] = squared(up, -down, task_.lost);
            sums_.upto[b + 1] = sums_.upto[b] + draws;
            before += sum[b][1] + sum[b][2];
        }
    }
    template <class Step>
    void add_classes(const Step& step) {
        std::uint32_t sum[kSteps][kClasses] = {};
        for (int b = 0; b < kSteps; ++b) sums_.count[b] = 0;
        for (std::uint32_t i = 0; i < task_.n; ++i) {
            const std::uint32_t b = step(i);
            sum[b][task_.classes[i]] += task_.draws[i];
            ++sums_.count[b];
        }
        double before[kClasses] = {};
        for (int b = 0; b < kSteps; ++b) {
            double here = 0.0;
            for (int c = 0; c < kClasses; ++c) here += sum[b][c];
            const double k0 = sums_.upto[b], k1 = sums_.upto[b + 1] = k0 + here;
            for (int c = 0; c < kClasses; ++c) {
                const double own = sum[b][c], l0 = before[c], all = task_.total[c];
                sums_.of[b][c] = sum[b][c];
                sums_.square[b] += squared(task_.weight * (l0 + own) - (k0 + own) * all,
                                           (k1 - own) * all - task_.weight * l0, task_.lost);
                before[c] = l0 + own;
            }
        }
    }

    const StairsTask& task_;
    StairsSums& sums_;
};

inline std::uint64_t stairs(StairsTask& task, std::uint32_t column) {
    Stairs stairs(task);
    task.rank_bytes == 2 ? stairs.add_up<std::uint16_t>(column)
                         : stairs.add_up<std::uint32_t>(column);
    return stairs.open();
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
