// The members of a node sorted by the ranks of a column, for tables by ranks.
#pragma once
#include "kernels/key_sort.hpp"
#include "kernels/scan_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// A column of ranks in two or four bytes.
template <class Rank>
struct ScanRanks {
    const ScanTask& task;
    const Rank* rank;

    ScanRanks(const ScanTask& of, const std::uint8_t* column)
        : task(of), rank(reinterpret_cast<const Rank*>(column)) {}
    std::uint32_t of_member(std::uint32_t i) const { return rank[task.samples[i]]; }
};

// As the picks of columns by order (scan.hpp): numbers of members.
template <class Rank, class Id>
class RankPick {
public:
    static constexpr bool kByRank = true;

    explicit RankPick(const ScanTask& task) : task_(task) {}

    void pick(const std::uint8_t* column, const std::uint64_t*, Id* out) {
        const ScanRanks<Rank> ranks(task_, column);
        const std::uint32_t n = task_.n;
        // Ranks are below 2^22, numbers of members below 2^10.
        for (std::uint32_t i = 0; i < n; ++i) key_[i] = ranks.of_member(i) << 10 | i;
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

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
