// Eight words of planes side by side with AVX-512, for plane_counter.hpp.
#pragma once
#include <immintrin.h>

#include "kernels/step_test.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

struct Avx512Bits {
    static constexpr bool kExist = true;
    static constexpr std::uint32_t kWords = 8;
    using Vector = __m512i;
    struct Count {
        __m512i members = _mm512_setzero_si512(), ones = _mm512_setzero_si512();
    };
    struct Eight {
        __m256i of = _mm256_setzero_si256();
    };

    static Vector load(const std::uint64_t* words) { return _mm512_load_si512(words); }
    static void store(std::uint64_t* words, Vector a) { _mm512_store_si512(words, a); }
    static Vector constant(bool bit) { return _mm512_set1_epi64(bit ? -1 : 0); }
    static Vector both(Vector a, Vector b) { return _mm512_and_si512(a, b); }
    static Vector without(Vector a, Vector b) { return _mm512_andnot_si512(b, a); }
    static Vector either(Vector a, Vector b) { return _mm512_or_si512(a, b); }
    static Vector where(Vector a, Vector plane, Vector flip) {
        return _mm512_ternarylogic_epi64(a, plane, flip, 0x90);  // a & ~(plane ^ flip)
    }
    static void add(Count& count, Vector a, Vector ones) {
        count.members = _mm512_add_epi64(count.members, _mm512_popcnt_epi64(a));
        count.ones = _mm512_add_epi64(count.ones, _mm512_popcnt_epi64(both(a, ones)));
    }
    [[gnu::always_inline]] static Eight sums(const Count* counts) {
        __m512i c[8], two[4], four[2];
        for (int i = 0; i < 8; ++i)
            c[i] = _mm512_or_si512(counts[i].members, _mm512_slli_epi64(counts[i].ones, 32));
        for (int i = 0; i < 4; ++i)
            two[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(c[2 * i], c[2 * i + 1]),
                                      _mm512_unpackhi_epi64(c[2 * i], c[2 * i + 1]));
        for (int i = 0; i < 2; ++i) four[i] = halves(two[2 * i], two[2 * i + 1]);
        const __m512i all = halves(four[0], four[1]);  // lane i: the sum of the lanes of c[i]
        const __m512i first =
            _mm512_permutexvar_epi64(_mm512_setr_epi64(4, 2, 2, 1, 1, 1, 1, 0), all);
        const __m512i second = _mm512_maskz_permutexvar_epi64(
            0x74, _mm512_setr_epi64(0, 0, 5, 0, 6, 3, 3, 0), all);
        const __m512i third = _mm512_maskz_permutexvar_epi64(0x40, _mm512_set1_epi64(7), all);
        const __m512i upto = _mm512_add_epi64(_mm512_add_epi64(first, second), third);
        return {_mm512_cvtepi64_epi32(_mm512_or_si512(upto, _mm512_srli_epi64(upto, 16)))};
    }
    static void put(const Eight& low, const Eight& high, std::uint32_t before, std::uint32_t* sums) {
        const __m512i both =
            _mm512_inserti64x4(_mm512_castsi256_si512(low.of), high.of, 1);
        const __m512i last = _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), both);
        _mm512_storeu_si512(sums, _mm512_add_epi32(_mm512_add_epi32(both, last),
                                                   _mm512_set1_epi32(static_cast<int>(before))));
    }
    static std::uint64_t open_steps(const StepTest& test, const std::uint32_t* sums,
                                    std::uint32_t n) {
        __m512i last = _mm512_setzero_si512();
        std::uint64_t open = 0;
        for (std::uint32_t b = 0; b < n; b += 16) {
            const __m512i with = _mm512_loadu_si512(sums + b);
            const __m512i before = _mm512_alignr_epi32(with, last, 15);
            last = with;
            const __m512 k0 = members(before), k1 = members(with), l0 = ones(before), l1 = ones(with);
            const __m512 more = _mm512_sub_ps(l1, l0);
            const std::uint64_t here = beat(test, k1, l1) | beat(test, _mm512_add_ps(k0, more), l1) |
                                       beat(test, _mm512_sub_ps(k1, more), l0);
            open |= here << b;
        }
        return open;
    }
    static std::uint64_t open_ends(const StepTest& test, const std::uint32_t* sums,
                                   std::uint32_t n) {
        std::uint64_t open = 0;
        for (std::uint32_t b = 0; b < n; b += 16) {
            const __m512i with = _mm512_loadu_si512(sums + b);
            open |= std::uint64_t{beat(test, members(with), ones(with))} << b;
        }
        return open;
    }

private:
    static __m512i halves(__m512i a, __m512i b) {
        return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
    }
    static __m512 members(__m512i counts) {
        return _mm512_cvtepi32_ps(_mm512_and_si512(counts, _mm512_set1_epi32(0xffff)));
    }
    static __m512 ones(__m512i counts) {
        return _mm512_cvtepi32_ps(_mm512_srli_epi32(counts, 16));
    }
    static std::uint32_t beat(const StepTest& test, __m512 k, __m512 l) {
        const __m512 n = _mm512_set1_ps(test.n);
        const __m512 d = _mm512_fmsub_ps(l, n, _mm512_mul_ps(k, _mm512_set1_ps(test.ones)));
        const __m512 more = _mm512_add_ps(_mm512_abs_ps(d), _mm512_set1_ps(test.lost));
        const __m512 spread = _mm512_mul_ps(k, _mm512_sub_ps(n, k));
        const __mmask16 splits = _mm512_cmp_ps_mask(spread, _mm512_setzero_ps(), _CMP_GT_OQ);
        return _cvtmask16_u32(_mm512_mask_cmp_ps_mask(
            splits, _mm512_mul_ps(more, more),
            _mm512_mul_ps(spread, _mm512_set1_ps(test.level)), _CMP_GT_OQ));
    }
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
