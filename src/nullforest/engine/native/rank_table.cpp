#include "rank_table.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "keyed_random.hpp"

namespace nullforest {

namespace {

constexpr std::size_t kColumnsAtOnce = 64;  // a cache line of float32 per row read

// Floats as integers that sort alike; both zeros are one value, NaN comes last.
std::uint32_t sortable(float value) {
    if (value != value) return 0xffffffffu;
    value += 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
std::uint64_t sortable(double value) {
    if (value != value) return ~std::uint64_t{0};
    value += 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (std::uint64_t{1} << 63);
}

template <class Key>
struct Entry {
    Key key;
    std::uint32_t sample;
    bool operator<(const Entry& other) const {
        return key < other.key || (key == other.key && sample < other.sample);
    }
};

template <class Key>
bool is_infinite(Key key) {
    constexpr Key kPositive = sizeof(Key) == 4 ? Key(0xff800000u) : Key(0xfff0000000000000ull);
    return key == kPositive || key == static_cast<Key>(~kPositive);
}

}  // namespace

struct RankTable::Worker {
    std::vector<char> columns;  // a block of columns, each contiguous
    std::vector<Entry<std::uint32_t>> floats;
    std::vector<Entry<std::uint64_t>> doubles;
    std::vector<std::uint32_t> order;
    std::uint64_t fingerprint = 0;
    std::int64_t infinite_feature = -1;
    bool has_missing = false;

