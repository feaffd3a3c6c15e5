// One tree, grown depth first, left before right, every draw from the node's key.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/evaluator.hpp"
#include "kernels/sorted_members.hpp"
#include "probes/probe_evaluator.hpp"

namespace nullforest {

// count[s]: how often sample s is drawn for the tree of this key; 0 out of the bag.
void draw_bag(const Settings& settings, const ShuffleShape& samples, std::uint64_t tree_key,
              std::vector<std::uint32_t>& count, std::vector<std::uint32_t>& scratch);

// A grown tree. Nodes in preorder; leaves have feature -1.
struct FlatTree {
    std::vector<std::int32_t> feature, left, right;
    std::vector<double> threshold, impurity, value;
    std::vector<std::uint32_t> n_samples;
    std::vector<std::uint8_t> missing_left;
};

// The selections and predictions of trees, one after the other. Those of a part of a forest, added in
// this order, give the sums of the whole to the last bit; they are far smaller than the sums as long as
// there are fewer nodes than features.
struct Listing {
    std::vector<std::uint32_t> feature;  // one entry per internal node, in preorder
    std::vector<std::uint8_t> coupling_bin;
    std::vector<double> importance;  // decrease of impurity, as a share of that of the tree
    std::vector<std::uint32_t> oob_sample;  // one entry per tree and sample that it did not see
    std::vector<double> oob_value;          // n_values each
};

// What a tree adds to the forest.
struct TreeResult {
    Listing list;
    // one entry per win of a probe
    std::vector<std::uint32_t> probe_winner;
    std::vector<std::uint8_t> probe_coupling_bin;
    FlatTree tree;  // when kept

    void clear();
};

class TreeGrower {
public:
    // `probes` may be null: none are evaluated.
    TreeGrower(const RankTable& table, const Outcome& outcome, const Settings& settings,
               const ProbeSet* probes, const std::vector<double>& coupling_edges);

    // Grows tree number `tree`; false when `stop` said so on the way.
    bool grow(std::uint64_t tree, const std::function<bool()>& stop, TreeResult& result);

private:
    // A node waiting to be split: spans of the sample and the out-of-bag arrays.
    struct Pending {
        std::uint32_t begin, end, oob_begin, oob_end, depth;
        std::uint64_t key;
        NodeStatistics statistics;
        std::int32_t parent;
        bool is_right;
    };

    void draw_samples(std::uint64_t key);
    // The features of a tree; null for all.
    const std::uint32_t* draw_pool(std::uint64_t key);
    bool may_split(const Pending& node) const;
    NodeQuery query(const Pending& node) const;
    void evaluate_probes(const Pending& node, const Split* winner, double tree_weight,
                         TreeResult& result);
    // Sorts the members by the feature of the split, and notes which of them go left.
    void mark_left(const Pending& node, const Split& split, SortedMembers& members);
    double decrease_by(const Pending& node, const Split& split, double tree_weight);
    // Moves the members marked to go left to the front; returns where the right ones begin.
    std::uint32_t partition(const Pending& node);
    double threshold_of(const Split& split) const;
    std::uint32_t partition_oob(const Pending& node, const Split& split, bool missing_left);
    void record_leaf(const Pending& node, TreeResult& result);
    std::int32_t record_node(const Pending& node, FlatTree& tree);
    std::uint8_t coupling_bin(double r) const;

    const RankTable& table_;
    const Outcome& outcome_;
    const Settings& settings_;
    const std::vector<double>& edges_;
    ShuffleShape pool_shape_, sample_shape_;
    Bag bag_;
    NodeMeter meter_;
    SortedMembers members_;
    std::unique_ptr<Evaluator> evaluator_;
    std::unique_ptr<ProbeEvaluator> probes_;
    std::unique_ptr<SortedMembers> probe_members_;
    std::vector<std::uint32_t> samples_, oob_, pool_, buffer_;
    std::uint32_t n_drawn_ = 0, n_oob_ = 0;  // of the samples, each once
    std::vector<std::uint8_t> goes_left_;
    std::vector<Pending> stack_;
    std::vector<double> leaf_value_;
};

}  // namespace nullforest
