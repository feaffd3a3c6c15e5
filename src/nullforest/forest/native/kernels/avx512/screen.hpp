// The screen of columns with AVX-512: what the draws of a node add up to, 32 positions at a time.
#pragma once
#include "kernels/avx512/lookup.hpp"
#include "kernels/envelopes.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Writes a string of bits piece by piece, without a branch; stops at the last of its words.
class BitString {
public:
    BitString(std::uint64_t* words, std::uint32_t n_words) : words_(words), last_(n_words - 1) {}
    void append(std::uint64_t bits, std::uint32_t count) {
        word_ |= bits << used_;
        words_[at_] = word_;
        const bool full = used_ + count >= 64;
        word_ = full ? bits >> 1 >> (63 - used_) : word_;
        at_ += full && at_ < last_;
        used_ = (used_ + count) % 64;
    }
    void end() { words_[at_] = word_; }

private:
    std::uint64_t* words_;
    std::uint64_t word_ = 0;
    std::uint32_t last_, at_ = 0, used_ = 0;
};

class Avx512Screen {
public:
    static constexpr bool kExists = true;
    static constexpr std::uint32_t kSlots = Candidates::kBatch;

    explicit Avx512Screen(const ScanTask& task)
        : task_(task),
          n_high_(task.high_planes()),
          n_draws_(static_cast<std::uint32_t>(task.weight)),
          last_(last_word(task)),
          lookup_(task),
          member_(task, task.member),
          low_(task.low, task.n_samples),
          high_(task.high, task.n_samples),
          unary_(task.unary, task.n_samples),
          stride_((n_draws_ + 63) / 64 * 64 + 64) {}

    // The members in the order of a column, into a slot.
    void pick(std::uint32_t slot, const std::uint8_t* order, const std::uint64_t* high) {
        std::uint8_t* out = task_.counts ? member(slot) : draw_ + slot * stride_;
        HighBits& bits = task_.counts ? member_high_[slot] : draw_high_[slot];
        switch (samples_of(task_)) {
            case Samples::k256: return pick_words<Samples::k256>(order, high, out, bits);
            case Samples::k512: return pick_words<Samples::k512>(order, high, out, bits);
            default: return pick_words<Samples::k1024>(order, high, out, bits);
        }
    }

    // The members as often as they were drawn: a string of bits, 1 where another member begins, says
    // which member each draw belongs to.
    void expand(std::uint32_t slot) {
        std::uint64_t begins[kHighWords];
        for (std::uint32_t w = 0; w <= n_draws_ / 64; ++w) begins[w] = 0;  // in a damaged table
        find_begins(slot, begins);
        const std::uint8_t* members = member(slot);
        std::uint8_t* out = draw_ + slot * stride_;
        std::uint32_t done = 0;  // members that begin before
        for (std::uint32_t i = 0; i < n_draws_; i += 64) {
            const std::uint64_t here = begins[i / 64], first = here & 1;
            // The first draws may belong to the member before; in a damaged table to none.
            const std::uint32_t known = done + static_cast<std::uint32_t>(first);
            const std::uint32_t from = known > 0 ? known - 1 : 0;
            const __m512i index = _mm512_sub_epi8(
                counts_.of(here), _mm512_set1_epi8(static_cast<char>(first)));
            _mm512_storeu_si512(
                out + i, _mm512_permutexvar_epi8(index, _mm512_loadu_si512(members + from)));
            for (std::uint32_t h = 0; h < n_high_; ++h) {
                const std::uint64_t* bits = member_high_[slot].planes[h];
                const std::uint64_t next = bits[from / 64 + 1] << 1 << (63 - from % 64);
                const std::uint64_t window = bits[from / 64] >> from % 64 | next;
                const __m512i spread = _mm512_movm_epi8(_cvtu64_mask64(window));
                draw_high_[slot].planes[h][i / 64] = _cvtmask64_u64(
                    _mm512_movepi8_mask(_mm512_permutexvar_epi8(index, spread)));
            }
            done += static_cast<std::uint32_t>(_mm_popcnt_u64(here));
        }
    }

