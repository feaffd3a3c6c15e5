// Members and ones of a node in the steps of a column, counted on planes of bits (RankSteps) with
// AVX-512: eight words side by side.
//
// A tree of three planes has eight steps: seven masks of members below a threshold, and as many of
// the ones among them, are counted bit by bit; sums along the tree give the counts up to each step.
// More steps are several such trees, each within the members that the first planes select. The counts
// of a tree are those of: all, the lower half, the lower quarter of each half, the lower eighth of
// each quarter.
#pragma once
#include <immintrin.h>

#include "kernels/step_test.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

class PlaneCounter {
public:
    static constexpr bool kExist = true;
    using Test = StepTest<std::uint32_t>;

    explicit PlaneCounter(const SweepTask& task) : task_(task), n_words_(task.plane_words) {
        while (levels_ < SweepTask::kPlanes && task.n > kMany << 2 * (levels_ - 3)) ++levels_;
    }

    std::uint32_t levels() const { return levels_; }  // 2^levels steps
    // Counts up to and with each step of a column, and on to a multiple of 16.
    void count(std::uint32_t feature, std::uint32_t* sums) const {
        const std::uint64_t* planes = planes_of(feature);
        switch (levels_) {
            case 3: return count_trees<0>(planes, sums);
            case 4: return count_trees<1>(planes, sums);
            case 5: return count_trees<2>(planes, sums);
            default: return count_trees<3>(planes, sums);
        }
    }
    // Calls use(sample, label) for the members in any of these steps.
    template <class Use>
    void each_in(std::uint32_t feature, std::uint64_t steps, const Use& use) const {
        const std::uint64_t* planes = planes_of(feature);
        for (std::uint32_t w = 0; w < n_words_; w += kWords) {
            const __m512i members = _mm512_load_si512(task_.member + w);
            __m512i all = _mm512_setzero_si512();
            for (std::uint64_t left = steps; left; left &= left - 1) {
                const int step = __builtin_ctzll(left);
                __m512i in = members;
                for (std::uint32_t j = 0; j < levels_; ++j)
                    in = where(in, _mm512_load_si512(planes + j * n_words_ + w),
                               constant(step >> (levels_ - 1 - j) & 1));
                all = _mm512_or_si512(all, in);
            }
            alignas(64) std::uint64_t words[kWords];
            _mm512_store_si512(words, all);
            for (std::uint32_t v = 0; v < kWords; ++v)
                for (std::uint64_t bits = words[v]; bits; bits &= bits - 1) {
                    const auto bit = static_cast<std::uint32_t>(__builtin_ctzll(bits));
                    use(64 * (w + v) + bit,
                        static_cast<std::uint32_t>(task_.one[w + v] >> bit & 1));
                }
        }
    }
    // Which of n steps, a multiple of 16, may hold a better split; at the end of which there may be one.
    static std::uint64_t open_steps(const Test& test, const std::uint32_t* sums,
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
    static std::uint64_t open_ends(const Test& test, const std::uint32_t* sums,
                                   std::uint32_t n) {
        std::uint64_t open = 0;
        for (std::uint32_t b = 0; b < n; b += 16) {
            const __m512i with = _mm512_loadu_si512(sums + b);
            open |= std::uint64_t{beat(test, members(with), ones(with))} << b;
        }
        return open;
    }

private:
    static constexpr std::uint32_t kWords = 8;
    // 8 steps do for so many members, and twice the steps for four times as many.
    static constexpr std::uint32_t kMany = 32;
    struct Count {
        __m512i members = _mm512_setzero_si512(), ones = _mm512_setzero_si512();
        void add(__m512i mask, __m512i one) {
            members = _mm512_add_epi64(members, _mm512_popcnt_epi64(mask));
            ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(_mm512_and_si512(mask, one)));
        }
    };

    const std::uint64_t* planes_of(std::uint32_t feature) const {
        return task_.planes + std::size_t{feature} * SweepTask::kPlanes * n_words_;
    }
    static __m512i constant(bool bit) { return _mm512_set1_epi64(bit ? -1 : 0); }
    static __m512i where(__m512i a, __m512i plane, __m512i flip) {
        return _mm512_ternarylogic_epi64(a, plane, flip, 0x90);  // a & ~(plane ^ flip)
    }

