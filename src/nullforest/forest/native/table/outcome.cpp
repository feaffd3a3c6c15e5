// Targets in whole numbers, and the impurity, coupling and prediction of a node.
#include "table/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "random/keyed_random.hpp"
#include "table/binary_logarithm.hpp"

namespace nullforest {

namespace {

// Whole multiples of the power of two that brings the largest of the values to about `bits` bits.
std::vector<std::int64_t> to_fixed(const std::vector<double>& values, double centre, int bits) {
    double largest = 0.0;
    for (double v : values) largest = std::max(largest, std::fabs(v - centre));
    int exponent;
    std::frexp(largest, &exponent);
    const double scale = std::ldexp(1.0, std::min(bits - exponent, 1000));  // finite, if tiny
    std::vector<std::int64_t> fixed(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        fixed[i] = std::llround((values[i] - centre) * scale);
    return fixed;
}

}  // namespace

Outcome Outcome::of_classes(Criterion criterion, const std::int64_t* label, std::size_t n,
                            std::uint32_t n_classes, const double* weight, std::size_t n_drawn) {
    Outcome o;
    o.criterion = criterion;
    o.n_samples = n;
    o.n_classes = n_classes;
    o.label.assign(label, label + n);
    if (criterion == Criterion::entropy) o.entropy_terms = nullforest::entropy_terms(n_drawn);
    o.finish(weight);
    return o;
}

Outcome Outcome::of_values(Criterion criterion, const double* value, std::size_t n,
                           std::size_t n_columns, const double* weight, std::size_t n_drawn) {
    Outcome o;
    o.criterion = criterion;
    o.n_samples = n;
    o.value.assign(value, value + n * n_columns);
    if (criterion == Criterion::variance) {
        o.n_outputs = static_cast<std::uint32_t>(n_columns);
        // Centre on a value that occurs, so that differences of round numbers stay round.
        std::vector<double> sorted = o.value;
        std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
        o.fixed = to_fixed(o.value, sorted[sorted.size() / 2], 40);
    } else {
        // Sums over all pairs of a node must stay below 2^62.
        const int draw_bits = 64 - __builtin_clzll(n_drawn);
        o.fixed = to_fixed(o.value, 0.0, std::min(40, 61 - 2 * draw_bits));
    }
    o.finish(weight);
    return o;
}

void Outcome::finish(const double* sample_weight) {
    Bag all_samples;
    all_samples.count.assign(n_samples, 1);
    std::vector<std::uint32_t> all(n_samples);
    for (std::size_t s = 0; s < n_samples; ++s) all[s] = static_cast<std::uint32_t>(s);
    whole = 1.0;
    NodeMeter meter(*this);
    whole = meter.measure(all_samples, all.data(), static_cast<std::uint32_t>(n_samples)).coupling;
    if (sample_weight) weight.assign(sample_weight, sample_weight + n_samples);

    const auto absorb = [this](const void* data, std::size_t bytes) {
        const char* p = static_cast<const char*>(data);
        for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
            std::uint32_t word;
            std::memcpy(&word, p + i, 4);
            fingerprint = mix(fingerprint + kGolden * (word + std::uint64_t{1}));
        }
    };
    absorb(label.data(), label.size() * sizeof label[0]);
    absorb(value.data(), value.size() * sizeof value[0]);
    absorb(weight.data(), weight.size() * sizeof weight[0]);
}

NodeMeter::NodeMeter(const Outcome& outcome)
    : outcome_(outcome),
      sums_(std::max<std::size_t>(outcome.n_values(), outcome.classes() ? 1 : outcome.n_samples)),
      squares_(sums_.size()) {}

NodeStatistics NodeMeter::measure(const Bag& bag, const std::uint32_t* samples, std::uint32_t n) {
    if (outcome_.classes()) return of_classes(bag, samples, n);
    if (outcome_.criterion == Criterion::variance) return of_numbers(bag, samples, n);
    return of_distances(bag, samples, n);
}

// r = top^2 / (bottom * whole) with top = sum w |y - mean|^2, bottom = sum w^2 |y - mean|^2;
// with weights of one top = bottom, and r is the node's share of the whole impurity.
static double coupling(double top, double bottom, double whole) {
    return bottom > 0.0 && whole > 0.0 ? top * top / (bottom * whole) : 0.0;
}

// Of the classes' sums of weights and, where weights differ from one, of their squares.
inline NodeStatistics NodeMeter::of_sums(std::uint32_t n_classes, const double* sums,
                                         const double* squares) const {
    NodeStatistics node;
    double largest = 0.0;
    for (std::uint32_t c = 0; c < n_classes; ++c) {
        node.weight += sums[c];
        largest = std::max(largest, sums[c]);
    }
    node.pure = largest == node.weight;
    const bool gini = outcome_.criterion == Criterion::gini;
    double homogeneity = 0.0, entropy = 0.0;
    for (std::uint32_t c = 0; c < n_classes; ++c) {
        const double share = sums[c] / node.weight;
        homogeneity += share * share;
        if (!gini && share > 0.0) entropy -= share * binary_logarithm(share);
    }
    node.impurity = gini ? 1.0 - homogeneity : entropy;
    if (node.pure) node.impurity = 0.0;
    const double top = node.weight * (1.0 - homogeneity);
    double bottom = top;
    if (squares) {
        bottom = 0.0;
        for (std::uint32_t c = 0; c < n_classes; ++c)
            bottom += squares[c] * (1.0 - 2.0 * sums[c] / node.weight + homogeneity);
    }
    node.coupling = node.pure ? 0.0 : coupling(top, bottom, outcome_.whole);
    return node;
}

NodeStatistics NodeMeter::of_classes(const Bag& bag, const std::uint32_t* samples,
                                     std::uint32_t n) {
    const std::uint32_t C = outcome_.n_classes;
    const bool ones = bag.weighting == Weighting::ones;
    if (C == 2 && ones) {  // counted without waiting for each sum
        std::uint32_t second = 0;
        for (std::uint32_t i = 0; i < n; ++i) second += outcome_.label[samples[i]];
        const double sums[2] = {static_cast<double>(n - second), static_cast<double>(second)};
        return of_sums(2, sums, nullptr);
    }
    std::fill(sums_.begin(), sums_.begin() + C, 0.0);
    std::fill(squares_.begin(), squares_.begin() + C, 0.0);
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t c = outcome_.label[samples[i]];
        const double w = bag.of(samples[i]);
        sums_[c] += w;
        squares_[c] += w * w;
    }
    return of_sums(C, sums_.data(), ones ? nullptr : squares_.data());
}

