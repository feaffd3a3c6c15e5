// The sweep, written once for the compiler to make the most of each instruction set.
#pragma once
#include "kernels/sweep_kernel.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Rank>
class Sweep {
public:
    explicit Sweep(SweepTask& task) : task_(task), n_(task.n), ones_(task.n_ones) {
        while ((task.n_samples - 1) >> shift_ >= task.n / 4 + 1) ++shift_;
        n_steps_ = ((task.n_samples - 1) >> shift_) + 1;
        refresh();
    }

    void run() {
        Candidates candidates(task_.pool, task_.draw_key);
        std::uint32_t place = 0, feature[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(feature)) {
            const std::uint32_t ahead = task_.n <= kTiny ? count : 1;
            for (std::uint32_t c = 0; c < ahead; ++c) prefetch(feature[c]);
            for (std::uint32_t c = 0; c < count; ++c, ++place) {
                if (ahead == 1 && c + 1 < count) prefetch(feature[c + 1]);
                if (task_.flags[feature[c]] & 2)
                    task_.try_slowly(task_.owner, feature[c]);
                else if ((task_.flags[feature[c]] & 1) && by_levels(feature[c]))
                    ;
                else if (task_.n <= kTiny)
                    by_counting(feature[c]);
                else
                    by_steps(feature[c]);
                refresh();
                if (task_.found && task_.feature == feature[c]) task_.place = place;
                if (task_.perfect()) return;
            }
        }
    }

private:
    static constexpr std::uint32_t kTiny = 32;
    static constexpr std::uint32_t kMostLevels = 8;  // of which counting costs less than sorting
    static constexpr std::uint32_t kMostPrefetched = 2048;  // half of a first-level cache
    // A test in doubles must never miss: a margin far above their rounding.
    static constexpr double kMargin = 1.0 + 1e-12;

    const Rank* column(std::uint32_t feature) const {
        return reinterpret_cast<const Rank*>(task_.column(feature));
    }
    // The ranks of the members: one by one, or the whole column where that is less.
    void prefetch(std::uint32_t feature) const {
        const Rank* rank = column(feature);
        const std::uint32_t n_lines = task_.n_samples * sizeof(Rank) / 64;
        if (task_.n < n_lines) {
            if (task_.n <= kMostPrefetched)
                for (std::uint32_t i = 0; i < task_.n; ++i)
                    __builtin_prefetch(rank + task_.samples[i]);
        } else if (n_lines <= kMostPrefetched) {
            for (std::uint32_t b = 0; b < n_lines; ++b)
                __builtin_prefetch(reinterpret_cast<const char*>(rank) + 64 * std::uint64_t{b});
        }
    }
    void refresh() {
        level_ = task_.found ? static_cast<double>(task_.best_num) /
                                   static_cast<double>(task_.best_den)
                             : -1.0;
    }
    // D^2 (with its margin) and the k (n - k) that it is compared with.
    double square(double k, double l) const {
        const double d = l * n_ - k * ones_;
        return d * d * kMargin;
    }
    double spread(double k) const { return k * (n_ - k); }

    void offer(std::uint32_t feature, std::uint32_t k, std::uint32_t l, std::uint32_t rank,
               std::uint32_t next) {
        if (k < task_.min_leaf || k + task_.min_leaf > task_.n || !task_.beats(k, l)) return;
        if ((task_.flags[feature] & 1) &&
            !differ(task_, feature, rank, next == kUnknown ? next_rank(rank) : next))
            return;
        task_.take(feature, k, l);
        refresh();
    }

    // A column of few levels: members and ones up to the end of each are counted, nothing is
    // sorted. False where it has more.
    bool by_levels(std::uint32_t feature) {
        const std::uint64_t* differs = task_.differs + std::uint64_t{feature} * task_.n_words;
        std::uint32_t end[kMostLevels - 1], n_ends = 0;
        for (std::uint32_t w = 0; w < task_.n_words; ++w)
            for (std::uint64_t bits = differs[w]; bits; bits &= bits - 1) {
                if (n_ends == kMostLevels - 1) return false;
                end[n_ends++] = 64 * w + static_cast<std::uint32_t>(__builtin_ctzll(bits));
            }
        const Rank* rank = column(feature);
        for (std::uint32_t i = 0; i < task_.n; ++i)
            task_.key[i] = std::uint32_t{rank[task_.samples[i]]} << 1 | task_.label[i];
        for (std::uint32_t e = 0; e < n_ends; ++e) {
            const std::uint32_t limit = (end[e] + 1) << 1;
            std::uint32_t k = 0, l = 0;
            for (std::uint32_t i = 0; i < task_.n; ++i) {
                const std::uint32_t below = task_.key[i] < limit;
                k += below;
                l += below & task_.key[i];
            }
            if (k >= task_.min_leaf && k + task_.min_leaf <= task_.n && task_.beats(k, l))
                task_.take(feature, k, l);
        }
        return true;
    }

