// The scan: which columns are scored, and the best of their splits. Its parts:
//   Pick(task)             the members in sorted order (picks.hpp)
//   Screen(task)           whether a column can hold a split as good as the best, where there is a screen
//     close()              to be called when the best improves
//     pick(columns, n)     some columns
//     passes(i)            whether one of them can
//   Scores(task)           of the splits of a column (scan_scores.hpp)
// An instruction set brings, where it has a screen of columns by order, `Simd`(task):
//     pick(slot, order, high)          the draws in sorted order
//     expand(slot)                     each as often as it was drawn
//     numbers_outside(slot, radius)    whether any sum of their numbers leaves the envelope
//     classes_outside(slot, envelope)  the same for the counts of their classes
#pragma once
#include <type_traits>

#include "kernels/picks.hpp"
#include "kernels/scan_scores.hpp"
#include "kernels/stairs_screen.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

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

template <class Pick, class Screen, class Id, class Scores>
class Scan {
public:
    explicit Scan(ScanTask& task) : task_(task), pick_(task), screen_(task), scores_(task) {}

    void run() {
        Candidates candidates(task_.pool, task_.draw_key, task_.n_first());
        if constexpr (Screen::kExists)
            candidates.each_batch([&](const std::uint32_t* features, std::uint32_t count,
                                      std::uint32_t place) {
                screen_.pick(features, count);
                for (std::uint32_t c = 0; c < count; ++c)
                    if ((!task_.found || screen_.passes(c) || has_missing(features[c])) &&
                        try_feature(features[c], place + c))
                        return true;
                return false;
            });
        else
            candidates.each([this](std::uint32_t feature, std::uint32_t place) {
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

    void cross(std::uint32_t feature) {
        pick_.pick(task_.column(feature), task_.high_bits(feature), id_);
        scores_.cross(id_);
    }
    bool any_better() const {
        int any = !task_.found;
        for (std::uint32_t i = 0; i < scores_.positions(); ++i) any |= scores_.beats(i);
        return any;
    }

    // The positions that leave enough members on both sides.
    std::uint32_t first() const { return task_.min_leaf - 1; }
    std::uint32_t last() const { return task_.n - task_.min_leaf; }

    bool passes(std::uint32_t column, bool or_equal) const {
        int any = 0;
        if (or_equal)
            for (std::uint32_t i = first(); i < last(); ++i) any |= scores_.reaches(i);
        else
            for (std::uint32_t i = first(); i < last(); ++i) any |= scores_.beats(i);
        if (!any || !(task_.flags[column] & 1)) return any;
        Boundaries<Pick> boundaries(task_, pick_, column);
        for (std::uint32_t i = first(); i < last(); ++i)
            if ((or_equal ? scores_.reaches(i) : scores_.beats(i)) && boundaries.after(i))
                return true;
        return false;
    }

    // Takes the best of the splits that beat the best; false where there is none between different
    // values.
    bool confirm(std::uint32_t feature, std::uint32_t place) {
        bool better = false;
        Boundaries<Pick> boundaries(task_, pick_, feature);
        for (std::uint32_t i = first(); i < last(); ++i) {
            if ((task_.found && !scores_.beats(i)) || !boundaries.after(i)) continue;
            better = task_.found = true;
            task_.feature = feature;
            task_.place = place;
            task_.n_left = i + 1;
            task_.missing_left = false;
            scores_.take(i);
        }
        return better;
    }

    ScanTask& task_;
    Pick pick_;
    Screen screen_;
    Scores scores_;
    Id id_[ScanTask::kMost + 64];
};

template <class Pick, class Screen, class Id, class Scores>
void scan_with(ScanTask& task) {
    Scan<Pick, Screen, Id, Scores> scan(task);
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
    const auto counting = [&](auto kind, auto counts) {
        constexpr ScanTask::Kind k = decltype(kind)::value;
        constexpr bool c = decltype(counts)::value;
        using Screen = typename Screens::template Of<k>;
        if constexpr (Screen::kExists)
            if (task.screens) return scan_with<Pick, Screen, Id, WholeScores<Id, k, c>>(task);
        scan_with<Pick, NoScreen, Id, WholeScores<Id, k, c>>(task);
    };
    const auto each = [&](auto kind) {
        if (task.reals)
            scan_with<Pick, NoScreen, Id, RealScores<decltype(kind)::value>>(task);
        else
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
