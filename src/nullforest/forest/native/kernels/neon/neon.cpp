// The kernels with NEON, which every 64-bit ARM processor has.
#define NULLFOREST_ISA neon
#define NULLFOREST_NEON
#include <arm_neon.h>

#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "kernels/stairs.hpp"
#include "kernels/sweep.hpp"
#include "kernels/walk.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

// A bitmap of the samples, looked up for 64 positions of a column at once.
class Bitmap {
public:
    explicit Bitmap(const std::uint64_t* words) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
        for (int i = 0; i < 2; ++i) low_.val[i] = vld1q_u8(bytes + 16 * i);
        for (int i = 0; i < 4; ++i) first_.val[i] = vld1q_u8(bytes + 16 * i);
        for (int i = 0; i < 4; ++i) second_.val[i] = vld1q_u8(bytes + 64 + 16 * i);
    }
    // `bytes` are below 32, 64 or 128 with no, one or two planes of high bits.
    uint8x16_t test(std::uint32_t n_high, uint8x16_t bytes, uint8x16_t bits) const {
        uint8x16_t found = n_high ? vqtbl4q_u8(first_, bytes) : vqtbl2q_u8(low_, bytes);
        if (n_high > 1)  // beyond a table there are zeros
            found = vorrq_u8(found, vqtbl4q_u8(second_, vsubq_u8(bytes, vdupq_n_u8(64))));
        return vtstq_u8(found, bits);
    }

private:
    uint8x16x2_t low_;
    uint8x16x4_t first_, second_;
};

// The planes of high bits of a column.
struct HighBits {
    const std::uint64_t* planes;
    std::uint32_t n_words, n;

    // Plane h of 16 positions: 255 or 0 for each.
    uint8x16_t of(std::uint32_t h, std::uint32_t w, int q) const {
        return Lanes::spread(planes[h * n_words + w], q);
    }
};

// Where in a bitmap the samples of 64 positions lie.
struct Places {
    uint8x16_t bytes[4], bits[4];

    Places(const std::uint8_t* order, const HighBits& high, std::uint32_t w) {
        for (int q = 0; q < 4; ++q) {
            const uint8x16_t samples = vld1q_u8(order + 64 * w + 16 * q);
            bytes[q] = vshrq_n_u8(samples, 3);
            for (std::uint32_t h = 0; h < high.n; ++h)
                bytes[q] = vorrq_u8(
                    bytes[q], vandq_u8(high.of(h, w, q),
                                       vdupq_n_u8(static_cast<std::uint8_t>(32u << h))));
            bits[q] = vshlq_u8(vdupq_n_u8(1),
                               vreinterpretq_s8_u8(vandq_u8(samples, vdupq_n_u8(7))));
        }
    }
    std::uint64_t test(const Bitmap& bitmap, std::uint32_t n_high) const {
        return Lanes::collect(
            bitmap.test(n_high, bytes[0], bits[0]), bitmap.test(n_high, bytes[1], bits[1]),
            bitmap.test(n_high, bytes[2], bits[2]), bitmap.test(n_high, bytes[3], bits[3]));
    }
};

class Neon : public PlainSimd {
public:
    explicit Neon(const WalkTask& task)
        : PlainSimd(task), member_(task.member), one_(task.one) {}
    explicit Neon(const ScanTask& task)
        : PlainSimd(task), member_(task.member), one_(task.member) {}

