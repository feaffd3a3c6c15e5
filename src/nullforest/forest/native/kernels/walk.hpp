// The walk, written once; `Simd` brings the steps that differ between instruction sets:
//   Simd(task)                        tables of the node
//   gather(order, high, w, M, L)      members and ones among positions 64 w .. 64 w + 63 of a column
//                                     with these high bits
//   outside(bits, base, lo, hi, l)    which of 64 running counts leave [lo, hi]; writes the counts
//                                     where any does
//   Scores                            of splits in floats (avx512/scores.hpp), where there are any
#pragma once
#include <cmath>

#include "kernels/bit_selection.hpp"
#include "kernels/binary_task.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// What has no faster version in a policy.
class PlainSimd {
public:
    struct Scores {
        static constexpr bool kExist = false;
    };

    explicit PlainSimd(const KernelTask& task)
        : n_words_(task.n_words), n_high_(task.high_planes()) {}
    template <class Id>
    Id* list(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
             std::uint64_t positions, Id* out) const {
        for (; positions; positions &= positions - 1) {
            const std::uint32_t i = lowest_one(positions);
            std::uint32_t sample = order[64 * w + i];
            for (std::uint32_t h = 0; h < n_high_; ++h)
                sample |= static_cast<std::uint32_t>(high[h * n_words_ + w] >> i & 1) << (8 + h);
            *out++ = static_cast<Id>(sample);
        }
        return out;
    }

protected:
    std::uint32_t n_words_, n_high_;
};

template <class Simd, class Count>
class Walk {
public:
    explicit Walk(WalkTask& task) : task_(task), simd_(task), last_mask_(last_word(task)) {}

    void run() {
        Candidates candidates(task_.pool, task_.draw_key, task_.n_first());
        if constexpr (Simd::Scores::kExist && sizeof(Count) == 1)
            if (task_.n >= kFewestTogether) {
                std::uint32_t feature[Candidates::kBatch];
                const std::uint32_t count = candidates.next_batch(feature);
                if (try_together(feature, count)) return;
                return try_rest(candidates);
            }
        open_envelope();
        try_rest(candidates);
    }

    // Columns compared with a best that is known.
    void screen() {
        open_envelope();
        close_envelope();  // splits as good as the best are outside
        screen_columns(task_, [this](std::uint32_t column, bool or_equal) {
            const auto reaches = [&](std::uint32_t k, std::uint32_t l) {
                return task_.beats(k, l) || (or_equal && task_.equals(k, l));
            };
            return search(column, reaches, [](std::uint32_t, std::uint32_t) { return true; });
        });
    }

private:
    static constexpr std::uint32_t kMost = sizeof(Count) == 1 ? 256 : WalkTask::kMostByOrder;
    // For any table, even a damaged one.
    static constexpr std::uint32_t kWords = WalkTask::kMostByOrder / 64 + 2;

    // The first candidates compete for the best: nearly each is better than those before. So all are
    // scored in floats, and exactly only what comes near the highest of them. True when the search is
    // over.
    [[gnu::noinline]] bool try_together(const std::uint32_t* feature, std::uint32_t count) {
        using Scores = typename Simd::Scores;
        bool missing = false;
        for (std::uint32_t c = 0; c < count; ++c)
            missing = missing || (task_.flags[feature[c]] & 2);
        if (missing) return try_each(feature, count);
        Scores scores;
        scores.enter(task_);
        typename Scores::Best best[Candidates::kBatch], all = Scores::none();
        std::uint64_t labels[Candidates::kBatch][kMost / 64];
        for (std::uint32_t c = 0; c < count; ++c) {
            gather(feature[c], labels[c]);
            best[c] = Scores::none();
            for (std::uint32_t k0 = 0, base = 0; k0 < task_.n; k0 += 64) {
                best[c] = scores.best(labels[c][k0 / 64], base, k0, best[c]);
                base += count_ones(labels[c][k0 / 64]);
            }
            all = Scores::better(all, best[c]);
        }
        const float level = Scores::highest(all) * Scores::kSure;
        for (float least = level;; least = level * Scores::kSure) {
            std::uint32_t tied_k = 0, tied_l = 0;  // the highest division between equal values
            for (std::uint32_t c = 0; c < count; ++c) {
                if (!Scores::reaches(best[c], least)) continue;
                members_column_ = kNone;
                for (std::uint32_t k0 = 0, base = 0; k0 < task_.n; k0 += 64) {
                    const std::uint64_t bits = labels[c][k0 / 64];
                    for (std::uint64_t near = scores.reaching(bits, base, k0, least); near;
                         near &= near - 1) {
                        const std::uint32_t i = lowest_one(near), k = k0 + i + 1;
                        const std::uint32_t l = base + count_ones(bits << (63 - i));
                        if (k < task_.min_leaf || k + task_.min_leaf > task_.n || !task_.beats(k, l))
                            continue;
                        if ((task_.flags[feature[c]] & 1) && !differ_after(feature[c], k)) {
                            if (!tied_k || task_.scores_higher(k, l, tied_k, tied_l)) {
                                tied_k = k;
                                tied_l = l;
                            }
                            continue;
                        }
                        task_.take(feature[c], k, l);
                        task_.place = c;
                    }
                    base += count_ones(bits);
                }
                if (task_.perfect()) return true;
            }
            // Where no split scores as high as that division, the best ones may round to less than
            // the level, and are looked for once more.
            if (!task_.found || !tied_k || least < level || !task_.beats(tied_k, tied_l)) break;
            task_.found = false;
        }
        if (task_.found && count == task_.pool.count) return false;
        if (!task_.found) return try_each(feature, count);  // the highest lie between equal values
        open_envelope();
        close_envelope();
        return false;
    }
    bool try_each(const std::uint32_t* feature, std::uint32_t count) {
        open_envelope();
        for (std::uint32_t c = 0; c < count; ++c)
            if (try_feature(feature[c], c)) return true;
        return false;
    }

