// Lookups by sample with AVX-512, for 64 positions of a column at once.
#pragma once
#include <immintrin.h>

#include "kernels/kernel_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Up to 256 samples have one byte; up to 512 a ninth bit, up to 1024 a tenth, in planes of words.
enum class Samples { k256, k512, k1024 };
inline Samples samples_of(const KernelTask& task) {
    return task.n_samples <= 256 ? Samples::k256
           : task.n_samples <= 512 ? Samples::k512 : Samples::k1024;
}

// A bitmap of the samples.
class Bitmap {
public:
    Bitmap(const KernelTask& task, const std::uint64_t* words)
        : first_(_mm512_load_si512(words)), second_(_mm512_load_si512(words + 8)) {
        // up to 256 samples twice the same, so that bit 5 of an index does not matter
        if (task.n_samples <= 256)
            first_ = _mm512_inserti64x4(first_, _mm512_castsi512_si256(first_), 1);
    }
    // The bytes at these indices.
    template <Samples samples>
    __m512i at(__m512i bytes) const {
        return samples == Samples::k1024 ? _mm512_permutex2var_epi8(first_, bytes, second_)
                                         : _mm512_permutexvar_epi8(bytes, first_);
    }

private:
    __m512i first_, second_;
};

// Looks up bits of bitmaps by sample, for 64 positions of a column at once.
class Lookup {
public:
    explicit Lookup(const KernelTask& task) : n_words_(task.n_words) {}

    // The bytes of a bitmap that hold the samples, as vpermb looks at them: the low six bits alone,
    // or seven of two vectors.
    template <Samples samples>
    __m512i bytes(__m512i low, const std::uint64_t* high, std::uint32_t w) const {
        const __m512i byte = _mm512_srli_epi16(low, 3);
        if (samples == Samples::k256) return byte;
        __m512i all = _mm512_and_si512(byte, _mm512_set1_epi8(31));
        all = _mm512_mask_add_epi8(all, _cvtu64_mask64(high[w]), all, _mm512_set1_epi8(32));
        if (samples == Samples::k512) return all;
        return _mm512_mask_add_epi8(all, _cvtu64_mask64(high[n_words_ + w]), all,
                                    _mm512_set1_epi8(64));
    }
    __m512i bits(__m512i low) const { return _mm512_permutexvar_epi8(low, bit_); }
    // The samples at some of 64 positions, in their order; writes 32 past the end. Returns the end.
    template <Samples samples>
    std::uint16_t* list(__m512i low, const std::uint64_t* high, std::uint32_t w,
                        std::uint64_t positions, std::uint16_t* out) const {
        for (int half = 0; half < 2; ++half) {
            const auto mask = static_cast<std::uint32_t>(positions >> 32 * half);
            __m512i wide = _mm512_cvtepu8_epi16(half ? _mm512_extracti64x4_epi64(low, 1)
                                                     : _mm512_castsi512_si256(low));
            if (samples != Samples::k256) wide = add(wide, high[w] >> 32 * half, 256);
            if (samples == Samples::k1024) wide = add(wide, high[n_words_ + w] >> 32 * half, 512);
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(_cvtu32_mask32(mask), wide));
            out += _mm_popcnt_u32(mask);
        }
        return out;
    }
    template <Samples samples>
    static std::uint64_t test(const Bitmap& bitmap, __m512i bytes, __m512i bits) {
        return _cvtmask64_u64(_mm512_test_epi8_mask(bitmap.at<samples>(bytes), bits));
    }

private:
    static __m512i add(__m512i samples, std::uint64_t where, short more) {
        return _mm512_mask_add_epi16(samples, _cvtu32_mask32(static_cast<std::uint32_t>(where)),
                                     samples, _mm512_set1_epi16(more));
    }

    std::uint32_t n_words_;
    __m512i bit_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
};

// One byte for every sample, of up to 1024.
class ByteTable {
public:
    ByteTable(const std::uint8_t* bytes, std::uint32_t n_samples)
        : few_(n_samples <= 128), n_parts_(n_samples <= 256 ? 1 : n_samples <= 512 ? 2 : 4) {
        for (std::uint32_t p = 0; p < 4 * n_parts_; ++p)
            part_[p] = _mm512_load_si512(bytes + 64 * p);
    }
    // The bytes of 64 samples: their low bytes, and the ninth and tenth bits where there are any.
    __m512i at(__m512i low, std::uint64_t ninth, std::uint64_t tenth) const {
        const __m512i quarter = _mm512_permutex2var_epi8(part_[0], low, part_[1]);
        if (few_) return quarter;
        const __mmask64 upper = _mm512_movepi8_mask(low), high = _cvtu64_mask64(ninth);
        const __m512i first = blend(upper, quarter, low, 2);
        if (n_parts_ == 1) return first;
        const __m512i half = _mm512_mask_blend_epi8(high, first, of(upper, low, 4));
        if (n_parts_ == 2) return half;
        const __m512i other = _mm512_mask_blend_epi8(high, of(upper, low, 8), of(upper, low, 12));
        return _mm512_mask_blend_epi8(_cvtu64_mask64(tenth), half, other);
    }

private:
    __m512i blend(__mmask64 upper, __m512i quarter, __m512i low, int p) const {
        return _mm512_mask_blend_epi8(upper, quarter,
                                      _mm512_permutex2var_epi8(part_[p], low, part_[p + 1]));
    }
    // Of 256 samples, from part p on.
    __m512i of(__mmask64 upper, __m512i low, int p) const {
        return blend(upper, _mm512_permutex2var_epi8(part_[p], low, part_[p + 1]), low, p + 2);
    }

    bool few_;
    std::uint32_t n_parts_;
    __m512i part_[16];
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
