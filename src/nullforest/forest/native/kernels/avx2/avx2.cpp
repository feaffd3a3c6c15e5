// The kernels with AVX2 and BMI2.
#define NULLFOREST_ISA avx2
#include <immintrin.h>

#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "kernels/stairs.hpp"
#include "kernels/sweep.hpp"
#include "kernels/walk.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

class Avx2 : public PlainSimd {
public:
    explicit Avx2(const WalkTask& task) : Avx2(task, task.member, task.one) {}
    explicit Avx2(const ScanTask& task) : Avx2(task, task.member, task.member) {}
    Avx2(const KernelTask& task, const std::uint64_t* member, const std::uint64_t* one)
        : PlainSimd(task) {
        for (std::uint32_t q = 0; q < 2 * parts(); ++q) {
            member_[q] = _mm256_broadcastsi128_si256(
                _mm_load_si128(reinterpret_cast<const __m128i*>(member) + q));
            one_[q] = _mm256_broadcastsi128_si256(
                _mm_load_si128(reinterpret_cast<const __m128i*>(one) + q));
        }
    }
    template <bool kOnes = true>  // or the members alone
    void gather(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
                std::uint64_t& members, std::uint64_t& ones) const {
        members = ones = 0;
        for (int half = 0; half < 2; ++half) {
            const __m256i samples = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(order + 64 * w + 32 * half));
            const __m256i byte =
                _mm256_and_si256(_mm256_srli_epi16(samples, 3), _mm256_set1_epi8(31));
            const __m256i bit = _mm256_shuffle_epi8(
                _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull)),
                _mm256_and_si256(samples, _mm256_set1_epi8(7)));
            std::uint32_t m = test(member_, byte, bit), l = kOnes ? test(one_, byte, bit) : 0;
            // Where the high bits of the sample are the number of a further part of the bitmaps.
            for (std::uint32_t part = 1; part < parts(); ++part) {
                std::uint32_t here = ~std::uint32_t{0};
                for (std::uint32_t h = 0; h < n_high_; ++h) {
                    const auto set = static_cast<std::uint32_t>(high[h * n_words_ + w] >> 32 * half);
                    here &= part >> h & 1 ? set : ~set;
                }
                m = (m & ~here) | (test(member_ + 2 * part, byte, bit) & here);
                if (kOnes) l = (l & ~here) | (test(one_ + 2 * part, byte, bit) & here);
            }
            members |= std::uint64_t{m} << 32 * half;
            ones |= std::uint64_t{l} << 32 * half;
        }
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint8_t* lo,
                          const std::uint8_t* hi, std::uint8_t* running) const {
        std::uint64_t word = 0;
        for (int half = 0; half < 2; ++half) {
            const __m256i l = counts(static_cast<std::uint32_t>(bits >> 32 * half), base);
            const __m256i low =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lo + 32 * half));
            const __m256i high =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hi + 32 * half));
            const __m256i inside = _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(l, low), l),
                                                    _mm256_cmpeq_epi8(_mm256_min_epu8(l, high), l));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(running + 32 * half), l);
            word |= static_cast<std::uint64_t>(
                        ~static_cast<std::uint32_t>(_mm256_movemask_epi8(inside)))
                    << 32 * half;
            base += count_ones(static_cast<std::uint32_t>(bits >> 32 * half));
        }
        return word;
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint16_t* lo,
                          const std::uint16_t* hi, std::uint16_t* running) const {
        std::uint8_t local[64];
        for (int half = 0; half < 2; ++half)
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(local + 32 * half),
                counts(static_cast<std::uint32_t>(bits >> 32 * half),
                       half ? count_ones(static_cast<std::uint32_t>(bits)) : 0));
        std::uint64_t word = 0;
        for (int i = 0; i < 64; ++i) {
            running[i] = static_cast<std::uint16_t>(base + local[i]);
            word |= static_cast<std::uint64_t>((running[i] < lo[i]) | (running[i] > hi[i])) << i;
        }
        return word;
    }

private:
    static std::uint32_t test(const __m256i* table, __m256i byte, __m256i bit) {
        // bit 4 of the index chooses between the two halves of a table of 32 bytes
        const __m256i found = _mm256_blendv_epi8(_mm256_shuffle_epi8(table[0], byte),
                                                 _mm256_shuffle_epi8(table[1], byte),
                                                 _mm256_slli_epi16(byte, 3));
        return static_cast<std::uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(found, bit), bit)));
    }
    // Byte i: base and how many of the bits 0..i are set.
    static __m256i counts(std::uint32_t bits, std::uint32_t base) {
        const __m256i spread = _mm256_setr_epi64x(0, 0x0101010101010101ll, 0x0202020202020202ll,
                                                  0x0303030303030303ll);
        const __m256i select = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
        const __m256i bytes =
            _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), spread);
        // 0 or -1 per bit, then running sums within eight bytes by doubling
        __m256i sum = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, select), select);
        sum = _mm256_sub_epi8(_mm256_setzero_si256(), sum);
        sum = _mm256_add_epi8(sum, _mm256_slli_epi64(sum, 8));
        sum = _mm256_add_epi8(sum, _mm256_slli_epi64(sum, 16));
        sum = _mm256_add_epi8(sum, _mm256_slli_epi64(sum, 32));
        const std::uint64_t c0 = base, c1 = c0 + count_ones(bits & 0xffu),
                            c2 = c0 + count_ones(bits & 0xffffu),
                            c3 = c0 + count_ones(bits & 0xffffffu);
        const std::uint64_t each = 0x0101010101010101ull;
        return _mm256_add_epi8(
            sum, _mm256_setr_epi64x(static_cast<long long>((c0 & 255) * each),
                                    static_cast<long long>((c1 & 255) * each),
                                    static_cast<long long>((c2 & 255) * each),
                                    static_cast<long long>((c3 & 255) * each)));
    }

    // Parts of the bitmaps, of 256 samples each.
    std::uint32_t parts() const { return 1u << n_high_; }

    __m256i member_[8], one_[8];
};

template <class Id>
using Avx2Pick = BitPick<Avx2, Id>;

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels avx2_kernels{walk<Avx2>, sweep<NoPlanes>, scan<Avx2Pick>, stairs, first_values};

}  // namespace nullforest
