// What the splits of a column score, all positions at once, as in split_scores.hpp to the last bit.
// Position i has i + 1 members on the left.
//   cross(id)     the members in sorted order
//   positions()   at least as many as there are splits; those behind beat nothing
//   beats(i), reaches(i)   whether more than the best of the task, whether as much
//   take(i)       makes it the best
#pragma once
#include "kernels/scan_task.hpp"
#include "table/binary_logarithm.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Members that count once or as often as they were drawn: one pass adds up what crosses the split
// (classes: sums of squared counts or entropy terms; numbers: D). With at most 1 024 draws every integer
// is exact in a double.
template <class Id, ScanTask::Kind kind, bool counts>
class WholeScores {
public:
    explicit WholeScores(ScanTask& task) : task_(task), padded_((task.n + 7) / 8 * 8) {
        for (std::uint32_t i = 0; i < padded_; ++i) {  // entry i belongs to k = i + 1 members left
            const bool allowed = i + 1 >= task.min_leaf && i + 1 + task.min_leaf <= task.n;
            allowed_[i] = allowed ? 1.0 : 0.0;
            divide_[i] = 0.0;  // with counts, those past the last split stay so
            if (!counts) weigh(i, i + 1);
        }
    }

    void cross(const Id* __restrict id) {
        if (counts) {
            std::int64_t left = 0;
            for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
                left += task_.multiplicity[id[i]];
                weigh(i, left);
            }
        }
        if (kind == ScanTask::variance)
            cross_numbers(id);
        else if (kind == ScanTask::gini)
            cross_squares(id);
        else
            cross_terms(id);
    }
    std::uint32_t positions() const { return kind == ScanTask::variance ? padded_ : task_.n - 1; }
    bool beats(std::uint32_t i) const {
        if (kind == ScanTask::variance) return top_[i] > task_.best_top;
        if (kind == ScanTask::gini)
            return top_[i] * task_.best_bottom > task_.best_top * divide_[i];
        return terms_[i] > task_.best_terms;
    }
    bool reaches(std::uint32_t i) const {
        if (kind == ScanTask::variance) return top_[i] >= task_.best_top;
        if (kind == ScanTask::gini)
            return top_[i] * task_.best_bottom >= task_.best_top * divide_[i];
        return terms_[i] >= task_.best_terms;
    }
    void take(std::uint32_t i) {
        if (kind == ScanTask::entropy) {
            task_.best_terms = terms_[i];
        } else {
            task_.best_top = top_[i];
            task_.best_bottom = divide_[i];
        }
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

    void cross_numbers(const Id* __restrict id) {
        std::int64_t d = 0, sum[ScanTask::kMost];
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) sum[i] = d += task_.crossing[id[i]];
        for (std::uint32_t i = task_.n - 1; i < padded_; ++i) sum[i] = 0;
        for (std::uint32_t i = 0; i < padded_; ++i) {
            const double exact = static_cast<double>(sum[i]);
            top_[i] = exact * exact * divide_[i];
        }
    }
    void cross_squares(const Id* __restrict id) {
        start_classes();
        std::int64_t left = 0, right = task_.sum_of_squares;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
            const std::uint32_t c = task_.label[id[i]];
            const std::int64_t w = counts ? task_.multiplicity[id[i]] : 1;
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
    void cross_terms(const Id* __restrict id) {
        start_classes();
        const std::int64_t* q = task_.entropy_terms;
        std::int64_t sum = task_.sum_of_terms, weight = 0;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) {
            const std::uint32_t c = task_.label[id[i]];
            const std::int64_t w = counts ? task_.multiplicity[id[i]] : 1;
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

    ScanTask& task_;
    std::uint32_t padded_;
    double allowed_[ScanTask::kMost], left_[ScanTask::kMost], right_[ScanTask::kMost];
    double divide_[ScanTask::kMost], top_[ScanTask::kMost];
    double squares_left_[ScanTask::kMost], squares_right_[ScanTask::kMost];
    std::int64_t terms_[ScanTask::kMost];
    std::int64_t in_left_[ScanTask::kMost];
};

// Members with real weights: sums in doubles, added in the order in which the members cross.
template <ScanTask::Kind kind>
class RealScores {
public:
    explicit RealScores(ScanTask& task) : task_(task) {}

    template <class Id>
    void cross(const Id* __restrict id) {
        const std::uint32_t n = task_.n - 1;
        if (kind == ScanTask::variance) {
            add_up(id, task_.real_weight, left_);
            add_up(id, task_.share[0], part_[0]);
            const double whole = task_.real_total;
            for (std::uint32_t i = 0; i < n; ++i) {
                const double square = part_[0][i] * part_[0][i];
                const double spread = left_[i] * (whole - left_[i]);  // weights may round to nothing
                const double value = square / (spread > 0.0 ? spread : 1.0);
                value_[i] = spread > 0.0 ? value : 0.0;
            }
            return;
        }
        for (std::uint32_t i = 0; i < n; ++i) left_[i] = right_[i] = value_[i] = 0.0;
        for (std::uint32_t c = 0; c < task_.n_classes; ++c) {
            add_up(id, task_.share[c], part_[c]);
            for (std::uint32_t i = 0; i < n; ++i) {
                left_[i] += part_[c][i];
                right_[i] += task_.real_class_total[c] - part_[c][i];
            }
        }
        for (std::uint32_t c = 0; c < task_.n_classes; ++c)
            for (std::uint32_t i = 0; i < n; ++i)
                value_[i] += term(part_[c][i], left_[i]) +
                             term(task_.real_class_total[c] - part_[c][i], right_[i]);
    }
    std::uint32_t positions() const { return task_.n - 1; }
    // Any division of two members is as good as the other, whatever the roundings.
    bool beats(std::uint32_t i) const { return task_.n != 2 && value_[i] > task_.best_value; }
    bool reaches(std::uint32_t i) const { return task_.n == 2 || value_[i] >= task_.best_value; }
    void take(std::uint32_t i) { task_.best_value = value_[i]; }

private:
    // A member that adds nothing to a class adds zero: no rounding.
    template <class Id>
    void add_up(const Id* __restrict id, const double* of_member, double* sums) const {
        double sum = 0.0;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) sums[i] = sum += of_member[id[i]];
    }
    static double term(double part, double side) {
        const bool some = (part > 0.0) & (side > 0.0);
        if (kind == ScanTask::entropy) return some ? part * binary_logarithm(part / side) : 0.0;
        const double square = part * part / (some ? side : 1.0);
        return some ? square : 0.0;
    }

    ScanTask& task_;
    double left_[ScanTask::kMost], right_[ScanTask::kMost], value_[ScanTask::kMost];
    double part_[kind == ScanTask::variance ? 1 : ScanTask::kMostRealClasses][ScanTask::kMost];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
