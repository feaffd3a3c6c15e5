// The scan of nodes whose members have real weights: sums in doubles, added in the order in which the
// members cross, and scores as in split_scores.hpp, operation by operation, all positions at once.
// `Pick` as in scan.hpp.
#pragma once
#include "kernels/boundaries.hpp"
#include "table/binary_logarithm.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

template <class Pick, class Id, ScanTask::Kind kind>
class RealScan {
public:
    explicit RealScan(ScanTask& task) : task_(task), pick_(task) {}

    void run() {
        Candidates(task_.pool, task_.draw_key)
            .each([this](std::uint32_t feature, std::uint32_t place) {
                if (task_.flags[feature] & 2) {
                    if (!task_.try_slowly(task_.owner, feature)) return false;
                    task_.place = place;
                    return task_.perfect();
                }
                cross(feature);
                return any_better() && confirm(feature, place) && task_.perfect();
            });
    }

    // Columns compared with a best that is known.
    void screen() {
        screen_columns(task_, [this](std::uint32_t column, bool or_equal) {
            cross(column);
            // Any division of two members is as good as the other, whatever the roundings.
            const bool pair = task_.n == 2;
            if (pair && !or_equal) return false;
            Boundaries<Pick> boundaries(task_, pick_, column);
            for (std::uint32_t i = first(); i < last(); ++i)
                if ((pair || value_[i] > task_.best_value ||
                     (or_equal && value_[i] == task_.best_value)) &&
                    boundaries.after(i))
                    return true;
            return false;
        });
    }

private:
    std::uint32_t first() const { return task_.min_leaf - 1; }
    std::uint32_t last() const { return task_.n - task_.min_leaf; }

    // What every position of a column scores; position i has i + 1 members on the left.
    void cross(std::uint32_t feature) {
        pick_.pick(task_.column(feature), task_.high_bits(feature), id_);
        const std::uint32_t n = task_.n - 1;
        if (kind == ScanTask::variance) {
            add_up(task_.real_weight, left_);
            add_up(task_.share[0], part_[0]);
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
            add_up(task_.share[c], part_[c]);
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
    // A member that adds nothing to a class adds zero: no rounding.
    void add_up(const double* of_member, double* sums) const {
        double sum = 0.0;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) sums[i] = sum += of_member[id_[i]];
    }
    static double term(double part, double side) {
        const bool some = (part > 0.0) & (side > 0.0);
        if (kind == ScanTask::entropy) return some ? part * binary_logarithm(part / side) : 0.0;
        const double square = part * part / (some ? side : 1.0);
        return some ? square : 0.0;
    }

    bool any_better() const {
        int any = !task_.found;
        for (std::uint32_t i = 0; i + 1 < task_.n; ++i) any |= value_[i] > task_.best_value;
        return any;
    }
    // Takes the best of the splits that beat the best; false where there is none between different
    // values.
    bool confirm(std::uint32_t feature, std::uint32_t place) {
        bool better = false;
        Boundaries<Pick> boundaries(task_, pick_, feature);
        for (std::uint32_t i = first(); i < last(); ++i) {
            if (task_.found && !(value_[i] > task_.best_value)) continue;
            if (!boundaries.after(i)) continue;
            better = task_.found = true;
            task_.feature = feature;
            task_.place = place;
            task_.n_left = i + 1;
            task_.missing_left = false;
            task_.best_value = value_[i];
        }
        return better;
    }

    ScanTask& task_;
    Pick pick_;
    Id id_[ScanTask::kMost + 64];
    double left_[ScanTask::kMost], right_[ScanTask::kMost], value_[ScanTask::kMost];
    double part_[kind == ScanTask::variance ? 1 : ScanTask::kMostRealClasses][ScanTask::kMost];
};

template <class Pick, class Id, ScanTask::Kind kind>
void scan_reals_of(ScanTask& task) {
    RealScan<Pick, Id, kind> scan(task);
    task.screened ? scan.screen() : scan.run();
}

template <class Pick, class Id>
void scan_reals(ScanTask& task) {
    if (task.kind == ScanTask::gini)
        scan_reals_of<Pick, Id, ScanTask::gini>(task);
    else if (task.kind == ScanTask::entropy)
        scan_reals_of<Pick, Id, ScanTask::entropy>(task);
    else
        scan_reals_of<Pick, Id, ScanTask::variance>(task);
}

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
