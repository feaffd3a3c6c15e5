// The scan, written once; the steps that differ between instruction sets:
//   Pick(task); pick(order, high, out)   the members in sorted order; may write 64 past the end
//     kByRank                            whether of a table by ranks; then also
//     differs_after(feature, i)           whether the values of the members i and i + 1 differ
//   Screen(task)                          kSlots columns at a time, where there is one:
//     pick(slot, order, high)            the draws in sorted order
//     expand(slot)                        each as often as it was drawn
//     numbers_outside(slot, radius)       whether any sum of their numbers leaves the envelope
//     classes_outside(slot, envelope)     the same for the counts of their classes
#pragma once
#include <type_traits>

#include "kernels/boundaries.hpp"
#include "kernels/real_scan.hpp"
#include "kernels/stairs_screen.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// The members in sorted order, one position at a time and without a branch.
template <class Id>
class PlainPick {
public:
    static constexpr bool kByRank = false;
    explicit PlainPick(const ScanTask& task) : task_(task) {
        for (std::uint32_t s = 0; s < task.n_samples; ++s)
            member_[s] = static_cast<std::uint8_t>(task.member[s / 64] >> s % 64 & 1);
    }
    void pick(const std::uint8_t* order, const std::uint64_t* high, Id* out) const {
        const std::uint32_t n_high = sizeof(Id) == 2 ? task_.high_planes() : 0;
        std::uint32_t found = 0;
        for (std::uint32_t p = 0; p < task_.n_samples; ++p) {
            std::uint32_t s = order[p];
            for (std::uint32_t h = 0; h < n_high; ++h)
                s |= static_cast<std::uint32_t>(high[h * task_.n_words + p / 64] >> p % 64 & 1)
                     << (8 + h);
            out[found] = static_cast<Id>(s);
            found += member_[s];
        }
    }

private:
    const ScanTask& task_;
    std::uint8_t member_[ScanTask::kMost];
};

// Every column is scored.
struct NoScreen {
    static constexpr bool kExists = false;
    explicit NoScreen(const ScanTask&) {}
    void close() {}
};

// Whether columns can hold a split as good as the best, by their envelope.
template <class Simd, ScanTask::Kind kind>
class EnvelopeScreen {
public:
    static constexpr bool kExists = true;
    explicit EnvelopeScreen(const ScanTask& task) : task_(task), simd_(task), envelope_(task) {}

    void close() {
        if constexpr (kind == ScanTask::variance)
            envelope_.close(task_.best_top);
        else
            envelope_.close(task_.best_top, task_.best_bottom);
    }
    void pick(const std::uint32_t* columns, std::uint32_t count) {
        for (std::uint32_t c = 0; c < count; ++c)
            simd_.pick(c, task_.column(columns[c]), task_.high_bits(columns[c]));
        for (std::uint32_t c = 0; c < count && task_.counts; ++c) simd_.expand(c);
    }
    bool passes(std::uint32_t slot) const {
        if constexpr (kind == ScanTask::variance)
            return simd_.numbers_outside(slot, envelope_.radius());
        else
            return simd_.classes_outside(slot, envelope_);
    }

private:
    const ScanTask& task_;
    Simd simd_;
    std::conditional_t<kind == ScanTask::variance, NumberEnvelope, ClassEnvelope> envelope_;
};

template <class Pick, class Screen, class Id, ScanTask::Kind kind, bool counts>
class Scan {
public:
    explicit Scan(ScanTask& task) : task_(task), pick_(task), screen_(task) {
        padded_ = (task.n + 7) / 8 * 8;
        for (std::uint32_t i = 0; i < padded_; ++i) {  // entry i belongs to k = i + 1 members left
            const bool allowed = i + 1 >= task.min_leaf && i + 1 + task.min_leaf <= task.n;
            allowed_[i] = allowed ? 1.0 : 0.0;
            divide_[i] = 0.0;  // with counts, those past the last split stay so
            if (!counts) weigh(i, i + 1);
        }
    }

    void run() {
        Candidates candidates(task_.pool, task_.draw_key, task_.n_first());
        const auto fetch = [this](std::uint32_t feature) {
            if (!Pick::kByRank) fetch_column(task_, feature);
        };
        if constexpr (Screen::kExists)
            candidates.each_batch([&](const std::uint32_t* features, std::uint32_t count,
                                      std::uint32_t place) {
                for (std::uint32_t c = 0; c < count; ++c) fetch(features[c]);
                screen_.pick(features, count);
                for (std::uint32_t c = 0; c < count; ++c)
                    if ((!task_.found || screen_.passes(c) || has_missing(features[c])) &&
                        try_feature(features[c], place + c))
                        return true;
                return false;
            });
        else
            candidates.each(fetch, [this](std::uint32_t feature, std::uint32_t place) {
                return try_feature(feature, place);
            });
    }

