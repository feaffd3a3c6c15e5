// Construction, storage and verification of rank tables.
#include "table/rank_table.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "errors.hpp"
#include "random/keyed_random.hpp"
#include "table/column_sort.hpp"

namespace nullforest {

static constexpr std::size_t kColumnsAtOnce = 64, kFewestAtOnce = 16;  // cache lines per row read

struct RankTable::Worker {
    std::vector<float> float_block;  // a block of columns, each contiguous
    std::vector<double> double_block;
    ColumnSort<float, FloatEntry> floats;
    ColumnSort<double, DoubleEntry> doubles;
    std::vector<std::uint32_t> order, bin_start;
    std::vector<std::uint8_t> bin;
    std::uint64_t fingerprint = 0;
    std::int64_t infinite_feature = -1;
    bool has_missing = false;
};

void RankTable::allocate() {
    const std::size_t F = n_features();
    own_block_ = map_zeros(stride() * F + RankLayout::kSlack);  // candidates lie anywhere in it
    block_ = own_block_.get();
    own_differs_.reset(new std::uint64_t[F * n_words()]);
    differs_ = own_differs_.get();
    n_known_.assign(F, 0);
    flags_.assign(F, 0);
}

RankTable::RankTable(const RankTable& like, std::size_t n_columns)
    : matrix_{}, values_{}, layout_(like.n_samples()) {
    matrix_.n_samples = like.n_samples();
    matrix_.n_features = n_columns;
    allocate();
}

RankTable::RankTable(const RankTable& plain, std::vector<std::uint32_t> rows,
                     std::size_t n_threads, const Poll& poll)
    : matrix_(plain.matrix_), values_(plain.values_), rows_(std::move(rows)),
      layout_(plain.n_samples()), may_have_bins_(plain.may_have_bins_) {
    const std::size_t S = plain.n_samples(), F = plain.n_features(), k = rows_.size() / S;
    matrix_.n_features = F * (k + 1);
    allocate();
    has_missing_ = plain.has_missing();
    std::mutex merge;
    parallel_for(k + 1, n_threads, poll, [&](Tasks& tasks) {
        std::vector<std::uint32_t> order(S), place(S);
        std::uint64_t fingerprint = 0;
        for (std::size_t j; tasks.next(j);) {
            for (std::uint32_t i = 0; i < S; ++i) place[j ? rows_[(j - 1) * S + i] : i] = i;
            for (std::size_t f = 0; f < F && !tasks.stopped(); ++f) {
                plain.read_order(f, order.data());
                for (std::uint32_t& sample : order) sample = place[sample];
                const std::uint64_t* differs = plain.differs(f);
                if (j && (plain.flags_[f] & kTied)) sort_equal_values(order, differs);
                const std::size_t column = j * F + f;
                set(column, order.data(), differs, plain.n_known_[f]);
                fingerprint += hash_of(column);
            }
        }
        const std::lock_guard<std::mutex> lock(merge);
        fingerprint_ += fingerprint;
    });
    list_varying();
}

void RankTable::sort_equal_values(std::vector<std::uint32_t>& order, const std::uint64_t* differs) {
    for (std::size_t begin = 0, p = 0; p < order.size(); ++p)
        if (p + 1 == order.size() || (differs[p / 64] >> p % 64 & 1)) {
            std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                      order.begin() + static_cast<std::ptrdiff_t>(p + 1));
            begin = p + 1;
        }
}

void RankTable::set(std::size_t feature, const std::uint32_t* order, const std::uint64_t* differs,
                    std::uint32_t n_known) {
    std::copy(differs, differs + n_words(), own_differs_.get() + feature * n_words());
    n_known_[feature] = n_known;
    if (n_known < n_samples()) has_missing_.store(true, std::memory_order_relaxed);
    store(feature, order);
}

template <class Use>
void RankTable::each_stored(std::size_t feature, const Use& use) const {
    const std::uint32_t S = static_cast<std::uint32_t>(n_samples());
    if (by_order())
        for (std::uint32_t i = 0; i < S; ++i) use(i, sample_at(feature, i));
    else
        with_ranks(feature, [&](const auto* rank) {
            for (std::uint32_t i = 0; i < S; ++i) use(i, std::uint32_t{rank[i]});
        });
}

