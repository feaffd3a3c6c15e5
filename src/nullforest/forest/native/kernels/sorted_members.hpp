// The members of a node in the order of one feature.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/kernel_task.hpp"
#include "table/rank_table.hpp"

namespace nullforest {

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

    const SortedMembers& sort_by(std::size_t feature) {
        if (table_.by_order())
            walk(feature);
        else
            table_.with_ranks(feature, [&](const auto* rank) { collect(feature, rank); });
        return *this;
    }

    // The members of a node in the order of one feature alone.
    void sort(const std::uint32_t* samples, std::uint32_t count, std::size_t feature) {
        enter(samples, count);
        sort_by(feature);
        leave();
    }

    // The same, or where no value is missing only so far that the first `n_left` members come first,
    // the one of the greatest rank last, and then the one of the smallest rank of the others. (Of
    // columns by order those behind it are not listed, unless values may have been joined.)
    void divide(const std::uint32_t* samples, std::uint32_t count, std::size_t feature,
                std::uint32_t n_left) {
        if ((table_.flags()[feature] & RankTable::kMissing) || n_left == 0 || n_left >= count ||
            (table_.by_order() && table_.may_join_values(feature)))
            return sort(samples, count, feature);
        enter(samples, count);
        n_known = n;
        if (table_.by_order())
            list(feature, n_left);
        else
            table_.with_ranks(feature, [&](const auto* rank) { divide_ranks(rank, n_left); });
        leave();
    }

private:
    void list(std::size_t feature, std::uint32_t n_left) {
        // Every sample is written, and overwritten by the next if it is no member: no branch.
        const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
        for (std::uint32_t p = 0, found = 0; p < S && found <= n_left; ++p)
            found += member_[sample[found] = table_.sample_at(feature, p)];
    }

    template <class Rank>
    void divide_ranks(const Rank* rank, std::uint32_t n_left) {
        fill_keys(rank);
        const auto right = keys_.begin() + n_left;
        std::nth_element(keys_.begin(), right, keys_.end());
        std::iter_swap(right - 1, std::max_element(keys_.begin(), right));
        for (std::uint32_t i = 0; i < n; ++i) sample[i] = static_cast<std::uint32_t>(keys_[i]);
    }

    template <class Rank>
    void fill_keys(const Rank* rank) {
        keys_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i)
            keys_[i] = std::uint64_t{rank[samples_[i]]} << 32 | samples_[i];
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
            const std::uint32_t s = table_.sample_at(feature, p);
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
            fill_keys(rank);
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
