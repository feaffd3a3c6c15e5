// The members of a node in the order of one feature.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "table/rank_table.hpp"

namespace nullforest {

// Whether any bit is set in positions [begin, end).
inline bool any_bit(const std::uint64_t* words, std::uint32_t begin, std::uint32_t end) {
    if (begin >= end) return false;
    const std::uint32_t first = begin / 64, last = (end - 1) / 64;
    const std::uint64_t low = ~std::uint64_t{0} << (begin % 64);
    const std::uint64_t high = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
    if (first == last) return words[first] & low & high;
    if (words[first] & low) return true;
    for (std::uint32_t w = first + 1; w < last; ++w)
        if (words[w]) return true;
    return words[last] & high;
}

// The scratch of one thread.
class SortedMembers {
public:
    explicit SortedMembers(const RankTable& table)
        : table_(table),
          member_(table.by_order() ? RankLayout::kWalkSamples : 0),
          slot_(table.by_order() ? 0 : table.n_samples()),
          bits_(table.n_words()) {
        sample.resize(table.n_samples());
        boundary.resize(table.n_samples());
    }

    std::vector<std::uint32_t> sample;   // n of them, ascending in the feature
    std::vector<std::uint8_t> boundary;  // [j]: whether members j and j+1 differ
    std::uint32_t n = 0, n_known = 0;    // all members, and those whose value is not missing

    // Names the members of the node, until `leave`.
    void enter(const std::uint32_t* samples, std::uint32_t count) {
        samples_ = samples;
        n = count;
        if (table_.by_order())
            for (std::uint32_t i = 0; i < count; ++i) member_[samples[i]] = 1;
    }
    void leave() {
        if (table_.by_order())
            for (std::uint32_t i = 0; i < n; ++i) member_[samples_[i]] = 0;
    }

    void sort_by(std::size_t feature) { sort_first(feature); }

    // The members of a node in the order of one feature alone.
    void sort(const std::uint32_t* samples, std::uint32_t count, std::size_t feature) {
        enter(samples, count);
        sort_first(feature);
        leave();
    }

    // The same, or where no value is missing only so far that the first `n_left` members come
    // first, the one of the greatest rank last, and then the one of the smallest of the others; in
    // tables by order the others are not listed, unless the table may join their values. Returns whether
    // `after_left` and `at_right` are known: where all samples up to the last of the left members
    // end in the order of the feature, and where the first of the right ones is.
    bool divide(const std::uint32_t* samples, std::uint32_t count, std::size_t feature,
                std::uint32_t n_left) {
        if ((table_.flags()[feature] & RankTable::kMissing) || n_left == 0 || n_left >= count ||
            (table_.by_order() && table_.may_join_values(feature))) {
            sort(samples, count, feature);
            return false;
        }
        enter(samples, count);
        n_known = n;
        if (table_.by_order())
            list(feature, n_left);
        else if (const std::uint8_t* codes = table_.codes())
            divide_ranks(codes + feature * table_.code_stride(), RankTable::kCodes, n_left);
        else if (table_.rank_bytes() == 2)
            divide_ranks(table_.ranks16(feature), table_.n_samples(), n_left);
        else
            divide_ranks(table_.ranks32(feature), table_.n_samples(), n_left);
        leave();
        return table_.by_order();
    }
    std::uint32_t after_left = 0, at_right = 0;

    // Of tables by order: the sample at a position.
    std::uint32_t sample_at(std::size_t feature, std::uint32_t p) const {
        return table_.sample_at(feature, p);
    }

    // The same, where the first of them are known already and no value is missing.
    void take(const std::uint16_t* sorted, std::uint32_t known, std::uint32_t count) {
        n = n_known = count;
        std::copy(sorted, sorted + known, sample.begin());
    }

private:
    void sort_first(std::size_t feature) {
        if (table_.by_order())
            walk(feature);
        else if (table_.rank_bytes() == 2)
            collect(feature, table_.ranks16(feature));
        else
            collect(feature, table_.ranks32(feature));
    }

