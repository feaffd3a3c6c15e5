// Scores of splits: one running score per criterion, fed sample by sample from left to right.
//
// Scores with whole weights are exact: Gini and neighbourhood compare fractions of integers,
// entropy adds fixed-point terms, and variance squares an exact integer before its only roundings
//     D = W s_left - W_left s,   score = (D * D) * (1 / (W_left * W_right))     (doubles),
// summed over outputs in order. Real weights use doubles throughout, added in the order in which
// the samples cross.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "table/binary_logarithm.hpp"
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

// The weights of a node and of its left side, whole (std::int64_t) or real (double).
//
// Every score class: enter(node) once per node, restart() per candidate, cross(sample) per sample
// that goes left, then score(). perfect(score): whether both children are surely pure. kAdds: whether
// samples add up exactly, in any order, so that cross_all(sums) does what crossing them one by one
// does; the sums are the draws of each class, or the draws and the sum of each output.
template <class Weight>
class SplitScore {
public:
    static constexpr bool kReal = std::is_same_v<Weight, double>;
    static constexpr bool kAdds = !kReal;

    SplitScore(const Outcome& outcome, const Bag& bag) : outcome_(outcome), bag_(bag) {}
    bool perfect(double) const { return pair_; }  // roundings hide any other

protected:
    Weight of(std::uint32_t sample) const {
        if constexpr (kReal)
            return bag_.weight[sample];
        else
            return bag_.count[sample];
    }
    // Entry of the numbers or distances, whole with whole weights.
    Weight y(std::size_t entry) const {
        if constexpr (kReal)
            return outcome_.value[entry];
        else
            return outcome_.fixed[entry];
    }
    void enter_weights(const std::uint32_t* samples, std::uint32_t n) {
        pair_ = n == 2;
        weight_ = 0;
        for (std::uint32_t i = 0; i < n; ++i) weight_ += of(samples[i]);
    }

    const Outcome& outcome_;
    const Bag& bag_;
    Weight weight_ = 0, left_weight_ = 0;
    bool pair_ = false;
};

// Weights of the classes.
template <class Weight>
class ClassScore : public SplitScore<Weight> {
public:
    static constexpr bool kClasses = true;
    ClassScore(const Outcome& outcome, const Bag& bag)
        : SplitScore<Weight>(outcome, bag), total_(outcome.n_classes), left_(outcome.n_classes) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        this->enter_weights(samples, n);
        std::fill(total_.begin(), total_.end(), Weight{0});
        for (std::uint32_t i = 0; i < n; ++i)
            total_[this->outcome_.label[samples[i]]] += this->of(samples[i]);
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), Weight{0});
        this->left_weight_ = 0;
    }
    void cross(std::uint32_t sample) { add(this->outcome_.label[sample], this->of(sample)); }

protected:
    void add(std::uint32_t c, Weight w) {
        left_[c] += w;
        this->left_weight_ += w;
    }
    std::vector<Weight> total_, left_;
};

class GiniScore : public ClassScore<std::int64_t> {
public:
    using Value = Fraction;
    using ClassScore::ClassScore;

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        ClassScore::enter(samples, n);
        squares_ = 0;
        for (std::int64_t t : total_) squares_ += t * t;
    }
    void restart() {
        ClassScore::restart();
        left_squares_ = 0;
        right_squares_ = squares_;
    }
    void cross(std::uint32_t sample) { cross(outcome_.label[sample], of(sample)); }
    void cross_all(const std::int64_t* sums) {
        for (std::uint32_t c = 0; c < total_.size(); ++c) cross(c, sums[c]);
    }
    Value score() const {
        const std::int64_t right = weight_ - left_weight_;
        return {Wide{left_squares_} * right + Wide{right_squares_} * left_weight_,
                left_weight_ * right};
    }
    bool perfect(const Value& v) const { return v.top == Wide{weight_} * v.bottom; }

