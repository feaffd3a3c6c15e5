// The target (classes, numbers or distances) and the statistics of a node's members.
//
// Numbers and distances are kept as whole multiples of a power of two (`fixed`, about 40 bits
// below the largest), so that sums over a node do not depend on their order and equal splits are
// equal to the last bit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nullforest {

enum class Criterion { gini, entropy, variance, neighbourhood };

// How samples count: once each, by whole multiplicities (bootstrap), or by real weights.
enum class Weighting { ones, counts, reals };

struct Outcome {
    Criterion criterion = Criterion::gini;
    std::size_t n_samples = 0;
    // gini, entropy: class of each sample
    std::uint32_t n_classes = 0;
    std::vector<std::uint32_t> label;
    // variance: S x n_outputs numbers; neighbourhood: S x S distances
    std::uint32_t n_outputs = 0;
    std::vector<double> value;
    std::vector<std::int64_t> fixed;
    // entropy: j log2 j, in units of 2^-32, for whole j
    std::vector<std::int64_t> entropy_terms;

    std::vector<double> weight;  // of the samples; empty when all are one
    double whole = 0.0;          // sum over all samples of (y - mean)^2
    std::uint64_t fingerprint = 0;

    bool classes() const { return criterion == Criterion::gini || criterion == Criterion::entropy; }
    // Numbers that a leaf predicts: class shares or means.
    std::uint32_t n_values() const { return classes() ? n_classes : n_outputs; }

    static Outcome of_classes(Criterion criterion, const std::int64_t* label, std::size_t n,
                              std::uint32_t n_classes, const double* weight, std::size_t n_drawn);
    // `n_columns`: outputs of the numbers, or samples.
    static Outcome of_values(Criterion criterion, const double* value, std::size_t n,
                             std::size_t n_columns, const double* weight, std::size_t n_drawn);

private:
    void finish(const double* sample_weight);
};

// The samples of one tree: how often each was drawn, and its weight there.
struct Bag {
    Weighting weighting = Weighting::ones;
    std::vector<std::uint32_t> count;  // 0: out of the bag
    std::vector<double> weight;        // count x sample weight; filled for Weighting::reals only

    double of(std::uint32_t sample) const {
        return weighting == Weighting::ones    ? 1.0
               : weighting == Weighting::counts ? static_cast<double>(count[sample])
                                                : weight[sample];
    }
};

struct NodeStatistics {
    double weight = 0.0;    // sum of the weights in the node
    double impurity = 0.0;  // Gini, entropy in bits, summed variances, or mean pairwise distance
    bool pure = false;
    double coupling = 0.0;  // r: how much of the whole sample's contrast the node holds
};

// Measures nodes; owns the scratch of one thread. Samples come in ascending order.
class NodeMeter {
public:
    explicit NodeMeter(const Outcome& outcome);
    NodeStatistics measure(const Bag& bag, const std::uint32_t* samples, std::uint32_t n);
    // What a leaf of these samples predicts: `n_values()` numbers.
    void value(const Bag& bag, const std::uint32_t* samples, std::uint32_t n, double* out);

private:
    NodeStatistics of_classes(const Bag&, const std::uint32_t*, std::uint32_t);
    NodeStatistics of_sums(std::uint32_t n_classes, const double* sums,
                           const double* squares) const;
    NodeStatistics of_numbers(const Bag&, const std::uint32_t*, std::uint32_t);
    NodeStatistics of_distances(const Bag&, const std::uint32_t*, std::uint32_t);

    const Outcome& outcome_;
    std::vector<double> sums_, squares_;
};

}  // namespace nullforest
