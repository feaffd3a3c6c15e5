// Forests of many kinds, and hashes of all that they hold: the same on every processor.
//
// The engine without Python, so that it runs where only a cross compiler and an emulator are at
// hand. The first line names the instruction set (NULLFOREST_ISA chooses it); each further line a
// forest and hashes of its counts, trees, thresholds, values, sums, probes and permuted errors.
// `forests 4` grows every fourth of them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kernels/searches.hpp"
#include "tree/forest.hpp"
#include "tree/predict.hpp"

using namespace nullforest;

namespace {

class Hash {
public:
    template <class T>
    void add(const T* values, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, values + i, sizeof(T));
            hash_ = mix(hash_ ^ (word + kGolden));
        }
    }
    template <class T>
    void add(const std::vector<T>& values) {
        add(values.data(), values.size());
    }
    unsigned long long value() const { return hash_; }

private:
    std::uint64_t hash_ = 0;
};

template <class... Arrays>
unsigned long long hash_of(const Arrays&... arrays) {
    Hash hash;
    (hash.add(arrays), ...);
    return hash.value();
}

// Numbers from whole words by exact operations alone.
class Stream {
public:
    explicit Stream(std::uint64_t key) : key_(key) {}
    std::uint64_t word() { return step(key_, drawn_++); }
    double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; }
    double bell() {  // near a normal number
        double sum = -6.0;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum;
    }

private:
    std::uint64_t key_, drawn_ = 0;
};

enum class Columns { distinct, tied, missing };

struct Kind {
    std::size_t n_samples, n_features;
    Columns columns;
    Criterion criterion;
    std::uint32_t n_classes;  // or outputs
    bool weighted, replace, single;
    std::uint32_t min_leaf, probes;
};

// Column by column.
std::vector<double> draw_columns(const Kind& kind, const std::vector<double>& signal,
                                 Stream& random) {
    const std::size_t S = kind.n_samples;
    std::vector<double> x(S * kind.n_features);
    for (std::size_t f = 0; f < kind.n_features; ++f)
        for (std::size_t s = 0; s < S; ++s) {
            double value = random.bell() + (f % 5 == 0 ? signal[s] : 0.0);
            if (kind.columns != Columns::distinct && f % 2 == 0)
                value = static_cast<double>(static_cast<int>((f % 4 ? 1.0 : 10.0) * value));
            if (kind.columns == Columns::missing && random.uniform() < 0.05) value = std::nan("");
            x[f * S + s] = kind.single ? static_cast<double>(static_cast<float>(value)) : value;
        }
    return x;
}

struct Target {
    std::vector<std::int64_t> label;
    std::vector<double> number, weight;
    Outcome outcome;
};

Target draw_target(const Kind& kind, const std::vector<double>& signal, std::uint32_t n_drawn,
                   Stream& random) {
    const std::size_t S = kind.n_samples;
    Target target;
    if (kind.weighted)
        for (std::size_t s = 0; s < S; ++s)
            target.weight.push_back(s % 7 ? 0.5 + random.uniform() : 0.0);
    const double* weight = kind.weighted ? target.weight.data() : nullptr;
    if (kind.criterion == Criterion::gini || kind.criterion == Criterion::entropy) {
        for (std::size_t s = 0; s < S; ++s)
            target.label.push_back(s < kind.n_classes ? static_cast<std::int64_t>(s)
                                   : random.uniform() < 0.7
                                       ? (signal[s] > 0.0)
                                       : below(random.word(), kind.n_classes));
        target.outcome = Outcome::of_classes(kind.criterion, target.label.data(), S, kind.n_classes,
                                             weight, n_drawn);
        return target;
    }
    const std::size_t columns = kind.criterion == Criterion::variance ? kind.n_classes : S;
    for (std::size_t s = 0; s < S; ++s)
        for (std::size_t q = 0; q < columns; ++q)
            target.number.push_back(kind.criterion == Criterion::variance
                                        ? signal[s] + random.bell()
                                        : std::fabs(signal[s] - signal[q]));
    target.outcome = Outcome::of_values(kind.criterion, target.number.data(), S, columns, weight,
                                        n_drawn);
    return target;
}

// Rankings of one stratum: all without missing values, or copies of columns that have some.
ProbeSet draw_probes(const Kind& kind, const RankTable& table, const Outcome& outcome, Hash& hash) {
    const std::vector<std::int64_t> strata(table.n_features(), 0);
    const bool missing = kind.columns == Columns::missing;
    const std::vector<std::uint8_t> copies{kind.columns != Columns::distinct};
    Rankings rankings;
    rankings.side = missing ? 0 : 8;
    const auto features = features_by_stratum(table, strata.data(), copies);
    std::vector<float> association(64, 0.0f);
    if (!missing)
        association = association_of_rankings(table, features[0], outcome, family_key(3, 0), 8,
                                              kind.min_leaf, 1, [] {});
    hash.add(association);
    for (std::uint32_t p = 0; p < kind.probes; ++p) {
        rankings.number.push_back(p);
        rankings.weight.push_back(1.0 / (1.0 + (p % 3)));
    }
    const EvaluationRates rates{EvaluationRates::kAlways, EvaluationRates::kAlways / 2};
    return make_probes(table, strata.data(), {kind.probes}, copies, 3, rates, {rankings}, 1,
                       [] {});
}

const char* name_of(Criterion criterion) {
    const char* const names[] = {"gini", "entropy", "variance", "neighbourhood"};
    return names[static_cast<int>(criterion)];
}

