// How does Python reach the engine? Arrays in, arrays out; the lock is released in between.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kernels/dispatch.hpp"
#include "tree/forest.hpp"
#include "tree/keyed_random.hpp"
#include "tree/oob_permutation.hpp"
#include "tree/predict.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nullforest;

namespace {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Input = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

Matrix view(const AnyMatrix& x) {
    const bool is_double = x.dtype() == nb::dtype<double>();
    if (!is_double && x.dtype() != nb::dtype<float>())
        throw std::invalid_argument("X must hold float32 or float64");
    const std::ptrdiff_t size = is_double ? 8 : 4;
    return {static_cast<const char*>(x.data()), x.stride(0) * size, x.stride(1) * size, is_double,
            x.shape(0), x.shape(1)};
}

// A vector given to numpy without a copy.
template <class T>
nb::object to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(owner->data(), shape.size(), shape.data(), free));
}
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}

template <class T>
nb::object to_numpy(Zeros<T>&& values, std::vector<std::size_t> shape) {
    T* data = values.release();
    nb::capsule free(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), free));
}

// The values of X while somebody reads them: an array, the (values, samples, starts) of sparse
// columns, or None where nobody will.
struct HeldMatrix {
    AnyMatrix x;
    nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> values;
    Input<std::int32_t> samples;
    Input<std::int64_t> starts;
    Matrix matrix{};

    HeldMatrix(const nb::object& given, std::size_t n_samples, std::size_t n_features) {
        if (given.is_none()) {
            matrix.n_samples = n_samples;
            matrix.n_features = n_features;
        } else if (nb::isinstance<nb::tuple>(given)) {
            const nb::tuple parts = nb::cast<nb::tuple>(given);
            values = nb::cast<decltype(values)>(parts[0]);
            samples = nb::cast<Input<std::int32_t>>(parts[1]);
            starts = nb::cast<Input<std::int64_t>>(parts[2]);
            matrix.data = static_cast<const char*>(values.data());
            matrix.is_double = values.dtype() == nb::dtype<double>();
            matrix.n_samples = n_samples;
            matrix.n_features = starts.shape(0) - 1;
            matrix.stored_sample = samples.data();
            matrix.column_start = starts.data();
        } else {
            x = nb::cast<AnyMatrix>(given);
            matrix = view(x);
        }
    }
};

// A rank table, and the arrays that it reads.
struct PyRankTable {
    HeldMatrix x;
    Input<std::uint8_t> block, flags;
    Input<std::uint64_t> differs;
    Input<std::uint32_t> n_known;
    std::unique_ptr<RankTable> table;

    PyRankTable(const nb::object& array, int n_threads, std::size_t first_feature)
        : x(array, 0, 0) {
        nb::gil_scoped_release release;
        const auto poll = [] {
            nb::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        table = std::make_unique<RankTable>(x.matrix, n_threads, poll, first_feature);
    }

    // A finished table whose arrays lie in a file or in somebody's memory; see `arrays`.
    PyRankTable(const nb::object& values, std::size_t n_samples, Input<std::uint8_t> block_,
                Input<std::uint64_t> differs_, Input<std::uint32_t> n_known_,
                Input<std::uint8_t> flags_, std::uint64_t fingerprint, std::size_t most_resident,
                std::size_t value_bytes)
        : x(values, n_samples, n_known_.shape(0)),
          block(std::move(block_)),
          flags(std::move(flags_)),
          differs(std::move(differs_)),
          n_known(std::move(n_known_)) {
        const RankArrays arrays{block.data(), differs.data(), n_known.data(), flags.data(),
                                fingerprint, most_resident, value_bytes};
        table = std::make_unique<RankTable>(x.matrix, arrays);
        const std::size_t F = table->n_features();
        if (block.size() < F * table->stride() + 64 || differs.size() != F * table->n_words() ||
            flags.size() != F || x.matrix.n_samples != n_samples || x.matrix.n_features != F)
            throw std::invalid_argument("the arrays are not those of a rank table of this shape");
    }
};

// The parts of a table, without a copy: block (with 64 bytes after it), differs, n_known, flags.
nb::tuple arrays(nb::handle self) {
    const RankTable& t = *nb::cast<const PyRankTable&>(self).table;
    const std::size_t F = t.n_features();
    const auto part = [&](auto* data, std::size_t size) {
        return nb::cast(nb::ndarray<nb::numpy, std::remove_pointer_t<decltype(data)>>(
            data, {size}, self));
    };
    return nb::make_tuple(part(t.order(0), F * t.stride() + 64), part(t.differs(0), F * t.n_words()),
                          part(t.known(), F), part(t.flags(), F));
}

// The probes of a forest; see probes.hpp.
struct PyProbes {
    ProbeSet set;

