// The kernels with AVX-512 (VBMI, BITALG, VPOPCNTDQ) and BMI2.
#define NULLFOREST_ISA avx512
#include <immintrin.h>

#include "kernels/avx512/plane_bits.hpp"
#include "kernels/avx512/lookup.hpp"
#include "kernels/avx512/screen.hpp"
#include "kernels/avx512/scores.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "kernels/stairs.hpp"
#include "kernels/sweep.hpp"
#include "kernels/walk.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

template <Samples samples>
class Avx512 {
public:
    using Scores = Avx512Scores;

    explicit Avx512(const WalkTask& task)
        : lookup_(task), member_(task, task.member), one_(task, task.one) {}
    void gather(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
                std::uint64_t& members, std::uint64_t& ones) const {
        const __m512i low = _mm512_loadu_si512(order + 64 * w);
        const __m512i bytes = lookup_.bytes<samples>(low, high, w), bits = lookup_.bits(low);
        members = Lookup::test<samples>(member_, bytes, bits);
        ones = Lookup::test<samples>(one_, bytes, bits);
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint8_t* lo,
                          const std::uint8_t* hi, std::uint8_t* running) const {
        const __m512i l = _mm512_add_epi8(counts_.of(bits), _mm512_set1_epi8(static_cast<char>(base)));
        const __mmask64 out = _kor_mask64(_mm512_cmplt_epu8_mask(l, _mm512_loadu_si512(lo)),
                                          _mm512_cmpgt_epu8_mask(l, _mm512_loadu_si512(hi)));
        const std::uint64_t word = _cvtmask64_u64(out);
        if (word) _mm512_storeu_si512(running, l);
        return word;
    }
    std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const std::uint16_t* lo,
                          const std::uint16_t* hi, std::uint16_t* running) const {
        const __m512i l = counts_.of(bits), shift = _mm512_set1_epi16(static_cast<short>(base));
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
    Lookup lookup_;
    RunningCounts counts_;
    Bitmap member_, one_;
};

// The members of a column in sorted order, compressed out of 64 positions at once.
template <class Id>
class Compress {
public:
    static constexpr bool kByRank = false;

    explicit Compress(const ScanTask& task)
        : samples_(samples_of(task)),
          n_words_(task.n_words),
          last_(last_word(task)),
          lookup_(task),
          member_(task, task.member) {}
    void pick(const std::uint8_t* order, const std::uint64_t* high, Id* out) const {
        if (sizeof(Id) == 1)
            pick<Samples::k256>(order, high, out);
        else if (samples_ == Samples::k512)
            pick<Samples::k512>(order, high, out);
        else
            pick<Samples::k1024>(order, high, out);
    }

private:
    template <Samples samples>
    void pick(const std::uint8_t* order, const std::uint64_t* high, Id* out) const {
        for (std::uint32_t w = 0; w < n_words_; ++w) {
            const __m512i low = _mm512_loadu_si512(order + 64 * w);
            std::uint64_t members = Lookup::test<samples>(
                member_, lookup_.bytes<samples>(low, high, w), lookup_.bits(low));
            if (w + 1 == n_words_) members &= last_;
            if (samples == Samples::k256) {
                _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(_cvtu64_mask64(members), low));
                out += _mm_popcnt_u64(members);
                continue;
            }
            if constexpr (sizeof(Id) == 2)
                out = lookup_.list<samples>(low, high, w, members, out);
        }
    }

    Samples samples_;
    std::uint32_t n_words_;
    std::uint64_t last_;
    Lookup lookup_;
    Bitmap member_;
};

void walk_any(WalkTask& task) {
    switch (samples_of(task)) {
        case Samples::k256: return walk<Avx512<Samples::k256>>(task);
        case Samples::k512: return walk<Avx512<Samples::k512>>(task);
        default: return walk<Avx512<Samples::k1024>>(task);
    }
}

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels avx512_kernels{walk_any, sweep<Avx512Bits>, scan<Compress, Avx512Screen>, stairs,
                             first_values};

}  // namespace nullforest
