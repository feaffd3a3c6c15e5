// The sweep, written once for the compiler to make the most of each instruction set.
#pragma once
#include "kernels/step_search.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Rank>
class Sweep {
public:
    explicit Sweep(SweepTask& task) : task_(task) {
        std::uint32_t shift = 0;
        while (highest() >> shift >= task.n / (task.n <= 256 ? 3 : 4) + 1) ++shift;
        use_steps(kCodes && task.n >= kManyForCodes ? 0 : shift);
        refresh();
    }

    void run() {
        Candidates(task_.pool, task_.draw_key, task_.n_first())
            .each([this](std::uint32_t feature, std::uint32_t place) {
                if (task_.flags[feature] & 2)
                    task_.try_slowly(task_.owner, feature);
                else
                    search(feature, [&](std::uint32_t k, std::uint32_t l, const auto& differs) {
                        if (task_.beats(k, l) && differs()) task_.take(feature, k, l);
                        return false;
                    });
                if (!task_.found || task_.feature != feature) return false;
                task_.place = place;
                refresh();
                return task_.perfect();
            });
    }

    // Columns compared with a best that is known.
    void screen() {
        screen_columns(task_, [this](std::uint32_t column, bool or_equal) {
            return search(column, [&](std::uint32_t k, std::uint32_t l, const auto& differs) {
                return (task_.beats(k, l) || (or_equal && task_.equals(k, l))) && differs();
            });
        });
    }

private:
    static constexpr bool kCodes = sizeof(Rank) == 1;  // equal values have equal codes
    static constexpr std::uint32_t kTiny = 32;
    static constexpr std::uint32_t kManyForCodes = 96;  // from here on a step for each code

    std::uint32_t highest() const { return kCodes ? 255 : task_.n_samples - 1; }
    void use_steps(std::uint32_t shift) {
        shift_ = shift;
        n_steps_ = (highest() >> shift) + 1;
    }
    const Rank* column(std::uint32_t feature) const {
        return reinterpret_cast<const Rank*>(task_.column(feature));
    }
    void refresh() { level_ = level_of(task_); }

    // Calls use(k, l, differs) for the splits of a column that may beat the best, positions
    // ascending, until it returns true: k members and l ones on the left; differs() says whether
    // the values on both sides of the split do.
    template <class Use>
    bool search(std::uint32_t feature, const Use& use) {
        if (task_.n <= 8) return by_pairs<8>(feature, use);
        if (task_.n <= 16) return by_pairs<16>(feature, use);
        if (task_.n <= kTiny) return by_pairs<32>(feature, use);
        if (task_.n < SweepTask::kNarrow)
            return by_steps(feature, task_.counts, task_.sums, use);
        return by_steps(feature, task_.wide_counts, task_.wide_sums, use);
    }

    template <class Use>
    bool use_allowed(const Use& use, std::uint32_t feature, std::uint32_t k, std::uint32_t l,
                     std::uint32_t rank, std::uint32_t next) const {
        return RankedColumn<Rank>(task_, feature).use(use, k, l, rank, next);
    }

    template <class Packed, class Use>
    bool by_steps(std::uint32_t feature, Packed* __restrict counts, Packed* __restrict sums,
                  const Use& use) {
        const Rank* __restrict rank = column(feature);
        const std::uint32_t* __restrict members = task_.members;
        const std::uint32_t n = task_.n, n_ones = task_.n_ones, shift = shift_;
        for (std::uint32_t i = 0; i < n_ones; ++i)
            counts[rank[members[i]] >> shift] += 1 + (Packed{1} << StepTest<Packed>::kHalf);
        for (std::uint32_t i = n_ones; i < n; ++i) counts[rank[members[i]] >> shift] += 1;
        Packed sum = 0;
        for (std::uint32_t b = 0; b < n_steps_; ++b) {
            sums[b] = sum += counts[b];
            counts[b] = 0;
        }
        // Steps too many at the end hold nobody.
        for (std::uint32_t i = 0; i < SweepTask::kVector; ++i) sums[n_steps_ + i] = sum;
        const StepTest<Packed> test(task_, level_);
        if (kCodes && shift_ == 0)  // nothing lies within a step
            return any_open<true>(test, sums) && search_ends(test, sums, feature, use);
        if (!any_open<false>(test, sums)) return false;
        if (!kCodes) return search_open_steps(test, sums, feature, use);
        const std::uint32_t coarse = shift_;
        use_steps(0);
        const bool used = by_steps(feature, counts, sums, use);
        use_steps(coarse);
        return used;
    }

    // Whether any step may hold a better split, or any end of one.
    template <bool kEnd, class Packed>
    bool any_open(const StepTest<Packed>& test, const Packed* sums) const {
        const auto end = static_cast<std::int32_t>((n_steps_ + 15) / 16 * 16);
        int any = 0;
        for (std::int32_t b = 0; b < end; ++b)
            any |= kEnd ? test.opens_at(sums[b]) : test.opens(sums[b - 1], sums[b]);
        return any;
    }