void RankTable::read_order(std::size_t feature, std::uint32_t* out) const {
    if (by_order())
        each_stored(feature, [=](std::uint32_t i, std::uint32_t sample) { out[i] = sample; });
    else
        each_stored(feature, [=](std::uint32_t sample, std::uint32_t rank) { out[rank] = sample; });
}

RankTable::RankTable(const Matrix& matrix, const RankArrays& arrays)
    : matrix_(matrix),
      values_(matrix),
      layout_(matrix.n_samples),
      may_have_bins_(matrix.n_samples > RankLayout::kFewSamples),
      most_resident_(arrays.most_resident),
      value_bytes_(arrays.value_bytes),
      block_(const_cast<std::uint8_t*>(arrays.block)),  // never written: `set` is not called
      differs_(arrays.differs),
      n_known_(arrays.n_known, arrays.n_known + matrix.n_features),
      flags_(arrays.flags, arrays.flags + matrix.n_features),
      fingerprint_(arrays.fingerprint) {
    for (const std::uint8_t flag : flags_) has_missing_ = has_missing_ || (flag & kMissing);
    list_varying();
}

void RankTable::verify(const Poll& poll) const {
    const std::size_t S = n_samples();
    std::vector<std::uint8_t> seen;
    std::uint64_t sum = 0;
    Pulse pulse(poll);
    for (std::size_t f = 0; f < n_features(); ++f, pulse()) {
        const auto damaged = [f](const char* what) {
            return InputError("column " + std::to_string(f) + what);
        };
        seen.assign(S, 0);
        each_stored(f, [&](std::uint32_t, std::uint32_t found) {
            if (found < S) seen[found] = 1;
        });
        if (std::memchr(seen.data(), 0, S)) throw damaged(" is not an order of the samples");
        // Missing values are equal to each other, and differ from the last known one.
        const std::size_t known = n_known_[f];
        for (std::size_t p = known ? known - 1 : 0; p + 1 < S; ++p)
            if ((differs(f)[p / 64] >> p % 64 & 1) != (p + 1 == known))
                throw damaged(" has ties that do not agree with its missing values");
        if (flags_[f] != flags_of(f)) throw damaged(" does not agree with its flags");
        sum += hash_of(f);
    }
    require(sum == fingerprint_, "the columns do not have the fingerprint of the table");
}

RankTable::RankTable(const Matrix& matrix, std::size_t n_threads, const Poll& poll,
                     std::size_t first_feature, std::uint32_t bins)
    : matrix_(matrix),
      values_(matrix),
      layout_(matrix.n_samples),
      first_feature_(first_feature),
      bins_(bins),
      may_have_bins_(bins > 0) {
    const std::size_t F = n_features();
    allocate();
    std::mutex merge;
    const std::size_t at_once =
        std::clamp(F / std::max<std::size_t>(n_threads, 1), kFewestAtOnce, kColumnsAtOnce);
    parallel_for((F + at_once - 1) / at_once, n_threads, poll, [&](Tasks& tasks) {
        Worker worker;
        for (std::size_t block; tasks.next(block);)
            rank_columns(block * at_once, std::min((block + 1) * at_once, F), worker, tasks);
        const std::lock_guard<std::mutex> lock(merge);
        fingerprint_ += worker.fingerprint;
        has_missing_ = has_missing_ || worker.has_missing;
        if (worker.infinite_feature >= 0 &&
            (infinite_feature_ < 0 || worker.infinite_feature < infinite_feature_))
            infinite_feature_ = worker.infinite_feature;
    });
    list_varying();
}

bool RankTable::varies(std::size_t feature) const {
    const std::uint64_t* words = differs(feature);
    return !(flags_[feature] & kTied) ||
           std::any_of(words, words + n_words(), [](std::uint64_t word) { return word != 0; });
}