private:
    void cross(std::uint32_t c, std::int64_t w) {
        left_squares_ += w * (2 * left_[c] + w);
        right_squares_ -= w * (2 * (total_[c] - left_[c]) - w);
        add(c, w);
    }
    std::int64_t squares_ = 0, left_squares_ = 0, right_squares_ = 0;
};

class EntropyScore : public ClassScore<std::int64_t> {
public:
    using Value = std::int64_t;
    using ClassScore::ClassScore;

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        ClassScore::enter(samples, n);
        whole_terms_ = 0;
        for (std::int64_t t : total_) whole_terms_ += outcome_.entropy_terms[t];
    }
    void restart() {
        ClassScore::restart();
        terms_ = whole_terms_;
    }
    void cross(std::uint32_t sample) { cross(outcome_.label[sample], of(sample)); }
    void cross_all(const std::int64_t* sums) {
        for (std::uint32_t c = 0; c < total_.size(); ++c) cross(c, sums[c]);
    }
    Value score() const {
        return terms_ - outcome_.entropy_terms[left_weight_] -
               outcome_.entropy_terms[weight_ - left_weight_];
    }
    bool perfect(const Value& v) const { return v == 0; }

private:
    void cross(std::uint32_t c, std::int64_t w) {
        const auto& q = outcome_.entropy_terms;
        const std::int64_t right = total_[c] - left_[c];
        terms_ += q[left_[c] + w] - q[left_[c]] + q[right - w] - q[right];
        add(c, w);
    }
    std::int64_t terms_ = 0, whole_terms_ = 0;
};

// Real weights: sum over both sides of sum_c L_c^2 / W (Gini) or of sum_c L_c log2(L_c / W)
// (entropy).
class RealClassScore : public ClassScore<double> {
public:
    using Value = double;
    using ClassScore::ClassScore;

    Value score() const {
        double left = 0.0, right = 0.0, sum = 0.0;
        for (std::size_t c = 0; c < total_.size(); ++c) {
            left += left_[c];
            right += total_[c] - left_[c];
        }
        for (std::size_t c = 0; c < total_.size(); ++c)
            sum += term(left_[c], left) + term(total_[c] - left_[c], right);
        return sum;
    }

private:
    double term(double part, double side) const {
        if (!(part > 0.0) || !(side > 0.0)) return 0.0;
        return outcome_.criterion == Criterion::gini ? part * part / side
                                                     : part * binary_logarithm(part / side);
    }
};

// Numbers: sum over outputs of s_left^2 / W_left + s_right^2 / W_right, y less its node mean. With
// whole weights y is whole too, and its mean enters with D.
template <class Weight>
class VarianceScore : public SplitScore<Weight> {
public:
    using Value = double;
    static constexpr bool kClasses = false;
    VarianceScore(const Outcome& outcome, const Bag& bag)
        : SplitScore<Weight>(outcome, bag), total_(outcome.n_outputs), left_(outcome.n_outputs) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        this->enter_weights(samples, n);
        std::fill(total_.begin(), total_.end(), Weight{0});
        for (std::uint32_t i = 0; i < n; ++i)
            for (std::size_t q = 0; q < total_.size(); ++q)
                total_[q] += this->of(samples[i]) * at(samples[i], q);
        if constexpr (SplitScore<Weight>::kReal)
            for (double& t : total_) t /= this->weight_;
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), Weight{0});
        this->left_weight_ = 0;
    }
    void cross(std::uint32_t sample) {
        const Weight w = this->of(sample);
        this->left_weight_ += w;
        for (std::size_t q = 0; q < left_.size(); ++q) {
            if constexpr (SplitScore<Weight>::kReal)
                left_[q] += w * (at(sample, q) - total_[q]);
            else
                left_[q] += w * at(sample, q);
        }
    }
    void cross_all(const std::int64_t* sums) {
        this->left_weight_ += sums[0];
        for (std::size_t q = 0; q < left_.size(); ++q) left_[q] += sums[1 + q];
    }
    Value score() const {
        const double spread = static_cast<double>(this->left_weight_) *
                              static_cast<double>(this->weight_ - this->left_weight_);
        const double reciprocal = 1.0 / spread;
        double sum = 0.0;
        for (std::size_t q = 0; q < left_.size(); ++q) {
            if constexpr (SplitScore<Weight>::kReal) {
                if (spread > 0.0) sum += left_[q] * left_[q] / spread;
            } else {
                const auto d = static_cast<double>(Wide{this->weight_} * left_[q] -
                                                   Wide{this->left_weight_} * total_[q]);
                sum += d * d * reciprocal;
            }
        }
        return sum;
    }

