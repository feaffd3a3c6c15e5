// The order of the values of one column: a bucket sort that assumes no distribution.
//
// Values fall into equal steps between the smallest and the largest, three for two values; what
// shares a step is then sorted by comparison. Data far from even cost a comparison sort, no more.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace nullforest {

// Floats as integers of the same order; both zeros are one value, NaN comes last. No branches: the
// sign of a value cannot be foretold.
template <class Bits, class Value>
Bits sortable(Value value) {
    constexpr int kSign = 8 * sizeof(Bits) - 1;
    const Bits missing = Bits{0} - Bits{value != value};
    value += 0;
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    return missing | (bits ^ ((Bits{0} - (bits >> kSign)) | Bits{1} << kSign));
}
template <class Value, class Bits>
Value unsortable(Bits key) {
    constexpr int kSign = 8 * sizeof(Bits) - 1;
    const Bits bits = key ^ (((key >> kSign) - 1) | Bits{1} << kSign);
    Value value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// A value and its sample, compared in that order; a float32 and its sample share one word.
struct FloatEntry {
    using Key = std::uint32_t;
    std::uint64_t word;
    static FloatEntry of(Key key, std::uint32_t sample) {
        return {std::uint64_t{key} << 32 | sample};
    }
    std::uint32_t sample() const { return static_cast<std::uint32_t>(word); }
    Key key() const { return static_cast<Key>(word >> 32); }
    bool operator<(const FloatEntry& other) const { return word < other.word; }
    static void order(FloatEntry& one, FloatEntry& other) {  // no branch
        const std::uint64_t differ =
            (one.word ^ other.word) & (std::uint64_t{0} - std::uint64_t{other.word < one.word});
        one.word ^= differ;
        other.word ^= differ;
    }
};
struct DoubleEntry {
    using Key = std::uint64_t;
    Key value_key;
    std::uint32_t index;
    static DoubleEntry of(Key key, std::uint32_t sample) { return {key, sample}; }
    std::uint32_t sample() const { return index; }
    Key key() const { return value_key; }
    bool operator<(const DoubleEntry& other) const {
        return value_key < other.value_key ||
               (value_key == other.value_key && index < other.index);
    }
    static void order(DoubleEntry& one, DoubleEntry& other) {
        if (other < one) std::swap(one, other);
    }
};

// Scratch of one thread; `entries` holds the sorted column afterwards.
template <class Value, class Entry>
class ColumnSort {
public:
    std::vector<Entry> entries;
    bool has_missing = false, has_infinite = false;

    void sort(const Value* column, std::size_t n) {
        entries.resize(n);
        buckets_.resize(n);
        keys_.resize(n);
        Key least = ~Key{0}, greatest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Key key = keys_[i] = sortable<Key>(column[i]);
            least = key < least ? key : least;
            greatest = key > greatest ? key : greatest;
        }
        constexpr Value kInfinity = std::numeric_limits<Value>::infinity();
        const Key infinite = sortable<Key>(kInfinity), minus = sortable<Key>(-kInfinity);
        has_missing = greatest > infinite;
        has_infinite = least == minus || greatest == infinite;
        for (std::size_t i = 0; has_missing && !has_infinite && i < n; ++i)
            has_infinite = keys_[i] == infinite;
        const std::size_t n_buckets = std::min<std::size_t>(3 * n / 2, 65536);
        const Value low = unsortable<Value>(least), high = unsortable<Value>(greatest);
        const Value step = static_cast<Value>(n_buckets - 1) / (high - low);
        // Overflowing ranges, missing values and constant columns are sorted by comparison.
        if (has_missing || has_infinite || !(step > 0) || !std::isfinite(step) ||
            !std::isfinite(high - low)) {
            for (std::size_t i = 0; i < n; ++i)
                entries[i] = Entry::of(keys_[i], static_cast<std::uint32_t>(i));
            std::sort(entries.begin(), entries.end());
            return;
        }
        starts_.assign(n_buckets + 1, 0);
        for (std::size_t i = 0; i < n; ++i) {
            const auto b = static_cast<std::int32_t>((column[i] - low) * step);
            buckets_[i] = static_cast<std::uint16_t>(b);
        }
        for (std::size_t i = 0; i < n; ++i) ++starts_[buckets_[i] + 1];
        std::uint32_t largest = 0;
        for (std::size_t b = 0; b < n_buckets; ++b) {
            largest = std::max(largest, starts_[b + 1]);
            starts_[b + 1] += starts_[b];
        }
        for (std::size_t i = 0; i < n; ++i)
            entries[starts_[buckets_[i]]++] = Entry::of(keys_[i], static_cast<std::uint32_t>(i));
        if (largest <= kShort) {
            // Most entries lie at most a place away: branches that cannot be foretold are spared.
            for (std::size_t first : {0, 1, 0, 1}) exchange_pairs(first, n);
            insertion_sort(0, n);
            return;
        }
        for (std::size_t b = 0, begin = 0; b < n_buckets; ++b) {  // starts_ now hold the ends
            const std::size_t end = starts_[b];
            if (end - begin > kShort)
                std::sort(entries.begin() + begin, entries.begin() + end);
            else
                insertion_sort(begin, end);
            begin = end;
        }
    }

private:
    using Key = typename Entry::Key;
    static constexpr std::uint32_t kShort = 24;  // beyond this a comparison sort is faster

    // Sorts the entries first and first + 1, the next two, and so on.
    void exchange_pairs(std::size_t first, std::size_t n) {
        for (std::size_t i = first; i + 1 < n; i += 2) {
            Entry::order(entries[i], entries[i + 1]);
        }
    }
    void insertion_sort(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin + 1; i < end; ++i) {
            const Entry entry = entries[i];
            std::size_t j = i;
            for (; j > begin && entry < entries[j - 1]; --j) entries[j] = entries[j - 1];
            entries[j] = entry;
        }
    }

    std::vector<Key> keys_;
    std::vector<std::uint16_t> buckets_;
    std::vector<std::uint32_t> starts_;
};

}  // namespace nullforest
