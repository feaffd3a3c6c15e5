// The members of a node in sorted order, for the scan.
//   Pick(task); pick(order, high, out)   may write 64 past the end
//     kByRank                            whether of a table by ranks; then also
//     differs_after(feature, i)          whether the values of the members i and i + 1 differ
#pragma once
#include "kernels/key_sort.hpp"
#include "kernels/scan_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Of columns by order, 64 positions at a time:
//   Bits(task)
//   gather<false>(order, high, w, members, ones)   as in walk.hpp, without the ones
//   list(order, high, w, positions, out)  the samples at some of these; returns the end
template <class Bits, class Id>
class BitPick {
public:
    static constexpr bool kByRank = false;

    explicit BitPick(const ScanTask& task)
        : n_words_(task.n_words), last_(last_word(task)), bits_(task) {}
    void pick(const std::uint8_t* order, const std::uint64_t* high, Id* out) const {
        for (std::uint32_t w = 0; w < n_words_; ++w) {
            std::uint64_t members, ones;
            bits_.template gather<false>(order, high, w, members, ones);
            if (w + 1 == n_words_) members &= last_;
            out = bits_.list(order, high, w, members, out);
        }
    }

private:
    std::uint32_t n_words_;
    std::uint64_t last_;
    Bits bits_;
};

// Of columns by ranks: numbers of members, sorted.
template <class Rank, class Id>
class RankPick {
public:
    static constexpr bool kByRank = true;

    explicit RankPick(const ScanTask& task) : task_(task) {}

    void pick(const std::uint8_t* column, const std::uint64_t*, Id* out) {
        const auto* rank = reinterpret_cast<const Rank*>(column);
        const std::uint32_t n = task_.n;
        // Ranks are below 2^22, numbers of members below 2^10.
        for (std::uint32_t i = 0; i < n; ++i) key_[i] = std::uint32_t{rank[task_.samples[i]]} << 10 | i;
        sort_keys(key_, n, (task_.n_samples - 1) << 10 | 1023);
        for (std::uint32_t i = 0; i < n; ++i) out[i] = static_cast<Id>(key_[i] & 1023);
    }
    // Whether the values of the members i and i + 1 of the column just picked differ.
    bool differs_after(std::uint32_t feature, std::uint32_t i) const {
        return differ(task_, feature, key_[i] >> 10, key_[i + 1] >> 10);
    }

private:
    static_assert(ScanTask::kMost <= 1024);

    const ScanTask& task_;
    std::uint32_t key_[ScanTask::kMost];
};

// Whether the values of neighbouring members of a column just picked differ.
template <class Pick>
class Boundaries {
public:
    Boundaries(const ScanTask& task, const Pick& pick, std::uint32_t column)
        : task_(task), pick_(pick), column_(column) {}
    // Of the members i and i + 1.
    bool after(std::uint32_t i) {
        if (!(task_.flags[column_] & 1)) return true;
        if constexpr (Pick::kByRank) return pick_.differs_after(column_, i);
        if (!boundary_) boundary_ = task_.boundaries(task_.owner, column_);
        return boundary_[i];
    }

private:
    const ScanTask& task_;
    const Pick& pick_;
    std::uint32_t column_;
    const std::uint8_t* boundary_ = nullptr;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