void report(const Kind& kind, int number) {
    const std::size_t S = kind.n_samples, F = kind.n_features;
    Stream random(step(7, static_cast<std::uint64_t>(number)));
    std::vector<double> signal(S);
    for (double& v : signal) v = random.bell();

    Settings settings;
    settings.n_drawn = static_cast<std::uint32_t>(kind.replace ? S : (3 * S + 4) / 5);
    settings.replace = kind.replace;
    settings.min_leaf = kind.min_leaf;
    settings.seed = static_cast<std::uint64_t>(number);
    settings.n_trees = S > 60000 ? 1 : S > 512 ? 2 : 6;
    if (S > 1000) settings.max_depth = 5;
    settings.keep_trees = settings.oob = true;
    settings.isa = chosen_isa();

    const std::vector<double> x = draw_columns(kind, signal, random);
    const std::vector<float> narrow(x.begin(), x.end());
    const std::ptrdiff_t bytes = kind.single ? sizeof(float) : sizeof(double);
    Matrix matrix{};
    matrix.data = kind.single ? reinterpret_cast<const char*>(narrow.data())
                              : reinterpret_cast<const char*>(x.data());
    matrix.row_stride = bytes;
    matrix.column_stride = bytes * static_cast<std::ptrdiff_t>(S);
    matrix.is_double = !kind.single;
    matrix.n_samples = S;
    matrix.n_features = F;
    const std::uint32_t bins = S > 512 && number % 2 ? 100 : 0;
    const RankTable table(matrix, 2, [] {}, 0, bins);
    const auto varying = static_cast<std::uint32_t>(table.n_varying());  // of few values some do not
    settings.pool = number % 3 ? varying : (varying + 1) / 2;
    settings.candidates = (settings.pool + 1) / 2;
    const Target target = draw_target(kind, signal, settings.n_drawn, random);

    Hash probe_hash;
    ProbeSet probes;
    if (kind.probes) probes = draw_probes(kind, table, target.outcome, probe_hash);
    const std::vector<double> edges{0.0, 0.05, 0.2, 0.5, 1.0};
    ForestResult forest;
    grow_forest(table, target.outcome, settings, kind.probes ? &probes : nullptr, edges, 2, 0.0,
                [](std::uint32_t) {}, forest);
    probe_hash.add(forest.probe_wins);
    probe_hash.add(forest.probe_couplings);

    const FlatTree& t = forest.trees;
    const TreesView view{t.feature.data(),   t.left.data(),  t.right.data(),
                         t.threshold.data(), t.value.data(), t.missing_left.data(),
                         forest.offsets.data(), forest.n_trees, target.outcome.n_values()};
    std::vector<double> sum, squares;
    if (target.outcome.n_values())
        oob_permutation(view, matrix, {target.label.empty() ? nullptr : target.label.data(),
                                       target.number.data()},
                        settings, 2, [] {}, sum, squares);
    Hash counts;
    counts.add(forest.counts.data(), F);
    counts.add(forest.couplings.data(), F * (edges.size() - 1));
    Hash sums;
    sums.add(forest.importance.data(), F);
    sums.add(forest.oob_sum);
    sums.add(forest.oob_trees);
    const char* const columns[] = {"distinct", "tied", "missing"};
    std::printf("%zu x %zu %s, %s of %u%s%s%s%s, leaves of %u, %zu nodes:", S, F,
                columns[static_cast<int>(kind.columns)], name_of(kind.criterion), kind.n_classes,
                kind.weighted ? ", weighted" : "", kind.replace ? ", bootstrap" : "",
                kind.single ? ", float32" : "", bins ? ", bins" : "", kind.min_leaf,
                t.feature.size());
    std::printf(" %016llx %016llx %016llx %016llx %016llx %016llx %016llx\n", counts.value(),
                hash_of(t.feature, t.left, t.right, t.n_samples, t.missing_left, forest.offsets),
                hash_of(t.threshold), hash_of(t.impurity, t.value), sums.value(),
                probe_hash.value(), hash_of(sum, squares));
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const int every = n_arguments > 1 ? std::max(1, std::atoi(arguments[1])) : 1;
    std::printf("%s\n", isa_name(chosen_isa()).c_str());
    int number = 0;
    for (std::size_t S : {5, 37, 64, 200, 256, 300, 512, 600, 1024, 1500, 66000}) {
        const auto criteria = {Criterion::gini, Criterion::entropy, Criterion::variance,
                               Criterion::neighbourhood};
        for (Criterion criterion : criteria) {
            if (criterion == Criterion::neighbourhood && S > 300) continue;
            for (Columns columns : {Columns::distinct, Columns::tied, Columns::missing}) {
                if (S > 60000 && columns != Columns::tied) continue;
                const bool large = S > 512;
                for (int way = 0; way < (S > 60000 ? 1 : large ? 3 : 5); ++way, ++number) {
                    if (number % every) continue;
                    const std::size_t F = large ? 6 : way == 1 ? 300 : 20;
                    const bool distances = criterion == Criterion::neighbourhood;
                    report({S, F, columns, criterion,
                            criterion == Criterion::variance ? (way == 3 ? 2u : 1u)
                            : way % 2                        ? 4u
                                                             : 2u,
                            way == 2, way == 1 || way == 4, number % 2 == 0,
                            way == 3 ? 3u : 1u, distances || S < 20 ? 0u : 24u},
                           number);
                }
            }
        }
    }
}
