// Steps of rank of a node of two classes, and whether one of them may hold a better split.
#pragma once
#include <type_traits>

#include "kernels/key_sort.hpp"
#include "kernels/step_test.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Scalars are tested many at once. A test must never miss: its margin is far above the rounding of
// its few products.
struct Corner {
    static constexpr double kMargin = 1.0 + 1e-12;
    double n, ones, level;

    // A best of 0 leaves no room for a margin: every split is then as good.
    Corner(const SweepTask& task, double best)
        : n(task.n), ones(task.n_ones), level(best > 0.0 ? best : -1.0) {}
    bool beats(double k, double l) const {
        const double d = l * n - k * ones;
        return d * d * kMargin > level * (k * (n - k));
    }

    // Whether a corner of a step, or its end alone, beats the best. A step runs from the counts up
    // to the step before to those with it: members in the lower half, ones in the upper.
    template <bool kEnd, class Packed>
    bool opens(Packed before, Packed with) const {
        constexpr int kHalf = 4 * sizeof(Packed);
        constexpr Packed kLow = (Packed{1} << kHalf) - 1;
        using Count = std::conditional_t<sizeof(Packed) == 4, std::int32_t, std::int64_t>;
        const auto real = [](Packed count) { return static_cast<double>(static_cast<Count>(count)); };
        const double k0 = real(before & kLow), l0 = real(before >> kHalf);
        const double k1 = real(with & kLow), l1 = real(with >> kHalf), more = l1 - l0;
        if (kEnd) return beats(k1, l1);
        return beats(k1, l1) | beats(k0 + more, l1) | beats(k1 - more, l0);
    }
    // Of a multiple of 16 steps; entry -1 is 0.
    template <bool kEnd, class Packed>
    bool opens_any(const Packed* sums, std::uint32_t n_steps) const {
        int any = 0;
        for (std::int32_t b = 0; b < static_cast<std::int32_t>(n_steps); ++b)
            any |= opens<kEnd>(sums[b - 1], sums[b]);
        return any;
    }
};

// A column of ranks, and its splits.
template <class Rank>
class RankedColumn {
public:
    static constexpr std::uint32_t kUnknown = 0xffffffffu;

    RankedColumn(const SweepTask& task, std::uint32_t feature) : task_(task), feature_(feature) {}
    const Rank* rank() const { return reinterpret_cast<const Rank*>(task_.column(feature_)); }
    bool tied() const { return task_.flags[feature_] & 1; }

    // Calls use(k, l, differs) for the split after a member of this rank, where it leaves enough on
    // both sides: k members and l ones on the left; differs() says whether the values on both sides
    // do. `next`: the rank of the next member.
    template <class Use>
    bool use(const Use& use, std::uint32_t k, std::uint32_t l, std::uint32_t rank,
             std::uint32_t next) const {
        if (k < task_.min_leaf || k + task_.min_leaf > task_.n) return false;
        return use(k, l, [&] {
            return sizeof(Rank) == 1 || !tied() || differs_after(rank) ||
                   differ(task_, feature_, rank, next == kUnknown ? next_rank(rank) : next);
        });
    }
    // Whether the value of this rank differs from that of the next, a member's or not.
    bool differs_after(std::uint32_t rank) const {
        return task_.differs[std::uint64_t{feature_} * task_.n_words + rank / 64] >> rank % 64 & 1;
    }

private:
    std::uint32_t next_rank(std::uint32_t rank) const {
        std::uint32_t next = kUnknown;
        for (std::uint32_t i = 0; i < task_.n; ++i) {
            const std::uint32_t r = this->rank()[task_.members[i]];
            next = r > rank && r < next ? r : next;
        }
        return next;
    }

    const SweepTask& task_;
    std::uint32_t feature_;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
