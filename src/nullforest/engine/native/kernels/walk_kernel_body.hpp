// The walk, written once; `Simd` brings the steps that differ between instruction sets:
//   Simd(task)                        tables of the node
//   gather(order, ninth, w, M, L)     members and ones among positions 64 w .. 64 w + 63
//   squeeze(L, M)                     the bits of L that M selects, close together
//   outside8(bits, base, lo, hi, l)   which of 64 running counts leave [lo, hi]; writes the counts
//   outside16(...)                    the same for counts above 255
#pragma once
#include <cmath>

#include "kernels/walk_kernel.hpp"
#include "random/candidates.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Simd, class Count>
class Walk {
public:
    explicit Walk(WalkTask& task) : task_(task), simd_(task) {
        last_mask_ = task.n_samples % 64 ? (std::uint64_t{1} << task.n_samples % 64) - 1 : ~0ull;
    }

    void run() {
        open_envelope();
        ShuffleShape shape(task_.pool_size, task_.side_a, task_.side_b);
        Candidates candidates(shape, task_.draw_key, task_.pool, task_.candidates);
        std::uint32_t place = 0;
        candidates.visit([this](std::uint32_t feature) { prefetch(feature); },
                         [&](std::uint32_t feature) { return try_feature(feature, place++); });
    }

    // Columns compared with a best that is known.
    void screen() {
        open_envelope();
        // D is whole: any slack below the distance of R to the next whole number will do.
        if (task_.n_or_equal) close_envelope(0x1p-20);
        for (std::uint32_t i = 0; i < task_.n_screened; ++i) {
            if (i == task_.n_or_equal) close_envelope();
            if (i + kAhead < task_.n_screened) prefetch(task_.screened[i + kAhead]);
            task_.passes[i] = passes(task_.screened[i], i < task_.n_or_equal);
        }
    }

private:
    static constexpr std::uint32_t kAhead = 8;
    static constexpr std::uint32_t kMost = sizeof(Count) == 1 ? 256 : 512;
    static constexpr std::uint32_t kWords = 512 / 64 + 2;  // for any table, even a damaged one

    void prefetch(std::uint32_t feature) const {
        const std::uint8_t* p = task_.order + feature * task_.stride;
        for (std::uint32_t w = 0; w < task_.n_words; ++w) fetch_line(p + 64 * w);
    }

    // True when the search is over.
    bool try_feature(std::uint32_t feature, std::uint32_t place) {
        if (task_.flags[feature] & 2) {
            const std::uint64_t num = task_.best_num, den = task_.best_den;
            const bool had = task_.found;
            task_.try_slowly(task_.owner, task_, feature);
            if (!task_.found || (had && num == task_.best_num && den == task_.best_den))
                return false;
            return improved(place);
        }
        if (task_.n <= 64) return search(feature, place, gather_few(feature));
        std::uint64_t bits[kWords] = {};
        gather_labels(feature, bits);
        return search(feature, place, bits);
    }

    bool search(std::uint32_t feature, std::uint32_t place, std::uint64_t bits) {
        Count running[64];
        const std::uint64_t out = simd_.outside(bits, 0, lo_, hi_, running);
        if (__builtin_expect(out == 0, 1)) return false;
        Ties ties;
        return confirm(feature, 0, out, running, ties) && improved(place);
    }
    bool search(std::uint32_t feature, std::uint32_t place, const std::uint64_t* bits) {
        bool better = false;
        Ties ties;
        std::uint32_t base = 0;
        for (std::uint32_t k0 = 0; k0 < task_.n; k0 += 64) {
            Count running[64];
            const std::uint64_t out =
                simd_.outside(bits[k0 / 64], base, lo_ + k0, hi_ + k0, running);
            if (out) better |= confirm(feature, k0, out, running, ties);
            base += simd_.count(bits[k0 / 64]);
        }
        return better && improved(place);
    }

    // Positions at which the values of a feature differ, computed at most once.
    struct Ties {
        const std::uint8_t* boundary = nullptr;
    };

    // Scores the positions outside the envelope exactly; true when one beats the best.
    bool confirm(std::uint32_t feature, std::uint32_t k0, std::uint64_t out, const Count* running,
                 Ties& ties) {
        bool better = false;
        for (; out; out &= out - 1) {
            const std::uint32_t i = simd_.lowest(out), k = k0 + i + 1, l = running[i];
            if (!task_.beats(k, l)) continue;
            if (task_.flags[feature] & 1) {
                if (!ties.boundary) ties.boundary = task_.boundaries(task_.owner, feature);
                if (!ties.boundary[k - 1]) continue;
            }
            task_.take(feature, k, l);
            better = true;
        }
        return better;
    }

