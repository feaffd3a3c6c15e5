// Whole numbers side by side, in vectors as wide as those of the instruction set.
//
// Written with vectors rather than as loops, which compilers turn into branches now and then.
#pragma once
#include <cstdint>

#ifndef NULLFOREST_ISA
#define NULLFOREST_ISA baseline
#endif

namespace nullforest {
inline namespace NULLFOREST_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <int kLanes>
struct IntLanes {
    static constexpr int kEach = kVectorBytes / 4, kParts = kLanes / kEach;
    static_assert(kLanes % kEach == 0);
    typedef std::int32_t Part __attribute__((vector_size(kVectorBytes)));
    union {
        Part part[kParts];
        std::int32_t at[kLanes];
    };

    static IntLanes of(std::int32_t value) {
        IntLanes lanes;
        for (Part& p : lanes.part) p = Part{} + value;
        return lanes;
    }
    // Adds a number in the lanes of `others` that are not less than a bound.
    void add_from(std::int32_t bound, const IntLanes& others, std::int32_t number) {
        for (int p = 0; p < kParts; ++p) part[p] += (bound <= others.part[p]) & number;
    }
    // The same in those that are greater.
    void add_above(std::int32_t bound, const IntLanes& others, std::int32_t number) {
        for (int p = 0; p < kParts; ++p) part[p] += (bound < others.part[p]) & number;
    }
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
