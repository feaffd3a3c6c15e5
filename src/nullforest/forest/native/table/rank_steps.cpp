// Construction of planes and rows of steps.
#include "table/rank_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "table/rank_table.hpp"

namespace nullforest {

RankSteps::RankSteps(const RankTable& table)
    : table_(table), begin_(kSteps + 1), step_of_(table.n_samples()) {
    const double S = static_cast<double>(table.n_samples());
    // Any increasing begins will do, so that roundings of the sine do not matter.
    for (std::uint32_t b = 0; b < kSteps; ++b) {
        const double sine = std::sin(1.57079632679489662 * b / kSteps);
        begin_[b] = static_cast<std::uint32_t>(sine * sine * S + 0.5);
    }
    begin_[kSteps] = static_cast<std::uint32_t>(table.n_samples());
    for (std::uint32_t b = 0; b < kSteps; ++b)
        std::fill(step_of_.begin() + begin_[b], step_of_.begin() + begin_[b + 1],
                  static_cast<std::uint8_t>(b));
}

void RankSteps::make_planes(std::size_t n_threads, const Poll& poll) {
    std::call_once(planes_made_, [&] {
        constexpr std::size_t kAtOnce = 16;
        const std::size_t S = table_.n_samples(), F = table_.n_features();
        const std::size_t each = kPlanes * plane_words(S) * sizeof(std::uint64_t);
        if (F * each > kMostBytes) return;
        auto made = map_zeros(F * each);
        parallel_for((F + kAtOnce - 1) / kAtOnce, n_threads, poll, [&](Tasks& tasks) {
            std::vector<std::uint8_t> step((S + 7) / 8 * 8);
            for (std::size_t block; tasks.next(block);)
                for (std::size_t f = block * kAtOnce; f < std::min((block + 1) * kAtOnce, F); ++f) {
                    table_.with_ranks(f, [&](const auto* rank) {
                        for (std::size_t s = 0; s < S; ++s) step[s] = step_of_[rank[s]];
                    });
                    slice(step.data(), made.get() + f * each);
                }
        });
        planes_ = std::move(made);
    });
}

// Bit 5 - j of eight steps becomes a byte of plane j: a product moves bits of bytes together. (The
// bytes of words are those of every processor supported, the lowest first.)
void RankSteps::slice(const std::uint8_t* step, std::uint8_t* planes) const {
    constexpr std::uint64_t kEach = 0x0101010101010101ull, kTogether = 0x0102040810204080ull;
    const std::size_t S = table_.n_samples(), bytes = plane_words(S) * sizeof(std::uint64_t);
    for (std::size_t i = 0; 8 * i < S; ++i) {
        std::uint64_t eight;
        std::memcpy(&eight, step + 8 * i, 8);
        for (std::uint32_t j = 0; j < kPlanes; ++j)
            planes[j * bytes + i] = static_cast<std::uint8_t>(
                ((eight >> (kPlanes - 1 - j)) & kEach) * kTogether >> 56);
    }
}

}  // namespace nullforest
