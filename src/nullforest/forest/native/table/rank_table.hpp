// The order of the samples in every feature, sorted once for all forests.
//
// Up to kWalkSamples samples a feature is stored as its *order* (sample at each position: the low
// byte, and planes of the ninth bits above 256 samples, of the tenth above 512); a node walks the
// order and picks its members out. Beyond that it is stored as the *rank* of each sample (two or
// four bytes); a node collects the ranks of its members. Either way one bit per position says
// whether the value there differs from the next one. Missing values (NaN) come last and are equal to
// each other; equal values keep the order of the samples.
//
// A column varies unless all its values are equal or all are missing. Candidates and pools are drawn
// from the columns that vary, so that constant columns anywhere in a table change no tree.
//
// With bins a column of more distinct values is ranked into at most B quantile bins, whose values
// then count as equal: a value that r of the n known ones are smaller than lies in bin
// floor(r B / n); where values are missing, they are one of the bins and B is one less. Only the
// ranks are binned; thresholds lie between values.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "table/mapped_bytes.hpp"
#include "table/rank_steps.hpp"
#include "threads/parallel.hpp"

namespace nullforest {

// The data as the caller holds them: any strides, or sparse columns; never copied whole.
struct Matrix {
    const char* data;  // null where the values are not given
    std::ptrdiff_t row_stride, column_stride;  // in bytes
    bool is_double;
    std::size_t n_samples, n_features;
    // Sparse columns: the samples of the stored values, ascending, and where each column begins.
    const std::int32_t* stored_sample = nullptr;
    const std::int64_t* column_start = nullptr;

    bool given() const { return data || column_start; }
    double at(std::size_t sample, std::size_t feature) const {
        if (column_start) return stored(sample, feature);
        const char* p = data + static_cast<std::ptrdiff_t>(sample) * row_stride +
                        static_cast<std::ptrdiff_t>(feature) * column_stride;
        return is_double ? *reinterpret_cast<const double*>(p)
                         : static_cast<double>(*reinterpret_cast<const float*>(p));
    }

private:
    double stored(std::size_t sample, std::size_t feature) const {
        const std::int32_t* begin = stored_sample + column_start[feature];
        const std::int32_t* end = stored_sample + column_start[feature + 1];
        const std::int32_t* found =
            std::lower_bound(begin, end, static_cast<std::int32_t>(sample));
        if (found == end || *found != static_cast<std::int32_t>(sample)) return 0.0;
        const std::size_t i = static_cast<std::size_t>(found - stored_sample);
        return is_double ? reinterpret_cast<const double*>(data)[i]
                         : static_cast<double>(reinterpret_cast<const float*>(data)[i]);
    }
};

// The arrays of a finished table: in a file, or in memory that others share.
struct RankArrays {
    const std::uint8_t* block;     // F x stride, and 64 bytes more
    const std::uint64_t* differs;  // F x words
    const std::uint32_t* n_known;  // F
    const std::uint8_t* flags;     // F
    std::uint64_t fingerprint;
    // Where block and values are mapped files: how many bytes of files may lie in this process's
    // memory before they are released (0: no limit), and how many bytes the values take.
    std::size_t most_resident, value_bytes;
};

// Where the parts of a column lie in a table of so many samples.
struct RankLayout {
    static constexpr std::size_t kWalkSamples = 1024;
    static constexpr std::size_t kFewSamples = 512;  // beyond, columns may have bins and codes
    static constexpr std::size_t kSlack = 64;  // a whole vector may be read past the last feature
    std::size_t n_words, stride;  // words of 64 positions, and bytes of the block, per feature
    int rank_bytes;
    std::size_t high_planes;  // of an order