    template <int kFirst>
    [[gnu::always_inline]] void count_trees(const std::uint64_t* planes, std::uint32_t* sums) const {
        if (kFirst == 0) return put(count_tree<0>(planes, 0), _mm256_setzero_si256(), 0, sums);
        std::uint32_t before = 0;
        for (std::uint32_t tree = 0; tree < 1u << kFirst; tree += 2) {
            const __m256i low = count_tree<kFirst>(planes, tree);
            put(low, count_tree<kFirst>(planes, tree + 1), before, sums + 8 * tree);
            before = sums[8 * tree + 15];
        }
    }
    template <int kFirst>
    [[gnu::always_inline]] __m256i count_tree(const std::uint64_t* planes, std::uint32_t tree) const {
        Count counts[8]{};
        __m512i flip[kFirst + 1];
        for (int j = 0; j < kFirst; ++j) flip[j] = constant(tree >> (kFirst - 1 - j) & 1);
        for (std::uint32_t w = 0; w < n_words_; w += kWords) {
            const auto plane = [&](int j) { return _mm512_load_si512(planes + j * n_words_ + w); };
            __m512i in = _mm512_load_si512(task_.member + w);
            for (int j = 0; j < kFirst; ++j) in = where(in, plane(j), flip[j]);
            const __m512i one = _mm512_load_si512(task_.one + w);
            const __m512i p = plane(kFirst), q = plane(kFirst + 1), r = plane(kFirst + 2);
            const __m512i low = _mm512_andnot_si512(p, in), high = _mm512_and_si512(p, in);
            const __m512i quarters[4] = {
                _mm512_andnot_si512(q, low), _mm512_and_si512(q, low),
                _mm512_andnot_si512(q, high), _mm512_and_si512(q, high)};
            counts[0].add(in, one);
            counts[1].add(low, one);
            counts[2].add(quarters[0], one);
            counts[3].add(quarters[2], one);
            for (int i = 0; i < 4; ++i)
                counts[4 + i].add(_mm512_andnot_si512(r, quarters[i]), one);
        }
        return sums(counts);
    }
    // Sums of the counts of a tree: up to each step.
    [[gnu::always_inline]] static __m256i sums(const Count* counts) {
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
        return _mm512_cvtepi64_epi32(_mm512_or_si512(upto, _mm512_srli_epi64(upto, 16)));
    }
    // Sixteen sums, those of the second tree after the last of the first.
    static void put(__m256i low, __m256i high, std::uint32_t before, std::uint32_t* sums) {
        const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        const __m512i last = _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), both);
        _mm512_storeu_si512(sums, _mm512_add_epi32(_mm512_add_epi32(both, last),
                                                   _mm512_set1_epi32(static_cast<int>(before))));
    }
    static __m512i halves(__m512i a, __m512i b) {
        return _mm512_add_epi64(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xdd));
    }
    static __m512 members(__m512i counts) {
        return _mm512_cvtepi32_ps(_mm512_and_si512(counts, _mm512_set1_epi32(0xffff)));
    }
    static __m512 ones(__m512i counts) {
        return _mm512_cvtepi32_ps(_mm512_srli_epi32(counts, 16));
    }
    static std::uint32_t beat(const Test& test, __m512 k, __m512 l) {
        const __m512 n = _mm512_set1_ps(test.n);
        const __m512 d = _mm512_fmsub_ps(l, n, _mm512_mul_ps(k, _mm512_set1_ps(test.ones)));
        const __m512 more = _mm512_add_ps(_mm512_abs_ps(d), _mm512_set1_ps(test.lost));
        const __m512 spread = _mm512_mul_ps(k, _mm512_sub_ps(n, k));
        const __mmask16 splits = _mm512_cmp_ps_mask(spread, _mm512_setzero_ps(), _CMP_GT_OQ);
        return _cvtmask16_u32(_mm512_mask_cmp_ps_mask(
            splits, _mm512_mul_ps(more, more),
            _mm512_mul_ps(spread, _mm512_set1_ps(test.level)), _CMP_GT_OQ));
    }

    const SweepTask& task_;
    std::uint32_t n_words_, levels_ = 3;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
