// The search by steps: candidates are counted in steps of rank a batch at a time, and the members of
// the few steps that may hold the best split of the batch are scored one by one.
//
// The best split at the end of a step, of any column of the batch, is a bound from below: columns
// whose steps all stay below it need no further look. The others wait in a queue, which is settled in
// draw order.
#pragma once
#include "kernels/key_sort.hpp"
#include "kernels/step_test.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Where nothing is counted on planes.
struct NoPlanes {
    static constexpr bool kExist = false;
};

// `Planes` counts (avx512/plane_counter.hpp).
template <class Rank, class Planes>
class StepSearch {
public:
    explicit StepSearch(SweepTask& task)
        : task_(task),
          counter_(task),
          n_steps_(1u << counter_.levels()),
          padded_(n_steps_ < 16 ? 16 : n_steps_),
          level_(level_of(task)) {}

    void run() {
        const auto try_batch = [&](const std::uint32_t* features, std::uint32_t count,
                                   std::uint32_t place) {
            place_ = place;
            this->count(features, count);
            for (std::uint32_t c = 0; c < count; ++c) {
                if (!(task_.flags[features[c]] & 2)) {
                    test(c);
                    continue;
                }
                if (settle()) return true;
                task_.try_slowly(task_.owner, features[c]);
                if (improved(features[c], place + c)) return true;
            }
            return settle();
        };
        Candidates(task_.pool, task_.draw_key).each_batch(try_batch);
    }

    // Columns compared with a best that is known.
    void screen() {
        const std::uint32_t most = task_.until_one_passes ? kFew : kQueue;
        for (std::uint32_t first = 0; first < task_.n_screened; first += most) {
            const std::uint32_t left = task_.n_screened - first, n = left < most ? left : most;
            place_ = first;
            count(task_.screened + first, n);
            for (std::uint32_t c = 0; c < n; ++c) {
                task_.passes[first + c] = 0;
                test(c);
            }
            if (settle_screened()) return;
        }
    }

private:
    static constexpr std::uint32_t kQueue = Candidates::kBatch, kFew = 4;
    using Test = StepTest<std::uint32_t>;
    static constexpr std::uint32_t kMostSteps = 1u << SweepTask::kPlanes;

    // A column of the batch.
    struct Column {
        std::uint32_t feature;
        std::uint64_t open;                  // the steps that may hold a better split
        std::uint32_t sums[1 + kMostSteps];  // entry 0 is 0
    };

    std::uint32_t begin_of(std::uint32_t step) const {
        return task_.step_begins[step << (SweepTask::kPlanes - counter_.levels())];
    }

    void count(const std::uint32_t* features, std::uint32_t n) {
        for (std::uint32_t c = 0; c < n; ++c) {
            Column& column = batch_[c];
            column.feature = features[c];
            column.sums[0] = 0;
            counter_.count(features[c], column.sums + 1);
        }
    }
    // Tests the steps of a column, which joins the queue if any may hold a better split.
    void test(std::uint32_t c) {
        Column& column = batch_[c];
        const Test test(task_, level_);
        column.open = Planes::open_steps(test, column.sums + 1, padded_);
        if (!column.open) return;
        queue_[n_waiting_++] = c;
        if (!task_.screened) raise_level(test, column.feature, column.sums + 1);
    }
    // To the best split at the end of a step; not where it may lie between equal values.
    void raise_level(const Test& test, std::uint32_t feature, const std::uint32_t* sums) {
        const RankedColumn<Rank> column(task_, feature);
        std::uint64_t ends = Planes::open_ends(test, sums, padded_);
        ends &= (std::uint64_t{1} << (n_steps_ - 1)) - 1;
        const double n = task_.n, n_ones = task_.n_ones;
        for (; ends; ends &= ends - 1) {
            const auto b = static_cast<std::uint32_t>(__builtin_ctzll(ends));
            const std::uint32_t members = sums[b] & 0xffff;
            if (members < task_.min_leaf || members + task_.min_leaf > task_.n) continue;
            const double k = members, d = (sums[b] >> 16) * n - k * n_ones;
            const double level = d * d / (k * (n - k)) * (1.0 - 1e-12);
            if (level > level_ && (!column.tied() || column.differs_after(begin_of(b + 1) - 1)))
                level_ = level;
        }
    }

    // Scores what waits, in order. True when the search is over.
    bool settle() {
        for (std::uint32_t i = 0; i < n_waiting_; ++i) {
            const Column& column = batch_[queue_[i]];
            search(column, [&](std::uint32_t k, std::uint32_t l, const auto& differs) {
                if (task_.beats(k, l) && differs()) task_.take(column.feature, k, l);
                return false;
            });
            if (improved(column.feature, place_ + queue_[i])) return true;
        }
        n_waiting_ = 0;
        return false;
    }
    bool improved(std::uint32_t feature, std::uint32_t place) {
        if (!task_.found || task_.feature != feature) return false;
        task_.place = place;
        level_ = level_of(task_);
        return task_.perfect();
    }
    // True when one column is enough and passes.
    bool settle_screened() {
        for (std::uint32_t i = 0; i < n_waiting_; ++i) {
            const std::uint32_t c = place_ + queue_[i];
            const bool or_equal = c < task_.n_or_equal;
            task_.passes[c] = search(batch_[queue_[i]], [&](std::uint32_t k, std::uint32_t l,
                                                            const auto& differs) {
                return (task_.beats(k, l) || (or_equal && task_.equals(k, l))) && differs();
            });
            if (task_.until_one_passes && task_.passes[c]) return true;
        }
        n_waiting_ = 0;
        return false;
    }

    // Calls use(k, l, differs) for the splits in open steps that may beat the best, positions
    // ascending, until it returns true.
    template <class Use>
    bool search(const Column& counted, const Use& use) {
        const RankedColumn<Rank> column(task_, counted.feature);
        const Rank* rank = column.rank();
        std::uint32_t *key = task_.key, found = 0;
        const Test test(task_, level_);
        const std::uint64_t steps = counted.open & Planes::open_steps(test, counted.sums + 1, padded_);
        if (!steps) return false;
        counter_.each_in(counted.feature, steps, [&](std::uint32_t sample, std::uint32_t label) {
            key[found++] = std::uint32_t{rank[sample]} << 1 | label;
        });
        sort_keys(key, found, 2 * task_.n_samples);
        std::uint32_t i = 0;
        for (std::uint64_t open = steps; open; open &= open - 1) {
            const std::int32_t b = __builtin_ctzll(open);
            std::uint32_t sum = counted.sums[b];
            const std::uint32_t end = i + ((counted.sums[b + 1] - sum) & 0xffff);
            for (; i < end; ++i) {
                sum += 1 | (key[i] & 1) << 16;
                if (test.opens_at(sum) &&
                    column.use(use, sum & 0xffff, sum >> 16, key[i] >> 1, column.kUnknown))
                    return true;
            }
        }
        return false;
    }

    SweepTask& task_;
    Planes counter_;
    std::uint32_t n_steps_, padded_, place_ = 0, n_waiting_ = 0;
    double level_;
    std::uint32_t queue_[kQueue];  // columns of the batch
    Column batch_[kQueue];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
