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

    // The same, and calls fetch(feature) some way ahead, so that its column has arrived by then.
    // Few nodes compare many candidates and many compare few: a batch is drawn only when the one
    // before has not ended the search at once.
    template <class Fetch, class Try>
    void each_fetched(const Fetch& fetch, const Try& try_one) {
        if (!started_) begin(fetch);
        each_fetched(begun_, fetch, try_one);
    }
    // Draws and fetches the first batch, for who has more to do before they are tried.
    template <class Fetch>
    void begin(const Fetch& fetch) {
        draw(begun_, fetch);
    }
    // The same, but the first batch is tried together: try_together(features, their number).
    template <class Fetch, class Together, class Try>
    void each_fetched(const Fetch& fetch, const Together& try_together, const Try& try_one) {
        if (!started_) begin(fetch);
        Buffers next;
        draw(next, fetch);
        if (try_together(static_cast<const std::uint32_t*>(begun_.now), begun_.count)) return;
        each_fetched(next, fetch, try_one);
    }

    // Calls try_batch(features, their number, place of the first), fetched one batch ahead.
    template <class Fetch, class Try>
    void each_batch(const Fetch& fetch, const Try& try_batch) {
        std::uint32_t buffers[2][kBatch], *now = buffers[0], *then = buffers[1];
        std::uint32_t place = drawn_, count = next_batch(now);
        for (std::uint32_t c = 0; c < count; ++c) fetch(now[c]);
        while (count) {
            const std::uint32_t n_then = next_batch(then);
            for (std::uint32_t c = 0; c < n_then; ++c) fetch(then[c]);
            if (try_batch(static_cast<const std::uint32_t*>(now), count, place)) return;
            place += count;
            count = n_then;
            std::uint32_t* swap = now;
            now = then;
            then = swap;
        }
    }

private:
    struct Buffers {
        std::uint32_t of[2][kBatch], *now = of[0], *then = of[1];
        std::uint32_t count = 0;  // of those now
    };
    template <class Fetch>
    void draw(Buffers& buffers, const Fetch& fetch) {
        buffers.count = next_batch(buffers.now);
        for (std::uint32_t c = 0; c < buffers.count; ++c) fetch(buffers.now[c]);
    }
    template <class Fetch, class Try>
    void each_fetched(Buffers& buffers, const Fetch& fetch, const Try& try_one) {
        constexpr std::uint32_t kSoon = 3;
        std::uint32_t *now = buffers.now, *then = buffers.then, count = buffers.count;
        std::uint32_t place = drawn_ - count;
        while (count) {
            std::uint32_t n_then = 0, fetched = 0;
            for (std::uint32_t c = 0; c < count; ++c) {
                if (c == kSoon) n_then = next_batch(then);
                if (fetched < n_then) fetch(then[fetched++]);
                if (try_one(now[c], place++)) return;
            }
            if (count <= kSoon) n_then = next_batch(then);
            for (; fetched < n_then; ++fetched) fetch(then[fetched]);
            std::uint32_t* swap = now;
            now = then;
            then = swap;
            count = n_then;
        }
    }

    Shuffle shuffle_;
    const std::uint32_t* features_;
    FirstCandidates* first_;
    std::uint32_t left_, n_first_, drawn_ = 0;
    bool started_ = false;
    Buffers begun_;
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
