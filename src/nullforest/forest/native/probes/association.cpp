// Prefix sums of the target over many rankings side by side.
#include "probes/association.hpp"

#include <algorithm>

namespace nullforest {

std::vector<std::uint32_t> arrangements(std::uint32_t n_samples, std::uint64_t family, int which,
                                        std::uint32_t side, std::size_t n_threads,
                                        const Poll& poll) {
    const ShuffleShape shape(n_samples);
    std::vector<std::uint32_t> all(std::size_t{side} * n_samples);
    parallel_for(side, n_threads, poll, [&](Tasks& tasks) {
        for (std::size_t i; tasks.next(i);)
            Shuffle(shape, step(step(family, which), i)).next(n_samples, &all[i * n_samples]);
    });
    return all;
}

namespace {

// w (y - mean) of every sample, output by output; two classes are one output.
std::vector<std::vector<double>> centred(const Outcome& outcome) {
    const std::size_t S = outcome.n_samples;
    const std::uint32_t Q = outcome.classes() ? outcome.n_classes - (outcome.n_classes == 2)
                                              : outcome.n_outputs;
    std::vector<std::vector<double>> all(Q, std::vector<double>(S));
    for (std::uint32_t q = 0; q < Q; ++q) {
        const auto y = [&](std::size_t s) {
            return outcome.classes() ? static_cast<double>(outcome.label[s] == q)
                                     : outcome.value[s * outcome.n_outputs + q];
        };
        const auto w = [&](std::size_t s) {
            return outcome.weight.empty() ? 1.0 : outcome.weight[s];
        };
        double sum = 0.0, weight = 0.0;
        for (std::size_t s = 0; s < S; ++s) {
            sum += w(s) * y(s);
            weight += w(s);
        }
        for (std::size_t s = 0; s < S; ++s) all[q][s] = w(s) * (y(s) - sum / weight);
    }
    return all;
}

}  // namespace

std::vector<float> association_of_rankings(const RankTable& table,
                                           const std::vector<std::uint32_t>& among,
                                           const Outcome& outcome, std::uint64_t family,
                                           std::uint32_t side, std::uint32_t least,
                                           std::size_t n_threads, const Poll& poll) {
    const std::uint32_t S = static_cast<std::uint32_t>(outcome.n_samples);
    const auto a = arrangements(S, family, 0, side, n_threads, poll);
    const auto b = arrangements(S, family, 1, side, n_threads, poll);
    const auto values = centred(outcome);
    const std::size_t Q = values.size();
    // What a_i puts at each place, for all i side by side: sums of many rankings run together.
    std::vector<std::vector<double>> placed(Q, std::vector<double>(std::size_t{S} * side));
    for (std::size_t q = 0; q < Q; ++q)
        for (std::uint32_t i = 0; i < side; ++i)
            for (std::uint32_t x = 0; x < S; ++x)
                placed[q][std::size_t{x} * side + i] = values[q][a[std::size_t{i} * S + x]];
    std::vector<float> association(std::size_t{side} * side);
    parallel_for(side, n_threads, poll, [&](Tasks& tasks) {
        std::vector<double> best(side), gain(side);
        std::vector<std::vector<double>> sum(Q, std::vector<double>(side));
        for (std::size_t j; tasks.next(j);) {
            const std::uint64_t* differs =
                among.empty() ? nullptr
                              : table.differs(tied_like(family, static_cast<std::uint32_t>(j), among));
            std::fill(best.begin(), best.end(), 0.0);
            for (auto& s : sum) std::fill(s.begin(), s.end(), 0.0);
            for (std::uint32_t k = 1; k < S; ++k) {
                const std::size_t x = b[j * S + k - 1];
                for (std::size_t q = 0; q < Q; ++q) {
                    const double* add = &placed[q][x * side];
                    for (std::uint32_t i = 0; i < side; ++i) sum[q][i] += add[i];
                }
                const bool cut = !differs || (differs[(k - 1) / 64] >> (k - 1) % 64 & 1);
                if (!cut || k < least || S - k < least) continue;
                const double share = 1.0 / (static_cast<double>(k) * (S - k));
                std::fill(gain.begin(), gain.end(), 0.0);
                for (std::size_t q = 0; q < Q; ++q)
                    for (std::uint32_t i = 0; i < side; ++i) gain[i] += sum[q][i] * sum[q][i];
                for (std::uint32_t i = 0; i < side; ++i) {
                    const double value = gain[i] * share;
                    best[i] = value > best[i] ? value : best[i];
                }
            }
            for (std::uint32_t i = 0; i < side; ++i)
                association[std::size_t{i} * side + j] = static_cast<float>(best[i]);
        }
    });
    return association;
}

}  // namespace nullforest
