// Scores of splits with real weights, in doubles, and the score that belongs to a criterion.
#pragma once
#include "kernels/split_scores.hpp"

namespace nullforest {

// Classes: sum over both sides of sum_c L_c^2 / W (Gini) or of sum_c L_c log2(L_c / W) (entropy).
class WeightedClassScore {
public:
    using Value = double;
    WeightedClassScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), total_(outcome.n_classes), left_(outcome.n_classes) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        std::fill(total_.begin(), total_.end(), 0.0);
        pair_ = n == 2;
        for (std::uint32_t i = 0; i < n; ++i)
            total_[outcome_.label[samples[i]]] += bag_.weight[samples[i]];
    }
    void restart() { std::fill(left_.begin(), left_.end(), 0.0); }
    void cross(std::uint32_t sample) { left_[outcome_.label[sample]] += bag_.weight[sample]; }
    Value score() const {
        double left = 0.0, right = 0.0;
        for (std::size_t c = 0; c < total_.size(); ++c) {
            left += left_[c];
            right += total_[c] - left_[c];
        }
        double sum = 0.0;
        for (std::size_t c = 0; c < total_.size(); ++c)
            sum += term(left_[c], left) + term(total_[c] - left_[c], right);
        return sum;
    }
    bool perfect(const Value&) const { return pair_; }

private:
    double term(double part, double side) const {
        if (!(part > 0.0) || !(side > 0.0)) return 0.0;
        return outcome_.criterion == Criterion::gini ? part * part / side
                                                     : part * std::log2(part / side);
    }
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<double> total_, left_;
    bool pair_ = false;
};

// Numbers: sum over outputs of s_left^2 / W_left + s_right^2 / W_right, y less its node mean.
class WeightedVarianceScore {
public:
    using Value = double;
    WeightedVarianceScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), mean_(outcome.n_outputs), left_(outcome.n_outputs) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        std::fill(mean_.begin(), mean_.end(), 0.0);
        weight_ = 0.0;
        pair_ = n == 2;
        for (std::uint32_t i = 0; i < n; ++i) {
            weight_ += bag_.weight[samples[i]];
            for (std::size_t q = 0; q < mean_.size(); ++q)
                mean_[q] += bag_.weight[samples[i]] * at(samples[i], q);
        }
        for (double& m : mean_) m /= weight_;
    }
    void restart() {
        std::fill(left_.begin(), left_.end(), 0.0);
        left_weight_ = 0.0;
    }
    void cross(std::uint32_t sample) {
        left_weight_ += bag_.weight[sample];
        for (std::size_t q = 0; q < left_.size(); ++q)
            left_[q] += bag_.weight[sample] * (at(sample, q) - mean_[q]);
    }
    Value score() const {
        const double spread = left_weight_ * (weight_ - left_weight_);
        double sum = 0.0;
        for (double s : left_) sum += s * s / spread;
        return sum;
    }
    bool perfect(const Value&) const { return pair_; }

private:
    double at(std::uint32_t sample, std::size_t q) const {
        return outcome_.number[sample * mean_.size() + q];
    }
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<double> mean_, left_;
    double weight_ = 0.0, left_weight_ = 0.0;
    bool pair_ = false;
};

// Distances: minus the sum over both sides of the pairwise distances over the side's weight.
class WeightedNeighbourhoodScore {
public:
    using Value = double;
    WeightedNeighbourhoodScore(const Outcome& outcome, const Bag& bag)
        : outcome_(outcome), bag_(bag), row_(outcome.n_samples), crossed_(outcome.n_samples) {}

    void enter(const std::uint32_t* samples, std::uint32_t n) {
        weight_ = pairs_ = 0.0;
        pair_ = n == 2;
        for (std::uint32_t i = 0; i < n; ++i) {
            double sum = 0.0;
            for (std::uint32_t j = 0; j < n; ++j)
                sum += bag_.weight[samples[j]] * at(samples[i], samples[j]);
            row_[samples[i]] = sum;
            pairs_ += bag_.weight[samples[i]] * sum;
            weight_ += bag_.weight[samples[i]];
        }
    }
    void restart() {
        n_crossed_ = 0;
        left_weight_ = left_pairs_ = 0.0;
        right_pairs_ = pairs_;
    }
    void cross(std::uint32_t sample) {
        const double w = bag_.weight[sample];
        double left = 0.0;
        for (std::uint32_t j = 0; j < n_crossed_; ++j)
            left += bag_.weight[crossed_[j]] * at(sample, crossed_[j]);
        left_pairs_ += 2.0 * w * left;
        right_pairs_ -= 2.0 * w * (row_[sample] - left);
        crossed_[n_crossed_++] = sample;
        left_weight_ += w;
    }
    Value score() const {
        return -(left_pairs_ / left_weight_ + right_pairs_ / (weight_ - left_weight_));
    }
    bool perfect(const Value&) const { return pair_; }

private:
    double at(std::uint32_t a, std::uint32_t b) const {
        return outcome_.distance[a * outcome_.n_samples + b];
    }
    const Outcome& outcome_;
    const Bag& bag_;
    std::vector<double> row_;
    std::vector<std::uint32_t> crossed_;
    std::uint32_t n_crossed_ = 0;
    double weight_ = 0.0, pairs_ = 0.0, left_weight_ = 0.0, left_pairs_ = 0.0, right_pairs_ = 0.0;
    bool pair_ = false;
};

// Calls `make` with a null pointer to the score of the criterion.
template <class Make>
auto with_score(const Outcome& outcome, Weighting weighting, const Make& make) {
    const bool real = weighting == Weighting::reals;
    switch (outcome.criterion) {
        case Criterion::gini:
            return real ? make((WeightedClassScore*)nullptr) : make((GiniScore*)nullptr);
        case Criterion::entropy:
            return real ? make((WeightedClassScore*)nullptr) : make((EntropyScore*)nullptr);
        case Criterion::variance:
            return real ? make((WeightedVarianceScore*)nullptr) : make((VarianceScore*)nullptr);
        default:
            return real ? make((WeightedNeighbourhoodScore*)nullptr)
                        : make((NeighbourhoodScore*)nullptr);
    }
}

}  // namespace nullforest