    template <class Packed, class Use>
    bool search_ends(const StepTest<Packed>& test, const Packed* sums, std::uint32_t feature,
                     const Use& use) {
        for (std::int32_t b = 0; b < static_cast<std::int32_t>(n_steps_); ++b) {
            if (sums[b] == sums[b - 1] || !test.opens_at(sums[b])) continue;
            const auto k = static_cast<std::uint32_t>(test.members_of(sums[b]));
            if (k >= task_.n) return false;
            if (use_allowed(use, feature, k, static_cast<std::uint32_t>(test.ones_of(sums[b])), 0, 0))
                return true;
        }
        return false;
    }

    template <class Packed, class Use>
    bool search_open_steps(const StepTest<Packed>& test, const Packed* sums, std::uint32_t feature,
                           const Use& use) {
        const Rank* rank = column(feature);
        std::uint32_t* key = task_.key;
        std::uint32_t found = 0;
        for (std::int32_t b = 0; b < static_cast<std::int32_t>(n_steps_); ++b)
            task_.open[b] = test.opens(sums[b - 1], sums[b]);
        for (std::uint32_t i = 0; i < task_.n; ++i) {
            const std::uint32_t r = rank[task_.members[i]];  // ranks stay below 2^22
            key[found] = r << 1 | (i < task_.n_ones);
            found += task_.open[r >> shift_];
        }
        sort_keys(key, found, 2 * task_.n_samples);
        for (std::uint32_t i = 0; i < found;) {
            const std::uint32_t step = key[i] >> 1 >> shift_;
            const Packed before = *(sums + step - 1);
            auto k = static_cast<std::uint32_t>(test.members_of(before));
            auto l = static_cast<std::uint32_t>(test.ones_of(before));
            for (; i < found && key[i] >> 1 >> shift_ == step; ++i) {
                ++k;
                l += key[i] & 1;
                if (k >= task_.n) return false;
                if (use_allowed(use, feature, k, l, key[i] >> 1, kUnknown)) return true;
            }
        }
        return false;
    }

    // At most `kLanes` members, all compared with each.
    template <int kLanes, class Use>
    bool by_pairs(std::uint32_t feature, const Use& use) {
        using Key = std::conditional_t<sizeof(Rank) <= 2, std::int16_t, std::int32_t>;
        typedef Key Lanes __attribute__((vector_size(kLanes * sizeof(Key))));
        constexpr Key kLowest = sizeof(Key) == 2 ? Key(-0x8000) : Key(0);  // of rank 0
        constexpr Key kNobody = sizeof(Key) == 2 ? Key(0x7fff) : Key(0x7fffffff);
        const Rank* rank = column(feature);
        const std::uint32_t n = task_.n, n_ones = task_.n_ones;
        alignas(Lanes) Key key[kLanes], l[kLanes], zeros[kLanes];
        for (int i = 0; i < kLanes; ++i) key[i] = kNobody;
        for (std::uint32_t i = 0; i < n; ++i)
            key[i] = static_cast<Key>(rank[task_.members[i]] + kLowest);
        const auto& keys = reinterpret_cast<const Lanes&>(key);
        Lanes ones_upto{}, zeros_upto{};
        for (std::uint32_t j = 0; j < n_ones; ++j) ones_upto -= key[j] <= keys;
        for (std::uint32_t j = n_ones; j < n; ++j) zeros_upto -= key[j] <= keys;
        reinterpret_cast<Lanes&>(l) = ones_upto;
        reinterpret_cast<Lanes&>(zeros) = zeros_upto;
        const StepTest<std::uint32_t> test(task_, level_);
        int any = 0;
        for (int i = 0; i < kLanes; ++i) any |= test.beats(l[i] + zeros[i], l[i]);
        if (!any) return false;
        std::uint32_t at[kLanes + 1];  // the member that is the k-th, counted from 1
        for (std::uint32_t k = 0; k <= n; ++k) at[k] = kUnknown;
        for (std::uint32_t i = 0; i < n; ++i) at[l[i] + zeros[i]] = i;
        for (std::uint32_t k = 1; k < n; ++k) {
            const std::uint32_t i = at[k];
            if (i == kUnknown || !test.beats(k, l[i])) continue;
            const std::uint32_t next = kCodes ? 0 : rank[task_.members[at[k + 1]]];
            if (use_allowed(use, feature, k, static_cast<std::uint32_t>(l[i]),
                            rank[task_.members[i]], next))
                return true;
        }
        return false;
    }

    static constexpr std::uint32_t kUnknown = RankedColumn<Rank>::kUnknown;
    SweepTask& task_;
    std::uint32_t shift_ = 0, n_steps_ = 0;
    double level_;
};

template <class Rank, class Planes>
void sweep_ranks(SweepTask& task) {
    if constexpr (Planes::kExist && sizeof(Rank) > 1)
        if (task.planes) {
            StepSearch<Rank, Planes> steps(task);
            return task.screened ? steps.screen() : steps.run();
        }
    Sweep<Rank> sweep(task);
    task.screened ? sweep.screen() : sweep.run();
}

// `Planes`: how steps are counted on planes (step_search.hpp), if at all.
template <class Planes>
void sweep(SweepTask& task) {
    if (task.rank_bytes == 1)
        sweep_ranks<std::uint8_t, Planes>(task);
    else if (task.rank_bytes == 2)
        sweep_ranks<std::uint16_t, Planes>(task);
    else
        sweep_ranks<std::uint32_t, Planes>(task);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
