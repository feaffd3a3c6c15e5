// The best split of a node for every other criterion, of at most 1024 members.
//
// A screen rejects most columns, where there is one. For the others the members are picked out of the
// presorted order with a bitmap, or sorted by their ranks; one pass adds up what crosses
// the split (classes: sums of squared counts or entropy terms; numbers: D), a second compares all
// positions with the best at once. Scores are those of split_scores.hpp to the last bit: with at
// most 1 024 draws every integer involved is exact in a double.
//
// Plain data only: this header is compiled once per instruction set.
#pragma once
#include "kernels/kernel_task.hpp"

namespace nullforest {

struct ScanTask : KernelTask {
    static constexpr std::uint32_t kMost = kMostByOrder, kMostDraws = 1024;
    // Members, and classes among them, up to which the ceiling is worth its computation.
    static constexpr std::uint32_t kMostCeiling = 12, kMostWeightedCeiling = 8;
    static constexpr std::uint32_t kMostCeilingClasses = 5;
    // Members from which a screen is worth its tables, and what its arithmetic has room for.
    static constexpr std::uint32_t kFewestScreened = 13, kFewestScreenedWeighted = 9;
    static constexpr std::uint32_t kMostScreenedClasses = 5, kMostScreenedDraws = 8;
    enum Kind { gini, entropy, variance };

    Kind kind;
    bool counts;  // bootstrap: members count as often as they were drawn
    // members have real weights
    static constexpr std::uint32_t kMostRealClasses = 8;
    bool reals;
    // Tables by order: members are known by their sample, and `member` is a bitmap of the samples.
    // Tables by ranks: members are known by their number among the node's samples, ascending.
    bool by_rank;
    std::uint32_t rank_bytes;
    const std::uint32_t* samples;
    const std::uint8_t* step_of;  // the step of a rank, of 64 (RankSteps)
    // the node; tables indexed by member
    alignas(64) std::uint64_t member[kMost / 64];
    std::int64_t weight;               // draws in the node
    const std::uint16_t* label;        // classes
    const std::uint32_t* multiplicity;
    const std::int64_t* crossing;      // variance: what a member adds to D
    // with real weights: those of the members and their sum, for each class the weights of its members
    // (else 0) and their sum; or, for numbers, w (y - mean) in the first place
    const double* real_weight;
    const double* share[kMostRealClasses];
    double real_total, real_class_total[kMostRealClasses];
    // for the screen (envelopes.hpp, stairs_screen.hpp), where it can be used; tables indexed by member
    bool screens;
    alignas(64) std::uint8_t unary[kMost];  // as many bits, from the lowest, as a member has draws
    // variance: what one draw of a member adds to D, times `scale`, as an integer of 16 bits, and
    // the sum of these over all draws
    alignas(64) std::uint8_t low[kMost], high[kMost];
    double scale, rounded_total;
    // Gini: the classes of the node numbered anew; the class of each member is in `low`
    std::uint32_t n_present;
    std::int64_t present_total[kMostScreenedClasses];
    const std::int64_t* class_total;
    std::int64_t sum_of_squares, sum_of_terms;  // over the classes of the node
    std::uint32_t n_classes;
    const std::int64_t* entropy_terms;
    // the highest score of any division (scan_node.hpp), where it is known
    bool has_ceiling;
    double ceiling_top, ceiling_bottom;
    std::int64_t ceiling_terms;
    // for features with missing values; returns whether one of its splits became the best
    bool (*try_slowly)(void* owner, std::uint32_t feature);
    // the best so far: top / bottom (Gini), top (variance), terms (entropy), value (real weights)
    double best_top, best_bottom, best_value;
    std::int64_t best_terms;

    // Whether no split can beat the best.
    bool perfect() const {
        if (reals) return found && n == 2;  // roundings hide any other
        if (!found || !has_ceiling) return false;
        if (kind == entropy) return best_terms >= ceiling_terms;
        if (kind == variance) return best_top >= ceiling_top;
        return best_top * ceiling_bottom >= ceiling_top * best_bottom;
    }
};

}  // namespace nullforest
