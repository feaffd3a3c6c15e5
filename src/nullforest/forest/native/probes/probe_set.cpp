// Construction of the probes, the ties of the features that they are made like, and the association of
// rankings with the target.
#include "probes/probe_set.hpp"

#include <algorithm>

namespace nullforest {

TieProfile profile_ties(const RankTable& table, const Poll& poll) {
    const std::size_t S = table.n_samples(), F = table.n_features();
    TieProfile profile;
    profile.n_levels.resize(F);
    profile.equal_pairs.resize(F);
    profile.n_missing.resize(F);
    Pulse pulse(poll);
    for (std::size_t f = 0; f < F; ++f, pulse()) {
        profile.n_missing[f] = static_cast<std::int64_t>(S) - table.n_known(f);
        if (!(table.flags()[f] & RankTable::kTied)) {
            profile.n_levels[f] = profile.equal_pairs[f] = static_cast<std::int64_t>(S);
            continue;
        }
        const std::uint64_t* differs = table.differs(f);
        std::int64_t levels = 1, equal = 0, start = 0;
        const auto end_level = [&](std::int64_t next) {
            equal += (next - start) * (next - start);
            start = next;
        };
        for (std::size_t w = 0; w < table.n_words(); ++w)
            for (std::uint64_t bits = differs[w]; bits; bits &= bits - 1, ++levels)
                end_level(static_cast<std::int64_t>(64 * w) + __builtin_ctzll(bits) + 1);
        end_level(static_cast<std::int64_t>(S));
        profile.n_levels[f] = levels;
        profile.equal_pairs[f] = equal;
    }
    return profile;
}

namespace {

// The arrangements of one family (0: a, 1: b), one after the other: side x S.
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

struct Name {
    std::uint32_t stratum, number;
};

// All probes in the order of their numbers.
std::vector<Name> numbered(const std::vector<std::uint32_t>& n_probes) {
    std::vector<Name> names;
    for (std::uint32_t s = 0; s < n_probes.size(); ++s)
        for (std::uint32_t k = 0; k < n_probes[s]; ++k) names.push_back({s, k});
    std::stable_sort(names.begin(), names.end(), [&](const Name& a, const Name& b) {
        return (2 * std::uint64_t{a.number} + 1) * n_probes[b.stratum] <
               (2 * std::uint64_t{b.number} + 1) * n_probes[a.stratum];
    });
    return names;
}

// The samples whose missing values stay where they are, marked; see probe_set.hpp.
void mark_shared(const RankTable& table, const std::vector<std::uint32_t>& among, std::uint32_t f,
                 std::uint64_t key, std::vector<std::uint8_t>& stays) {
    constexpr std::uint32_t kPartners = 8;
    const std::uint32_t S = static_cast<std::uint32_t>(table.n_samples());
    const std::uint32_t own = S - table.n_known(f);
    std::fill(stays.begin(), stays.end(), 0);
    if (own == 0) return;
    std::vector<std::uint32_t> order(S);
    std::vector<std::uint8_t> missing(S), best_shared(S);
    table.read_order(f, order.data());
    for (std::uint32_t i = S - own; i < S; ++i) missing[order[i]] = 1;
    std::uint32_t most = 0, of_partner = 0;
    for (std::uint32_t t = 0; t < kPartners; ++t) {
        const std::uint32_t g = among[below(step(step(key, 3), t),
                                            static_cast<std::uint32_t>(among.size()))];
        if (g == f) continue;
        table.read_order(g, order.data());
        std::uint32_t shared = 0;
        for (std::uint32_t i = table.n_known(g); i < S; ++i) shared += missing[order[i]];
        if (shared <= most) continue;
        most = shared;
        of_partner = S - table.n_known(g);
        std::fill(best_shared.begin(), best_shared.end(), 0);
        for (std::uint32_t i = table.n_known(g); i < S; ++i)
            best_shared[order[i]] = missing[order[i]];
    }
    if (2 * std::uint64_t{S} * most > std::uint64_t{own} * (S + of_partner)) stays = best_shared;
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

std::vector<std::vector<std::uint32_t>> features_by_stratum(
    const RankTable& table, const std::int64_t* feature_stratum,
    const std::vector<std::uint8_t>& copies) {
    std::vector<std::vector<std::uint32_t>> features(copies.size());
    for (std::size_t f = 0; f < table.n_features(); ++f)
        if (copies[feature_stratum[f]])
            features[feature_stratum[f]].push_back(static_cast<std::uint32_t>(f));
    return features;
}

ProbeSet make_probes(const RankTable& table, const std::int64_t* feature_stratum,
                     const std::vector<std::uint32_t>& n_probes,
                     const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                     const EvaluationRates& rates, const std::vector<Rankings>& rankings,
                     std::size_t n_threads, const Poll& poll) {
    const std::uint32_t S = static_cast<std::uint32_t>(table.n_samples());
    const std::vector<Name> names = numbered(n_probes);
    const auto features = features_by_stratum(table, feature_stratum, copies);
    const std::size_t n_strata = n_probes.size();
    ProbeSet set;
    set.rates = rates;
    set.members.resize(n_strata);
    set.table = std::make_unique<RankTable>(table, names.size());
    std::vector<std::vector<std::uint32_t>> a(n_strata), b(n_strata);
    std::vector<double> heaviest(n_strata, 1.0);
    for (std::size_t s = 0; s < n_strata; ++s) {
        set.members[s].resize(n_probes[s]);
        const std::uint64_t family = family_key(seed, s);
        a[s] = arrangements(S, family, 0, rankings[s].side, n_threads, poll);
        b[s] = arrangements(S, family, 1, rankings[s].side, n_threads, poll);
        if (rankings[s].side > 0 && n_probes[s] > 0)
            heaviest[s] = *std::max_element(rankings[s].weight.begin(), rankings[s].weight.end());
    }

    set.id.resize(names.size());
    set.weight.assign(names.size(), 1.0);
    set.acceptance.resize(names.size());
    for (std::uint32_t p = 0; p < names.size(); ++p) {
        set.members[names[p].stratum][names[p].number] = p;
        set.stratum.push_back(names[p].stratum);
        set.number_in_stratum.push_back(names[p].number);
    }

    const ShuffleShape shape(S);
    std::vector<std::uint64_t> distinct(table.n_words());
    for (std::uint32_t i = 0; i + 1 < S; ++i) distinct[i / 64] |= std::uint64_t{1} << i % 64;
    parallel_for(names.size(), n_threads, poll, [&](Tasks& tasks) {
        std::vector<std::uint32_t> arrangement(S), order(S);
        std::vector<std::uint8_t> stays(S);
        for (std::size_t p; tasks.next(p);) {
            const std::uint32_t s = names[p].stratum, number = names[p].number;
            const std::uint32_t side = rankings[s].side;
            const std::uint64_t family = family_key(seed, s);
            const std::uint64_t* differs = distinct.data();
            std::uint32_t n_known = S;
            if (side > 0) {
                const std::uint32_t i = rankings[s].number[number] / side;
                const std::uint32_t j = rankings[s].number[number] % side;
                for (std::uint32_t x = 0; x < S; ++x)
                    order[x] = a[s][std::size_t{i} * S + b[s][std::size_t{j} * S + x]];
                if (copies[s]) differs = table.differs(tied_like(family, j, features[s]));
                set.id[p] = ranking_id(family, i, j);
                set.weight[p] = rankings[s].weight[number];
            } else {
                const std::uint64_t key = step(family, number);
                const auto& among = features[s];
                const std::uint32_t f =
                    among[below(step(key, 1), static_cast<std::uint32_t>(among.size()))];
                differs = table.differs(f);
                n_known = table.n_known(f);
                Shuffle(shape, step(key, 0)).next(S, arrangement.data());
                mark_shared(table, among, f, key, stays);
                std::uint32_t placed = 0;
                for (std::uint32_t sample : arrangement)
                    if (!stays[sample]) order[placed++] = sample;
                for (std::uint32_t sample = 0; sample < S; ++sample)
                    if (stays[sample]) order[placed++] = sample;
                set.id[p] = probe_id(key);
            }
            if (copies[s]) RankTable::sort_equal_values(order, differs);
            set.table->set(p, order.data(), differs, n_known);
            set.acceptance[p] = static_cast<std::uint64_t>(0x1p32 * (set.weight[p] / heaviest[s]));
        }
    });
    return set;
}

}  // namespace nullforest