    // Whether the sum of the first i + 1 numbers is outside [-radius[i], radius[i]] for any i.
    bool numbers_outside(std::uint32_t slot, const std::int16_t* radius) const {
        const __m512i last = _mm512_set1_epi16(31);
        const std::uint8_t* draw = draw_ + slot * stride_;
        const HighBits& high = draw_high_[slot];
        const std::uint32_t n = n_draws_;
        __m512i base = _mm512_setzero_si512();
        std::uint32_t out = 0;
        for (std::uint32_t i = 0; i < n; i += 64) {
            const __m512i samples = _mm512_loadu_si512(draw + i);
            const __m512i low = low_.at(samples, high.ninth(i), high.tenth(i));
            const __m512i upper = high_.at(samples, high.ninth(i), high.tenth(i));
            const __m512i first =
                _mm512_add_epi16(sums(_mm512_permutex2var_epi8(low, first_half_, upper)), base);
            out |= outside(first, radius + i);
            if (i + 32 >= n) break;
            base = _mm512_permutexvar_epi16(last, first);
            const __m512i second =
                _mm512_add_epi16(sums(_mm512_permutex2var_epi8(low, second_half_, upper)), base);
            out |= outside(second, radius + i + 32);
            base = _mm512_permutexvar_epi16(last, second);
        }
        return out != 0;
    }

    // Whether the counts of the classes leave the envelope anywhere.
    bool classes_outside(std::uint32_t slot, const ClassEnvelope& envelope) const {
        switch (task_.n_present) {
            case 2: return outside_of<2>(slot, envelope);
            case 3: return outside_of<3>(slot, envelope);
            case 4: return outside_of<4>(slot, envelope);
            default: return outside_of<5>(slot, envelope);
        }
    }

private:
    // Strings of the high bits of members or draws.
    static constexpr std::uint32_t kHighWords = ScanTask::kMostDraws / 64 + 2;
    struct HighBits {
        std::uint64_t planes[2][kHighWords];
        std::uint64_t ninth(std::uint32_t i) const { return planes[0][i / 64]; }
        std::uint64_t tenth(std::uint32_t i) const { return planes[1][i / 64]; }
    };