    template <bool kOnes = true>  // or the members alone
    void gather(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
                std::uint64_t& members, std::uint64_t& ones) const {
        const Places places(order, {high, n_words_, n_high_}, w);
        members = places.test(member_, n_high_);
        ones = kOnes ? places.test(one_, n_high_) : 0;
    }
    // Eight positions at a time; writes 16 past the end.
    template <class Id>
    Id* list(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
             std::uint64_t positions, Id* out) const {
        for (int b = 0; b < 8; ++b, positions >>= 8) {
            const auto mask = static_cast<std::uint8_t>(positions);
            const uint8x8_t chosen = vld1_u8(kSetBits.place[mask]);
            const uint8x8_t low = vtbl1_u8(vld1_u8(order + 64 * w + 8 * b), chosen);
            if constexpr (sizeof(Id) == 2) {
                uint8x8_t upper = vdup_n_u8(0);
                for (std::uint32_t h = 0; h < n_high_; ++h) {
                    const uint8x16_t both = HighBits{high, n_words_, n_high_}.of(h, w, b / 2);
                    const uint8x8_t eight = b % 2 ? vget_high_u8(both) : vget_low_u8(both);
                    upper = vorr_u8(upper, vand_u8(eight, vdup_n_u8(static_cast<std::uint8_t>(
                                                              1u << h))));
                }
                upper = vtbl1_u8(upper, chosen);
                vst1q_u8(reinterpret_cast<std::uint8_t*>(out),
                         vcombine_u8(vzip1_u8(low, upper), vzip2_u8(low, upper)));
            } else {
                vst1_u8(out, low);
            }
            out += kSetBits.count[mask];
        }
        return out;
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint8_t* lo,
                          const std::uint8_t* hi, std::uint8_t* running) const {
        uint8x16_t l[4], out[4];
        const std::uint64_t before = Lanes::counts_before(bits);
        for (int q = 0; q < 4; ++q) {
            l[q] = vaddq_u8(counts(bits, before, q), vdupq_n_u8(static_cast<std::uint8_t>(base)));
            out[q] = vorrq_u8(vcltq_u8(l[q], vld1q_u8(lo + 16 * q)),
                              vcgtq_u8(l[q], vld1q_u8(hi + 16 * q)));
        }
        if (!any(out)) return 0;
        for (int q = 0; q < 4; ++q) vst1q_u8(running + 16 * q, l[q]);
        return Lanes::collect(out[0], out[1], out[2], out[3]);
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint16_t* lo,
                          const std::uint16_t* hi, std::uint16_t* running) const {
        const uint16x8_t shift = vdupq_n_u16(static_cast<std::uint16_t>(base));
        const std::uint64_t before = Lanes::counts_before(bits);
        uint8x16_t out[4];
        for (int q = 0; q < 4; ++q) {
            const uint8x16_t l = counts(bits, before, q);
            const uint16x8_t low = vaddw_u8(shift, vget_low_u8(l)), high = vaddw_high_u8(shift, l);
            vst1q_u16(running + 16 * q, low);
            vst1q_u16(running + 16 * q + 8, high);
            out[q] = vmovn_high_u16(vmovn_u16(leaves(low, lo + 16 * q, hi + 16 * q)),
                                    leaves(high, lo + 16 * q + 8, hi + 16 * q + 8));
        }
        return any(out) ? Lanes::collect(out[0], out[1], out[2], out[3]) : 0;
    }

private:
    static bool any(const uint8x16_t* out) {
        return vmaxvq_u8(vorrq_u8(vorrq_u8(out[0], out[1]), vorrq_u8(out[2], out[3])));
    }
    static uint16x8_t leaves(uint16x8_t l, const std::uint16_t* lo, const std::uint16_t* hi) {
        return vorrq_u16(vcltq_u16(l, vld1q_u16(lo)), vcgtq_u16(l, vld1q_u16(hi)));
    }
    // Lane i: how many of the bits up to 16 q + i are set.
    static uint8x16_t counts(std::uint64_t bits, std::uint64_t before, int q) {
        const uint8x16_t upto = vreinterpretq_u8_u64(vdupq_n_u64(0xff7f3f1f0f070301ull));
        return vaddq_u8(vcntq_u8(vandq_u8(Lanes::byte_of(bits, q), upto)),
                        Lanes::byte_of(before, q));
    }

    Bitmap member_, one_;
};

template <class Id>
using NeonPick = BitPick<Neon, Id>;

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels neon_kernels{walk<Neon>, sweep<NoPlanes>, scan<NeonPick>, stairs, first_values};

}  // namespace nullforest
