// In what order does each feature put the samples? Sorted once, asked ever after.
//
// Up to kWalkSamples samples a feature is stored as its *order* (sample at each position: the low
// byte, and above 256 samples a plane of ninth bits); a node walks the order and picks its members
// out. Beyond that it is stored as the *rank* of each sample (two or four bytes); a node collects
// the ranks of its members. Either way one bit per position says whether the value there differs
// from the next one. Missing values (NaN) come last and are equal to each other; equal values keep
// the order of the samples.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace nullforest {

// The data as the caller holds them: any strides, or sparse columns; never copied whole.
struct Matrix {
    const char* data;  // null where nobody needs the values
    std::ptrdiff_t row_stride, column_stride;  // in bytes
    bool is_double;
    std::size_t n_samples, n_features;
    // Sparse columns: the samples of the stored values, ascending, and where each column begins.
    const std::int32_t* stored_sample = nullptr;
    const std::int64_t* column_start = nullptr;

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

// A finished table, wherever its arrays lie: in a file, or in memory that others share.
struct RankArrays {
    const std::uint8_t* block;     // F x stride, and 64 bytes more
    const std::uint64_t* differs;  // F x words
    const std::uint32_t* n_known;  // F
    const std::uint8_t* flags;     // F
    std::uint64_t fingerprint;
    // Where block and values are mapped files: how much of files may lie in this process's memory
    // before they are let go (0: no limit), and how many bytes the values take.
    std::size_t most_resident, value_bytes;
};

class RankTable {
public:
    static constexpr std::size_t kWalkSamples = 512;

    // `poll` is called on the calling thread a few times a second and may throw to stop. Where
    // the columns are part of a larger table, `first_feature` is the number of the first there.
    RankTable(const Matrix& matrix, int n_threads, const std::function<void()>& poll,
              std::size_t first_feature = 0);
    // A table that lies elsewhere; the arrays must outlive it.
    RankTable(const Matrix& matrix, const RankArrays& arrays);
    // Columns to be filled in by `set`, for the samples of `like`.
    RankTable(const RankTable& like, std::size_t n_columns);
    RankTable(const RankTable&) = delete;
    RankTable& operator=(const RankTable&) = delete;
    ~RankTable();

    std::size_t n_samples() const { return matrix_.n_samples; }
    std::size_t n_features() const { return matrix_.n_features; }
    const Matrix& matrix() const { return matrix_; }
    bool by_order() const { return n_samples() <= kWalkSamples; }

    // Words of 64 positions per feature.
    std::size_t n_words() const { return n_words_; }
    // Stores a column: the samples in ascending order, equal ones in their own order.
    void set(std::size_t feature, const std::uint32_t* order, const std::uint64_t* differs,
             std::uint32_t n_known);
    // The samples in ascending order.
    void read_order(std::size_t feature, std::uint32_t* order) const;
    const std::uint64_t* differs(std::size_t feature) const {
        return differs_view_ + feature * n_words_;
    }
    // Positions that hold a value; missing ones follow.
    std::uint32_t n_known(std::size_t feature) const { return n_known_[feature]; }
    bool has_missing() const { return has_missing_; }
    // Per feature: does it have equal values, missing values?
    static constexpr std::uint8_t kTied = 1, kMissing = 2;
    const std::uint8_t* flags() const { return flags_.data(); }
    const std::uint32_t* known() const { return n_known_.data(); }

    // by_order(): low bytes of the samples in sorted order, then (above 256) their ninth bits.
    const std::uint8_t* order(std::size_t feature) const { return block_ + feature * stride_; }
    const std::uint64_t* ninth_bits(std::size_t feature) const {
        return reinterpret_cast<const std::uint64_t*>(order(feature) + 64 * n_words_);
    }
    std::size_t stride() const { return stride_; }
    // !by_order(): the rank of every sample, in `rank_bytes()` bytes each.
    int rank_bytes() const { return rank_bytes_; }
    const std::uint16_t* ranks16(std::size_t feature) const {
        return reinterpret_cast<const std::uint16_t*>(order(feature));
    }
    const std::uint32_t* ranks32(std::size_t feature) const {
        return reinterpret_cast<const std::uint32_t*>(order(feature));
    }

    // Says that about so many bytes are going to be read; lets go of mapped files where much of
    // them lies in memory. They are read again when needed.
    void touch(std::size_t bytes) const {
        if (most_resident_ && (touched_ += bytes) > kTouchedAtOnce) let_go();
    }
    std::uint64_t fingerprint() const { return fingerprint_; }
    std::size_t bytes() const;
    // The first feature that holds an infinite value, or -1.
    std::int64_t infinite_feature() const { return infinite_feature_; }

private:
    static constexpr std::size_t kTouchedAtOnce = std::size_t{1} << 26;
    struct Worker;
    void let_go() const;
    void lay_out();
    void allocate();
    void rank_columns(std::size_t begin, std::size_t end, Worker& worker);
    template <class Value, class Sort>
    void rank_block(std::size_t begin, std::size_t end, Worker& worker, std::vector<Value>& block,
                    Sort& sorter);
    void store(std::size_t feature, const std::uint32_t* order);
    std::uint64_t hash_of(std::size_t feature) const;

    Matrix matrix_;
    std::size_t n_words_ = 0, stride_ = 0, first_feature_ = 0;
    std::size_t mapped_bytes_ = 0;  // 0: the block belongs to others
    std::size_t most_resident_ = 0, value_bytes_ = 0;
    mutable std::atomic<std::size_t> touched_{0};
    int rank_bytes_ = 1;
    std::uint8_t* block_ = nullptr;
    std::unique_ptr<std::uint64_t[]> differs_;
    const std::uint64_t* differs_view_ = nullptr;  // the same, or memory of others
    std::vector<std::uint32_t> n_known_;
    std::vector<std::uint8_t> flags_;
    bool has_missing_ = false;
    std::uint64_t fingerprint_ = 0;
    std::int64_t infinite_feature_ = -1;
};

}  // namespace nullforest
