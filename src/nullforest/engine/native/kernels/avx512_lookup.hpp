// Lookups by sample with AVX-512, for 64 positions of a column at once.
#pragma once
#include <immintrin.h>

#include "kernels/kernel_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Looks up bits of a bitmap by sample, for 64 positions of a column at once.
class Lookup {
public:
    explicit Lookup(const KernelTask& task) : wide_(task.n_samples > 256) {}

    __m512i bitmap(const std::uint64_t* words) const {
        const __m512i all = _mm512_load_si512(words);
        // up to 256 samples twice the same, so that bit 5 of an index does not matter
        return wide_ ? all : _mm512_inserti64x4(all, _mm512_castsi512_si256(all), 1);
    }
    // The bytes of a bitmap that hold the samples, as vpermb looks at them: the low six bits alone.
    __m512i bytes(__m512i samples, const std::uint64_t* ninth, std::uint32_t w) const {
        return wide_ ? bytes<true>(samples, ninth, w) : bytes<false>(samples, ninth, w);
    }
    template <bool wide>
    static __m512i bytes(__m512i samples, const std::uint64_t* ninth, std::uint32_t w) {
        const __m512i byte = _mm512_srli_epi16(samples, 3);
        if (!wide) return byte;
        const __m512i low = _mm512_and_si512(byte, _mm512_set1_epi8(31));
        return _mm512_mask_add_epi8(low, _cvtu64_mask64(ninth[w]), low, _mm512_set1_epi8(32));
    }
    __m512i bits(__m512i samples) const { return _mm512_permutexvar_epi8(samples, bit_); }
    static std::uint64_t test(__m512i bitmap, __m512i bytes, __m512i bits) {
        return _cvtmask64_u64(
            _mm512_test_epi8_mask(_mm512_permutexvar_epi8(bytes, bitmap), bits));
    }

private:
    bool wide_;
    __m512i bit_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
};

// One byte for every sample, of up to 512.
class ByteTable {
public:
    ByteTable(const std::uint8_t* bytes, std::uint32_t n_samples)
        : few_(n_samples <= 128), wide_(n_samples > 256) {
        for (int p = 0; p < (wide_ ? 8 : 4); ++p) part_[p] = _mm512_load_si512(bytes + 64 * p);
    }
    // The bytes of 64 samples: their low bytes, and where there are more than 256 the ninth bits.
    __m512i at(__m512i samples, std::uint64_t ninth) const {
        const __m512i low = _mm512_permutex2var_epi8(part_[0], samples, part_[1]);
        if (few_) return low;
        const __mmask64 upper = _mm512_movepi8_mask(samples);
        const __m512i first = _mm512_mask_blend_epi8(
            upper, low, _mm512_permutex2var_epi8(part_[2], samples, part_[3]));
        if (!wide_) return first;
        const __m512i second = _mm512_mask_blend_epi8(
            upper, _mm512_permutex2var_epi8(part_[4], samples, part_[5]),
            _mm512_permutex2var_epi8(part_[6], samples, part_[7]));
        return _mm512_mask_blend_epi8(_cvtu64_mask64(ninth), first, second);
    }

private:
    bool few_, wide_;
    __m512i part_[8];
};

// Running counts of the bits of a word.
class RunningCounts {
public:
    RunningCounts()
        : before_(_mm512_setr_epi64(0, 0xff, 0xffff, 0xffffff, 0xffffffffll, 0xffffffffffll,
                                    0xffffffffffffll, 0xffffffffffffffll)),
          upto_(_mm512_set1_epi64(static_cast<long long>(0xff7f3f1f0f070301ull))),
          byte_(_mm512_setr_epi64(0, 0x0101010101010101ll, 0x0202020202020202ll,
                                  0x0303030303030303ll, 0x0404040404040404ll,
                                  0x0505050505050505ll, 0x0606060606060606ll,
                                  0x0707070707070707ll)),
          spread_(_mm512_setr_epi64(0, 0x0808080808080808ll, 0, 0x0808080808080808ll, 0,
                                    0x0808080808080808ll, 0, 0x0808080808080808ll)) {}

    // Byte i: how many of the bits 0..i are set.
    __m512i of(std::uint64_t bits) const {
        const __m512i all = _mm512_set1_epi64(static_cast<long long>(bits));
        const __m512i lower = _mm512_popcnt_epi64(_mm512_and_si512(all, before_));
        const __m512i own =
            _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(all, byte_), upto_));
        return _mm512_add_epi8(own, _mm512_shuffle_epi8(lower, spread_));
    }

private:
    __m512i before_, upto_, byte_, spread_;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
