// The candidates of a node in draw order, drawn lazily, a batch at a time.
#pragma once
#include "random/keyed_random.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {

// Into the second cache, not the first: where a column comes from main memory the first has too few
// places for lines under way, and the search would wait for them.
inline void fetch_line(const void* line) { __builtin_prefetch(line, 0, 2); }

class Candidates {
public:
    static constexpr std::uint32_t kBatch = 16;

    // `pool` may be null: then the bijection's values are the features themselves.
    Candidates(const ShuffleShape& shape, std::uint64_t draw_key, const std::uint32_t* pool,
               std::uint32_t count)
        : shuffle_(shape, draw_key), pool_(pool), left_(count) {}

    // Draws the next features, up to kBatch, and returns their number; 0 at the end.
    std::uint32_t next_batch(std::uint32_t* feature) {
        const std::uint32_t count = left_ < kBatch ? left_ : kBatch;
        left_ -= count;
        shuffle_.next(count, feature);
        if (pool_)
            for (std::uint32_t c = 0; c < count; ++c) feature[c] = pool_[feature[c]];
        return count;
    }

    // Calls try_one(feature) in draw order until it returns true, and fetch(feature) some way
    // ahead of it, so that its column has arrived by then. Few nodes compare many candidates and
    // many compare few: a batch is drawn only when the one before has not ended the search at once.
    template <class Fetch, class Try>
    void visit(const Fetch& fetch, const Try& try_one) {
        constexpr std::uint32_t kSoon = 3;
        std::uint32_t buffers[2][kBatch], *now = buffers[0], *then = buffers[1];
        std::uint32_t count = next_batch(now);
        for (std::uint32_t c = 0; c < count; ++c) fetch(now[c]);
        while (count) {
            std::uint32_t n_then = 0, fetched = 0;
            for (std::uint32_t c = 0; c < count; ++c) {
                if (c == kSoon) n_then = next_batch(then);
                if (fetched < n_then) fetch(then[fetched++]);
                if (try_one(now[c])) return;
            }
            if (count <= kSoon) n_then = next_batch(then);
            for (; fetched < n_then; ++fetched) fetch(then[fetched]);
            std::uint32_t* swap = now;
            now = then;
            then = swap;
            count = n_then;
        }
    }

private:
    Shuffle shuffle_;
    const std::uint32_t* pool_;
    std::uint32_t left_;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
