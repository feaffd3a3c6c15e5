// The kernels of an instruction set: each is written once and compiled for every set.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/scan_task.hpp"
#include "kernels/stairs_task.hpp"
#include "kernels/binary_task.hpp"

namespace nullforest {

struct Kernels {
    void (*walk)(WalkTask& task);
    void (*sweep)(SweepTask& task);
    void (*scan)(ScanTask& task);
    // The steps of a column that may reach the level, one bit each.
    std::uint64_t (*stairs)(StairsTask& task, std::uint32_t column);
    // The first values of a keyed bijection.
    void (*shuffle)(const ShuffleShape& shape, std::uint64_t key, std::uint32_t count,
                    std::uint32_t* out);
};
extern const Kernels portable_kernels, avx2_kernels, avx512_kernels, neon_kernels;

inline namespace NULLFOREST_ISA {
inline void first_values(const ShuffleShape& shape, std::uint64_t key, std::uint32_t count,
                         std::uint32_t* out) {
    Shuffle(shape, key).next(count, out);
}
}  // namespace NULLFOREST_ISA

}  // namespace nullforest
