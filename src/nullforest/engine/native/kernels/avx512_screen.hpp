// The screen of columns with AVX-512: what the draws of a node add up to, 32 positions at a time.
#pragma once
#include "kernels/avx512_lookup.hpp"
#include "kernels/scan_kernel.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

class Avx512Screen {
public:
    static constexpr bool kExists = true;
    static constexpr std::uint32_t kSlots = Candidates::kBatch;

    explicit Avx512Screen(const ScanTask& task)
        : task_(task),
          wide_(task.n_samples > 256),
          n_draws_(static_cast<std::uint32_t>(task.weight)),
          last_(last_word(task)),
          lookup_(task),
          member_(lookup_.bitmap(task.member)),
          low_(task.low, task.n_samples),
          high_(task.high, task.n_samples),
          stride_((n_draws_ + 63) / 64 * 64 + 64) {}

    // The members in the order of a column, into a slot.
    void pick(std::uint32_t slot, const std::uint8_t* order, const std::uint64_t* ninth) {
        wide_ ? pick_words<true>(slot, order, ninth) : pick_words<false>(slot, order, ninth);
    }

    // Whether the sum of the first i + 1 numbers is outside [-radius[i], radius[i]] for any i.
    bool numbers_outside(std::uint32_t slot, const std::int16_t* radius) const {
        const __m512i last = _mm512_set1_epi16(31);
        const std::uint8_t* draw = draw_ + slot * stride_;
        const std::uint64_t* ninth = ninth_ + slot * kNinthWords;
        const std::uint32_t n = n_draws_;
        __m512i base = _mm512_setzero_si512();
        std::uint32_t out = 0;
        for (std::uint32_t i = 0; i < n; i += 64) {
            const __m512i samples = _mm512_loadu_si512(draw + i);
            const __m512i low = low_.at(samples, ninth[i / 64]);
            const __m512i high = high_.at(samples, ninth[i / 64]);
            const __m512i first =
                _mm512_add_epi16(sums(_mm512_permutex2var_epi8(low, first_half_, high)), base);
            out |= outside(first, radius + i);
            if (i + 32 >= n) break;
            base = _mm512_permutexvar_epi16(last, first);
            const __m512i second =
                _mm512_add_epi16(sums(_mm512_permutex2var_epi8(low, second_half_, high)), base);
            out |= outside(second, radius + i + 32);
            base = _mm512_permutexvar_epi16(last, second);
        }
        return out != 0;
    }

private:
    template <bool wide>
    void pick_words(std::uint32_t slot, const std::uint8_t* order, const std::uint64_t* ninth) {
        const std::uint32_t n_words = task_.n_words;
        const Lookup lookup = lookup_;
        const __m512i member = member_;
        const std::uint64_t last = last_;
        std::uint8_t* out = draw_ + slot * stride_;
        std::uint32_t found = 0;
        for (std::uint32_t w = 0; w < n_words; ++w) {
            const __m512i samples = _mm512_loadu_si512(order + 64 * w);
            std::uint64_t members =
                Lookup::test(member, lookup.bytes<wide>(samples, ninth, w), lookup.bits(samples));
            if (w + 1 == n_words) members &= last;
            _mm512_storeu_si512(out + found,
                                _mm512_maskz_compress_epi8(_cvtu64_mask64(members), samples));
            if (wide) append(ninth_ + slot * kNinthWords, found, _pext_u64(ninth[w], members));
            found += static_cast<std::uint32_t>(_mm_popcnt_u64(members));
        }
    }
    static std::uint32_t outside(__m512i sum, const std::int16_t* radius) {
        return _cvtmask32_u32(
            _mm512_cmpgt_epi16_mask(_mm512_abs_epi16(sum), _mm512_loadu_si512(radius)));
    }
    // Running sums of 32 numbers: within eight by doubling, then of the four eights.
    __m512i sums(__m512i x) const {
        x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 2));
        x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 4));
        x = _mm512_add_epi16(x, _mm512_bslli_epi128(x, 8));
        const __m512i zero = _mm512_setzero_si512();
        const __m512i whole = _mm512_alignr_epi64(_mm512_shuffle_epi8(x, last_of_eight_), zero, 6);
        const __m512i two = _mm512_add_epi16(whole, _mm512_alignr_epi64(whole, zero, 6));
        const __m512i all = _mm512_add_epi16(two, _mm512_alignr_epi64(two, zero, 4));
        return _mm512_add_epi16(x, all);
    }
    // Bits behind the first `fill` of a string; what lies behind them is overwritten later.
    static void append(std::uint64_t* string, std::uint32_t fill, std::uint64_t bits) {
        const std::uint64_t kept = (std::uint64_t{1} << fill % 64) - 1;
        string[fill / 64] = (string[fill / 64] & kept) | bits << fill % 64;
        string[fill / 64 + 1] = bits >> 1 >> (63 - fill % 64);
    }

    const ScanTask& task_;
    bool wide_;
    std::uint32_t n_draws_;
    std::uint64_t last_;
    Lookup lookup_;
    __m512i member_;
    ByteTable low_, high_;
    // low and high bytes, one after the other
    __m512i first_half_ = interleaved(0), second_half_ = interleaved(32);
    __m512i last_of_eight_ = _mm512_set1_epi16(0x0f0e);
    static constexpr std::uint32_t kNinthWords = ScanTask::kMostDraws / 64 + 2;
    std::uint32_t stride_;
    std::uint8_t draw_[kSlots * (ScanTask::kMostDraws + 64)];
    std::uint64_t ninth_[kSlots * kNinthWords];

    static __m512i interleaved(int first) {
        alignas(64) std::uint8_t index[64];
        for (int i = 0; i < 32; ++i) {
            index[2 * i] = static_cast<std::uint8_t>(first + i);
            index[2 * i + 1] = static_cast<std::uint8_t>(64 + first + i);
        }
        return _mm512_load_si512(index);
    }
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
