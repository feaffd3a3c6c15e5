// The scan, written once; `Pick` brings the one step that differs between instruction sets:
//   Pick(task); pick(order, ninth, out)   the members in sorted order; may write 64 past the end
#pragma once
#include "kernels/scan_kernel.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// The members in sorted order, one position at a time and without a branch.
template <class Id>
class PlainPick {
public:
    explicit PlainPick(const ScanTask& task) : task_(task) {
        for (std::uint32_t s = 0; s < task.n_samples; ++s)
            member_[s] = static_cast<std::uint8_t>(task.member[s / 64] >> s % 64 & 1);
    }
    void pick(const std::uint8_t* order, const std::uint64_t* ninth, Id* out) const {
        std::uint32_t found = 0;
        for (std::uint32_t p = 0; p < task_.n_samples; ++p) {
            std::uint32_t s = order[p];
            if (sizeof(Id) == 2) s |= static_cast<std::uint32_t>(ninth[p / 64] >> p % 64 & 1) << 8;
            out[found] = static_cast<Id>(s);
            found += member_[s];
        }
    }

private:
    const ScanTask& task_;
    std::uint8_t member_[ScanTask::kMost];
};

template <class Pick, class Id, ScanTask::Kind kind, bool counts>
class Scan {
public:
    explicit Scan(ScanTask& task) : task_(task), pick_(task) {
        padded_ = (task.n + 7) / 8 * 8;
        for (std::uint32_t i = 0; i < padded_; ++i) {  // entry i belongs to k = i + 1 members left
            const bool allowed = i + 1 >= task.min_leaf && i + 1 + task.min_leaf <= task.n;
            allowed_[i] = allowed ? 1.0 : 0.0;
            divide_[i] = 0.0;  // with counts, those past the last split stay so
            if (!counts) weigh(i, i + 1);
        }
    }

    void run() {
        try_candidates(task_, [this](std::uint32_t feature, std::uint32_t place) {
            cross(feature);
            if (any_better()) confirm(feature, place);
            return task_.perfect();
        });
    }

    // Columns compared with a best that is known.
    void screen() {
        screen_columns(task_, [this](std::uint32_t column, bool or_equal) {
            cross(column);
            return passes(column, or_equal);
        });
    }

private:
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
        pick_.pick(task_.column(feature), task_.ninth_bits(feature), id_);
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
        const std::uint8_t* boundary = task_.boundaries(task_.owner, column);
        for (std::uint32_t i = first; i < last; ++i)
            if (boundary[i] && (or_equal ? reaches(i) : beats(i))) return true;
        return false;
    }
    bool reaches(std::uint32_t i) const {
        if (kind == ScanTask::variance) return top_[i] >= task_.best_top;
        if (kind == ScanTask::gini)
            return top_[i] * task_.best_bottom >= task_.best_top * divide_[i];
        return terms_[i] >= task_.best_terms;
    }

    void confirm(std::uint32_t feature, std::uint32_t place) {
        const std::uint8_t* boundary = nullptr;
        const std::uint32_t first = task_.min_leaf - 1, last = task_.n - task_.min_leaf;
        for (std::uint32_t i = first; i < last; ++i) {
            if (!beats(i)) continue;
            if (task_.flags[feature] & 1) {
                if (!boundary) boundary = task_.boundaries(task_.owner, feature);
                if (!boundary[i]) continue;
            }
            task_.found = true;
            task_.feature = feature;
            task_.place = place;
            task_.n_left = i + 1;
            if (kind == ScanTask::entropy) {
                task_.best_terms = terms_[i];
                task_.both_pure = terms_[i] == 0;
                continue;
            }
            task_.best_top = top_[i];
            task_.best_bottom = divide_[i];
            task_.both_pure = kind == ScanTask::variance
                                  ? task_.n == 2
                                  : top_[i] == static_cast<double>(task_.weight) * divide_[i];
        }
    }

    ScanTask& task_;
    Pick pick_;
    std::uint32_t padded_;
    Id id_[ScanTask::kMost + 64];
    double allowed_[ScanTask::kMost], left_[ScanTask::kMost], right_[ScanTask::kMost];
    double divide_[ScanTask::kMost], top_[ScanTask::kMost];
    double squares_left_[ScanTask::kMost], squares_right_[ScanTask::kMost];
    std::int64_t terms_[ScanTask::kMost];
    std::int64_t in_left_[ScanTask::kMost];
};

template <class Pick, class Id, ScanTask::Kind kind, bool counts>
void scan_counting(ScanTask& task) {
    Scan<Pick, Id, kind, counts> scan(task);
    task.screened ? scan.screen() : scan.run();
}

template <template <class> class Pick, class Id, ScanTask::Kind kind>
void scan_kind(ScanTask& task) {
    task.counts ? scan_counting<Pick<Id>, Id, kind, true>(task)
                : scan_counting<Pick<Id>, Id, kind, false>(task);
}

template <template <class> class Pick, class Id>
void scan_width(ScanTask& task) {
    if (task.kind == ScanTask::gini)
        scan_kind<Pick, Id, ScanTask::gini>(task);
    else if (task.kind == ScanTask::entropy)
        scan_kind<Pick, Id, ScanTask::entropy>(task);
    else
        scan_kind<Pick, Id, ScanTask::variance>(task);
}

template <template <class> class Pick>
void scan(ScanTask& task) {
    if (task.n_samples <= 256)
        scan_width<Pick, std::uint8_t>(task);
    else
        scan_width<Pick, std::uint16_t>(task);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
