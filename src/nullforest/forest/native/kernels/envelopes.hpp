// Envelopes of nodes with numbers or several classes: bounds that no split as good as the best can
// keep, in 16-bit arithmetic, so that a screen can reject most columns without computing scores.
//
// A node of W draws is screened draw by draw. After j draws from the left, D(j) = W s_left - j s is
// a number, or one number per class (s counts a class then); the split scores |D|^2 / (j (W - j)),
// up to constants of the node. A screen computes D in fixed point, off by at most a known error, and
// compares |D| with the length that the best would have at j, less that error. Samples drawn
// several times come as so many draws: a position within the draws of one sample is no split, but
// it cannot score more than the better of the two ends, since |D| is convex in j along them and
// sqrt(j (W - j)) concave.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cmath>
#include <cstring>

#include "kernels/scan_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Relative slack for the roundings of doubles, which add up to less than 2^-45.
constexpr double kRoundings = 1.0 - 0x1p-40;

// Numbers: task.low, task.high hold each sample's share of D times task.scale, rounded to an
// integer. Entry i of the radius belongs to j = i + 1; the greatest integer never fires.
class NumberEnvelope {
public:
    static constexpr std::int16_t kNever = 32767;

    explicit NumberEnvelope(const ScanTask& task)
        : n_(static_cast<int>(task.weight)), scale_(task.scale), total_(task.rounded_total) {
        const int padded = (n_ + 63) / 64 * 64;
        for (int i = 0; i < n_; ++i) {
            const double j = i + 1.0;
            root_[i] = std::sqrt(j * (n_ - j));
        }
        for (int i = 0; i < padded; ++i) radius_[i] = kNever;
        first_ = task.counts ? 1 : static_cast<int>(task.min_leaf);
    }

    void close(double best_top) {
        const double length = scale_ * std::sqrt(best_top) * kRoundings;
        const int first = first_ - 1, last = n_ - first_;
        std::int32_t radius[ScanTask::kMostDraws];
        for (int i = first; i < last; ++i) {
            // j rounded numbers from the left, or, from all of them, W - j from the right
            const double from_left = 0.5001 * (i + 1), from_right = 0.5001 * (n_ - 1 - i) + total_;
            const double error = from_left < from_right ? from_left : from_right;
            const double free = length * root_[i] - error;
            const double bound = free < 32766.0 ? free : 32766.0;
            radius[i] = static_cast<std::int32_t>(bound > 0.0 ? bound : -1.0);
        }
        for (int i = first; i < last; ++i) radius_[i] = static_cast<std::int16_t>(radius[i]);
    }
    const std::int16_t* radius() const { return radius_; }

private:
    int n_, first_;
    double scale_, total_;
    double root_[ScanTask::kMostDraws];
    alignas(64) std::int16_t radius_[ScanTask::kMostDraws];
};

// Classes: D_c / W of class c among those of the node, in units of 2^-shift, is
// (l_c << shift) - expected(c)[i], with l_c draws of the class on the left. All fit 16 bits and the
// sum of their squares 31; they add up to zero, so that the last one follows from the others.
class ClassEnvelope {
public:
    static constexpr std::uint32_t kNever = ~std::uint32_t{0};

    explicit ClassEnvelope(const ScanTask& task) : task_(task), n_(static_cast<int>(task.weight)) {
        while (n_ << (shift_ + 1) <= 1 << 16) ++shift_;
        const int padded = (n_ + 63) / 64 * 64;
        const double unit = static_cast<double>(1 << shift_) / n_;
        for (int i = 0; i < n_; ++i) {
            const double j = i + 1.0;
            root_[i] = unit * std::sqrt(j * (n_ - j));
        }
        for (std::uint32_t c = 0; c + 1 < task.n_present; ++c) {
            const double each = unit * static_cast<double>(task.present_total[c]);
            std::int32_t expected[ScanTask::kMostDraws];
            for (int i = 0; i < n_; ++i)
                expected[i] = static_cast<std::int32_t>((i + 1) * each + 0.5);
            for (int i = 0; i < n_; ++i) expected_[c][i] = static_cast<std::int16_t>(expected[i]);
        }
        for (int i = 0; i < padded; ++i) radius_[i] = NumberEnvelope::kNever;
        for (int i = 0; i < padded; ++i) limit_[i] = kNever;
        first_ = task.counts ? 1 : static_cast<int>(task.min_leaf);
    }

    // The squares of D over all classes add up to best_gain j (W - j).
    void close(double best_top, double best_bottom) {
        const double n = n_;
        const double gain =
            (best_top * n - static_cast<double>(task_.sum_of_squares) * best_bottom) / best_bottom;
        const double length = std::sqrt(gain > 0.0 ? gain : 0.0) * kRoundings;
        const int first = first_ - 1, last = n_ - first_;
        if (task_.n_present == 2) {
            const double one = length * 0.70710678118654;  // both are as long
            std::int32_t radius[ScanTask::kMostDraws];
            for (int i = first; i < last; ++i) {
                const double free = one * root_[i] - 0.5001;
                radius[i] = static_cast<std::int32_t>(free > 0.0 ? free : -1.0);
            }
            for (int i = first; i < last; ++i) radius_[i] = static_cast<std::int16_t>(radius[i]);
            return;
        }
        const double others = task_.n_present - 1.0;
        const double error = 0.5001 * std::sqrt(others + others * others);
        std::int32_t limit[ScanTask::kMostDraws];
        for (int i = first; i < last; ++i) {
            const double free = length * root_[i] - error, positive = free > 0.0 ? free : 0.0;
            limit[i] = static_cast<std::int32_t>(positive * positive);
        }
        for (int i = first; i < last; ++i)
            limit_[in_pairs(i)] = static_cast<std::uint32_t>(limit[i]);
    }
    int shift() const { return shift_; }
    const std::int16_t* expected(std::uint32_t c) const { return expected_[c]; }
    // Two classes: the greatest |D| of either inside. More: the least sum of squares outside, where
    // an instruction set that interleaves eights of 16-bit numbers has its sums (in_pairs).
    const std::int16_t* radius() const { return radius_; }
    const std::uint32_t* limit() const { return limit_; }

private:
    // Of every eight the first four, then, of the four eights, the second ones.
    static int in_pairs(int i) {
        return (i & ~31) | (i & 4) << 2 | (i >> 1 & 12) | (i & 3);
    }

    const ScanTask& task_;
    int n_, first_, shift_ = 0;
    double root_[ScanTask::kMostDraws];
    alignas(64) std::int16_t expected_[ScanTask::kMostScreenedClasses - 1][ScanTask::kMostDraws];
    alignas(64) std::int16_t radius_[ScanTask::kMostDraws];
    alignas(64) std::uint32_t limit_[ScanTask::kMostDraws];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
