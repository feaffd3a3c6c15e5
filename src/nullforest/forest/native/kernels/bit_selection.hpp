// Bits counted, found and moved close together.
#pragma once
#include <cstdint>
#ifdef __BMI2__
#include <immintrin.h>
#endif
#ifdef NULLFOREST_NEON
#include <arm_neon.h>
#endif

#include "random/keyed_random.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

inline std::uint32_t count_ones(std::uint64_t bits) {
    return static_cast<std::uint32_t>(__builtin_popcountll(bits));
}
inline std::uint32_t lowest_one(std::uint64_t bits) {
    return static_cast<std::uint32_t>(__builtin_ctzll(bits));
}
// The position of the set bit of this rank, from 0.
inline std::uint32_t select_one(std::uint64_t bits, std::uint32_t rank) {
#ifdef __BMI2__
    return lowest_one(_pdep_u64(std::uint64_t{1} << rank, bits));
#else
    for (; rank; --rank) bits &= bits - 1;
    return lowest_one(bits);
#endif
}

#ifdef NULLFOREST_NEON

// For each byte: its set bits from low to high, then 255, and how many they are.
struct SetBits {
    std::uint8_t place[256][8] = {}, count[256] = {};

    constexpr SetBits() {
        for (int byte = 0; byte < 256; ++byte) {
            for (std::uint8_t bit = 0; bit < 8; ++bit)
                if (byte >> bit & 1) place[byte][count[byte]++] = bit;
            for (int i = count[byte]; i < 8; ++i) place[byte][i] = 255;
        }
    }
};
inline constexpr SetBits kSetBits;

// Bits of words to bytes of vectors and back: lane i of quarter q belongs to bit 16 q + i.
struct Lanes {
    static uint8x16_t one_bit() { return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201ull)); }
    // In every lane the byte of the word that holds its bit.
    static uint8x16_t byte_of(std::uint64_t word, int q) {
        const auto low = static_cast<std::uint8_t>(2 * q);
        const uint8x16_t byte = vcombine_u8(vdup_n_u8(low), vdup_n_u8(low + 1));
        return vqtbl1q_u8(vreinterpretq_u8_u64(vdupq_n_u64(word)), byte);
    }
    // 0xff in the lanes whose bit is set.
    static uint8x16_t spread(std::uint64_t word, int q) {
        return vtstq_u8(byte_of(word, q), one_bit());
    }
    // The word of the lanes that are 0xff; the others are 0.
    static std::uint64_t collect(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
        const uint8x16_t each = one_bit();
        const uint8x16_t ab = vpaddq_u8(vandq_u8(a, each), vandq_u8(b, each));
        const uint8x16_t cd = vpaddq_u8(vandq_u8(c, each), vandq_u8(d, each));
        const uint8x16_t all = vpaddq_u8(ab, cd);
        return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
    }
    // Byte b: how many bits are set in the bytes before it.
    static std::uint64_t counts_before(std::uint64_t bits) {
        const uint64x1_t counts = vreinterpret_u64_u8(vcnt_u8(vcreate_u8(bits)));
        return (vget_lane_u64(counts, 0) * 0x0101010101010101ull) << 8;
    }
};

#endif

// The bits that the mask selects, close together.
inline std::uint64_t squeeze(std::uint64_t bits, std::uint64_t mask) {
#if defined(__BMI2__)
    return _pext_u64(bits, mask);
#elif defined(NULLFOREST_NEON)
    // Bytes of 0 and 1 move close together, eight at a time, and become bits again.
    std::uint8_t moved[64 + 8] = {};
    std::uint64_t before = Lanes::counts_before(mask);
    for (int q = 0; q < 4; ++q) {
        const uint8x16_t lanes = Lanes::spread(bits, q);
        vst1_u8(moved + (before & 255),
                vtbl1_u8(vget_low_u8(lanes), vld1_u8(kSetBits.place[mask & 255])));
        vst1_u8(moved + (before >> 8 & 255),
                vtbl1_u8(vget_high_u8(lanes), vld1_u8(kSetBits.place[mask >> 8 & 255])));
        before >>= 16;
        mask >>= 16;
    }
    return Lanes::collect(vld1q_u8(moved), vld1q_u8(moved + 16), vld1q_u8(moved + 32),
                          vld1q_u8(moved + 48));
#else
    std::uint64_t out = 0;
    for (std::uint32_t i = 0; mask; ++i, mask &= mask - 1)
        out |= (bits >> lowest_one(mask) & 1) << i;
    return out;
#endif
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
