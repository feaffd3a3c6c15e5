// Scores of splits: one running score per criterion, fed sample by sample from left to right.
//
// Scores with whole weights are exact: Gini and neighbourhood compare fractions of integers,
// entropy adds fixed-point terms, and variance squares an exact integer before its only roundings
//     D = W s_left - W_left s,   score = (D * D) * (1 / (W_left * W_right))     (doubles),
// summed over outputs in order. Real weights use doubles throughout, added in the order in which
// the samples cross.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "table/outcome.hpp"

namespace nullforest {

using Wide = __int128;

struct Fraction {
    Wide top = 0;
    std::int64_t bottom = 1;
};
inline bool operator>(const Fraction& a, const Fraction& b) {
    return a.top * b.bottom > b.top * a.bottom;
}

// Every score class: enter(node) once per node, restart() per candidate, cross(sample) per sample
// that goes left, then score(). perfect(score): whether both children are surely pure.
class GiniScore {
public:
    using Value = Fraction;
    GiniScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), total_(outcome.n_classes), left_(outcome.n_classes) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        std::fill(total_.begin(), total_.end(), 0);
        weight_ = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            total_[outcome_.label[samples[i]]] += bag_.count[samples[i]];
            weight_ += bag_.count[samples[i]];
        }
        squares_ = 0;
        for (std::int64_t t : total_) squares_ += t * t;
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), 0);
        left_weight_ = left_squares_ = 0;
        right_squares_ = squares_;
    }
    void cross(std::uint32_t sample) {
        const std::uint32_t c = outcome_.label[sample];
        const std::int64_t w = bag_.count[sample], right = total_[c] - left_[c];
        left_squares_ += w * (2 * left_[c] + w);
        right_squares_ -= w * (2 * right - w);
        left_[c] += w;
        left_weight_ += w;
    }
    Value score() const {
        const std::int64_t right = weight_ - left_weight_;
        return {Wide{left_squares_} * right + Wide{right_squares_} * left_weight_,
                left_weight_ * right};
    }
    bool perfect(const Value& v) const { return v.top == Wide{weight_} * v.bottom; }

private:
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<std::int64_t> total_, left_;
    std::int64_t weight_ = 0, squares_ = 0, left_weight_ = 0, left_squares_ = 0, right_squares_ = 0;
};

class EntropyScore {
public:
    using Value = std::int64_t;
    EntropyScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), total_(outcome.n_classes), left_(outcome.n_classes) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        std::fill(total_.begin(), total_.end(), 0);
        weight_ = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            total_[outcome_.label[samples[i]]] += bag_.count[samples[i]];
            weight_ += bag_.count[samples[i]];
        }
        whole_terms_ = 0;
        for (std::int64_t t : total_) whole_terms_ += outcome_.entropy_terms[t];
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), 0);
        left_weight_ = 0;
        terms_ = whole_terms_;
    }
    void cross(std::uint32_t sample) {
        const auto& q = outcome_.entropy_terms;
        const std::uint32_t c = outcome_.label[sample];
        const std::int64_t w = bag_.count[sample], right = total_[c] - left_[c];
        terms_ += q[left_[c] + w] - q[left_[c]] + q[right - w] - q[right];
        left_[c] += w;
        left_weight_ += w;
    }
    Value score() const {
        return terms_ - outcome_.entropy_terms[left_weight_] -
               outcome_.entropy_terms[weight_ - left_weight_];
    }
    bool perfect(const Value& v) const { return v == 0; }

private:
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<std::int64_t> total_, left_;
    std::int64_t weight_ = 0, left_weight_ = 0, terms_ = 0, whole_terms_ = 0;
};

class VarianceScore {
public:
    using Value = double;
    VarianceScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), total_(outcome.n_outputs), left_(outcome.n_outputs) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        std::fill(total_.begin(), total_.end(), 0);
        weight_ = 0;
        pair_ = n == 2;
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::int64_t w = bag_.count[samples[i]];
            weight_ += w;
            for (std::size_t q = 0; q < total_.size(); ++q)
                total_[q] += w * outcome_.fixed_number[samples[i] * total_.size() + q];
        }
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), 0);
        left_weight_ = 0;
    }
    void cross(std::uint32_t sample) {
        const std::int64_t w = bag_.count[sample];
        left_weight_ += w;
        for (std::size_t q = 0; q < left_.size(); ++q)
            left_[q] += w * outcome_.fixed_number[sample * left_.size() + q];
    }
    Value score() const {
        const double reciprocal = 1.0 / (static_cast<double>(left_weight_) *
                                         static_cast<double>(weight_ - left_weight_));
        double sum = 0.0;
        for (std::size_t q = 0; q < left_.size(); ++q) {
            const Wide exact = Wide{weight_} * left_[q] - Wide{left_weight_} * total_[q];
            const double d = static_cast<double>(exact);
            sum += d * d * reciprocal;
        }
        return sum;
    }
    bool perfect(const Value&) const { return pair_; }

private:
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<std::int64_t> total_, left_;
    std::int64_t weight_ = 0, left_weight_ = 0;
    bool pair_ = false;
};

class NeighbourhoodScore {
public:
    using Value = Fraction;
    NeighbourhoodScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), row_(outcome.n_samples), crossed_(outcome.n_samples) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        weight_ = pairs_ = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            std::int64_t sum = 0;
            for (std::uint32_t j = 0; j < n; ++j)
                sum += bag_.count[samples[j]] * at(samples[i], samples[j]);
            row_[samples[i]] = sum;
            pairs_ += bag_.count[samples[i]] * sum;
            weight_ += bag_.count[samples[i]];
        }
    }
    void restart() {
        n_crossed_ = 0;
        left_weight_ = left_pairs_ = 0;
        right_pairs_ = pairs_;
    }
    void cross(std::uint32_t sample) {
        const std::int64_t w = bag_.count[sample];
        std::int64_t left = 0;
        for (std::uint32_t j = 0; j < n_crossed_; ++j)
            left += bag_.count[crossed_[j]] * at(sample, crossed_[j]);
        const std::int64_t self = w * at(sample, sample);
        left_pairs_ += w * (2 * left + self);
        right_pairs_ -= w * (2 * (row_[sample] - left) - self);
        crossed_[n_crossed_++] = sample;
        left_weight_ += w;
    }
    Value score() const {  // negative: distances are to be small
        const std::int64_t right = weight_ - left_weight_;
        return {-(Wide{left_pairs_} * right + Wide{right_pairs_} * left_weight_),
                left_weight_ * right};
    }
    bool perfect(const Value& v) const { return v.top == 0; }

private:
    std::int64_t at(std::uint32_t a, std::uint32_t b) const {
        return outcome_.fixed_distance[a * outcome_.n_samples + b];
    }
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<std::int64_t> row_;
    std::vector<std::uint32_t> crossed_;
    std::uint32_t n_crossed_ = 0;
    std::int64_t weight_ = 0, pairs_ = 0, left_weight_ = 0, left_pairs_ = 0, right_pairs_ = 0;
};

}  // namespace nullforest