NodeStatistics NodeMeter::of_numbers(const Bag& bag, const std::uint32_t* samples,
                                     std::uint32_t n) {
    const std::uint32_t Q = outcome_.n_outputs;
    NodeStatistics node;
    node.pure = true;
    std::fill(sums_.begin(), sums_.begin() + Q, 0.0);
    for (std::uint32_t i = 0; i < n; ++i) {
        const double w = bag.of(samples[i]);
        node.weight += w;
        for (std::uint32_t q = 0; q < Q; ++q) {
            sums_[q] += w * outcome_.value[samples[i] * std::size_t{Q} + q];
            node.pure = node.pure && outcome_.fixed[samples[i] * std::size_t{Q} + q] ==
                                         outcome_.fixed[samples[0] * std::size_t{Q} + q];
        }
    }
    if (node.pure) return node;
    double top = 0.0, bottom = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const double w = bag.of(samples[i]);
        for (std::uint32_t q = 0; q < Q; ++q) {
            const double d = outcome_.value[samples[i] * std::size_t{Q} + q] -
                             sums_[q] / node.weight;
            top += w * d * d;
            bottom += w * w * d * d;
        }
    }
    node.impurity = top / node.weight;
    node.coupling = coupling(top, bottom, outcome_.whole);
    return node;
}

// For any distances d the double sum over pairs stands for 2 W sum w |y - mean|^2 / 2.
NodeStatistics NodeMeter::of_distances(const Bag& bag, const std::uint32_t* samples,
                                       std::uint32_t n) {
    NodeStatistics node;
    double pairs = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const double* row = outcome_.value.data() + samples[i] * outcome_.n_samples;
        double sum = 0.0;
        for (std::uint32_t j = 0; j < n; ++j) sum += bag.of(samples[j]) * row[samples[j]];
        sums_[i] = sum;
        node.weight += bag.of(samples[i]);
        pairs += bag.of(samples[i]) * sum;
    }
    node.impurity = pairs / (node.weight * node.weight);
    node.pure = pairs == 0.0;
    double bottom = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const double w = bag.of(samples[i]);
        bottom += w * w * (2.0 * sums_[i] / node.weight - node.impurity);
    }
    node.coupling = node.pure ? 0.0 : coupling(pairs / node.weight, bottom, outcome_.whole);
    return node;
}

void NodeMeter::value(const Bag& bag, const std::uint32_t* samples, std::uint32_t n, double* out) {
    const std::uint32_t V = outcome_.n_values();
    std::fill(out, out + V, 0.0);
    double weight = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const double w = bag.of(samples[i]);
        weight += w;
        if (outcome_.classes())
            out[outcome_.label[samples[i]]] += w;
        else
            for (std::uint32_t v = 0; v < V; ++v)
                out[v] += w * outcome_.value[samples[i] * std::size_t{V} + v];
    }
    for (std::uint32_t v = 0; v < V; ++v) out[v] /= weight;
}

}  // namespace nullforest
