#include "table/rank_table.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#include "table/column_sort.hpp"
#include "table/huge_pages.hpp"
#include "tree/keyed_random.hpp"

namespace nullforest {

static constexpr std::size_t kColumnsAtOnce = 64;  // a few cache lines per row read

struct RankTable::Worker {
    std::vector<float> float_block;  // a block of columns, each contiguous
    std::vector<double> double_block;
    ColumnSort<float, FloatEntry> floats;
    ColumnSort<double, DoubleEntry> doubles;
    std::vector<std::uint32_t> order;
    std::uint64_t fingerprint = 0;
    std::int64_t infinite_feature = -1;
    bool has_missing = false;
    const std::atomic<bool>* cancel = nullptr;
    const std::function<void()>* poll = nullptr;  // of the calling thread's worker alone
    std::chrono::steady_clock::time_point next_poll{};

    void breathe() {
        if (!poll || std::chrono::steady_clock::now() < next_poll) return;
        (*poll)();
        next_poll = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    }
};

void RankTable::lay_out() {
    const std::size_t S = n_samples();
    n_words_ = (S + 63) / 64;
    if (by_order())
        stride_ = 64 * n_words_ + (S > 256 ? 8 * n_words_ : 0);
    else {
        rank_bytes_ = S <= 65536 ? 2 : 4;
        stride_ = (S * rank_bytes_ + 63) / 64 * 64;
    }
}

void RankTable::allocate() {
    const std::size_t F = n_features();
    lay_out();
    mapped_bytes_ = stride_ * F + 64;  // room to read a whole vector past the last feature
    void* memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    block_ = static_cast<std::uint8_t*>(memory);
    ask_for_huge_pages(memory, mapped_bytes_);  // candidates lie anywhere in the table
    differs_.reset(new std::uint64_t[F * n_words_]);
    differs_view_ = differs_.get();
    n_known_.assign(F, 0);
    flags_.assign(F, 0);
}

RankTable::RankTable(const RankTable& like, std::size_t n_columns) : matrix_{} {
    matrix_.n_samples = like.n_samples();
    matrix_.n_features = n_columns;
    allocate();
}

void RankTable::set(std::size_t feature, const std::uint32_t* order, const std::uint64_t* differs,
                    std::uint32_t n_known) {
    std::copy(differs, differs + n_words_, differs_.get() + feature * n_words_);
    n_known_[feature] = n_known;
    if (n_known < n_samples()) has_missing_ = true;
    store(feature, order);
}

void RankTable::read_order(std::size_t feature, std::uint32_t* out) const {
    const std::uint32_t S = static_cast<std::uint32_t>(n_samples());
    if (by_order()) {
        for (std::uint32_t p = 0; p < S; ++p) {
            out[p] = order(feature)[p];
            if (S > 256)
                out[p] |= static_cast<std::uint32_t>(ninth_bits(feature)[p / 64] >> p % 64 & 1) << 8;
        }
    } else {
        for (std::uint32_t s = 0; s < S; ++s)
            out[rank_bytes_ == 2 ? ranks16(feature)[s] : ranks32(feature)[s]] = s;
    }
}

RankTable::RankTable(const Matrix& matrix, const RankArrays& arrays)
    : matrix_(matrix),
      most_resident_(arrays.most_resident),
      value_bytes_(arrays.value_bytes),
      block_(const_cast<std::uint8_t*>(arrays.block)),  // never written: `set` is not called
      differs_view_(arrays.differs),
      n_known_(arrays.n_known, arrays.n_known + matrix.n_features),
      flags_(arrays.flags, arrays.flags + matrix.n_features),
      fingerprint_(arrays.fingerprint) {
    lay_out();
    for (const std::uint8_t flag : flags_) has_missing_ = has_missing_ || (flag & kMissing);
}

RankTable::RankTable(const Matrix& matrix, int n_threads, const std::function<void()>& poll,
                     std::size_t first_feature)
    : matrix_(matrix), first_feature_(first_feature) {
    const std::size_t F = n_features();
    allocate();
    std::atomic<std::size_t> next{0};
    std::mutex merge;
    std::exception_ptr failure;
    std::atomic<bool> cancel{false};
    const auto work = [&](bool calling_thread) {
        try {
            Worker worker;
            worker.cancel = &cancel;
            if (calling_thread) worker.poll = &poll;
            while (!cancel) {
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
            cancel = true;
        }
    };
    std::vector<std::thread> threads;
    const std::size_t n_blocks = (F + kColumnsAtOnce - 1) / kColumnsAtOnce;
    for (std::size_t t = 1; t < std::min<std::size_t>(n_threads, n_blocks); ++t)
        threads.emplace_back(work, false);
    work(true);
    for (auto& thread : threads) thread.join();
    if (failure) {
        munmap(block_, mapped_bytes_);
        std::rethrow_exception(failure);
    }
}

// Bytes of files that lie in this process's memory; 0 where the system does not say.
static std::size_t file_bytes_resident() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file) return 0;
    unsigned long all = 0, resident = 0, of_files = 0;
    const int read = std::fscanf(file, "%lu %lu %lu", &all, &resident, &of_files);
    std::fclose(file);
    return read == 3 ? of_files * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void RankTable::let_go() const {
    touched_ = 0;
    if (file_bytes_resident() < most_resident_) return;
    madvise(block_, stride_ * n_features(), MADV_DONTNEED);
    if (value_bytes_)
        madvise(const_cast<char*>(matrix_.data), value_bytes_, MADV_DONTNEED);
}

RankTable::~RankTable() {
    if (mapped_bytes_) munmap(block_, mapped_bytes_);
}

std::size_t RankTable::bytes() const {
    return stride_ * n_features() + 64 + n_features() * (8 * n_words_ + sizeof(std::uint32_t) + 1);
}

void RankTable::rank_columns(std::size_t begin, std::size_t end, Worker& worker) {
    if (matrix_.is_double)
        rank_block(begin, end, worker, worker.double_block, worker.doubles);
    else
        rank_block(begin, end, worker, worker.float_block, worker.floats);
}

template <class Value, class Sort>
void RankTable::rank_block(std::size_t begin, std::size_t end, Worker& worker,
                           std::vector<Value>& block, Sort& sorter) {
    const std::size_t S = n_samples(), n = end - begin;
    const bool contiguous = matrix_.row_stride == static_cast<std::ptrdiff_t>(sizeof(Value));
    if (!contiguous) {
        // Read along the rows, where data usually lie: every cache line is fetched once.
        block.resize(S * n);
        for (std::size_t s = 0; s < S; ++s) {
            const char* row = matrix_.data + static_cast<std::ptrdiff_t>(s) * matrix_.row_stride +
                              static_cast<std::ptrdiff_t>(begin) * matrix_.column_stride;
            for (std::size_t c = 0; c < n; ++c)
                block[c * S + s] = *reinterpret_cast<const Value*>(
                    row + static_cast<std::ptrdiff_t>(c) * matrix_.column_stride);
        }
    }
    worker.order.resize(S);
    for (std::size_t f = begin; f < end && !*worker.cancel; ++f) {
        sorter.sort(contiguous
                        ? reinterpret_cast<const Value*>(
                              matrix_.data + static_cast<std::ptrdiff_t>(f) * matrix_.column_stride)
                        : block.data() + (f - begin) * S,
                    S);
        const auto* entries = sorter.entries.data();
        std::uint64_t* differs = differs_.get() + f * n_words_;
        for (std::size_t w = 0; w < n_words_; ++w) {
            std::uint64_t word = 0;
            const std::size_t last = std::min<std::size_t>(S - 1, 64 * w + 64);
            for (std::size_t p = 64 * w; p < last; ++p)
                word |= std::uint64_t{entries[p].key() != entries[p + 1].key()} << p % 64;
            differs[w] = word;
        }
        for (std::size_t p = 0; p < S; ++p) worker.order[p] = entries[p].sample();
        std::size_t known = S;
        if (sorter.has_missing) {
            const auto missing = entries[S - 1].key();
            while (known > 0 && entries[known - 1].key() == missing) --known;
            worker.has_missing = true;
        }
        n_known_[f] = static_cast<std::uint32_t>(known);
        if (sorter.has_infinite && (worker.infinite_feature < 0 ||
                                    static_cast<std::int64_t>(f) < worker.infinite_feature))
            worker.infinite_feature = static_cast<std::int64_t>(f);
        store(f, worker.order.data());
        worker.fingerprint += hash_of(f);
        worker.breathe();
    }
}

void RankTable::store(std::size_t feature, const std::uint32_t* order) {
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
}

// The hash covers what a tree can see: order and ties. Columns add, so threads commute.
std::uint64_t RankTable::hash_of(std::size_t feature) const {
    const std::uint8_t* out = order(feature);
    std::uint64_t hash = first_feature_ + feature + 1;
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
    return mix(hash);
}

}  // namespace nullforest
