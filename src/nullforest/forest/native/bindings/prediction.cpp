// Bindings of what a forest's trees predict.
#include "bindings/door.hpp"
#include "tree/oob_permutation.hpp"

namespace nullforest {

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

void bind_prediction(nb::module_& m) {
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
