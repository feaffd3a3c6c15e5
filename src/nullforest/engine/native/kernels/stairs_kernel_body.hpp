// The stairs, written once for the compiler to make the most of each instruction set.
#pragma once
#include <limits>
#include <type_traits>

#include "kernels/stairs_kernel.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Rank>
class Stairs {
public:
    explicit Stairs(const StairsTask& task) : task_(task) {
        while ((task.n_samples - 1) >> shift_ >= task.n / 3 + 1) ++shift_;
        n_steps_ = ((task.n_samples - 1) >> shift_) + 1;
    }

    std::uint32_t first(const std::uint32_t* columns, std::uint32_t count) const {
        constexpr std::uint32_t kAhead = 8;
        for (std::uint32_t i = 0; i < kAhead && i < count; ++i) fetch(columns[i]);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (i + kAhead < count) fetch(columns[i + kAhead]);
            if (may_reach(columns[i])) return i;
        }
        return count;
    }

private:
    static constexpr std::uint32_t kMostFetched = 512;

    const Rank* column(std::uint32_t feature) const {
        return reinterpret_cast<const Rank*>(task_.column(feature));
    }
    void fetch(std::uint32_t feature) const {
        const Rank* rank = column(feature);
        const std::uint32_t n_lines = task_.n_samples * sizeof(Rank) / 64;
        if (task_.n < n_lines) {
            if (task_.n <= kMostFetched)
                for (std::uint32_t i = 0; i < task_.n; ++i)
                    __builtin_prefetch(rank + task_.members[i], 0, 2);
        } else if (n_lines <= kMostFetched) {
            for (std::uint32_t b = 0; b < n_lines; ++b)
                __builtin_prefetch(reinterpret_cast<const char*>(rank) + 64 * std::uint64_t{b}, 0, 2);
        }
    }

    bool may_reach(std::uint32_t feature) const {
        if (task_.n <= 8) return by_pairs<8>(feature);
        if (task_.n <= 16) return by_pairs<16>(feature);
        if (task_.n <= 32) return by_pairs<32>(feature);
        return task_.n <= StairsTask::kExactInFloats
                   ? by_steps<float>(feature, task_.parts, task_.sums, task_.steps)
                   : by_steps<double>(feature, task_.wide_parts, task_.wide_sums, task_.wide_steps);
    }
    // What the roundings of a sum of so many parts can add up to.
    template <class Real>
    Real slack() const {
        return static_cast<Real>(4.0 * (task_.n + 8) * std::numeric_limits<Real>::epsilon() *
                                 task_.sum_of_absolutes);
    }

    // At most `kLanes` members, all compared with each.
    template <int kLanes>
    bool by_pairs(std::uint32_t feature) const {
        // GCC makes vectors of as many lanes as a parameter says from types that depend on one.
        using Key = std::conditional_t<(kLanes > 0), std::int32_t, void>;
        using Sum = std::conditional_t<(kLanes > 0), float, void>;
        typedef Key Keys __attribute__((vector_size(kLanes * sizeof(Key))));
        typedef Sum Sums __attribute__((vector_size(kLanes * sizeof(Sum))));
        const Rank* rank = column(feature);
        const std::uint32_t n = task_.n;
        alignas(Keys) std::int32_t key[kLanes], k[kLanes];
        alignas(Sums) float d[kLanes], crossing[kLanes] = {};
        for (int i = 0; i < kLanes; ++i) key[i] = std::numeric_limits<std::int32_t>::max();
        for (std::uint32_t i = 0; i < n; ++i) {
            key[i] = static_cast<std::int32_t>(rank[task_.members[i]]);
            crossing[i] = task_.parts[4 * i] + task_.parts[4 * i + 1];  // one of them is zero
        }
        const auto& keys = reinterpret_cast<const Keys&>(key);
        Keys members{};
        Sums sums{};
        for (std::uint32_t j = 0; j < n; ++j) {
            const Keys upto = key[j] <= keys;
            members -= upto;
            const Sums all = Sums{} + crossing[j];
            sums += reinterpret_cast<Sums>(upto & reinterpret_cast<Keys>(all));
        }
        reinterpret_cast<Keys&>(k) = members;
        reinterpret_cast<Sums&>(d) = sums;
        const float more = slack<float>(), level = static_cast<float>(task_.level);
        const auto least = static_cast<std::int32_t>(task_.min_leaf);
        const auto size = static_cast<std::int32_t>(n);
        int any = 0;
        for (int i = 0; i < kLanes; ++i) {
            const float above = (d[i] < 0 ? -d[i] : d[i]) + more;
            const auto spread = static_cast<float>(k[i] * (size - k[i]));
            any |= (above * above >= level * spread) & (k[i] >= least) & (k[i] + least <= size);
        }
        return any;
    }

    template <class Real>
    bool by_steps(std::uint32_t feature, const Real* parts, Real* sums, Real* steps) const {
        typedef Real Four __attribute__((vector_size(4 * sizeof(Real)), aligned(sizeof(Real))));
        const Rank* rank = column(feature);
        const std::uint32_t n = task_.n, shift = shift_, n_steps = n_steps_;
        Four* sum = reinterpret_cast<Four*>(sums);
        const Four* part = reinterpret_cast<const Four*>(parts);
        for (std::uint32_t i = 0; i < n; ++i) sum[rank[task_.members[i]] >> shift] += part[i];
        // Of each step: |D| at its worst, and the members up to it.
        const std::uint32_t padded = (n_steps + 15) / 16 * 16;
        Real *high = steps, *low = steps + padded, *upto = steps + 2 * padded + 1;
        Four before{};
        for (std::uint32_t b = 0; b < n_steps; ++b) {
            const Four own = sum[b];
            sum[b] = Four{};
            const Real d = before[0] + before[1];
            high[b] = d + own[0];
            low[b] = d + own[1];
            before += own;
            upto[b] = before[2];
        }
        for (std::uint32_t b = n_steps; b < padded; ++b) {
            high[b] = low[b] = 0;
            upto[b] = static_cast<Real>(n);
        }
        const Real more = slack<Real>(), level = static_cast<Real>(task_.level);
        const Real all = static_cast<Real>(n), least = static_cast<Real>(task_.min_leaf);
        const Real most = all - least;
        int any = 0;
        // k runs from one past the members before the step to those with it; k (n - k) is least at
        // one of the two.
        Real* first = upto - 1;
        *first = 0;
        for (std::uint32_t b = 0; b < padded; ++b) {
            const Real k0 = first[b] + 1 > least ? first[b] + 1 : least;
            const Real k1 = upto[b] < most ? upto[b] : most;
            const Real up = high[b] < 0 ? -high[b] : high[b], down = low[b] < 0 ? -low[b] : low[b];
            const Real above = (up > down ? up : down) + more;
            const Real s0 = k0 * (all - k0), s1 = k1 * (all - k1), spread = s0 < s1 ? s0 : s1;
            any |= (above * above >= level * spread) & (k0 <= k1);
        }
        return any;
    }

    const StairsTask& task_;
    std::uint32_t shift_ = 0, n_steps_ = 0;
};

inline std::uint32_t stairs(const StairsTask& task, const std::uint32_t* columns,
                            std::uint32_t count) {
    return task.rank_bytes == 2 ? Stairs<std::uint16_t>(task).first(columns, count)
                                : Stairs<std::uint32_t>(task).first(columns, count);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