    PyProbes(const PyRankTable& ranked, const Input<std::int64_t>& feature_stratum,
             const std::vector<std::uint32_t>& n_probes, const std::vector<std::uint8_t>& copies,
             std::uint64_t seed, std::uint32_t in_tree, std::uint32_t at_node,
             const std::vector<std::uint32_t>& sides, const Input<std::uint32_t>& rankings,
             const Input<double>& weights) {
        std::vector<Rankings> picked(n_probes.size());
        for (std::size_t s = 0, from = 0; s < n_probes.size(); from += n_probes[s++])
            picked[s] = {sides[s],
                         {rankings.data() + from, rankings.data() + from + n_probes[s]},
                         {weights.data() + from, weights.data() + from + n_probes[s]}};
        nb::gil_scoped_release release;
        set = make_probes(*ranked.table, feature_stratum.data(), n_probes, copies, seed,
                          {in_tree, at_node}, picked);
    }
};

// The samples in ascending order of one column, and how many of them have a value.
nb::tuple column(const RankTable& table, std::size_t number) {
    const std::size_t S = table.n_samples();
    std::vector<std::uint32_t> order(S);
    table.read_order(number, order.data());
    std::vector<std::uint8_t> differs(S);
    for (std::size_t i = 0; i < S; ++i) differs[i] = table.differs(number)[i / 64] >> i % 64 & 1;
    return nb::make_tuple(to_numpy(std::move(order)), to_numpy(std::move(differs)),
                          table.n_known(number));
}

nb::tuple tie_profile(const PyRankTable& ranked) {
    TieProfile profile;
    {
        nb::gil_scoped_release release;
        profile = profile_ties(*ranked.table);
    }
    return nb::make_tuple(to_numpy(std::move(profile.n_levels)),
                          to_numpy(std::move(profile.alike)),
                          to_numpy(std::move(profile.n_missing)));
}

const double* optional(const nb::object& weight, Input<double>& keep) {
    if (weight.is_none()) return nullptr;
    keep = nb::cast<Input<double>>(weight);
    return keep.data();
}

Criterion criterion_of(const std::string& name) {
    if (name == "gini") return Criterion::gini;
    if (name == "entropy") return Criterion::entropy;
    if (name == "variance") return Criterion::variance;
    return Criterion::neighbourhood;
}

Outcome make_outcome(const std::string& criterion, const nb::object& y, std::uint32_t n_classes,
                     const nb::object& weight, std::uint32_t n_drawn) {
    Input<double> keep;
    const double* w = optional(weight, keep);
    const Criterion kind = criterion_of(criterion);
    if (kind == Criterion::gini || kind == Criterion::entropy) {
        auto labels = nb::cast<Input<std::int64_t>>(y);
        return Outcome::of_classes(kind, labels.data(), labels.shape(0), n_classes, w, n_drawn);
    }
    auto numbers = nb::cast<Input<double>>(y);
    if (kind == Criterion::variance)
        return Outcome::of_numbers(numbers.data(), numbers.shape(0),
                                   static_cast<std::uint32_t>(numbers.shape(1)), w);
    return Outcome::of_distances(numbers.data(), numbers.shape(0), w, n_drawn);
}

nb::object luck(const PyRankTable& ranked, const Input<std::int64_t>& feature_stratum,
                const std::vector<std::uint8_t>& copies, const std::string& criterion,
                const nb::object& y, std::uint32_t n_classes, const nb::object& weight,
                std::uint64_t seed, std::uint32_t stratum, std::uint32_t side,
                std::uint32_t least) {
    const Outcome outcome = make_outcome(criterion, y, n_classes, weight, 1);
    std::vector<float> found;
    {
        nb::gil_scoped_release release;
        const auto features = features_by_stratum(*ranked.table, feature_stratum.data(), copies);
        found = luck_of_rankings(*ranked.table, features[stratum], outcome,
                                 family_key(seed, stratum), side, least);
    }
    return to_numpy(std::move(found));
}

Settings make_settings(const nb::dict& d) {
    const auto whole = [&](const char* key) { return nb::cast<std::uint64_t>(d[key]); };
    Settings s;
    s.candidates = static_cast<std::uint32_t>(whole("candidates"));
    s.pool = static_cast<std::uint32_t>(whole("pool"));
    s.n_drawn = static_cast<std::uint32_t>(whole("n_drawn"));
    s.replace = nb::cast<bool>(d["replace"]);
    s.min_leaf = static_cast<std::uint32_t>(whole("min_leaf"));
    s.min_split = static_cast<std::uint32_t>(whole("min_split"));
    s.max_depth = static_cast<std::uint32_t>(whole("max_depth"));
    s.min_gain = nb::cast<double>(d["min_gain"]);
    s.seed = whole("seed");
    s.first_tree = static_cast<std::uint32_t>(whole("first_tree"));
    s.n_trees = static_cast<std::uint32_t>(whole("n_trees"));
    s.keep_trees = nb::cast<bool>(d["keep_trees"]);
    s.oob = nb::cast<bool>(d["oob"]);
    s.listed = nb::cast<bool>(d["listed"]);
    return s;
}

template <class T>
void bring(const nb::dict& earlier, const char* key, std::vector<T>& into) {
    if (!earlier.contains(key)) return;
    auto array = nb::cast<Input<T>>(earlier[key]);
    into.assign(array.data(), array.data() + array.size());
}

nb::dict trees_dict(FlatTree&& trees, std::vector<std::int64_t>&& offsets, std::size_t n_values) {
    nb::dict out;
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

// `earlier`: sums of the trees before `first_tree` (importance, oob_sum, oob_trees), if any.
nb::dict grow(const PyRankTable& ranked, const std::string& criterion, const nb::object& y,
              std::uint32_t n_classes, const nb::object& weight, const nb::dict& settings_dict,
              const PyProbes* probes, const std::vector<double>& coupling_edges, int n_threads,
              double max_seconds,
              const nb::dict& earlier, const nb::object& progress) {
    const Settings settings = make_settings(settings_dict);
    const Outcome outcome = make_outcome(criterion, y, n_classes, weight, settings.n_drawn);
    ForestResult forest;
    std::vector<double> importance;
    bring(earlier, "importance", importance);
    if (!importance.empty()) {
        forest.importance = Zeros<double>(importance.size());
        std::copy(importance.begin(), importance.end(), forest.importance.data());
    }
    bring(earlier, "oob_sum", forest.oob_sum);
    bring(earlier, "oob_trees", forest.oob_trees);
    const std::uint32_t n_trees = settings.n_trees;
    const auto poll = [&](std::uint32_t done) {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done, n_trees);
    };
    {
        nb::gil_scoped_release release;
        grow_forest(*ranked.table, outcome, settings, probes ? &probes->set : nullptr,
                    coupling_edges, n_threads, max_seconds, poll, forest);
    }
    const std::size_t F = ranked.table->n_features(), S = ranked.table->n_samples();
    nb::dict out;
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
        out["couplings"] = to_numpy(std::move(forest.couplings), {F, coupling_edges.size() - 1});
        out["importance"] = to_numpy(std::move(forest.importance), {F});
    }
    out["outcome_fingerprint"] = outcome.fingerprint;
    if (probes) {
        out["probe_wins"] = to_numpy(std::move(forest.probe_wins));
        out["probe_couplings"] = to_numpy(std::move(forest.probe_couplings),
                                          {probes->set.n_strata(), coupling_edges.size() - 1});
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

// The flat arrays of a forest, held while they are read.
struct HeldTrees {
    Input<std::int32_t> feature, left, right;
    Input<double> threshold, value;
    Input<std::uint8_t> missing_left;
    Input<std::int64_t> offsets;

    explicit HeldTrees(const nb::dict& d)
        : feature(nb::cast<Input<std::int32_t>>(d["feature"])),
          left(nb::cast<Input<std::int32_t>>(d["left"])),
          right(nb::cast<Input<std::int32_t>>(d["right"])),
          threshold(nb::cast<Input<double>>(d["threshold"])),
          value(nb::cast<Input<double>>(d["value"])),
          missing_left(nb::cast<Input<std::uint8_t>>(d["missing_left"])),
          offsets(nb::cast<Input<std::int64_t>>(d["offsets"])) {}

    TreesView view() const {
        return {feature.data(), left.data(), right.data(), threshold.data(), value.data(),
                missing_left.data(), offsets.data(), offsets.shape(0) - 1, value.shape(1)};
    }
};

nb::object predict(const nb::dict& trees, const nb::object& x, std::size_t n_samples,
                   int n_threads) {
    const HeldTrees held(trees);
    const TreesView flat = held.view();
    const HeldMatrix values(x, n_samples, 0);
    const Matrix& matrix = values.matrix;
    std::vector<double> out(matrix.n_samples * flat.n_values);
    {
        nb::gil_scoped_release release;
        mean_values(flat, matrix, n_threads, out.data());
    }
    return to_numpy(std::move(out), {matrix.n_samples, flat.n_values});
}

nb::object apply(const nb::dict& trees, const nb::object& x, std::size_t n_samples,
                 int n_threads) {
    const HeldTrees held(trees);
    const TreesView flat = held.view();
    const HeldMatrix values(x, n_samples, 0);
    const Matrix& matrix = values.matrix;
    std::vector<std::int32_t> out(matrix.n_samples * flat.n_trees);
    {
        nb::gil_scoped_release release;
        find_leaves(flat, matrix, n_threads, out.data());
    }
    return to_numpy(std::move(out), {matrix.n_samples, flat.n_trees});
}

// `settings`: seed, first_tree, n_drawn and replace of the forest; y as `grow` took it.
nb::tuple permuted_errors(const nb::dict& trees, const nb::object& x, std::size_t n_samples,
                          const nb::object& y, bool is_classes, const nb::dict& settings_dict,
                          int n_threads) {
    const HeldTrees held(trees);
    const TreesView flat = held.view();
    const HeldMatrix values(x, n_samples, 0);
    const Matrix& matrix = values.matrix;
    Input<std::int64_t> classes;
    Input<double> numbers;
    Truth truth{nullptr, nullptr};
    if (is_classes) {
        classes = nb::cast<Input<std::int64_t>>(y);
        truth.classes = classes.data();
    } else {
        numbers = nb::cast<Input<double>>(y);
        truth.numbers = numbers.data();
    }
    Settings settings;
    settings.seed = nb::cast<std::uint64_t>(settings_dict["seed"]);
    settings.first_tree = nb::cast<std::uint32_t>(settings_dict["first_tree"]);
    settings.n_drawn = nb::cast<std::uint32_t>(settings_dict["n_drawn"]);
    settings.replace = nb::cast<bool>(settings_dict["replace"]);
    std::vector<double> sum, sum_of_squares;
    {
        nb::gil_scoped_release release;
        oob_permutation(flat, matrix, truth, settings, n_threads, sum, sum_of_squares);
    }
    return nb::make_tuple(to_numpy(std::move(sum)), to_numpy(std::move(sum_of_squares)));
}

std::vector<std::uint32_t> shuffle(std::uint32_t n, std::uint64_t key, std::uint32_t count) {
    const ShuffleShape shape(n);
    std::vector<std::uint32_t> out(count);
    Shuffle(shape, key).next(count, out.data());
    return out;
}

}  // namespace

NB_MODULE(_native, m) {
    nb::set_leak_warnings(false);  // static type objects outlive the interpreter in subinterpreters
    nb::class_<PyRankTable>(m, "RankTable")
        .def(nb::init<const nb::object&, int, std::size_t>(), "x"_a, "n_threads"_a,
             "first_feature"_a = 0)
        .def(nb::init<const nb::object&, std::size_t, Input<std::uint8_t>, Input<std::uint64_t>,
                      Input<std::uint32_t>, Input<std::uint8_t>, std::uint64_t, std::size_t,
                      std::size_t>(),
             "x"_a.none(), "n_samples"_a, "block"_a, "differs"_a, "n_known"_a, "flags"_a,
             "fingerprint"_a, "most_resident"_a, "value_bytes"_a)
        .def("arrays", &arrays)
        .def("column", [](const PyRankTable& t, std::size_t i) { return column(*t.table, i); })
        .def_prop_ro("n_samples", [](const PyRankTable& t) { return t.table->n_samples(); })
        .def_prop_ro("n_features", [](const PyRankTable& t) { return t.table->n_features(); })
        .def_prop_ro("bytes", [](const PyRankTable& t) { return t.table->bytes(); })
        .def_prop_ro("has_missing", [](const PyRankTable& t) { return t.table->has_missing(); })
        .def_prop_ro("fingerprint", [](const PyRankTable& t) { return t.table->fingerprint(); })
        .def_prop_ro("infinite_feature",
                     [](const PyRankTable& t) { return t.table->infinite_feature(); });
    nb::class_<PyProbes>(m, "Probes")
        .def(nb::init<const PyRankTable&, const Input<std::int64_t>&,
                      const std::vector<std::uint32_t>&, const std::vector<std::uint8_t>&,
                      std::uint64_t, std::uint32_t, std::uint32_t,
                      const std::vector<std::uint32_t>&, const Input<std::uint32_t>&,
                      const Input<double>&>(),
             "table"_a, "feature_strata"_a, "n_probes"_a, "copies"_a, "seed"_a, "in_tree"_a,
             "at_node"_a, "sides"_a, "rankings"_a, "weights"_a)
        .def_prop_ro("ids",
                     [](const PyProbes& p) {
                         return to_numpy(std::vector<std::int64_t>(p.set.id.begin(),
                                                                   p.set.id.end()));
                     })
        .def_prop_ro("strata",
                     [](const PyProbes& p) {
                         return to_numpy(std::vector<std::int64_t>(p.set.stratum.begin(),
                                                                   p.set.stratum.end()));
                     })
        .def_prop_ro("weights",
                     [](const PyProbes& p) {
                         return to_numpy(std::vector<double>(p.set.weight));
                     })
        .def("column", [](const PyProbes& p, std::size_t i) { return column(*p.set.table, i); });
    m.def("tie_profile", &tie_profile, "table"_a,
          "Per feature: distinct values, pairs of samples that are alike, missing values.");
    m.def("luck_of_rankings", &luck, "table"_a, "feature_strata"_a, "copies"_a, "criterion"_a, "y"_a, "n_classes"_a, "weight"_a.none(),
          "seed"_a, "stratum"_a, "side"_a, "least"_a,
          "How well each of side x side rankings goes with y by chance (see luck.hpp).");
    m.def("grow", &grow, "table"_a, "criterion"_a, "y"_a, "n_classes"_a, "weight"_a.none(),
          "settings"_a, "probes"_a.none(), "coupling_edges"_a, "n_threads"_a, "max_seconds"_a,
          "earlier"_a,
          "progress"_a.none());
    m.def("predict", &predict, "trees"_a, "x"_a, "n_samples"_a, "n_threads"_a);
    m.def("apply", &apply, "trees"_a, "x"_a, "n_samples"_a, "n_threads"_a);
    m.def("permuted_errors", &permuted_errors, "trees"_a, "x"_a, "n_samples"_a, "y"_a,
          "is_classes"_a, "settings"_a, "n_threads"_a);
    m.def("shuffle", &shuffle, "n"_a, "key"_a, "count"_a,
          "First values of the keyed bijection of 0..n-1 (see keyed_random.hpp).");
    m.def("isa", [] { return isa_name(chosen_isa()); }, "Instruction set that forests use now.");
    m.def("tree_key", &tree_key, "seed"_a, "tree"_a);
}
