// Whether a step of rank of a node of two classes may hold a better split, and the splits of a column.
#pragma once
#include <limits>
#include <type_traits>

#include "kernels/binary_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// The score D^2 / (k (n - k)) of the best so far; less than any where there is none.
inline double level_of(const SweepTask& task) {
    return task.found ? static_cast<double>(task.best_num) / static_cast<double>(task.best_den)
                      : -1.0;
}

// Many steps are tested at once, from their counts: members in the lower half of an entry, ones in the
// upper. In floats for fewer than 2^16 members (entries of 32 bits), else in doubles. D = l n - k n1
// may have lost some units to the roundings of two products of at most n n1, which are added; the
// other roundings are far below the margin. So a test never misses.
template <class Packed>
struct StepTest {
    static constexpr int kHalf = 4 * sizeof(Packed);
    using Real = std::conditional_t<sizeof(Packed) == 4, float, double>;
    using Count = std::conditional_t<sizeof(Packed) == 4, std::int32_t, std::int64_t>;
    static constexpr Real kRounding = std::numeric_limits<Real>::epsilon();

    Real n, ones, level, lost;

    StepTest(const SweepTask& task, double best)
        : n(static_cast<Real>(task.n)),
          ones(static_cast<Real>(task.n_ones)),
          level(static_cast<Real>(best * (1.0 - 32.0 * kRounding))),
          lost(n * ones * 2 * kRounding) {}

    static Packed members_of(Packed counts) { return counts & ((Packed{1} << kHalf) - 1); }
    static Packed ones_of(Packed counts) { return counts >> kHalf; }

    bool beats(Real k, Real l) const {
        const Real d = l * n - k * ones, more = (d < 0 ? -d : d) + lost, spread = k * (n - k);
        return (more * more > level * spread) & (spread > 0);
    }
    // A step runs from the counts before it to those with it: its end, all of its ones first, all of
    // its zeros first.
    bool opens(Packed before, Packed with) const {
        const Real k0 = real(members_of(before)), l0 = real(ones_of(before));
        const Real k1 = real(members_of(with)), l1 = real(ones_of(with)), more = l1 - l0;
        return beats(k1, l1) | beats(k0 + more, l1) | beats(k1 - more, l0);
    }
    bool opens_at(Packed with) const { return beats(real(members_of(with)), real(ones_of(with))); }

private:
    static Real real(Packed count) { return static_cast<Real>(static_cast<Count>(count)); }
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
