// Whether columns of a table by ranks can hold a split as good as the best: bounds, in integers, that
// no split as good can keep.
//
// Each member adds its draws to the sums of its class, or to those of the positive or the negative
// numbers (its y less the mean of the node, in 16 bits as in envelopes.hpp), in steps of rank
// (RankSteps): within a step D stays between two bounds, per class or for the number. |D|^2 is
// compared with what the best would have for as many draws on the left, less the roundings.
#pragma once
#include "kernels/envelopes.hpp"
#include "kernels/picks.hpp"
#include "kernels/stairs_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Rank, ScanTask::Kind kind>
class StairsScreen {
public:
    static constexpr bool kExists = true;

    explicit StairsScreen(const ScanTask& task)
        : task_(task), weight_(static_cast<float>(task.weight)) {
        shift_ = task.n <= kFew ? 1 : 0;
        n_steps_ = kSteps >> shift_;
        for (std::uint32_t c = 0; kind != ScanTask::variance && c < task.n_present; ++c)
            total_[c] = static_cast<float>(task.present_total[c]);
        for (std::uint32_t i = 0; i < task.n; ++i) part_[i] = part(i);
        for (std::uint32_t b = 0; b < n_steps_; ++b) sums_[b] = {};
        // Fewer draws on the left than these are no split.
        least_ = task.counts ? 1.0f : static_cast<float>(task.min_leaf);
    }

    void close() {
        if (kind == ScanTask::variance) {
            const double length = task_.scale * std::sqrt(task_.best_top) * kRoundings;
            level_ = static_cast<float>(length * length * (1.0 - 0x1p-18));
        } else {
            const double gain = (task_.best_top * static_cast<double>(task_.weight) -
                                 static_cast<double>(task_.sum_of_squares) * task_.best_bottom) /
                                task_.best_bottom;
            level_ = static_cast<float>((gain > 0.0 ? gain : 0.0) * (1.0 - 0x1p-18));
        }
    }
    void pick(const std::uint32_t* columns, std::uint32_t) { columns_ = columns; }
    bool passes(std::uint32_t slot) {
        const auto* rank = reinterpret_cast<const Rank*>(task_.column(columns_[slot]));
        const std::uint32_t n = task_.n, shift = shift_, n_steps = n_steps_;
        for (std::uint32_t i = 0; i < n; ++i) {
            Sums& step = sums_[task_.step_of[rank[task_.samples[i]]] >> shift];
            for (int v = 0; v < kWords; ++v) step.of[v] += part_[i].of[v];
        }
        Sums sum{};
        upto_[0] = sum;
        for (std::uint32_t b = 0; b < n_steps; ++b) {
            for (int v = 0; v < kWords; ++v) sum.of[v] += sums_[b].of[v];
            upto_[b + 1] = sum;
            sums_[b] = {};
        }
        int any = 0;
        for (std::uint32_t b = 0; b < n_steps; ++b) any |= between(upto_[b], upto_[b + 1]);
        return any;
    }

private:
    // Sums of draws: of four classes, 16 bits each; or all of them, what the positive and what the
    // negative ones among the numbers add up to, in 16, 24 and 24 bits.
    static constexpr int kWords = kind == ScanTask::variance ? 1 : 2;
    static constexpr int kClasses = ScanTask::kMostScreenedClasses;
    struct Sums {
        std::uint64_t of[kWords];
    };

    static constexpr std::uint32_t kSteps = StairsSums::kSteps;
    static constexpr std::uint32_t kFew = 128;  // members for which half the steps do

    Sums part(std::uint32_t i) const {
        const std::uint64_t draws = task_.multiplicity[i];
        Sums sums{};
        if (kind == ScanTask::variance) {
            const std::int32_t y = static_cast<std::int16_t>(task_.low[i] | task_.high[i] << 8);
            const std::uint64_t size = static_cast<std::uint64_t>(y < 0 ? -y : y) * draws;
            sums.of[0] = draws | size << (y < 0 ? 40 : 16);
        } else {
            sums.of[task_.low[i] / 4] = draws << 16 * (task_.low[i] % 4);
        }
        return sums;
    }
    static float field(std::uint64_t word, int shift, int bits) {
        return static_cast<float>(
            static_cast<std::int32_t>(word >> shift & ((std::uint64_t{1} << bits) - 1)));
    }
    static float of_class(const Sums& sums, int c) { return field(sums.of[c / 4], 16 * (c % 4), 16); }

    // Numbers are rounded, from the left, or, from all of them, from the right.
    float lost(float left, float right) const {
        const float total = 2 * static_cast<float>(task_.rounded_total);
        return 0.5001f * (left < right + total ? left : right + total);
    }
    static float squared(float up, float down) {
        const float most = up > down ? up : down;
        return most > 0 ? most * most : 0;
    }
    // Whether the best could lie between two sums, the second those of a step more.
    bool between(const Sums& before, const Sums& with) const {
        float k0 = 0, k1 = 0, square = 0;
        if (kind == ScanTask::variance) {
            k0 = field(before.of[0], 0, 16);
            k1 = field(with.of[0], 0, 16);
            const float more = lost(k1, weight_ - k0);
            square = squared(field(with.of[0], 16, 24) - field(before.of[0], 40, 24) + more,
                             field(with.of[0], 40, 24) - field(before.of[0], 16, 24) + more);
        } else {
            for (int c = 0; c < kClasses; ++c) {
                k0 += of_class(before, c);
                k1 += of_class(with, c);
            }
            for (int c = 0; c < kClasses; ++c) {
                const float l0 = of_class(before, c), l1 = of_class(with, c), others = k1 - l1;
                square += squared(weight_ * l1 - (k0 - l0 + l1) * total_[c],
                                  (others + l0) * total_[c] - weight_ * l0);
            }
        }
        const float first = k0 + 1 > least_ ? k0 + 1 : least_, end = weight_ - least_;
        const float last = k1 < end ? k1 : end;
        const float s0 = first * (weight_ - first), s1 = last * (weight_ - last);
        return (square >= level_ * (s0 < s1 ? s0 : s1)) & (first <= last);
    }

    const ScanTask& task_;
    const std::uint32_t* columns_ = nullptr;
    std::uint32_t shift_ = 0, n_steps_;
    float weight_, least_, level_ = 0, total_[kClasses] = {};
    Sums part_[ScanTask::kMost], sums_[kSteps], upto_[kSteps + 1];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
