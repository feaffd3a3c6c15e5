// The walk with AVX-512 (VBMI, BITALG, VPOPCNTDQ) and BMI2.
#define NULLFOREST_ISA avx512
#include <immintrin.h>

#include "kernels/walk_kernel_body.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

class Avx512 {
public:
    explicit Avx512(const WalkTask& task) : wide_(task.n_samples > 256) {
        member_ = _mm512_load_si512(task.member);
        one_ = _mm512_load_si512(task.one);
        if (!wide_) {  // twice the same, so that bit 5 of an index does not matter
            member_ = _mm512_inserti64x4(member_, _mm512_castsi512_si256(member_), 1);
            one_ = _mm512_inserti64x4(one_, _mm512_castsi512_si256(one_), 1);
        }
        bit_ = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ull));
        before_ = _mm512_setr_epi64(0, 0xff, 0xffff, 0xffffff, 0xffffffffll, 0xffffffffffll,
                                    0xffffffffffffll, 0xffffffffffffffll);
        upto_ = _mm512_set1_epi64(static_cast<long long>(0xff7f3f1f0f070301ull));
        byte_ = _mm512_setr_epi64(0, 0x0101010101010101ll, 0x0202020202020202ll,
                                  0x0303030303030303ll, 0x0404040404040404ll,
                                  0x0505050505050505ll, 0x0606060606060606ll,
                                  0x0707070707070707ll);
        spread_ = _mm512_setr_epi64(0, 0x0808080808080808ll, 0, 0x0808080808080808ll, 0,
                                    0x0808080808080808ll, 0, 0x0808080808080808ll);
    }
    void gather(const std::uint8_t* order, const std::uint64_t* ninth, std::uint32_t w,
                std::uint64_t& members, std::uint64_t& ones) const {
        const __m512i samples = _mm512_loadu_si512(order + 64 * w);
        __m512i byte = _mm512_srli_epi16(samples, 3);  // vpermb looks at the low six bits alone
        if (wide_) {
            byte = _mm512_and_si512(byte, _mm512_set1_epi8(31));
            byte = _mm512_mask_add_epi8(byte, _cvtu64_mask64(ninth[w]), byte,
                                        _mm512_set1_epi8(32));
        }
        const __m512i bit = _mm512_permutexvar_epi8(samples, bit_);
        members = _cvtmask64_u64(
            _mm512_test_epi8_mask(_mm512_permutexvar_epi8(byte, member_), bit));
        ones = _cvtmask64_u64(_mm512_test_epi8_mask(_mm512_permutexvar_epi8(byte, one_), bit));
    }
    static std::uint64_t squeeze(std::uint64_t bits, std::uint64_t mask) {
        return _pext_u64(bits, mask);
    }
    static std::uint32_t count(std::uint64_t bits) {
        return static_cast<std::uint32_t>(_mm_popcnt_u64(bits));
    }
    static std::uint32_t lowest(std::uint64_t bits) {
        return static_cast<std::uint32_t>(_tzcnt_u64(bits));
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint8_t* lo,
                          const std::uint8_t* hi, std::uint8_t* running) const {
        const __m512i l = _mm512_add_epi8(counts(bits), _mm512_set1_epi8(static_cast<char>(base)));
        const __mmask64 out = _kor_mask64(_mm512_cmplt_epu8_mask(l, _mm512_loadu_si512(lo)),
                                          _mm512_cmpgt_epu8_mask(l, _mm512_loadu_si512(hi)));
        const std::uint64_t word = _cvtmask64_u64(out);
        if (word) _mm512_storeu_si512(running, l);
        return word;
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint16_t* lo,
                          const std::uint16_t* hi, std::uint16_t* running) const {
        const __m512i l = counts(bits), shift = _mm512_set1_epi16(static_cast<short>(base));
        std::uint64_t word = 0;
        for (int half = 0; half < 2; ++half) {
            const __m256i part = half ? _mm512_extracti64x4_epi64(l, 1) : _mm512_castsi512_si256(l);
            const __m512i wide = _mm512_add_epi16(_mm512_cvtepu8_epi16(part), shift);
            _mm512_storeu_si512(running + 32 * half, wide);
            const std::uint32_t out =
                _mm512_cmplt_epu16_mask(wide, _mm512_loadu_si512(lo + 32 * half)) |
                _mm512_cmpgt_epu16_mask(wide, _mm512_loadu_si512(hi + 32 * half));
            word |= static_cast<std::uint64_t>(out) << 32 * half;
        }
        return word;
    }

private:
    // Byte i: how many of the bits 0..i are set.
    __m512i counts(std::uint64_t bits) const {
        const __m512i all = _mm512_set1_epi64(static_cast<long long>(bits));
        const __m512i lower = _mm512_popcnt_epi64(_mm512_and_si512(all, before_));
        const __m512i own =
            _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(all, byte_), upto_));
        return _mm512_add_epi8(own, _mm512_shuffle_epi8(lower, spread_));
    }

    bool wide_;
    __m512i member_, one_, bit_, before_, upto_, byte_, spread_;
};

}  // namespace
}  // namespace NULLFOREST_ISA

void walk_avx512(WalkTask& task) { walk<Avx512>(task); }

}  // namespace nullforest
