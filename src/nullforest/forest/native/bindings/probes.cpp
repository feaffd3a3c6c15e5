// Bindings of virtual probes.
#include "bindings/door.hpp"

namespace nullforest {

// The stratum of each feature, below `n_strata`; strata whose probes have ties have features.
static std::vector<std::vector<std::uint32_t>> checked_strata(
    const RankTable& table, const Input<std::int64_t>& feature_strata,
    const std::vector<std::uint8_t>& copies, const std::vector<std::uint8_t>& needed) {
    require_shape(feature_strata, "feature_strata", {table.n_features()});
    const auto n_strata = static_cast<std::int64_t>(copies.size());
    require_all(feature_strata, [=](std::int64_t s) { return s >= 0 && s < n_strata; },
                "feature_strata must hold numbers of strata.");
    auto features = features_by_stratum(table, feature_strata.data(), copies);
    for (std::size_t s = 0; s < copies.size(); ++s)
        require(!needed[s] || !features[s].empty(), "A stratum of copies must have features.");
    return features;
}

static void make(ProbeSet* self, const PyRankTable& ranked,
                 const Input<std::int64_t>& feature_strata,
                 const std::vector<std::uint32_t>& n_probes,
                 const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                 std::uint32_t in_tree, std::uint32_t at_node,
                 const std::vector<std::uint32_t>& sides, const Input<std::uint32_t>& rankings,
                 const Input<double>& weights, std::size_t n_threads) {
    const std::size_t n_strata = n_probes.size();
    require(copies.size() == n_strata && sides.size() == n_strata,
            "n_probes, copies and sides must have one entry for each stratum.");
    std::size_t total = 0;
    std::vector<std::uint8_t> needed(n_strata);
    for (std::size_t s = 0; s < n_strata; ++s) {
        total += n_probes[s];
        needed[s] = n_probes[s] > 0 && (copies[s] || sides[s] == 0);
        require(sides[s] < (1u << 16), "sides must be below 65536.");
    }
    require(total < (1u << 31), "There are more than 2147483647 probes.");
    require_shape(rankings, "rankings", {total});
    require_shape(weights, "weights", {total});
    require(in_tree <= EvaluationRates::kAlways && at_node <= EvaluationRates::kAlways,
            "in_tree and at_node must not be above 65536.");
    checked_strata(*ranked.table, feature_strata, copies, needed);
    std::vector<Rankings> drawn(n_strata);
    for (std::size_t s = 0, from = 0; s < n_strata; from += n_probes[s++]) {
        drawn[s] = {sides[s],
                    {rankings.data() + from, rankings.data() + from + n_probes[s]},
                    {weights.data() + from, weights.data() + from + n_probes[s]}};
        double heaviest = 0.0;
        for (double w : drawn[s].weight) heaviest = std::max(heaviest, w);
        for (std::size_t k = 0; k < n_probes[s]; ++k)  // replacements are drawn in steps of 2^-32
            require((sides[s] == 0 || drawn[s].number[k] < sides[s] * sides[s]) &&
                        std::isfinite(heaviest) && drawn[s].weight[k] >= heaviest * 0x1p-32 &&
                        drawn[s].weight[k] > 0.0,
                    "Each probe needs a ranking of its stratum and a positive, finite weight.");
    }
    nb::gil_scoped_release release;
    new (self) ProbeSet(make_probes(*ranked.table, feature_strata.data(), n_probes, copies, seed,
                                    {in_tree, at_node}, drawn, n_threads, check_signals));
}

static auto tie_profile(const PyRankTable& ranked) {
    TieProfile profile = unlocked([&] { return profile_ties(*ranked.table, check_signals); });
    return std::make_tuple(to_numpy(std::move(profile.n_levels)),
                           to_numpy(std::move(profile.equal_pairs)),
                           to_numpy(std::move(profile.n_missing)));
}

static Array<float> association(const PyRankTable& ranked,
                                const Input<std::int64_t>& feature_strata,
                                const std::vector<std::uint8_t>& copies,
                                const std::string& criterion, const nb::object& y,
                                std::uint64_t n_classes, const nb::object& weight,
                                std::uint64_t seed, std::uint32_t stratum, std::uint32_t side,
                                std::uint32_t least, std::size_t n_threads) {
    const RankTable& table = *ranked.table;
    const Outcome outcome = make_outcome(criterion, y, table.n_samples(), n_classes, weight, 1);
    require(outcome.criterion != Criterion::neighbourhood, "Distances have no association.");
    require(stratum < copies.size() && side < (1u << 16),
            "stratum must be one of the strata, and side below 65536.");
    std::vector<std::uint8_t> needed(copies.size());
    needed[stratum] = copies[stratum];
    const auto features = checked_strata(table, feature_strata, copies, needed);
    return to_numpy(unlocked([&] {
        return association_of_rankings(table, features[stratum], outcome,
                                       family_key(seed, stratum), side, least, n_threads,
                                       check_signals);
    }));
}

template <class T>
static Array<std::int64_t> copy(const std::vector<T>& values) {
    return to_numpy(std::vector<std::int64_t>(values.begin(), values.end()));
}

void bind_probes(nb::module_& m) {
    nb::class_<ProbeSet>(m, "Probes", "The virtual probes of a forest (see probe_set.hpp).")
        .def("__init__", &make, "table"_a, "feature_strata"_a.noconvert(), "n_probes"_a, "copies"_a,
             "seed"_a, "in_tree"_a, "at_node"_a, "sides"_a, "rankings"_a.noconvert(),
             "weights"_a.noconvert(), "n_threads"_a = 1)
        .def_prop_ro("ids", [](const ProbeSet& p) { return copy(p.id); }, nb::rv_policy::automatic)
        .def_prop_ro("strata", [](const ProbeSet& p) { return copy(p.stratum); },
                     nb::rv_policy::automatic)
        .def_prop_ro("weights",
                     [](const ProbeSet& p) { return to_numpy(std::vector<double>(p.weight)); },
                     nb::rv_policy::automatic)
        .def("column", [](const ProbeSet& p, std::size_t i) { return column(*p.table, i); },
             "number"_a, "Samples in order, whether each differs from the next, number known.");
    m.def("tie_profile", &tie_profile, "table"_a,
          "Per feature: distinct values, pairs of samples with equal values, missing values.");
    m.def("association_of_rankings", &association, "table"_a, "feature_strata"_a.noconvert(),
          "copies"_a, "criterion"_a, "y"_a, "n_classes"_a, "weight"_a.none(), "seed"_a, "stratum"_a,
          "side"_a, "least"_a, "n_threads"_a = 1,
          "Sample association of each of side x side rankings with y (see probe_set.hpp).");
}

}  // namespace nullforest