    void try_rest(Candidates& candidates) {
        candidates.each([this](std::uint32_t feature, std::uint32_t place) {
            return try_feature(feature, place);
        });
    }
    // True when the search is over.
    bool try_feature(std::uint32_t feature, std::uint32_t place) {
        bool better = false;
        if (task_.flags[feature] & 2) {
            const bool had = task_.found;
            const std::uint64_t num = task_.best_num, den = task_.best_den;
            task_.try_slowly(task_.owner, feature);
            better = task_.found && !(had && num == task_.best_num && den == task_.best_den);
        } else {
            const auto beats = [&](std::uint32_t k, std::uint32_t l) { return task_.beats(k, l); };
            search(feature, beats, [&](std::uint32_t k, std::uint32_t l) {
                task_.take(feature, k, l);
                better = true;
                return false;
            });
        }
        if (!better) return false;
        task_.place = place;
        if (task_.perfect()) return true;
        close_envelope();
        return false;
    }

    // Scores the positions outside the envelope exactly: calls use(k, l) for the splits that are
    // `better` than the best, until it returns true. Most columns have no such position.
    template <class Better, class Use>
    bool search(std::uint32_t column, const Better& better, const Use& use) {
        members_column_ = kNone;
        const auto search_word = [&](std::uint32_t k0, std::uint64_t bits, std::uint32_t base)
                                     __attribute__((always_inline)) {
            Count running[64];
            std::uint64_t out = simd_.outside(bits, base, lo_ + k0, hi_ + k0, running);
            for (; __builtin_expect(out != 0, 0); out &= out - 1) {
                const std::uint32_t i = lowest_one(out), k = k0 + i + 1, l = running[i];
                if (!better(k, l) || ((task_.flags[column] & 1) && !differ_after(column, k)))
                    continue;
                if (use(k, l)) return true;
            }
            return false;
        };
        if (task_.n <= 64) return search_word(0, gather_few(column), 0);
        std::uint64_t bits[kWords] = {};
        gather_labels(column, bits);
        std::uint32_t base = 0;
        for (std::uint32_t k0 = 0; k0 < task_.n; k0 += 64) {
            if (search_word(k0, bits[k0 / 64], base)) return true;
            base += count_ones(bits[k0 / 64]);
        }
        return false;
    }

    // Whether the values of the members k and k + 1, counted from 1, differ.
    bool differ_after(std::uint32_t column, std::uint32_t k) {
        if (members_column_ != column) {
            std::uint64_t ones;
            for (std::uint32_t w = 0; w < task_.n_words; ++w)
                simd_.gather(task_.column(column), task_.high_bits(column), w, members_[w], ones);
            members_[task_.n_words - 1] &= last_mask_;
            members_column_ = column;
        }
        // A damaged column may hold fewer members than the node: nothing differs after its last.
        const std::uint32_t n_words = task_.n_words;
        std::uint32_t w = 0, rank = k - 1;
        for (std::uint32_t here; w < n_words && rank >= (here = count_ones(members_[w])); ++w)
            rank -= here;
        if (w == n_words) return false;
        const std::uint32_t first = 64 * w + select_one(members_[w], rank);
        std::uint64_t later = members_[w] & ~std::uint64_t{1} << first % 64;
        while (!later && ++w < n_words) later = members_[w];
        return later && differ(task_, column, first, 64 * w + lowest_one(later));
    }

