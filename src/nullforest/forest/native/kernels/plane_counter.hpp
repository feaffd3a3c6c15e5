// Members and ones of a node in the steps of a column, counted on planes of bits (RankSteps).
//
// A tree of three planes has eight steps: seven masks of members below a threshold, and as many of
// the ones among them, are counted bit by bit; sums along the tree give the counts up to each step.
// More steps are several such trees, each within the members that the first planes select.
//
// `Bits` brings the vectors:
//   Vector, kWords                words side by side, and their number
//   load, store, constant(bit)    all ones or zeros
//   both, without, either         a & b, a & ~b, a | b
//   where(a, plane, flip)         a & ~(plane ^ flip), flip all ones or zeros
//   Count, add(count, a, ones)    running counts of the bits of a, and of the ones among them
//   Eight, sums(counts)           sums of the counts of a tree: upto each step
//   put(low, high, before, sums)  sixteen sums, those of `high` after the last of `low`
//   open_steps(test, sums, n)     which of n steps, a multiple of 16, may hold a better split
//   open_ends(test, sums, n)      at the end of which there may be one
// The counts of a tree are those of: all, the lower half, the lower quarter of each half, the lower
// eighth of each quarter.
#pragma once
#include "kernels/step_test.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Where nothing is counted on planes.
struct NoBits {
    static constexpr bool kExist = false;
};

// The steps of a column on planes of `n_words` words each, among the members of a bitmap, ones those
// of another.
template <class Bits>
class PlaneSteps {
public:
    PlaneSteps(const std::uint64_t* planes, std::uint32_t n_words, const std::uint64_t* members,
               const std::uint64_t* ones)
        : planes_(planes), members_(members), ones_(ones), n_words_(n_words) {}

    // Counts up to and with each of 2^levels steps, and on to a multiple of 16.
    void count(std::uint32_t levels, std::uint32_t* sums) const {
        switch (levels) {
            case 3: return count_trees<0>(sums);
            case 4: return count_trees<1>(sums);
            case 5: return count_trees<2>(sums);
            default: return count_trees<3>(sums);
        }
    }
    // Calls use(bit) for the members in any of these steps.
    template <class Use>
    void each_in(std::uint32_t levels, std::uint64_t steps, const Use& use) const {
        for (std::uint32_t w = 0; w < n_words_; w += Bits::kWords) {
            const Vector members = Bits::load(members_ + w);
            Vector all = Bits::constant(false);
            for (std::uint64_t left = steps; left; left &= left - 1) {
                const int step = __builtin_ctzll(left);
                Vector in = members;
                for (std::uint32_t j = 0; j < levels; ++j)
                    in = Bits::where(in, Bits::load(planes_ + j * n_words_ + w),
                                     Bits::constant(step >> (levels - 1 - j) & 1));
                all = Bits::either(all, in);
            }
            alignas(64) std::uint64_t words[Bits::kWords];
            Bits::store(words, all);
            for (std::uint32_t v = 0; v < Bits::kWords; ++v)
                for (std::uint64_t bits = words[v]; bits; bits &= bits - 1)
                    use(64 * (w + v) + static_cast<std::uint32_t>(__builtin_ctzll(bits)));
        }
    }

private:
    using Vector = typename Bits::Vector;

    template <int kFirst>
    [[gnu::always_inline]] void count_trees(std::uint32_t* sums) const {
        if (kFirst == 0) {
            Bits::put(count_tree<0>(0), {}, 0, sums);
            return;
        }
        std::uint32_t before = 0;
        for (std::uint32_t tree = 0; tree < 1u << kFirst; tree += 2) {
            const auto low = count_tree<kFirst>(tree), high = count_tree<kFirst>(tree + 1);
            Bits::put(low, high, before, sums + 8 * tree);
            before = sums[8 * tree + 15];
        }
    }

    template <int kFirst>
    [[gnu::always_inline]] typename Bits::Eight count_tree(std::uint32_t tree) const {
        typename Bits::Count counts[8]{};
        Vector flip[kFirst + 1];
        for (int j = 0; j < kFirst; ++j) flip[j] = Bits::constant(tree >> (kFirst - 1 - j) & 1);
        for (std::uint32_t w = 0; w < n_words_; w += Bits::kWords) {
            Vector in = Bits::load(members_ + w);
            for (int j = 0; j < kFirst; ++j)
                in = Bits::where(in, Bits::load(planes_ + j * n_words_ + w), flip[j]);
            const Vector one = Bits::load(ones_ + w);
            const Vector p = Bits::load(planes_ + kFirst * n_words_ + w);
            const Vector q = Bits::load(planes_ + (kFirst + 1) * n_words_ + w);
            const Vector r = Bits::load(planes_ + (kFirst + 2) * n_words_ + w);
            const auto add = [&](int i, Vector mask) { Bits::add(counts[i], mask, one); };
            const Vector low = Bits::without(in, p), high = Bits::both(in, p);
            const Vector low_low = Bits::without(low, q), low_high = Bits::both(low, q);
            const Vector high_low = Bits::without(high, q), high_high = Bits::both(high, q);
            add(0, in);
            add(1, low);
            add(2, low_low);
            add(3, high_low);
            add(4, Bits::without(low_low, r));
            add(5, Bits::without(low_high, r));
            add(6, Bits::without(high_low, r));
            add(7, Bits::without(high_high, r));
        }
        return Bits::sums(counts);
    }

    const std::uint64_t *planes_, *members_, *ones_;
    std::uint32_t n_words_;
};

// Steps of the columns of a table, with planes as they are.
template <class Bits>
class PlaneCounter {
public:
    explicit PlaneCounter(const SweepTask& task) : task_(task) {
        while (levels_ < SweepTask::kPlanes && task.n > kMany << 2 * (levels_ - 3)) ++levels_;
    }

    std::uint32_t levels() const { return levels_; }  // 2^levels steps
    void count(std::uint32_t feature, std::uint32_t* sums) const {
        of(feature).count(levels_, sums);
    }
    // Calls use(sample, label) for the members in any of these steps.
    template <class Use>
    void each_in(std::uint32_t feature, std::uint64_t steps, const Use& use) const {
        of(feature).each_in(levels_, steps, [&](std::uint32_t sample) {
            use(sample, static_cast<std::uint32_t>(task_.one[sample / 64] >> sample % 64 & 1));
        });
    }

    static const std::uint64_t* planes_of(const SweepTask& task, std::uint32_t feature) {
        return task.planes + std::size_t{feature} * SweepTask::kPlanes * task.plane_words;
    }

private:
    // 8 steps do for so many members, and twice the steps for four times as many.
    static constexpr std::uint32_t kMany = 32;

    PlaneSteps<Bits> of(std::uint32_t feature) const {
        return {planes_of(task_, feature), task_.plane_words, task_.member, task_.one};
    }

    const SweepTask& task_;
    std::uint32_t levels_ = 3;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