    void by_steps(std::uint32_t feature) {
        const Rank* rank = column(feature);
        const std::uint32_t n = task_.n, shift = shift_;
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t r = rank[task_.samples[i]], one = task_.label[i];
            task_.key[i] = r << 1 | one;  // ranks stay below 2^22
            task_.counts[r >> shift] += 1 + (one << 16);
        }
        std::int32_t k = 0, l = 0;
        for (std::uint32_t b = 0; b < n_steps_; ++b) {
            const std::uint32_t count = task_.counts[b];
            task_.counts[b] = 0;
            task_.members[b] = k += static_cast<std::int32_t>(count & 0xffff);
            task_.ones[b] = l += static_cast<std::int32_t>(count >> 16);
        }
        const bool first = !task_.found && !(task_.flags[feature] & 1);
        const double level = first ? first_level() : level_;
        if (open_steps(task_.members, task_.ones, task_.open, level)) search_open_steps(feature);
    }

    // Marks the steps of which a corner beats `level`; true when there is one. A step runs from the
    // counts up to the step before to those with it.
    bool open_steps(const std::int32_t* __restrict members, const std::int32_t* __restrict ones,
                    std::uint8_t* __restrict open, double level) const {
        const double n = n_, all_ones = ones_;
        const auto beats = [=](double k, double l) {
            const double d = l * n - k * all_ones;
            return d * d * kMargin > level * (k * (n - k));
        };
        std::uint8_t any = 0;
        for (std::int32_t b = 0; b < static_cast<std::int32_t>(n_steps_); ++b) {
            const double k0 = members[b - 1], l0 = ones[b - 1], k1 = members[b], l1 = ones[b];
            const bool beat = beats(k1, l1) | beats(k0 + (l1 - l0), l1) | beats(k1 - (l1 - l0), l0);
            open[b] = beat;
            any |= open[b];
        }
        return any;
    }

    // Nothing found yet: some split at the end of a step is at least this good (no ties here), so
    // that only few splits are scored exactly.
    double first_level() const {
        double best = -1.0;
        for (std::uint32_t b = 0; b < n_steps_; ++b) {
            const double k = task_.members[b], l = task_.ones[b];
            const bool allowed = k >= task_.min_leaf && k + task_.min_leaf <= n_;
            const double d = l * n_ - k * ones_;
            const double level = allowed ? d * d / spread(k) : -1.0;
            best = level > best ? level : best;
        }
        return best * (1.0 - 1e-12);
    }

    void search_open_steps(std::uint32_t feature) {
        std::uint32_t* open = task_.open_key;
        std::uint32_t found = 0;
        for (std::uint32_t i = 0; i < task_.n; ++i) {
            open[found] = task_.key[i];
            found += task_.open[task_.key[i] >> 1 >> shift_];
        }
        sort(open, found);
        for (std::uint32_t i = 0; i < found;) {
            const std::int64_t b = static_cast<std::int64_t>(open[i] >> 1 >> shift_);
            std::uint32_t k = static_cast<std::uint32_t>(task_.members[b - 1]);
            std::uint32_t l = static_cast<std::uint32_t>(task_.ones[b - 1]);
            for (; i < found && static_cast<std::int64_t>(open[i] >> 1 >> shift_) == b; ++i) {
                ++k;
                l += static_cast<std::uint32_t>(open[i] & 1);
                if (k >= task_.n) return;
                if (square(k, l) <= level_ * spread(k)) continue;
                const std::uint32_t next = i + 1 < found ? open[i + 1] >> 1 : kUnknown;
                offer(feature, k, l, open[i] >> 1, follows(next, b, k) ? next : kUnknown);
            }
        }
    }
    // Whether an open member of this rank is the next after the k-th, in step b: no members of
    // closed steps lie between.
    bool follows(std::uint32_t rank, std::int64_t b, std::uint32_t k) const {
        if (rank == kUnknown) return false;
        const std::int64_t step = rank >> shift_;
        return step == b || static_cast<std::uint32_t>(task_.members[step - 1]) == k;
    }
    // Shell sort: short lists, and no library code compiled for this instruction set alone.
    static void sort(std::uint32_t* key, std::uint32_t n) {
        constexpr std::uint32_t kGaps[] = {3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
        for (std::uint32_t gap : kGaps)
            for (std::uint32_t i = gap; i < n; ++i) {
                const std::uint32_t mine = key[i];
                std::uint32_t j = i;
                for (; j >= gap && key[j - gap] > mine; j -= gap) key[j] = key[j - gap];
                key[j] = mine;
            }
    }
    std::uint32_t next_rank(std::uint32_t rank) const {
        std::uint32_t next = kUnknown;
        for (std::uint32_t i = 0; i < task_.n; ++i) {
            const std::uint32_t r = task_.key[i] >> 1;
            next = r > rank && r < next ? r : next;
        }
        return next;
    }

    void by_counting(std::uint32_t feature) {
        const Rank* rank = column(feature);
        std::uint32_t key[kTiny], sorted[kTiny];
        const std::uint32_t n = task_.n, padded = (n + 15) / 16 * 16;
        for (std::uint32_t i = 0; i < n; ++i) key[i] = rank[task_.samples[i]];
        for (std::uint32_t i = n; i < padded; ++i) key[i] = 0xffffffffu;
        std::uint32_t code[kTiny];
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t mine = key[i];
            std::uint32_t smaller = 0;
            for (std::uint32_t j = 0; j < padded; ++j) smaller += key[j] < mine;
            sorted[smaller] = mine;
            code[smaller] = task_.label[i];
        }
        for (std::uint32_t k = 1, l = 0; k < n; ++k) {
            l += code[k - 1];
            if (square(k, l) <= level_ * spread(k)) continue;
            offer(feature, k, l, sorted[k - 1], sorted[k]);
        }
    }

    static constexpr std::uint32_t kUnknown = 0xffffffffu;
    SweepTask& task_;
    double n_, ones_, level_ = -1.0;
    std::uint32_t shift_ = 0, n_steps_ = 0;
};

inline void sweep(SweepTask& task) {
    if (task.rank_bytes == 2)
        Sweep<std::uint16_t>(task).run();
    else
        Sweep<std::uint32_t>(task).run();
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