    // Columns compared with a best that is known.
    void screen() {
        screen_.close();
        screen_columns(task_, [this](std::uint32_t column, bool or_equal) {
            if constexpr (Screen::kExists) {
                screen_.pick(&column, 1);
                if (!screen_.passes(0)) return false;
            }
            cross(column);
            return passes(column, or_equal);
        });
    }

private:
    bool has_missing(std::uint32_t feature) const { return task_.flags[feature] & 2; }

    // True when the search is over.
    bool try_feature(std::uint32_t feature, std::uint32_t place) {
        if (__builtin_expect(has_missing(feature), 0)) {
            if (!improve_slowly(feature, place)) return false;
        } else {
            cross(feature);
            if (!any_better() || !confirm(feature, place)) return false;
        }
        if (task_.perfect()) return true;
        screen_.close();
        return false;
    }

    [[gnu::noinline]] bool improve_slowly(std::uint32_t feature, std::uint32_t place) {
        if (!task_.try_slowly(task_.owner, feature)) return false;
        task_.place = place;
        return true;
    }

    // Weights left and right of position i, and what a score is divided by (zero: not allowed).
    void weigh(std::uint32_t i, std::int64_t left) {
        left_[i] = static_cast<double>(left);
        right_[i] = static_cast<double>(task_.weight - left);
        const double spread = left_[i] * right_[i];
        if (kind == ScanTask::variance)
            divide_[i] = allowed_[i] != 0.0 && spread > 0.0 ? 1.0 / spread : 0.0;
        else
            divide_[i] = spread;
    }

    // What every position of a column scores.
    void cross(std::uint32_t feature) {
        pick_.pick(task_.column(feature), task_.high_bits(feature), id_);
        if (counts) {
            std::int64_t left = 0;
            for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
                left += task_.multiplicity[id_[i]];
                weigh(i, left);
            }
        }
        if (kind == ScanTask::variance)
            cross_numbers();
        else if (kind == ScanTask::gini)
            cross_squares();
        else
            cross_terms();
    }

    void cross_numbers() {
        std::int64_t d = 0, sum[ScanTask::kMost];
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) sum[i] = d += task_.crossing[id_[i]];
        for (std::uint32_t i = task_.n - 1; i < padded_; ++i) sum[i] = 0;
        for (std::uint32_t i = 0; i < padded_; ++i) {
            const double exact = static_cast<double>(sum[i]);
            top_[i] = exact * exact * divide_[i];
        }
    }
    void cross_squares() {
        start_classes();
        std::int64_t left = 0, right = task_.sum_of_squares;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
            const std::uint32_t c = task_.label[id_[i]];
            const std::int64_t w = counts ? task_.multiplicity[id_[i]] : 1;
            const std::int64_t l = in_left_[c], r = task_.class_total[c] - l;
            left += w * (2 * l + w);
            right -= w * (2 * r - w);
            in_left_[c] = l + w;
            squares_left_[i] = static_cast<double>(left);
            squares_right_[i] = static_cast<double>(right);
        }
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i)
            top_[i] = squares_left_[i] * right_[i] + squares_right_[i] * left_[i];
    }
    void cross_terms() {
        start_classes();
        const std::int64_t* q = task_.entropy_terms;
        std::int64_t sum = task_.sum_of_terms, weight = 0;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
            const std::uint32_t c = task_.label[id_[i]];
            const std::int64_t w = counts ? task_.multiplicity[id_[i]] : 1;
            const std::int64_t l = in_left_[c], r = task_.class_total[c] - l;
            sum += q[l + w] - q[l] + q[r - w] - q[r];
            in_left_[c] = l + w;
            weight += w;
            terms_[i] = sum - q[weight] - q[task_.weight - weight];
        }
    }
    void start_classes() {
        for (std::uint32_t c = 0; c < task_.n_classes; ++c) in_left_[c] = 0;
    }

    bool beats(std::uint32_t i) const {
        if (!task_.found) return true;
        if (kind == ScanTask::variance) return top_[i] > task_.best_top;
        if (kind == ScanTask::gini)
            return top_[i] * task_.best_bottom > task_.best_top * divide_[i];
        return terms_[i] > task_.best_terms;
    }
    bool any_better() const {
        int any = 0;
        if (kind == ScanTask::variance)
            for (std::uint32_t i = 0; i < padded_; ++i) any |= beats(i);
        else
            for (std::uint32_t i = 0; i + 1 < task_.n; ++i) any |= beats(i);
        return any;
    }

    bool passes(std::uint32_t column, bool or_equal) const {
        const std::uint32_t first = task_.min_leaf - 1, last = task_.n - task_.min_leaf;
        int any = 0;
        if (or_equal)
            for (std::uint32_t i = first; i < last; ++i) any |= reaches(i);
        else
            for (std::uint32_t i = first; i < last; ++i) any |= beats(i);
        if (!any || !(task_.flags[column] & 1)) return any;
        Boundaries<Pick> boundaries(task_, pick_, column);
        for (std::uint32_t i = first; i < last; ++i)
            if ((or_equal ? reaches(i) : beats(i)) && boundaries.after(i)) return true;
        return false;
    }
    bool reaches(std::uint32_t i) const {
        if (kind == ScanTask::variance) return top_[i] >= task_.best_top;
        if (kind == ScanTask::gini)
            return top_[i] * task_.best_bottom >= task_.best_top * divide_[i];
        return terms_[i] >= task_.best_terms;
    }

    // Takes the best of the splits that beat the best; false where there is none between different
    // values.
    bool confirm(std::uint32_t feature, std::uint32_t place) {
        bool better = false;
        Boundaries<Pick> boundaries(task_, pick_, feature);
        const std::uint32_t first = task_.min_leaf - 1, last = task_.n - task_.min_leaf;
        for (std::uint32_t i = first; i < last; ++i) {
            if (!beats(i) || !boundaries.after(i)) continue;
            better = task_.found = true;
            task_.feature = feature;
            task_.place = place;
            task_.n_left = i + 1;
            task_.missing_left = false;
            if (kind == ScanTask::entropy) {
                task_.best_terms = terms_[i];
                continue;
            }
            task_.best_top = top_[i];
            task_.best_bottom = divide_[i];
        }
        return better;
    }

    ScanTask& task_;
    Pick pick_;
    Screen screen_;
    std::uint32_t padded_;
    Id id_[ScanTask::kMost + 64];
    double allowed_[ScanTask::kMost], left_[ScanTask::kMost], right_[ScanTask::kMost];
    double divide_[ScanTask::kMost], top_[ScanTask::kMost];
    double squares_left_[ScanTask::kMost], squares_right_[ScanTask::kMost];
    std::int64_t terms_[ScanTask::kMost];
    std::int64_t in_left_[ScanTask::kMost];
};

