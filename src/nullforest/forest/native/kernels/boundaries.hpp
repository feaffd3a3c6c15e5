// Whether the values of neighbouring members of a column just picked differ.
#pragma once
#include "kernels/scan_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

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