    template <class Value, class Key>
    void sort_column(const RankTable& table, const Value* column, std::size_t feature,
                     std::vector<Entry<Key>>& entries, std::uint64_t* differs,
                     std::uint32_t* n_known) {
        const std::size_t S = table.n_samples();
        entries.resize(S);
        for (std::size_t s = 0; s < S; ++s)
            entries[s] = {sortable(column[s]), static_cast<std::uint32_t>(s)};
        std::sort(entries.begin(), entries.end());
        const Key missing = static_cast<Key>(~Key{0});
        std::size_t known = S;
        while (known > 0 && entries[known - 1].key == missing) --known;
        *n_known = static_cast<std::uint32_t>(known);
        if (known < S) has_missing = true;
        if (known > 0 && (is_infinite(entries[0].key) || is_infinite(entries[known - 1].key)) &&
            (infinite_feature < 0 || static_cast<std::int64_t>(feature) < infinite_feature))
            infinite_feature = static_cast<std::int64_t>(feature);
        order.resize(S);
        for (std::size_t w = 0; w < table.n_words(); ++w) differs[w] = 0;
        for (std::size_t p = 0; p < S; ++p) {
            order[p] = entries[p].sample;
            if (p + 1 < S && entries[p].key != entries[p + 1].key)
                differs[p / 64] |= std::uint64_t{1} << (p % 64);
        }
    }
};

RankTable::RankTable(const Matrix& matrix, int n_threads) : matrix_(matrix) {
    const std::size_t S = n_samples(), F = n_features();
    n_words_ = (S + 63) / 64;
    if (by_order())
        stride_ = 64 * n_words_ + (S > 256 ? 8 * n_words_ : 0);
    else {
        rank_bytes_ = S <= 65536 ? 2 : 4;
        stride_ = (S * rank_bytes_ + 63) / 64 * 64;
    }
    mapped_bytes_ = stride_ * F + 64;  // room to read a whole vector past the last feature
    void* memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    block_ = static_cast<std::uint8_t*>(memory);
#ifdef MADV_HUGEPAGE
    madvise(memory, mapped_bytes_, MADV_HUGEPAGE);  // candidates lie anywhere in the table
#endif
    differs_.reset(new std::uint64_t[F * n_words_]);
    n_known_.assign(F, 0);
    flags_.assign(F, 0);

    std::atomic<std::size_t> next{0};
    std::mutex merge;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            Worker worker;
            for (;;) {
                const std::size_t begin = next.fetch_add(kColumnsAtOnce);
                if (begin >= F) break;
                rank_columns(begin, std::min(begin + kColumnsAtOnce, F), worker);
            }
            std::lock_guard<std::mutex> lock(merge);
            fingerprint_ += worker.fingerprint;
            has_missing_ = has_missing_ || worker.has_missing;
            if (worker.infinite_feature >= 0 &&
                (infinite_feature_ < 0 || worker.infinite_feature < infinite_feature_))
                infinite_feature_ = worker.infinite_feature;
        } catch (...) {
            std::lock_guard<std::mutex> lock(merge);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    const std::size_t n_blocks = (F + kColumnsAtOnce - 1) / kColumnsAtOnce;
    for (std::size_t t = 1; t < std::min<std::size_t>(n_threads, n_blocks); ++t)
        threads.emplace_back(work);
    work();
    for (auto& thread : threads) thread.join();
    if (failure) {
        munmap(block_, mapped_bytes_);
        std::rethrow_exception(failure);
    }
}

RankTable::~RankTable() { munmap(block_, mapped_bytes_); }

std::size_t RankTable::bytes() const {
    return mapped_bytes_ + n_features() * (8 * n_words_ + sizeof(std::uint32_t) + 1);
}

void RankTable::rank_columns(std::size_t begin, std::size_t end, Worker& worker) {
    const std::size_t S = n_samples(), size = matrix_.is_double ? 8 : 4;
    worker.columns.resize(S * size * (end - begin));
    // Read along the rows where those are contiguous: every cache line is fetched once.
    for (std::size_t s = 0; s < S; ++s) {
        const char* row = matrix_.data + static_cast<std::ptrdiff_t>(s) * matrix_.row_stride;
        char* out = worker.columns.data() + s * size;
        for (std::size_t f = begin; f < end; ++f, out += S * size)
            std::memcpy(out, row + static_cast<std::ptrdiff_t>(f) * matrix_.column_stride, size);
    }
    for (std::size_t f = begin; f < end; ++f) {
        const char* column = worker.columns.data() + (f - begin) * S * size;
        std::uint64_t* differs = differs_.get() + f * n_words_;
        if (matrix_.is_double)
            worker.sort_column(*this, reinterpret_cast<const double*>(column), f, worker.doubles,
                               differs, &n_known_[f]);
        else
            worker.sort_column(*this, reinterpret_cast<const float*>(column), f, worker.floats,
                               differs, &n_known_[f]);
        store(f, worker.order.data(), worker);
    }
}

void RankTable::store(std::size_t feature, const std::uint32_t* order, Worker& worker) {
    const std::size_t S = n_samples();
    std::uint8_t* out = block_ + feature * stride_;
    if (by_order()) {
        for (std::size_t p = 0; p < S; ++p) out[p] = static_cast<std::uint8_t>(order[p]);
        if (S > 256) {
            auto* ninth = reinterpret_cast<std::uint64_t*>(out + 64 * n_words_);
            for (std::size_t p = 0; p < S; ++p)
                ninth[p / 64] |= static_cast<std::uint64_t>(order[p] >> 8) << (p % 64);
        }
    } else if (rank_bytes_ == 2) {
        auto* ranks = reinterpret_cast<std::uint16_t*>(out);
        for (std::size_t p = 0; p < S; ++p) ranks[order[p]] = static_cast<std::uint16_t>(p);
    } else {
        auto* ranks = reinterpret_cast<std::uint32_t*>(out);
        for (std::size_t p = 0; p < S; ++p) ranks[order[p]] = static_cast<std::uint32_t>(p);
    }
    std::size_t n_different = 0;
    for (std::size_t w = 0; w < n_words_; ++w)
        n_different += __builtin_popcountll(differs_[feature * n_words_ + w]);
    flags_[feature] = (n_different + 1 < S ? kTied : 0) | (n_known_[feature] < S ? kMissing : 0);
    // The hash covers what a tree can see: order and ties. Columns add, so threads commute.
    std::uint64_t hash = feature + 1;
    for (std::size_t i = 0; i < stride_; i += 8) {
        std::uint64_t word;
        std::memcpy(&word, out + i, 8);
        hash = (hash ^ word) * kGolden;
        hash ^= hash >> 32;
    }
    for (std::size_t w = 0; w < n_words_; ++w) {
        hash = (hash ^ differs_[feature * n_words_ + w]) * kGolden;
        hash ^= hash >> 32;
    }
    worker.fingerprint += mix(hash);
}

}  // namespace nullforest