    explicit RankLayout(std::size_t n_samples)
        : n_words((n_samples + 63) / 64),
          rank_bytes(n_samples <= 65536 ? 2 : 4),
          high_planes((n_samples > 256) + (n_samples > 512)) {
        stride = n_samples > kWalkSamples ? (n_samples * rank_bytes + 63) / 64 * 64
                                          : (64 + 8 * high_planes) * n_words;
    }
};

class RankTable {
public:
    // Where the columns are part of a larger table, `first_feature` is the number of the first.
    // `bins`: most distinct ranks of a column, 0 for no limit.
    RankTable(const Matrix& matrix, std::size_t n_threads, const Poll& poll,
              std::size_t first_feature = 0, std::uint32_t bins = 0);
    // A table that lies elsewhere; the arrays must outlive it.
    RankTable(const Matrix& matrix, const RankArrays& arrays);
    // Columns to be filled in by `set`, for the samples of `like`.
    RankTable(const RankTable& like, std::size_t n_columns);
    // The columns of `plain`, then those of each copy of it with its rows permuted: row i of copy j
    // is row rows[j S + i]. Only ranks are stored; `value` finds the values.
    RankTable(const RankTable& plain, std::vector<std::uint32_t> rows, std::size_t n_threads,
              const Poll& poll);
    RankTable(const RankTable&) = delete;
    RankTable& operator=(const RankTable&) = delete;

    // Reads every column and throws InputError unless each is an order of the samples, agrees with
    // its flags and missing values, and all of them have the fingerprint.
    void verify(const Poll& poll) const;

    std::size_t n_samples() const { return matrix_.n_samples; }
    std::size_t n_features() const { return matrix_.n_features; }
    // The columns that vary, ascending; the list is null where all do.
    std::size_t n_varying() const { return n_varying_; }
    const std::uint32_t* varying() const { return varying_.empty() ? nullptr : varying_.data(); }
    bool varies(std::size_t feature) const;
    // The value of X, also in a copy of its columns.
    double value(std::uint32_t sample, std::size_t column) const {
        if (column < values_.n_features) return values_.at(sample, column);
        const std::size_t copy = column / values_.n_features - 1;
        return values_.at(rows_[copy * n_samples() + sample], column % values_.n_features);
    }
    const Matrix& matrix() const { return values_; }
    bool by_order() const { return n_samples() <= RankLayout::kWalkSamples; }

    std::size_t n_words() const { return layout_.n_words; }
    // Stores a column: the samples in ascending order, equal ones in their own order.
    void set(std::size_t feature, const std::uint32_t* order, const std::uint64_t* differs,
             std::uint32_t n_known);
    // Puts equal values in the order of their samples, as they lie in every table.
    static void sort_equal_values(std::vector<std::uint32_t>& order, const std::uint64_t* differs);
    // The samples in ascending order.
    void read_order(std::size_t feature, std::uint32_t* order) const;
    const std::uint64_t* differs(std::size_t feature) const {
        return differs_ + feature * n_words();
    }
    // Positions that hold a value; missing ones follow.
    std::uint32_t n_known(std::size_t feature) const { return n_known_[feature]; }
    bool has_missing() const { return has_missing_.load(std::memory_order_relaxed); }
    // Per feature: whether it has equal values, missing values.
    static constexpr std::uint8_t kTied = 1, kMissing = 2;
    const std::uint8_t* flags() const { return flags_.data(); }
    // Whether values that differ may have equal ranks in a column, those of a bin.
    bool may_join_values(std::size_t feature) const {
        return may_have_bins_ && (flags_[feature] & kTied);
    }
    const std::uint32_t* known() const { return n_known_.data(); }

    // by_order(): low bytes of the samples in sorted order, then the planes of their high bits.
    const std::uint8_t* order(std::size_t feature) const { return block_ + feature * stride(); }
    // The sample at a position of such a column.
    std::uint32_t sample_at(std::size_t feature, std::uint32_t p) const {
        const std::uint8_t* low = order(feature);
        const auto* high = reinterpret_cast<const std::uint64_t*>(low + 64 * n_words());
        std::uint32_t s = low[p];
        for (std::size_t h = 0; h < layout_.high_planes; ++h, high += n_words())
            s |= static_cast<std::uint32_t>(high[p / 64] >> p % 64 & 1) << (8 + h);
        return s;
    }
    std::size_t stride() const { return layout_.stride; }
    // !by_order(): the rank of every sample, in `rank_bytes()` bytes each; use(ranks) has their type.
    int rank_bytes() const { return layout_.rank_bytes; }
    template <class Use>
    void with_ranks(std::size_t feature, const Use& use) const {
        if (rank_bytes() == 2)
            use(reinterpret_cast<const std::uint16_t*>(order(feature)));
        else
            use(reinterpret_cast<const std::uint32_t*>(order(feature)));
    }

