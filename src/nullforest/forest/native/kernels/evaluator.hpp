// The best split of a node among its candidates, defined the same for every kernel.
#pragma once
#include <cstdint>
#include <memory>

#include "random/candidates.hpp"
#include "table/outcome.hpp"
#include "table/rank_table.hpp"

namespace nullforest {

// The kernels to use: the generic ones, or the fast ones for an instruction set (see searches.hpp).
enum class Isa { generic, portable, avx2, avx512, neon };

struct Settings {
    std::uint32_t candidates = 1;  // features compared at a node
    std::uint32_t pool = 1;        // features a tree can use, of those that vary
    std::uint32_t n_drawn = 0;     // samples drawn for a tree
    bool replace = false;
    std::uint32_t min_leaf = 1, min_split = 2, max_depth = 0xffffffffu;
    double min_gain = 0.0;
    std::uint64_t seed = 0;
    std::uint32_t first_tree = 0, n_trees = 0;
    bool keep_trees = false, oob = false;
    bool listed = false;  // list what the trees selected, to be added elsewhere
    Isa isa = Isa::portable;
};

inline Weighting weighting_of(const Outcome& outcome, const Settings& settings) {
    if (!outcome.weight.empty()) return Weighting::reals;
    return settings.replace ? Weighting::counts : Weighting::ones;
}

// A node to be split.
struct NodeQuery {
    const std::uint32_t* samples;  // ascending
    std::uint32_t n;
    std::uint64_t draw_key;
};

// The winner. Members sorted by the feature, known values first: `n_left` of them go left, and so
// do those whose value is missing when `missing_left`.
struct Split {
    std::uint32_t feature = 0;
    std::uint32_t n_left = 0;
    bool missing_left = false;
    std::uint32_t place = 0;  // of the feature among the candidates, in draw order
    bool perfect = false;     // nothing can beat it, whatever the feature
    // The first candidates of the node, until the next search; null where the kernel does not say.
    const FirstCandidates* first = nullptr;
};

// One per thread. Rules that every evaluator keeps, so that all find the same split:
//   - candidates in draw order, positions ascending, missing right before missing left;
//   - a later split wins only when its score is strictly greater (exactly, see split_scores.hpp);
//   - any split that leaves min_leaf samples on both sides beats none, gain or not;
//   - it may stop at a split that nothing can beat: into two pure children, or as good as the best
//     division of the members whatever the feature.
class Evaluator {
public:
    virtual ~Evaluator() = default;
    // `pool` holds the tree's features, or is null where it may use all.
    virtual void begin_tree(const Bag& bag, const std::uint32_t* pool) = 0;
    virtual bool best_split(const NodeQuery& node, Split& split) = 0;
};

// The fastest kernel that fits (see searches.hpp).
std::unique_ptr<Evaluator> make_evaluator(const RankTable& table, const Outcome& outcome,
                                          const Settings& settings, Weighting weighting);

}  // namespace nullforest
