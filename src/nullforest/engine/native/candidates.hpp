// Which features does a node compare, in which order? Drawn lazily, a batch at a time.
#pragma once
#include "keyed_random.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

class Candidates {
public:
    static constexpr std::uint32_t kBatch = 16;

    // `pool` may be null: then the bijection's values are the features themselves.
    Candidates(const ShuffleShape& shape, std::uint64_t draw_key, const std::uint32_t* pool,
               std::uint32_t count)
        : shuffle_(shape, draw_key), pool_(pool), left_(count) {}

    std::uint32_t feature[kBatch];

    // Draws the next features and says how many; 0 at the end.
    std::uint32_t next_batch() {
        const std::uint32_t count = left_ < kBatch ? left_ : kBatch;
        left_ -= count;
        shuffle_.next(count, feature);
        if (pool_)
            for (std::uint32_t c = 0; c < count; ++c) feature[c] = pool_[feature[c]];
        return count;
    }

private:
    Shuffle shuffle_;
    const std::uint32_t* pool_;
    std::uint32_t left_;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