    std::uint8_t* member(std::uint32_t slot) {
        return member_of_ + 64 + slot * (ScanTask::kMost + 64);
    }
    // Which of the 64 members from i on there are.
    std::uint64_t there(std::uint32_t i) const {
        return task_.n - i < 64 ? (std::uint64_t{1} << (task_.n - i)) - 1 : ~std::uint64_t{0};
    }
    void find_begins(std::uint32_t slot, std::uint64_t* begins) {
        BitString string(begins, kHighWords);
        for (std::uint32_t i = 0; i < task_.n; i += 64) {
            const HighBits& high = member_high_[slot];
            const __m512i unary =
                unary_.at(_mm512_loadu_si512(member(slot) + i), high.ninth(i), high.tenth(i));
            alignas(64) std::uint64_t eight[8];
            _mm512_store_si512(eight, _mm512_maskz_mov_epi8(_cvtu64_mask64(there(i)), unary));
            const std::uint32_t eights = task_.n - i < 64 ? (task_.n - i + 7) / 8 : 8;
            for (std::uint32_t e = 0; e < eights; ++e)
                string.append(_pext_u64(0x0101010101010101ull, eight[e]),
                              static_cast<std::uint32_t>(_mm_popcnt_u64(eight[e])));
        }
        string.end();
    }
    template <int kClasses>
    bool outside_of(std::uint32_t slot, const ClassEnvelope& envelope) const {
        const std::uint8_t* draw = draw_ + slot * stride_;
        const HighBits& high = draw_high_[slot];
        const __m128i shift = _mm_cvtsi32_si128(envelope.shift());
        std::uint32_t base[kClasses - 1] = {}, out = 0;
        for (std::uint32_t i = 0; i < n_draws_; i += 64) {
            const __m512i label =
                low_.at(_mm512_loadu_si512(draw + i), high.ninth(i), high.tenth(i));
            __m512i count[kClasses - 1];
            std::uint32_t before[kClasses - 1];
            for (int c = 0; c < kClasses - 1; ++c) {
                const std::uint64_t mask =
                    _cvtmask64_u64(_mm512_cmpeq_epi8_mask(
                        label, _mm512_set1_epi8(static_cast<char>(c))));
                count[c] = counts_.of(mask);
                before[c] = base[c];
                base[c] += static_cast<std::uint32_t>(_mm_popcnt_u64(mask));
            }
            for (std::uint32_t half = 0; half < 2 && i + 32 * half < n_draws_; ++half) {
                __m512i d[kClasses], sum = _mm512_setzero_si512();
                for (int c = 0; c < kClasses - 1; ++c) {
                    const __m256i part = half ? _mm512_extracti64x4_epi64(count[c], 1)
                                              : _mm512_castsi512_si256(count[c]);
                    const __m512i all =
                        _mm512_add_epi16(_mm512_cvtepu8_epi16(part),
                                         _mm512_set1_epi16(static_cast<short>(before[c])));
                    d[c] = _mm512_sub_epi16(
                        _mm512_sll_epi16(all, shift),
                        _mm512_loadu_si512(envelope.expected(c) + i + 32 * half));
                    sum = _mm512_add_epi16(sum, d[c]);
                }
                if (kClasses == 2) {
                    out |= outside(d[0], envelope.radius() + i + 32 * half);
                    continue;
                }
                d[kClasses - 1] = sum;
                out |= squares_outside<kClasses>(d, envelope.limit() + i + 32 * half);
            }
        }
        return out != 0;
    }
    // Whether the squares of any position add up to the limit; sums come in the order of
    // ClassEnvelope::in_pairs.
    template <int kClasses>
    static std::uint32_t squares_outside(const __m512i* d, const std::uint32_t* limit) {
        __m512i first = _mm512_setzero_si512(), second = first;
        for (int c = 0; c < kClasses; c += 2) {
            const __m512i other = c + 1 < kClasses ? d[c + 1] : _mm512_setzero_si512();
            const __m512i low = _mm512_unpacklo_epi16(d[c], other);
            const __m512i high = _mm512_unpackhi_epi16(d[c], other);
            first = _mm512_add_epi32(first, _mm512_madd_epi16(low, low));
            second = _mm512_add_epi32(second, _mm512_madd_epi16(high, high));
        }
        return _cvtmask16_u32(_mm512_cmpge_epu32_mask(first, _mm512_loadu_si512(limit))) |
               _cvtmask16_u32(_mm512_cmpge_epu32_mask(second, _mm512_loadu_si512(limit + 16)));
    }
    template <Samples samples>
    void pick_words(const std::uint8_t* order, const std::uint64_t* high, std::uint8_t* out,
                    HighBits& out_high) const {
        const std::uint32_t n_words = task_.n_words;
        const Lookup lookup = lookup_;
        const Bitmap member = member_;
        const std::uint64_t last = last_;
        BitString ninth(out_high.planes[0], kHighWords), tenth(out_high.planes[1], kHighWords);
        std::uint32_t found = 0;
        for (std::uint32_t w = 0; w < n_words; ++w) {
            const __m512i low = _mm512_loadu_si512(order + 64 * w);
            std::uint64_t members = Lookup::test<samples>(
                member, lookup.bytes<samples>(low, high, w), lookup.bits(low));
            if (w + 1 == n_words) members &= last;
            _mm512_storeu_si512(out + found,
                                _mm512_maskz_compress_epi8(_cvtu64_mask64(members), low));
            const std::uint32_t here = static_cast<std::uint32_t>(_mm_popcnt_u64(members));
            if (samples != Samples::k256) ninth.append(_pext_u64(high[w], members), here);
            if (samples == Samples::k1024) tenth.append(_pext_u64(high[n_words + w], members), here);
            found += here;
        }
        ninth.end();
        tenth.end();
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

    const ScanTask& task_;
    std::uint32_t n_high_;
    std::uint32_t n_draws_;
    std::uint64_t last_;
    Lookup lookup_;
    Bitmap member_;
    ByteTable low_, high_, unary_;
    RunningCounts counts_;
    // low and high bytes, one after the other
    __m512i first_half_ = interleaved(0), second_half_ = interleaved(32);
    __m512i last_of_eight_ = _mm512_set1_epi16(0x0f0e);
    std::uint32_t stride_;
    std::uint8_t draw_[kSlots * (ScanTask::kMostDraws + 64)];
    HighBits draw_high_[kSlots], member_high_[kSlots];
    std::uint8_t member_of_[64 + kSlots * (ScanTask::kMost + 64) + 64];

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
