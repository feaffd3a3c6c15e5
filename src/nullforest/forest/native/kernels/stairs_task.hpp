// Which steps of a column may hold a better split of a large node: numbers or classes, drawn once or
// several times, of a table by ranks.
//
// A bound, not a score: the members of open steps are scored exactly elsewhere. The members add up, in
// 64 steps of rank (RankSteps), their draws, and what they add to D: one number (their y less the mean
// of the node, positive and negative parts apart) or one of several classes. Within a step D stays
// between two bounds; |D|^2 is compared with what the best would have for as many draws on the left.
// The roundings of the parts are added to |D|, so that no better split is ever missed. All sums are of
// integers; those of a column stay in `sums` until the next one.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include <cstdint>

namespace nullforest {

// The members of each step of a column.
struct StairsSums {
    static constexpr std::uint32_t kSteps = 64, kMost = 8;

    std::uint32_t count[kSteps];
    // classes: the draws of each; numbers: draws, and draws times the fixed-point number
    std::int64_t of[kSteps][kMost];
    // by which steps are tested: |D|^2 at most, and the draws up to a step
    double square[kSteps], upto[kSteps + 1];
};

struct StairsTask {
    static constexpr std::uint32_t kSteps = StairsSums::kSteps, kMostClasses = StairsSums::kMost;

    // the rank table
    const std::uint8_t* block;
    std::uint64_t stride;
    std::uint32_t rank_bytes;
    const std::uint8_t* step_of;  // the step of a rank
    // the node; tables indexed by member
    std::uint32_t n, min_leaf;
    const std::uint32_t* samples;
    std::uint32_t n_classes;  // 0: numbers
    // numbers: draws, and 1 in the upper half; positive part and negative part, as integers; draws
    // times the fixed-point number
    const std::int64_t* parts;
    double unit;  // of the parts
    const std::uint32_t* draws;
    const std::uint8_t* classes;
    // of all members: draws, draws of each class, and how much sums of the parts may be off
    double weight, total[kMostClasses], lost;
    bool counts;  // members count as often as they were drawn
    // to be beaten or reached: |D|^2 / (k (weight - k)), less a margin
    double level;
    StairsSums* sums;  // of the column

    const std::uint8_t* ranks(std::uint32_t feature) const { return block + feature * stride; }
};

}  // namespace nullforest
