// The candidates of a node in draw order, drawn lazily, a batch at a time.
#pragma once
#include <cstring>

#include "random/keyed_random.hpp"

namespace nullforest {

// The first candidates of a node, kept for who needs them again.
struct FirstCandidates {
    static constexpr std::uint32_t kMost = 32;
    std::uint32_t feature[kMost], count = 0;
};

// From what the candidates of a tree's nodes are drawn.
struct CandidatePool {
    ShuffleShape shape{1};
    std::uint32_t count = 1;                  // candidates of a node
    const std::uint32_t* features = nullptr;  // null: all, and the bijection's values are they
    FirstCandidates* first = nullptr;         // where the first batch is kept, if anywhere
};

inline namespace NULLFOREST_ISA {

class Candidates {
public:
    static constexpr std::uint32_t kBatch = FirstCandidates::kMost, kFirst = 16;

    // `n_first`: the size of the first batch, where it is not left to next_batch.
    Candidates(const CandidatePool& pool, std::uint64_t draw_key, std::uint32_t n_first = 0)
        : shuffle_(pool.shape, draw_key),
          features_(pool.features),
          first_(pool.first),
          left_(pool.count),
          n_first_(n_first ? n_first : left_ <= kBatch ? kBatch : kFirst) {}

    // Draws the next features, up to kBatch, and returns their number; 0 at the end. The first are
    // fewer, since many searches end with them, unless that leaves but a few.
    std::uint32_t next_batch(std::uint32_t* feature) {
        const std::uint32_t most = started_ ? kBatch : n_first_;
        const std::uint32_t count = left_ < most ? left_ : most;
        left_ -= count;
        drawn_ += count;
        shuffle_.next(count, feature);
        if (features_)
            for (std::uint32_t c = 0; c < count; ++c) feature[c] = features_[feature[c]];
        if (first_ && !started_) {
            std::memcpy(first_->feature, feature, count * sizeof *feature);
            first_->count = count;
        }
        started_ = true;
        return count;
    }

    // Calls try_one(feature, place) for those not drawn yet, in draw order, until it returns true.
    template <class Try>
    void each(const Try& try_one) {
        std::uint32_t place = drawn_, feature[kBatch];
        while (const std::uint32_t count = next_batch(feature))
            for (std::uint32_t c = 0; c < count; ++c)
                if (try_one(feature[c], place++)) return;
    }
    // Calls try_batch(features, their number, place of the first), until it returns true.
    template <class Try>
    void each_batch(const Try& try_batch) {
        std::uint32_t place = drawn_, feature[kBatch];
        while (const std::uint32_t count = next_batch(feature)) {
            if (try_batch(static_cast<const std::uint32_t*>(feature), count, place)) return;
            place += count;
        }
    }

private:
    Shuffle shuffle_;
    const std::uint32_t* features_;
    FirstCandidates* first_;
    std::uint32_t left_, n_first_, drawn_ = 0;
    bool started_ = false;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