private:
    Weight at(std::uint32_t sample, std::size_t q) const {
        return this->y(sample * total_.size() + q);
    }
    std::vector<Weight> total_, left_;  // with real weights the mean, and the sum of what is left
};

// Distances: minus the sum over both sides of the pairwise distances over the side's weight.
template <class Weight>
class NeighbourhoodScore : public SplitScore<Weight> {
public:
    using Value = std::conditional_t<SplitScore<Weight>::kReal, double, Fraction>;
    using SplitScore<Weight>::perfect;
    static constexpr bool kAdds = false;
    NeighbourhoodScore(const Outcome& outcome, const Bag& bag)
        : SplitScore<Weight>(outcome, bag), row_(outcome.n_samples), crossed_(outcome.n_samples) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        this->enter_weights(samples, n);
        pairs_ = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            Weight sum = 0;
            for (std::uint32_t j = 0; j < n; ++j)
                sum += this->of(samples[j]) * at(samples[i], samples[j]);
            row_[samples[i]] = sum;
            pairs_ += this->of(samples[i]) * sum;
        }
    }
    void restart() {
        n_crossed_ = 0;
        this->left_weight_ = left_pairs_ = 0;
        right_pairs_ = pairs_;
    }
    void cross(std::uint32_t sample) {
        const Weight w = this->of(sample), self = w * at(sample, sample);
        Weight left = 0;
        for (std::uint32_t j = 0; j < n_crossed_; ++j)
            left += this->of(crossed_[j]) * at(sample, crossed_[j]);
        left_pairs_ += w * (2 * left + self);
        right_pairs_ -= w * (2 * (row_[sample] - left) - self);
        crossed_[n_crossed_++] = sample;
        this->left_weight_ += w;
    }
    Value score() const {  // negative: distances are to be small
        const Weight right = this->weight_ - this->left_weight_;
        if constexpr (SplitScore<Weight>::kReal)
            return -(left_pairs_ / this->left_weight_ + right_pairs_ / right);
        else
            return {-(Wide{left_pairs_} * right + Wide{right_pairs_} * this->left_weight_),
                    this->left_weight_ * right};
    }
    bool perfect(const Fraction& v) const { return v.top == 0; }

private:
    Weight at(std::uint32_t a, std::uint32_t b) const {
        return this->y(a * this->outcome_.n_samples + b);
    }
    std::vector<Weight> row_;
    std::vector<std::uint32_t> crossed_;
    std::uint32_t n_crossed_ = 0;
    Weight pairs_ = 0, left_pairs_ = 0, right_pairs_ = 0;
};

// Calls `make` with a null pointer to the score of the criterion.
template <class Make>
auto with_score(const Outcome& outcome, Weighting weighting, const Make& make) {
    const bool real = weighting == Weighting::reals;
    if (outcome.classes() && real) return make((RealClassScore*)nullptr);
    switch (outcome.criterion) {
        case Criterion::gini: return make((GiniScore*)nullptr);
        case Criterion::entropy: return make((EntropyScore*)nullptr);
        case Criterion::variance:
            return real ? make((VarianceScore<double>*)nullptr)
                        : make((VarianceScore<std::int64_t>*)nullptr);
        default:
            return real ? make((NeighbourhoodScore<double>*)nullptr)
                        : make((NeighbourhoodScore<std::int64_t>*)nullptr);
    }
}

}  // namespace nullforest
