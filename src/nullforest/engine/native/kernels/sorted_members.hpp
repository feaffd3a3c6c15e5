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

    void sort_by(std::size_t feature) { sort_first(feature, n); }

    // The members of a node in the order of one feature alone; at least the first `most` of them
    // where no value is missing.
    void sort(const std::uint32_t* samples, std::uint32_t count, std::size_t feature,
              std::uint32_t most = ~std::uint32_t{0}) {
        enter(samples, count);
        sort_first(feature, table_.flags()[feature] & RankTable::kMissing ? n : most);
        leave();
    }

    // The first members in the order of a feature, up to the one after `n_left`; their boundaries
    // are not found. Returns whether `after_left` and `at_right` are known: where all samples up to
    // the last of the left members end in the order, and where the first of the right ones is.
    bool list(const std::uint32_t* samples, std::uint32_t count, std::size_t feature,
              std::uint32_t n_left) {
        if (!table_.by_order() || table_.flags()[feature] & RankTable::kMissing) {
            sort(samples, count, feature, n_left + 1);
            return false;
        }
        enter(samples, count);
        n_known = n;
        // Every sample is written, and overwritten by the next if it is no member: no branch.
        std::uint32_t found = 0, p = 0;
        const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
        for (; p < S && found <= n_left; ++p)
            found += member_[sample[found] = sample_at(feature, p)];
        after_left = at_right = p - 1;
        while (after_left > 0 && !member_[sample_at(feature, after_left - 1)]) --after_left;
        leave();
        return true;
    }
    std::uint32_t after_left = 0, at_right = 0;

    // Of tables by order: the sample at a position.
    std::uint32_t sample_at(std::size_t feature, std::uint32_t p) const {
        std::uint32_t s = table_.order(feature)[p];
        if (table_.n_samples() > 256)
            s |= static_cast<std::uint32_t>(table_.ninth_bits(feature)[p / 64] >> p % 64 & 1) << 8;
        return s;
    }

    // The same, where the first of them are known already and no value is missing.
    void take(const std::uint16_t* sorted, std::uint32_t known, std::uint32_t count) {
        n = n_known = count;
        std::copy(sorted, sorted + known, sample.begin());
    }

private:
    void sort_first(std::size_t feature, std::uint32_t most) {
        if (table_.by_order())
            walk(feature, std::min(most, n));
        else if (table_.rank_bytes() == 2)
            collect(feature, table_.ranks16(feature));
        else
            collect(feature, table_.ranks32(feature));
    }

    void walk(std::size_t feature, std::uint32_t most) {
        const std::uint64_t* differs = table_.differs(feature);
        const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
        const std::uint32_t known = table_.n_known(feature);
        std::uint32_t found = 0;
        std::uint8_t changed = 0;
        n_known = n;
        for (std::uint32_t p = 0; p < S && found < most; ++p) {
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

    const RankTable& table_;
    const std::uint32_t* samples_ = nullptr;
    std::vector<std::uint8_t> member_;
    std::vector<std::uint32_t> slot_;
    std::vector<std::uint64_t> bits_, keys_;
};

}  // namespace nullforest
