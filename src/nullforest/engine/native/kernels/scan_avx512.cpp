// The scan with AVX-512: members are compressed out of 64 positions at once.
#define NULLFOREST_ISA avx512
#include <immintrin.h>

#include "kernels/scan_kernel_body.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

template <class Id>
class Compress {
public:
    explicit Compress(const ScanTask& task) : n_words_(task.n_words) {
        member_ = _mm512_load_si512(task.member);
        if (sizeof(Id) == 1)  // twice the same, so that bit 5 of an index does not matter
            member_ = _mm512_inserti64x4(member_, _mm512_castsi512_si256(member_), 1);
        bit_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
        last_ = task.n_samples % 64 ? (std::uint64_t{1} << task.n_samples % 64) - 1 : ~0ull;
    }
    void pick(const std::uint8_t* order, const std::uint64_t* ninth, Id* out) const {
        for (std::uint32_t w = 0; w < n_words_; ++w) {
            const __m512i samples = _mm512_loadu_si512(order + 64 * w);
            __m512i byte = _mm512_srli_epi16(samples, 3);
            if (sizeof(Id) == 2) {
                byte = _mm512_and_si512(byte, _mm512_set1_epi8(31));
                byte = _mm512_mask_add_epi8(byte, _cvtu64_mask64(ninth[w]), byte,
                                            _mm512_set1_epi8(32));
            }
            std::uint64_t members = _cvtmask64_u64(_mm512_test_epi8_mask(
                _mm512_permutexvar_epi8(byte, member_), _mm512_permutexvar_epi8(samples, bit_)));
            if (w + 1 == n_words_) members &= last_;
            if (sizeof(Id) == 1) {
                _mm512_storeu_si512(out,
                                    _mm512_maskz_compress_epi8(_cvtu64_mask64(members), samples));
                out += _mm_popcnt_u64(members);
                continue;
            }
            for (int half = 0; half < 2; ++half) {
                const __m256i part = half ? _mm512_extracti64x4_epi64(samples, 1)
                                          : _mm512_castsi512_si256(samples);
                const auto high = static_cast<std::uint32_t>(ninth[w] >> 32 * half);
                const auto mask = static_cast<std::uint32_t>(members >> 32 * half);
                __m512i wide = _mm512_cvtepu8_epi16(part);
                wide = _mm512_mask_add_epi16(wide, _cvtu32_mask32(high), wide,
                                             _mm512_set1_epi16(256));
                _mm512_storeu_si512(out,
                                    _mm512_maskz_compress_epi16(_cvtu32_mask32(mask), wide));
                out += _mm_popcnt_u32(mask);
            }
        }
    }

private:
    std::uint32_t n_words_;
    std::uint64_t last_;
    __m512i member_, bit_;
};

}  // namespace
}  // namespace NULLFOREST_ISA

void scan_avx512(ScanTask& task) { scan<Compress>(task); }

}  // namespace nullforest