    // Where no column of a table of more than 512 samples has more than kCodes distinct values: their
    // numbers, in one byte for each sample, `code_stride()` bytes for each feature; made when first
    // wanted. Null for other tables.
    static constexpr std::size_t kCodes = 256;
    const std::uint8_t* codes() const;
    std::size_t code_stride() const { return (n_samples() + 63) / 64 * 64; }
    // Of such a table: how many codes a feature has.
    std::uint32_t n_codes(std::size_t feature) const { return n_codes_[feature]; }

    // The steps of rank of a table by ranks; null for others.
    RankSteps* steps() const;

    // Whether the table lies in files, of which no copies are kept in memory.
    bool in_files() const { return most_resident_ > 0; }
    // Announces that about so many bytes are going to be read; releases mapped files where much of
    // them lies in memory. They are read again when needed.
    void touch(std::size_t bytes) const {
        if (most_resident_ && (touched_ += bytes) > kTouchedAtOnce) release();
    }
    std::uint64_t fingerprint() const { return fingerprint_; }
    std::size_t bytes() const;
    // The first feature that holds an infinite value, or -1.
    std::int64_t infinite_feature() const { return infinite_feature_; }

private:
    static constexpr std::size_t kTouchedAtOnce = std::size_t{1} << 26;
    struct Worker;
    void release() const;
    void allocate();
    void rank_columns(std::size_t begin, std::size_t end, Worker& worker, Tasks& tasks);
    template <class Value, class Sort>
    void rank_block(std::size_t begin, std::size_t end, Worker& worker, Tasks& tasks,
                    std::vector<Value>& block, Sort& sorter);
    // Joins values of a sorted column to bins.
    void bin_values(std::uint64_t* differs, std::size_t n_known, Worker& worker) const;
    void store(std::size_t feature, const std::uint32_t* order);
    std::size_t n_levels(std::size_t feature) const;
    void make_codes() const;
    void list_varying();
    std::uint8_t flags_of(std::size_t feature) const;
    // Calls use(i, the sample at position i, or the rank of sample i; see by_order).
    template <class Use>
    void each_stored(std::size_t feature, const Use& use) const;
    std::uint64_t hash_of(std::size_t feature) const;

    Matrix matrix_, values_;  // shape of the table; values of its columns, without those of copies
    std::vector<std::uint32_t> rows_;
    RankLayout layout_;
    std::size_t first_feature_ = 0;
    std::uint32_t bins_ = 0;
    bool may_have_bins_ = false;  // those of a table that lies elsewhere are not known
    mutable std::once_flag codes_made_, steps_made_;
    mutable std::unique_ptr<std::uint8_t[]> codes_;
    mutable std::vector<std::uint16_t> n_codes_;
    mutable std::unique_ptr<RankSteps> steps_;
    std::size_t most_resident_ = 0, value_bytes_ = 0;
    mutable std::atomic<std::size_t> touched_{0};
    MappedBytes own_block_;  // null: the arrays belong to others
    std::unique_ptr<std::uint64_t[]> own_differs_;
    std::uint8_t* block_ = nullptr;
    const std::uint64_t* differs_ = nullptr;
    std::vector<std::uint32_t> n_known_;
    std::vector<std::uint8_t> flags_;
    std::size_t n_varying_ = 0;
    std::vector<std::uint32_t> varying_;
    std::atomic<bool> has_missing_{false};  // columns are set on several threads
    std::uint64_t fingerprint_ = 0;
    std::int64_t infinite_feature_ = -1;
};

}  // namespace nullforest