void RankTable::list_varying() {
    const std::uint32_t F = static_cast<std::uint32_t>(n_features());
    for (std::uint32_t f = 0; f < F; ++f) n_varying_ += varies(f);
    if (n_varying_ == F) return;
    varying_.reserve(n_varying_);
    for (std::uint32_t f = 0; f < F; ++f)
        if (varies(f)) varying_.push_back(f);
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

void RankTable::release() const {
    touched_ = 0;
    if (file_bytes_resident() < most_resident_) return;
    madvise(block_, stride() * n_features(), MADV_DONTNEED);
    if (value_bytes_)
        madvise(const_cast<char*>(matrix_.data), value_bytes_, MADV_DONTNEED);
}

std::size_t RankTable::bytes() const {
    const std::size_t per_feature = stride() + 8 * n_words() + sizeof(std::uint32_t) + 1;
    return per_feature * n_features() + RankLayout::kSlack;
}

void RankTable::rank_columns(std::size_t begin, std::size_t end, Worker& worker, Tasks& tasks) {
    if (matrix_.is_double)
        rank_block(begin, end, worker, tasks, worker.double_block, worker.doubles);
    else
        rank_block(begin, end, worker, tasks, worker.float_block, worker.floats);
}

template <class Value, class Sort>
void RankTable::rank_block(std::size_t begin, std::size_t end, Worker& worker, Tasks& tasks,
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
    for (std::size_t f = begin; f < end && !tasks.stopped(); ++f) {
        sorter.sort(contiguous
                        ? reinterpret_cast<const Value*>(
                              matrix_.data + static_cast<std::ptrdiff_t>(f) * matrix_.column_stride)
                        : block.data() + (f - begin) * S,
                    S);
        const auto* entries = sorter.entries.data();
        std::uint64_t* differs = own_differs_.get() + f * n_words();
        int tied = 0;  // many at once
        for (std::size_t p = 0; p + 1 < S; ++p) tied |= entries[p].key() == entries[p + 1].key();
        for (std::size_t w = 0; w < n_words(); ++w) {
            const std::size_t first = 64 * w, last = std::min<std::size_t>(S - 1, first + 64);
            std::uint64_t word = last > first ? ~std::uint64_t{0} >> (64 - (last - first)) : 0;
            for (std::size_t p = first; tied && p < last; ++p)
                word ^= std::uint64_t{entries[p].key() == entries[p + 1].key()} << p % 64;
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
        if (bins_ && n_levels(f) > bins_) bin_values(differs, known, worker);
        if (sorter.has_infinite && (worker.infinite_feature < 0 ||
                                    static_cast<std::int64_t>(f) < worker.infinite_feature))
            worker.infinite_feature = static_cast<std::int64_t>(f);
        store(f, worker.order.data());
        worker.fingerprint += hash_of(f);
    }
}

void RankTable::store(std::size_t feature, const std::uint32_t* order) {
    const std::size_t S = n_samples();
    std::uint8_t* out = block_ + feature * stride();
    if (by_order()) {
        for (std::size_t p = 0; p < S; ++p) out[p] = static_cast<std::uint8_t>(order[p]);
        auto* high = reinterpret_cast<std::uint64_t*>(out + 64 * n_words());
        for (std::size_t w = 0; layout_.high_planes && w < n_words(); ++w) {
            std::uint64_t ninth = 0, tenth = 0;
            for (std::size_t i = 0; i < 64 && 64 * w + i < S; ++i) {
                ninth |= static_cast<std::uint64_t>(order[64 * w + i] >> 8 & 1) << i;
                tenth |= static_cast<std::uint64_t>(order[64 * w + i] >> 9 & 1) << i;
            }
            high[w] = ninth;
            if (layout_.high_planes > 1) high[n_words() + w] = tenth;
        }
    } else if (rank_bytes() == 2) {
        auto* ranks = reinterpret_cast<std::uint16_t*>(out);
        for (std::size_t p = 0; p < S; ++p) ranks[order[p]] = static_cast<std::uint16_t>(p);
    } else {
        auto* ranks = reinterpret_cast<std::uint32_t*>(out);
        for (std::size_t p = 0; p < S; ++p) ranks[order[p]] = static_cast<std::uint32_t>(p);
    }
    flags_[feature] = flags_of(feature);
}

void RankTable::bin_values(std::uint64_t* differs, std::size_t n_known, Worker& worker) const {
    const std::size_t S = n_samples(), n_bins = bins_ - (n_known < S);
    std::size_t bin = 0, n_smaller = 0;  // of the value at position p
    worker.bin.resize(S);
    worker.bin_start.assign(n_bins + 1, 0);
    for (std::size_t p = 0; p < n_known; ++p) {
        worker.bin[worker.order[p]] = static_cast<std::uint8_t>(bin);
        ++worker.bin_start[bin + 1];
        if (!(differs[p / 64] >> p % 64 & 1) || p + 1 == n_known) continue;
        n_smaller = p + 1;
        const std::size_t next = n_smaller * n_bins / n_known;
        if (next == bin) differs[p / 64] &= ~(std::uint64_t{1} << p % 64);
        bin = next;
    }
    // Equal values lie in the order of their samples; the missing ones do already.
    for (std::size_t b = 0; b < n_bins; ++b) worker.bin_start[b + 1] += worker.bin_start[b];
    std::vector<std::uint32_t> missing(worker.order.begin() + n_known, worker.order.end());
    std::vector<std::uint8_t> known(S, 1);
    for (const std::uint32_t sample : missing) known[sample] = 0;
    for (std::uint32_t s = 0; s < S; ++s)
        if (known[s]) worker.order[worker.bin_start[worker.bin[s]]++] = s;
}

std::size_t RankTable::n_levels(std::size_t feature) const {
    std::size_t n_different = 0;
    for (std::size_t w = 0; w < n_words(); ++w)
        n_different += __builtin_popcountll(differs(feature)[w]);
    return n_different + 1;
}

const std::uint8_t* RankTable::codes() const {
    std::call_once(codes_made_, [this] { make_codes(); });
    return codes_.get();
}

void RankTable::make_codes() const {
    if (n_samples() <= RankLayout::kFewSamples || most_resident_) return;
    for (std::size_t f = 0; f < n_features(); ++f)
        if (n_levels(f) > kCodes) return;
    n_codes_.resize(n_features());
    codes_.reset(new std::uint8_t[n_features() * code_stride()]());
    std::vector<std::uint8_t> level(n_samples());
    for (std::size_t f = 0; f < n_features(); ++f) {
        std::uint8_t code = 0;
        for (std::size_t p = 0; p < n_samples(); ++p) {
            level[p] = code;
            code = static_cast<std::uint8_t>(code + (differs(f)[p / 64] >> p % 64 & 1));
        }
        n_codes_[f] = static_cast<std::uint16_t>(n_levels(f));
        std::uint8_t* out = codes_.get() + f * code_stride();
        const bool order = by_order();
        each_stored(f, [&](std::uint32_t i, std::uint32_t stored) {
            order ? out[stored] = level[i] : out[i] = level[stored];
        });
    }
}

RankSteps* RankTable::steps() const {
    if (by_order()) return nullptr;
    std::call_once(steps_made_, [this] { steps_ = std::make_unique<RankSteps>(*this); });
    return steps_.get();
}

std::uint8_t RankTable::flags_of(std::size_t feature) const {
    return (n_levels(feature) < n_samples() ? kTied : 0) |
           (n_known_[feature] < n_samples() ? kMissing : 0);
}

// Covers what a tree can see: order and ties. Hashes of columns add, in any order of the threads.
//
// Columns of more than 512 samples count as they are stored by rank, also where they are stored by
// order, so that tallies of earlier versions, which did the first, still fit.
std::uint64_t RankTable::hash_of(std::size_t feature) const {
    std::uint64_t hash = first_feature_ + feature + 1;
    const auto add = [&](const auto* stored, std::size_t bytes) {
        const auto* out = reinterpret_cast<const std::uint8_t*>(stored);
        for (std::size_t i = 0; i < bytes; i += 8) {
            std::uint64_t word;
            std::memcpy(&word, out + i, 8);
            hash = (hash ^ word) * kGolden;
            hash ^= hash >> 32;
        }
    };
    if (by_order() && n_samples() > RankLayout::kFewSamples) {
        std::uint16_t rank[RankLayout::kWalkSamples] = {};
        each_stored(feature, [&](std::uint32_t i, std::uint32_t sample) {
            if (sample < RankLayout::kWalkSamples) rank[sample] = static_cast<std::uint16_t>(i);
        });
        add(rank, (2 * n_samples() + 63) / 64 * 64);
    } else {
        add(order(feature), stride());
    }
    for (std::size_t w = 0; w < n_words(); ++w) {
        hash = (hash ^ differs(feature)[w]) * kGolden;
        hash ^= hash >> 32;
    }
    return mix(hash);
}

}  // namespace nullforest