    // The first members in the order of a feature, up to the one after `n_left`.
    void list(std::size_t feature, std::uint32_t n_left) {
        // Every sample is written, and overwritten by the next if it is no member: no branch.
        std::uint32_t found = 0, p = 0;
        const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
        for (; p < S && found <= n_left; ++p)
            found += member_[sample[found] = sample_at(feature, p)];
        after_left = at_right = p - 1;
        while (after_left > 0 && !member_[sample_at(feature, after_left - 1)]) --after_left;
    }

    void walk(std::size_t feature) {
        const std::uint64_t* differs = table_.differs(feature);
        const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
        const std::uint32_t known = table_.n_known(feature);
        std::uint32_t found = 0;
        std::uint8_t changed = 0;
        n_known = n;
        for (std::uint32_t p = 0; p < S && found < n; ++p) {
            if (p == known) n_known = found;
            const std::uint32_t s = sample_at(feature, p);
            if (member_[s]) {
                if (found) boundary[found - 1] = changed;
                sample[found++] = s;
                changed = 0;
            }
            changed |= static_cast<std::uint8_t>(differs[p / 64] >> (p % 64) & 1);
        }
    }

    template <class Rank>
    void collect(std::size_t feature, const Rank* rank) {
        const std::uint64_t* differs = table_.differs(feature);
        const std::uint32_t known = table_.n_known(feature);
        std::uint32_t found = 0, previous = 0;
        n_known = 0;
        const auto add = [&](std::uint32_t s, std::uint32_t r) {
            if (found) boundary[found - 1] = any_bit(differs, previous, r);
            sample[found++] = s;
            n_known += r < known;
            previous = r;
        };
        if (std::size_t{n} * 48 >= table_.n_samples()) {  // a sweep is cheaper than a sort
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t s = samples_[i], r = rank[s];
                slot_[r] = s;
                bits_[r / 64] |= std::uint64_t{1} << (r % 64);
            }
            for (std::uint32_t w = 0; w < bits_.size(); ++w)
                for (; bits_[w]; bits_[w] &= bits_[w] - 1) {
                    const std::uint32_t r = 64 * w + __builtin_ctzll(bits_[w]);
                    add(slot_[r], r);
                }
        } else {
            keys_.resize(n);
            for (std::uint32_t i = 0; i < n; ++i)
                keys_[i] = std::uint64_t{rank[samples_[i]]} << 32 | samples_[i];
            std::sort(keys_.begin(), keys_.end());
            for (std::uint64_t key : keys_)
                add(static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
        }
    }

    // Counts in steps of rank (or in codes) which of them holds the last rank that goes left, and
    // sorts its members alone.
    template <class Rank>
    void divide_ranks(const Rank* rank, std::size_t n_ranks, std::uint32_t n_left) {
        constexpr std::uint32_t kSteps = 256;
        std::uint32_t shift = 0, counts[kSteps] = {}, step = 0, before = 0;
        while ((n_ranks - 1) >> shift >= kSteps) ++shift;
        rank_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t r = rank[samples_[i]];
            rank_[i] = r;
            ++counts[r >> shift];
        }
        while (before + counts[step] < n_left) before += counts[step++];
        std::uint32_t greatest = step;
        if (shift > 0) {
            within_.clear();
            for (const std::uint32_t r : rank_)
                if (r >> shift == step) within_.push_back(r);
            const auto last = within_.begin() + (n_left - before - 1);
            std::nth_element(within_.begin(), last, within_.end());
            greatest = *last;
        }
        // Written to both sides, one of which moves on: no branch to foretell.
        right_.resize(n);
        std::uint32_t left = 0, right = 0, last = 0, first = 0, next = ~std::uint32_t{0};
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t r = rank_[i], goes_left = r <= greatest;
            sample[left] = right_[right] = samples_[i];
            if (r == greatest) last = left;
            if (!goes_left && r < next) {
                next = r;
                first = right;
            }
            left += goes_left;
            right += 1 - goes_left;
        }
        std::copy(right_.begin(), right_.begin() + right, sample.begin() + left);
        std::swap(sample[last], sample[n_left - 1]);
        std::swap(sample[n_left + first], sample[n_left]);
    }

    const RankTable& table_;
    const std::uint32_t* samples_ = nullptr;
    std::vector<std::uint8_t> member_;
    std::vector<std::uint32_t> slot_, rank_, within_, right_;
    std::vector<std::uint64_t> bits_, keys_;
};

}  // namespace nullforest
