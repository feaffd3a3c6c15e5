// Members and ones of a node of at most 64 members in the steps of a column: the bits of the members
// are moved together in one word of each plane, and counted there.
#pragma once
#include "kernels/bit_selection.hpp"
#include "kernels/plane_counter.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

class WordCounter {
public:
    static constexpr std::uint32_t kMost = 64;

    explicit WordCounter(const SweepTask& task) : task_(task), levels_(task.n <= kFew ? 3 : 4) {
        std::uint32_t found = 0;
        for (std::uint32_t w = 0; w < task.plane_words; ++w) {
            if (!task.member[w]) continue;
            word_[n_words_] = w;
            member_[n_words_] = task.member[w];
            place_[n_words_++] = found;
            one_ |= squeeze(task.one[w], task.member[w]) << found;
            for (std::uint64_t bits = task.member[w]; bits; bits &= bits - 1)
                sample_[found++] = 64 * w + lowest_one(bits);
        }
        all_ = ~std::uint64_t{0} >> (64 - found);
    }

    std::uint32_t levels() const { return levels_; }
    void fetch(std::uint32_t feature) const {
        const std::uint64_t* planes = PlaneCounter<WordBits>::planes_of(task_, feature);
        for (std::uint32_t w = 0; w < levels_ * task_.plane_words; w += 8)
            __builtin_prefetch(planes + w, 0, 2);
    }
    struct Kept {
        std::uint64_t planes[4];
    };
    void count(std::uint32_t feature, Kept& kept, std::uint32_t* sums) const {
        const std::uint64_t* planes = PlaneCounter<WordBits>::planes_of(task_, feature);
        levels_ == 3 ? gather<3>(planes, kept) : gather<4>(planes, kept);
        of(kept).count(levels_, sums);
    }
    template <class Use>
    void each_in(std::uint32_t, const Kept& kept, std::uint64_t steps, const Use& use) const {
        of(kept).each_in(levels_, steps, [&](std::uint32_t i) {
            use(sample_[i], static_cast<std::uint32_t>(one_ >> i & 1));
        });
    }

private:
    static constexpr std::uint32_t kFew = 24;  // members for which 8 steps do

    template <int kPlanes>
    void gather(const std::uint64_t* planes, Kept& kept) const {
        std::uint64_t bits[kPlanes] = {};
        const std::uint32_t stride = task_.plane_words;
        for (std::uint32_t i = 0; i < n_words_; ++i) {
            const std::uint64_t* word = planes + word_[i];
            for (int j = 0; j < kPlanes; ++j)
                bits[j] |= squeeze(word[j * stride], member_[i]) << place_[i];
        }
        for (int j = 0; j < kPlanes; ++j) kept.planes[j] = bits[j];
    }
    PlaneSteps<WordBits> of(const Kept& kept) const { return {kept.planes, 1, &all_, &one_}; }

    const SweepTask& task_;
    std::uint32_t levels_, n_words_ = 0;
    std::uint64_t one_ = 0, all_;
    std::uint32_t word_[kMost], place_[kMost], sample_[kMost];
    std::uint64_t member_[kMost];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
