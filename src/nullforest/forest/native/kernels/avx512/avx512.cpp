// The kernels with AVX-512 (VBMI, BITALG, VPOPCNTDQ) and BMI2.
#define NULLFOREST_ISA avx512
#include <immintrin.h>

#include "kernels/avx512/lookup.hpp"
#include "kernels/avx512/plane_counter.hpp"
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

// The members of a node, compressed out of 64 positions at once.
template <class Id>
class Avx512Members {
public:
    explicit Avx512Members(const ScanTask& task)
        : samples_(samples_of(task)), lookup_(task), member_(task, task.member) {}
    template <bool>
    void gather(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
                std::uint64_t& members, std::uint64_t&) const {
        members = sizeof(Id) == 1               ? test<Samples::k256>(order, high, w)
                  : samples_ == Samples::k512 ? test<Samples::k512>(order, high, w)
                                              : test<Samples::k1024>(order, high, w);
    }
    Id* list(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
             std::uint64_t positions, Id* out) const {
        const __m512i low = _mm512_loadu_si512(order + 64 * w);
        if constexpr (sizeof(Id) == 2)
            return samples_ == Samples::k512
                       ? lookup_.list<Samples::k512>(low, high, w, positions, out)
                       : lookup_.list<Samples::k1024>(low, high, w, positions, out);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(_cvtu64_mask64(positions), low));
        return out + _mm_popcnt_u64(positions);
    }

private:
    template <Samples samples>
    std::uint64_t test(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w) const {
        const __m512i low = _mm512_loadu_si512(order + 64 * w);
        return Lookup::test<samples>(member_, lookup_.bytes<samples>(low, high, w),
                                     lookup_.bits(low));
    }

    Samples samples_;
    Lookup lookup_;
    Bitmap member_;
};
template <class Id>
using Avx512Pick = BitPick<Avx512Members<Id>, Id>;

void walk_any(WalkTask& task) {
    switch (samples_of(task)) {
        case Samples::k256: return walk<Avx512<Samples::k256>>(task);
        case Samples::k512: return walk<Avx512<Samples::k512>>(task);
        default: return walk<Avx512<Samples::k1024>>(task);
    }
}

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels avx512_kernels{walk_any, sweep<PlaneCounter>, scan<Avx512Pick, Avx512Screen>, stairs,
                             first_values};

}  // namespace nullforest
