// The door between Python and the engine: checked arrays and numbers in, arrays out.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "errors.hpp"
#include "probes/probe_set.hpp"
#include "table/outcome.hpp"
#include "table/rank_table.hpp"
#include "tree/forest.hpp"
#include "tree/predict.hpp"

namespace nullforest {

namespace nb = nanobind;
using namespace nb::literals;

using Dict = nb::typed<nb::dict, nb::str, nb::any>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;
template <class T>
using Input = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;

// Looks for Ctrl-C, with the lock of the interpreter.
inline void check_signals() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// ---- In

constexpr std::size_t kAny = static_cast<std::size_t>(-1);  // a length that is free

template <class T>
void require_shape(const Input<T>& array, const std::string& name,
                   const std::vector<std::size_t>& shape) {
    const auto text = [](std::size_t n, const auto& length) {
        std::string all = "(";
        for (std::size_t i = 0; i < n; ++i)
            all += (i ? ", " : "") + (length(i) == kAny ? "any" : std::to_string(length(i)));
        return all + ")";
    };
    bool fits = array.ndim() == shape.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i)
        fits = shape[i] == kAny || array.shape(i) == shape[i];
    if (!fits)
        throw InputError(name + " has the shape " +
                         text(array.ndim(), [&](std::size_t i) { return array.shape(i); }) +
                         " and needs " +
                         text(shape.size(), [&](std::size_t i) { return shape[i]; }) + ".");
}

// An array of T as it is: no other type is converted, and nothing is copied.
template <class T>
Input<T> take(nb::handle given, const std::string& name, const std::vector<std::size_t>& shape) {
    Input<T> array;
    if (!nb::try_cast(given, array, false)) {
        const std::string kind = std::is_floating_point_v<T> ? "float"
                                 : std::is_signed_v<T>       ? "int"
                                                             : "uint";
        throw InputError(name + " must be a contiguous array of " + kind +
                         std::to_string(8 * sizeof(T)) + ".");
    }
    require_shape(array, name, shape);
    return array;
}

template <class T, class Holds>
void require_all(const Input<T>& array, const Holds& holds, const std::string& otherwise) {
    const T* end = array.data() + array.size();
    require(std::find_if_not(array.data(), end, holds) == end, otherwise);
}
inline bool finite(double x) { return std::isfinite(x); }

// A number or a flag of the settings.
template <class T>
T setting(const nb::dict& settings, const char* name) {
    const nb::object given = settings[name];
    T value;
    if (!nb::try_cast(given, value))
        throw InputError(std::string(name) + " has a type or size that the engine does not take.");
    return value;
}
// A whole number of the settings, within its bounds.
inline std::uint32_t whole(const nb::dict& settings, const char* name, std::uint64_t least,
                           std::uint64_t most) {
    const auto value = setting<std::uint64_t>(settings, name);
    if (value < least || value > most)
        throw InputError(std::string(name) + " = " + std::to_string(value) + " must lie between " +
                         std::to_string(least) + " and " + std::to_string(most) + ".");
    return static_cast<std::uint32_t>(value);
}

// The values of X while they are read: an array (S, F), the (values, samples, starts) of sparse
// columns, or None.
struct HeldMatrix {
    nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu> x;
    nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> values;
    Input<std::int32_t> samples;
    Input<std::int64_t> starts;
    Matrix matrix{};

    HeldMatrix(const nb::object& given, std::size_t n_samples);
};

// A rank table, and the arrays that it reads.
struct PyRankTable {
    HeldMatrix x;
    Input<std::uint8_t> block, flags;
    Input<std::uint64_t> differs;
    Input<std::uint32_t> n_known;
    std::unique_ptr<RankTable> table;
};

// The target of `n_samples` samples; `n_classes` is 0 where it holds numbers or distances.
Outcome make_outcome(const std::string& criterion, const nb::object& y, std::size_t n_samples,
                     std::uint64_t n_classes, const nb::object& weight, std::uint32_t n_drawn);

// ---- Out

// What `work` returns, without the lock of the interpreter.
template <class Work>
auto unlocked(const Work& work) {
    nb::gil_scoped_release release;
    return work();
}

// A vector given to numpy without a copy.
template <class T>
Array<T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape) {
    auto* owner = new std::vector<T>(std::move(values));
    nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owner->data(), shape.size(), shape.data(), free);
}
template <class T>
Array<T> to_numpy(std::vector<T>&& values) {
    const std::size_t n = values.size();
    return to_numpy(std::move(values), {n});
}
template <class T>
Array<T> to_numpy(Zeros<T>&& values, std::vector<std::size_t> shape) {
    T* data = values.release();
    nb::capsule free(data, [](void* p) noexcept { std::free(p); });
    return Array<T>(data, shape.size(), shape.data(), free);
}

// The samples in ascending order of one column, whether each differs from the next, and how many
// of them have a value.
using Column = std::tuple<Array<std::uint32_t>, Array<std::uint8_t>, std::uint32_t>;
Column column(const RankTable& table, std::size_t number);

// ---- The module, stage by stage

void bind_table(nb::module_& m);
void bind_probes(nb::module_& m);
void bind_forest(nb::module_& m);

}  // namespace nullforest
