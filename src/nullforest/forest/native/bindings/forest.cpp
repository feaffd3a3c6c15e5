// Bindings of the growth of forests, and of what their trees predict.
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

namespace {

// The flat arrays of a forest, checked and held while they are read.
struct HeldTrees {
    Input<std::int32_t> feature, left, right;
    Input<double> threshold, value;
    Input<std::uint8_t> missing_left;
    Input<std::int64_t> offsets;
    TreesView view;

    HeldTrees(const nb::dict& d, std::size_t n_features) {
        offsets = take<std::int64_t>(d["offsets"], "offsets", {kAny});
        const std::int64_t* start = offsets.data();
        require(offsets.size() >= 2 && start[0] == 0, "The trees are damaged: no first tree.");
        const std::size_t T = offsets.size() - 1;
        for (std::size_t t = 0; t < T; ++t)
            require(start[t] < start[t + 1] && start[t + 1] - start[t] < (std::int64_t{1} << 31),
                    "The trees are damaged: their offsets do not ascend.");
        const auto n = static_cast<std::size_t>(start[T]);
        feature = take<std::int32_t>(d["feature"], "feature", {n});
        left = take<std::int32_t>(d["left"], "left", {n});
        right = take<std::int32_t>(d["right"], "right", {n});
        threshold = take<double>(d["threshold"], "threshold", {n});
        missing_left = take<std::uint8_t>(d["missing_left"], "missing_left", {n});
        value = take<double>(d["value"], "value", {n, kAny});
        view = {feature.data(), left.data(),         right.data(),   threshold.data(),
                value.data(),   missing_left.data(), offsets.data(), T,
                value.shape(1)};
        // Children come after their parent, so that every walk ends.
        for (std::size_t t = 0; t < T; ++t)
            for (std::int64_t at = start[t]; at < start[t + 1]; ++at) {
                if (view.feature[at] < 0) continue;
                const std::int64_t node = at - start[t], size = start[t + 1] - start[t];
                const auto child = [&](std::int32_t c) { return c > node && c < size; };
                if (static_cast<std::size_t>(view.feature[at]) >= n_features ||
                    !child(view.left[at]) || !child(view.right[at]))
                    throw InputError("The trees are damaged: node " + std::to_string(node) +
                                     " of tree " + std::to_string(t) +
                                     " has no such feature or children.");
            }
        require_all(value, finite, "The trees are damaged: a value is not finite.");
    }
};

// What `fill` finds for every sample: a row of as many numbers as the trees have of `width`.
template <class T>
Array<T> rows_of(const Dict& trees, const nb::object& x, std::size_t n_samples,
                 std::size_t n_threads, std::size_t TreesView::*width,
                 void (*fill)(const TreesView&, const Matrix&, std::size_t, const Poll&, T*)) {
    const HeldMatrix values(x, n_samples);
    const Matrix& matrix = values.matrix;
    const HeldTrees held(trees, matrix.n_features);
    std::vector<T> out(matrix.n_samples * held.view.*width);
    unlocked([&] { fill(held.view, matrix, n_threads, check_signals, out.data()); });
    return to_numpy(std::move(out), {matrix.n_samples, held.view.*width});
}

Array<double> predict(const Dict& trees, const nb::object& x, std::size_t n_samples,
                      std::size_t n_threads) {
    return rows_of(trees, x, n_samples, n_threads, &TreesView::n_values, &mean_values);
}

Array<std::int32_t> apply(const Dict& trees, const nb::object& x, std::size_t n_samples,
                          std::size_t n_threads) {
    return rows_of(trees, x, n_samples, n_threads, &TreesView::n_trees, &find_leaves);
}

auto permuted_errors(const Dict& trees, const nb::object& x, std::size_t n_samples,
                     const nb::object& y, bool is_classes, const Dict& settings_dict,
                     std::size_t n_threads) {
    const HeldMatrix values(x, n_samples);
    const Matrix& matrix = values.matrix;
    const HeldTrees held(trees, matrix.n_features);
    const std::size_t S = matrix.n_samples, V = held.view.n_values;
    require(V > 0, "The trees predict no value.");
    Input<std::int64_t> classes;
    Input<double> numbers;
    if (is_classes)
        classes = take<std::int64_t>(y, "y", {S});
    else
        numbers = take<double>(y, "y", {S, V});
    const Truth truth{is_classes ? classes.data() : nullptr, is_classes ? nullptr : numbers.data()};
    Settings settings;
    settings.seed = setting<std::uint64_t>(settings_dict, "seed");
    settings.first_tree = whole(settings_dict, "first_tree", 0, 0xffffffffu);
    settings.replace = setting<bool>(settings_dict, "replace");
    settings.n_drawn = whole(settings_dict, "samples", 1, settings.replace ? 1u << 22 : S);
    std::vector<double> sum, sum_of_squares;
    unlocked([&] {
        oob_permutation(held.view, matrix, truth, settings, n_threads, check_signals, sum,
                        sum_of_squares);
    });
    return std::make_tuple(to_numpy(std::move(sum)), to_numpy(std::move(sum_of_squares)));
}

}  // namespace

void bind_forest(nb::module_& m) {
    m.def("grow", &grow, "table"_a, "criterion"_a, "y"_a, "n_classes"_a, "weight"_a.none(),
          "settings"_a, "probes"_a.none(), "coupling_edges"_a, "n_threads"_a, "max_seconds"_a,
          "earlier"_a, "progress"_a.none(),
          "Grow trees; `earlier` holds the sums of those before (importance, oob_sum, oob_trees).");
    m.def("predict", &predict, "trees"_a, "x"_a, "n_samples"_a, "n_threads"_a,
          "Mean over the trees of the value of each sample's leaf.");
    m.def("apply", &apply, "trees"_a, "x"_a, "n_samples"_a, "n_threads"_a,
          "Number of the leaf that each sample falls into, per tree.");
    m.def("permuted_errors", &permuted_errors, "trees"_a, "x"_a, "n_samples"_a, "y"_a,
          "is_classes"_a, "settings"_a, "n_threads"_a,
          "Per feature: sum over the trees, and sum of squares, of the increase of the out-of-bag "
          "error; `settings` and y as `grow` took them.");
}

}  // namespace nullforest
