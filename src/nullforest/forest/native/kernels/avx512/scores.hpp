// Scores of the splits of a small node in floats, with AVX-512: many columns at once, no branches.
#pragma once
#include "kernels/avx512/lookup.hpp"
#include "kernels/binary_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// (l - k n1/n)^2 / (k (n - k)) for up to 255 members, and 0 where a side is too small.
class Avx512Scores {
public:
    static constexpr bool kExist = true;
    static constexpr std::uint32_t kMost = 255;
    // What the roundings of a score may make of it: l - k n1/n is off by at most 2^-15, and at least
    // 1/n where it is not 0.
    static constexpr float kSure = 1.0f - 0x1p-5f;
    using Best = __m512;

    void enter(const WalkTask& task) {
        n_ = task.n;
        const __m512 n = _mm512_set1_ps(static_cast<float>(task.n));
        const __m512 share = _mm512_set1_ps(static_cast<float>(task.n_ones) /
                                            static_cast<float>(task.n));
        const __m512 least = _mm512_set1_ps(static_cast<float>(task.min_leaf));
        __m512 k = _mm512_setr_ps(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
        for (std::uint32_t i = 0; i < task.n; i += 16, k = _mm512_add_ps(k, _mm512_set1_ps(16))) {
            const __m512 right = _mm512_sub_ps(n, k);
            const __mmask16 allowed = _mm512_cmp_ps_mask(k, least, _CMP_GE_OQ) &
                                      _mm512_cmp_ps_mask(right, least, _CMP_GE_OQ);
            _mm512_store_ps(expected_ + i, _mm512_mul_ps(k, share));
            _mm512_store_ps(weight_ + i, _mm512_maskz_div_ps(allowed, _mm512_set1_ps(1),
                                                             _mm512_mul_ps(k, right)));
        }
    }
    static Best none() { return _mm512_setzero_ps(); }
    static Best better(Best a, Best b) { return _mm512_max_ps(a, b); }
    static float highest(Best best) { return _mm512_reduce_max_ps(best); }
    static bool reaches(Best best, float level) {
        return _mm512_cmp_ps_mask(best, _mm512_set1_ps(level), _CMP_GE_OQ);
    }
    // The best, lane by lane, of so far and of 64 splits from position k0 on: labels of the members in
    // sorted order, after `base` ones.
    Best best(std::uint64_t labels, std::uint32_t base, std::uint32_t k0, Best so_far) const {
        each(labels, base, k0, [&](int, __m512 score) { so_far = _mm512_max_ps(so_far, score); });
        return so_far;
    }
    // Which of them reach a level.
    std::uint64_t reaching(std::uint64_t labels, std::uint32_t base, std::uint32_t k0,
                           float level) const {
        std::uint64_t found = 0;
        each(labels, base, k0, [&](int quarter, __m512 score) {
            const std::uint64_t here =
                _mm512_cmp_ps_mask(score, _mm512_set1_ps(level), _CMP_GE_OQ);
            found |= here << 16 * quarter;
        });
        return found;
    }

private:
    template <class Use>
    [[gnu::always_inline]] void each(std::uint64_t labels, std::uint32_t base, std::uint32_t k0,
                                     const Use& use) const {
        const __m512i counts =
            _mm512_add_epi8(counts_.of(labels), _mm512_set1_epi8(static_cast<char>(base)));
        const __m128i part[4] = {
            _mm512_castsi512_si128(counts), _mm512_extracti32x4_epi32(counts, 1),
            _mm512_extracti32x4_epi32(counts, 2), _mm512_extracti32x4_epi32(counts, 3)};
        for (int quarter = 0; quarter < 4; ++quarter) {
            const std::uint32_t i = k0 + 16 * static_cast<std::uint32_t>(quarter);
            if (i >= n_) break;
            const __m512 l = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(part[quarter]));
            const __m512 d = _mm512_sub_ps(l, _mm512_load_ps(expected_ + i));
            use(quarter, _mm512_mul_ps(_mm512_mul_ps(d, d), _mm512_load_ps(weight_ + i)));
        }
    }

    RunningCounts counts_;
    std::uint32_t n_;
    alignas(64) float expected_[kMost + 1];
    alignas(64) float weight_[kMost + 1];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