template <class Pick, class Screen, class Id, ScanTask::Kind kind, bool counts>
void scan_screened(ScanTask& task) {
    Scan<Pick, Screen, Id, kind, counts> scan(task);
    task.screened ? scan.screen() : scan.run();
}

// The screens of columns by their order and by ranks; entropies have none.
template <class Simd>
struct OrderScreens {
    template <ScanTask::Kind kind>
    using Of = std::conditional_t<Simd::kExists && kind != ScanTask::entropy,
                                  EnvelopeScreen<Simd, kind>, NoScreen>;
};
template <class Rank>
struct RankScreens {
    template <ScanTask::Kind kind>
    using Of = std::conditional_t<kind != ScanTask::entropy, StairsScreen<Rank, kind>, NoScreen>;
};

// Chooses by what the target and the node need.
template <class Pick, class Id, class Screens>
void scan_by(ScanTask& task) {
    if (task.reals) return scan_reals<Pick, Id>(task);
    const auto counting = [&](auto kind, auto counts) {
        constexpr ScanTask::Kind k = decltype(kind)::value;
        constexpr bool c = decltype(counts)::value;
        using Screen = typename Screens::template Of<k>;
        if constexpr (Screen::kExists)
            if (task.screens) return scan_screened<Pick, Screen, Id, k, c>(task);
        scan_screened<Pick, NoScreen, Id, k, c>(task);
    };
    const auto each = [&](auto kind) {
        task.counts ? counting(kind, std::true_type{}) : counting(kind, std::false_type{});
    };
    using Kind = ScanTask::Kind;
    if (task.kind == ScanTask::gini)
        each(std::integral_constant<Kind, ScanTask::gini>{});
    else if (task.kind == ScanTask::entropy)
        each(std::integral_constant<Kind, ScanTask::entropy>{});
    else
        each(std::integral_constant<Kind, ScanTask::variance>{});
}

template <class Rank>
void scan_ranks(ScanTask& task) {
    scan_by<RankPick<Rank, std::uint16_t>, std::uint16_t, RankScreens<Rank>>(task);
}

template <template <class> class Pick, class Screen = NoScreen>
void scan(ScanTask& task) {
    if (task.by_rank)
        task.rank_bytes == 2 ? scan_ranks<std::uint16_t>(task) : scan_ranks<std::uint32_t>(task);
    else if (task.n_samples <= 256)
        scan_by<Pick<std::uint8_t>, std::uint8_t, OrderScreens<Screen>>(task);
    else
        scan_by<Pick<std::uint16_t>, std::uint16_t, OrderScreens<Screen>>(task);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