    bool passes(std::uint32_t column, bool or_equal) {
        std::uint64_t bits[kWords] = {};
        if (task_.n <= 64)
            bits[0] = gather_few(column);
        else
            gather_labels(column, bits);
        const std::uint8_t* boundary = nullptr;
        std::uint32_t base = 0;
        for (std::uint32_t k0 = 0; k0 < task_.n; k0 += 64) {
            Count running[64];
            std::uint64_t out = simd_.outside(bits[k0 / 64], base, lo_ + k0, hi_ + k0, running);
            for (; out; out &= out - 1) {
                const std::uint32_t i = simd_.lowest(out), k = k0 + i + 1, l = running[i];
                if (!task_.beats(k, l) && !(or_equal && task_.equals(k, l))) continue;
                if (!(task_.flags[column] & 1)) return true;
                if (!boundary) boundary = task_.boundaries(task_.owner, column);
                if (boundary[k - 1]) return true;
            }
            base += simd_.count(bits[k0 / 64]);
        }
        return false;
    }

    // The labels of the members in the order of a column; `bits` come as zeros.
    void gather_labels(std::uint32_t column, std::uint64_t* bits) const {
        const std::uint8_t* order = task_.order + column * task_.stride;
        const auto* ninth = reinterpret_cast<const std::uint64_t*>(order + 64 * task_.n_words);
        std::uint32_t fill = 0;
        for (std::uint32_t w = 0; w < task_.n_words; ++w) {
            std::uint64_t members, ones;
            simd_.gather(order, ninth, w, members, ones);
            if (w + 1 == task_.n_words) members &= last_mask_;
            const std::uint64_t labels = simd_.squeeze(ones, members);
            bits[fill / 64] |= labels << fill % 64;
            bits[fill / 64 + 1] = labels >> 1 >> (63 - fill % 64);
            fill += simd_.count(members);
        }
    }

    // The labels of up to 64 members fit one word.
    std::uint64_t gather_few(std::uint32_t column) const {
        const std::uint8_t* order = task_.order + column * task_.stride;
        const auto* ninth = reinterpret_cast<const std::uint64_t*>(order + 64 * task_.n_words);
        const std::uint32_t n_words = task_.n_words;
        std::uint64_t bits = 0, members, ones;
        std::uint32_t fill = 0;
        for (std::uint32_t w = 0; w + 1 < n_words; ++w) {
            simd_.gather(order, ninth, w, members, ones);
            bits |= simd_.squeeze(ones, members) << fill % 64;  // full: nothing is left to add
            fill += simd_.count(members);
        }
        simd_.gather(order, ninth, n_words - 1, members, ones);
        return bits | simd_.squeeze(ones, members & last_mask_) << fill % 64;
    }

    bool improved(std::uint32_t place) {
        task_.place = place;
        if (task_.perfect()) return true;
        close_envelope();
        return false;
    }

    // Entry i belongs to k = i + 1. Nothing has been found: every allowed position is outside.
    void open_envelope() {
        const std::uint32_t used = (task_.n + 63) / 64 * 64;
        for (std::uint32_t i = 0; i < used; ++i) {
            const std::uint32_t k = i + 1;
            const bool allowed = k >= task_.min_leaf && k + task_.min_leaf <= task_.n;
            lo_[i] = allowed ? static_cast<Count>(~Count{0}) : 0;
            hi_[i] = allowed ? 0 : static_cast<Count>(~Count{0});
        }
    }

    // l is inside when |l n - k n1| <= R, R = sqrt(best k (n - k)). Doubles decide this exactly:
    // for n <= 512 the products are below 2^48, and R is a whole number or 2^-33 away from one.
    void close_envelope(double slack = 0.0) {
        const double n = task_.n, ones = task_.n_ones;
        const double num = static_cast<double>(task_.best_num);
        const double den = static_cast<double>(task_.best_den);
        const std::uint32_t first = task_.min_leaf, last = task_.n - task_.min_leaf;
        for (std::uint32_t kk = first; kk <= last; ++kk) {
            const double k = static_cast<double>(static_cast<int>(kk));
            const double radius = std::sqrt(num * (k * (n - k)) / den) - slack;
            const double low = (k * ones - radius) / n;
            const int floor_low = static_cast<int>(low);
            const int lo = low <= 0.0 ? 0 : floor_low + (floor_low < low);
            const int hi = static_cast<int>((k * ones + radius) / n);
            lo_[kk - 1] = static_cast<Count>(lo);
            hi_[kk - 1] = static_cast<Count>(hi);
        }
    }

    WalkTask& task_;
    Simd simd_;
    std::uint64_t last_mask_;
    alignas(64) Count lo_[kMost];
    alignas(64) Count hi_[kMost];
};

template <class Simd, class Count>
void walk_counting(WalkTask& task) {
    Walk<Simd, Count> walk(task);
    task.screened ? walk.screen() : walk.run();
}

template <class Simd>
void walk(WalkTask& task) {
    task.n < 256 ? walk_counting<Simd, std::uint8_t>(task)
                 : walk_counting<Simd, std::uint16_t>(task);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