    // The labels of the members in the order of a column, in as many words as they take.
    void gather(std::uint32_t column, std::uint64_t* labels) const {
        if (task_.n <= 64) {
            labels[0] = gather_few(column);
            return;
        }
        std::uint64_t bits[kWords] = {};
        gather_labels(column, bits);
        for (std::uint32_t w = 0; w < (task_.n + 63) / 64; ++w) labels[w] = bits[w];
    }
    // The same; `bits` come as zeros.
    void gather_labels(std::uint32_t column, std::uint64_t* bits) const {
        const std::uint8_t* order = task_.column(column);
        const std::uint64_t* high = task_.high_bits(column);
        std::uint32_t fill = 0;
        for (std::uint32_t w = 0; w < task_.n_words; ++w) {
            std::uint64_t members, ones;
            simd_.gather(order, high, w, members, ones);
            if (w + 1 == task_.n_words) members &= last_mask_;
            const std::uint64_t labels = squeeze(ones, members);
            bits[fill / 64] |= labels << fill % 64;
            bits[fill / 64 + 1] = labels >> 1 >> (63 - fill % 64);
            fill += count_ones(members);
        }
    }

    // The labels of up to 64 members fit one word.
    std::uint64_t gather_few(std::uint32_t column) const {
        const std::uint8_t* order = task_.column(column);
        const std::uint64_t* high = task_.high_bits(column);
        const std::uint32_t n_words = task_.n_words;
        std::uint64_t bits = 0, members, ones;
        std::uint32_t fill = 0;
        for (std::uint32_t w = 0; w + 1 < n_words; ++w) {
            simd_.gather(order, high, w, members, ones);
            bits |= squeeze(ones, members) << fill % 64;  // full: nothing is left to add
            fill += count_ones(members);
        }
        simd_.gather(order, high, n_words - 1, members, ones);
        return bits | squeeze(ones, members & last_mask_) << fill % 64;
    }

    // Entry i belongs to k = i + 1. Nothing has been found: every allowed position is outside.
    void open_envelope() {
        const std::uint32_t used = (task_.n + 63) / 64 * 64;
        for (std::uint32_t i = 0; i < used; ++i) {
            const std::uint32_t k = i + 1;
            const bool allowed = k >= task_.min_leaf && k + task_.min_leaf <= task_.n;
            const int product = static_cast<int>(allowed ? k * (task_.n - k) : 0);
            root_[i] = std::sqrt(static_cast<float>(product));
            lo_[i] = allowed ? static_cast<Count>(~Count{0}) : 0;
            hi_[i] = allowed ? 0 : static_cast<Count>(~Count{0});
        }
    }

    // A split is no better than the best when |l - k n1/n| <= R, R = sqrt(best k (n - k)) / n. In
    // floats both sides are known within 2^-21 n; the envelope is narrower by more, so that no better
    // split is inside, and what lies between is scored exactly.
    void close_envelope() {
        constexpr float kNarrower = kMost * 0x1p-19f;
        const float ones = static_cast<float>(task_.n_ones) / static_cast<float>(task_.n);
        const double best =
            static_cast<double>(task_.best_num) / static_cast<double>(task_.best_den);
        const float radius = static_cast<float>(std::sqrt(best) / task_.n);
        const int first = static_cast<int>(task_.min_leaf) - 1;
        const int end = static_cast<int>(task_.n - task_.min_leaf);
        for (int i = first; i < end; ++i) {
            const float centre = static_cast<float>(i + 1) * ones;
            const float half = radius * root_[i] - kNarrower;
            const int low = static_cast<int>(centre - half + 1.0f);
            const int high = static_cast<int>(centre + half);
            lo_[i] = static_cast<Count>(low > 0 ? low : 0);
            hi_[i] = static_cast<Count>(high > 0 ? high : 0);
        }
    }

    WalkTask& task_;
    Simd simd_;
    std::uint64_t last_mask_;
    static constexpr std::uint32_t kFewestTogether = 9;  // smaller nodes often end with the first
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t members_column_ = kNone;  // to which the members belong
    std::uint64_t members_[kWords] = {};
    alignas(64) Count lo_[kMost];
    alignas(64) Count hi_[kMost];
    alignas(64) float root_[kMost];  // of k (n - k)
};

template <class Simd>
void walk(WalkTask& task) {
    const auto search = [&](auto&& walk) { task.screened ? walk.screen() : walk.run(); };
    if (task.n < 256)
        search(Walk<Simd, std::uint8_t>(task));
    else
        search(Walk<Simd, std::uint16_t>(task));
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
