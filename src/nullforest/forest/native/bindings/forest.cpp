// Bindings of the growth of forests.
#include "bindings/door.hpp"
#include "kernels/searches.hpp"

namespace nullforest {

Outcome make_outcome(const std::string& criterion, const nb::object& y, std::size_t n_samples,
                     std::uint64_t n_classes, const nb::object& weight, std::uint32_t n_drawn) {
    Input<double> weights;
    if (!weight.is_none()) {
        weights = take<double>(weight, "weight", {n_samples});
        require_all(weights, [](double w) { return finite(w) && w >= 0.0; },
                    "weight must be finite and not negative.");
        require(std::any_of(weights.data(), weights.data() + n_samples,
                            [](double w) { return w > 0.0; }),
                "weight must not be zero for all samples.");
    }
    const double* w = weight.is_none() ? nullptr : weights.data();
    if (criterion == "gini" || criterion == "entropy") {
        const auto labels = take<std::int64_t>(y, "y", {n_samples});
        require(n_classes >= 1 && n_classes <= n_samples,
                "n_classes must lie between 1 and the number of samples.");
        const auto most = static_cast<std::int64_t>(n_classes);
        require_all(labels, [=](std::int64_t c) { return c >= 0 && c < most; },
                    "y must hold numbers of classes.");
        return Outcome::of_classes(criterion == "gini" ? Criterion::gini : Criterion::entropy,
                                   labels.data(), n_samples, static_cast<std::uint32_t>(n_classes),
                                   w, n_drawn);
    }
    require(criterion == "variance" || criterion == "neighbourhood",
            "criterion must be gini, entropy, variance or neighbourhood.");
    const bool distances = criterion == "neighbourhood";
    const auto numbers = take<double>(y, "y", {n_samples, distances ? n_samples : kAny});
    // Squares of larger numbers overflow.
    require_all(numbers, [=](double v) { return std::fabs(v) < 1e150 && (v >= 0.0 || !distances); },
                "y must be below 1e150, and distances not negative.");
    require(numbers.shape(1) >= 1 && numbers.shape(1) < (1u << 31), "y must have columns.");
    return Outcome::of_values(distances ? Criterion::neighbourhood : Criterion::variance,
                              numbers.data(), n_samples, numbers.shape(1), w, n_drawn);
}

static Settings make_settings(const nb::dict& d, const RankTable& table) {
    constexpr std::uint64_t kMost = 0xffffffffu;
    Settings s;
    require(table.n_varying() > 0, "No column of X varies, so that no node can be split.");
    s.pool = whole(d, "pool", 1, table.n_varying());
    s.candidates = whole(d, "candidates", 1, s.pool);
    s.replace = setting<bool>(d, "replace");
    s.n_drawn = whole(d, "samples", 1, s.replace ? 1u << 22 : table.n_samples());
    s.min_leaf = whole(d, "min_leaf", 1, kMost);
    s.min_split = whole(d, "min_split", 0, kMost);
    s.max_depth = whole(d, "max_depth", 0, kMost);
    s.min_gain = setting<double>(d, "min_gain");
    require(s.min_gain >= 0.0, "min_gain must not be negative.");
    s.seed = setting<std::uint64_t>(d, "seed");
    s.first_tree = whole(d, "first_tree", 0, kMost);
    s.n_trees = whole(d, "trees", 1, kMost);
    s.keep_trees = setting<bool>(d, "keep_trees");
    s.oob = setting<bool>(d, "oob");
    s.listed = setting<bool>(d, "listed");
    s.isa = chosen_isa();
    require(table.matrix().given() || !(s.keep_trees || s.oob),
            "The values of X are not with the rank table, but thresholds and out-of-bag "
            "predictions need them.");
    return s;
}

// The sums of the trees before `first_tree`, where there are any.
static void take_earlier(const nb::dict& earlier, const Settings& settings, std::size_t n_samples,
                         std::size_t n_features, std::size_t n_values, ForestResult& forest) {
    if (earlier.contains("importance") && !settings.listed) {
        const auto given = take<double>(earlier["importance"], "importance", {n_features});
        require_all(given, finite, "importance must be finite.");
        forest.importance = Zeros<double>(n_features);
        std::copy(given.data(), given.data() + given.size(), forest.importance.data());
    }
    if (!settings.oob || settings.listed || !earlier.contains("oob_sum")) return;
    const auto sum = take<double>(earlier["oob_sum"], "oob_sum", {n_samples, n_values});
    const auto trees = take<std::int64_t>(earlier["oob_trees"], "oob_trees", {n_samples});
    require_all(sum, finite, "oob_sum must be finite.");
    require_all(trees, [](std::int64_t n) { return n >= 0; }, "oob_trees must not be negative.");
    forest.oob_sum.assign(sum.data(), sum.data() + sum.size());
    forest.oob_trees.assign(trees.data(), trees.data() + trees.size());
}

static Dict trees_dict(FlatTree&& trees, std::vector<std::int64_t>&& offsets,
                       std::size_t n_values) {
    Dict out;
    const std::size_t n = trees.feature.size();
    out["feature"] = to_numpy(std::move(trees.feature));
    out["threshold"] = to_numpy(std::move(trees.threshold));
    out["left"] = to_numpy(std::move(trees.left));
    out["right"] = to_numpy(std::move(trees.right));
    out["missing_left"] = to_numpy(std::move(trees.missing_left));
    out["value"] = to_numpy(std::move(trees.value), {n, n_values});
    out["n_samples"] = to_numpy(std::move(trees.n_samples));
    out["impurity"] = to_numpy(std::move(trees.impurity));
    out["offsets"] = to_numpy(std::move(offsets));
    return out;
}

static Dict grow(const PyRankTable& ranked, const std::string& criterion, const nb::object& y,
                 std::uint64_t n_classes, const nb::object& weight, const Dict& settings_dict,
                 const ProbeSet* probes, const std::vector<double>& coupling_edges,
                 std::size_t n_threads, double max_seconds, const Dict& earlier,
                 const nb::object& progress) {
    const RankTable& table = *ranked.table;
    const std::size_t F = table.n_features(), S = table.n_samples();
    const Settings settings = make_settings(settings_dict, table);
    const Outcome outcome = make_outcome(criterion, y, S, n_classes, weight, settings.n_drawn);
    require(!probes || probes->table->n_samples() == S,
            "The probes belong to a table of another number of samples.");
    require(coupling_edges.size() >= 2 && coupling_edges.size() <= 257 &&
                std::is_sorted(coupling_edges.begin(), coupling_edges.end()),
            "coupling_edges must ascend and bound 1 to 256 bins.");
    require(!std::isnan(max_seconds), "max_seconds must be a number.");
    ForestResult forest;
    take_earlier(earlier, settings, S, F, outcome.n_values(), forest);
    const auto poll = [&](std::uint32_t done) {
        nb::gil_scoped_acquire acquire;
        check_signals();
        if (!progress.is_none()) progress(done, settings.n_trees);
    };
    {
        nb::gil_scoped_release release;
        grow_forest(table, outcome, settings, probes, coupling_edges, n_threads, max_seconds, poll,
                    forest);
    }
    const std::size_t n_bins = coupling_edges.size() - 1;
    Dict out;
    out["n_trees"] = forest.n_trees;
    out["stopped_early"] = forest.stopped_early;
    out["nodes_per_tree"] = to_numpy(std::move(forest.nodes_per_tree));
    if (settings.listed) {
        out["feature"] = to_numpy(std::move(forest.listing.feature));
        out["coupling_bin"] = to_numpy(std::move(forest.listing.coupling_bin));
        out["listed_importance"] = to_numpy(std::move(forest.listing.importance));
        out["oob_sample"] = to_numpy(std::move(forest.listing.oob_sample));
        out["oob_value"] = to_numpy(std::move(forest.listing.oob_value));
    } else {
        out["counts"] = to_numpy(std::move(forest.counts), {F});
        out["couplings"] = to_numpy(std::move(forest.couplings), {F, n_bins});
        out["importance"] = to_numpy(std::move(forest.importance), {F});
    }
    out["outcome_fingerprint"] = outcome.fingerprint;
    if (probes) {
        out["probe_wins"] = to_numpy(std::move(forest.probe_wins));
        out["probe_couplings"] =
            to_numpy(std::move(forest.probe_couplings), {probes->n_strata(), n_bins});
    }
    if (settings.oob && !settings.listed) {
        out["oob_sum"] = to_numpy(std::move(forest.oob_sum), {S, outcome.n_values()});
        out["oob_trees"] = to_numpy(std::move(forest.oob_trees));
    }
    if (settings.keep_trees)
        out["trees"] =
            trees_dict(std::move(forest.trees), std::move(forest.offsets), outcome.n_values());
    return out;
}

void bind_forest(nb::module_& m) {
    m.def("grow", &grow, "table"_a, "criterion"_a, "y"_a, "n_classes"_a, "weight"_a.none(),
          "settings"_a, "probes"_a.none(), "coupling_edges"_a, "n_threads"_a, "max_seconds"_a,
          "earlier"_a, "progress"_a.none(),
          "Grow trees; `earlier` holds the sums of those before (importance, oob_sum, oob_trees).");
}

}  // namespace nullforest
