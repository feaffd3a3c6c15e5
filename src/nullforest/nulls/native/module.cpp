// The module `nullforest.nulls._binomial`.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "binomial.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nullforest {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Result = nb::ndarray<nb::numpy, double, nb::ndim<1>>;

constexpr double kMost = 9007199254740992.0;  // 2^53, beyond which adding one changes nothing

Mixture mixture_of(const Numbers& trials, const Numbers& chances, const Numbers& weights) {
    const std::size_t n = trials.size();
    if (chances.size() != n || weights.size() != n)
        throw std::invalid_argument("trials, chances and weights must have the same length.");
    for (std::size_t i = 0; i < n; ++i) {
        const double t = trials.data()[i], p = chances.data()[i];
        if (!(t >= 0 && t < kMost && p >= 0 && p <= 1 && weights.data()[i] >= 0))
            throw std::invalid_argument("A component is no binomial.");
    }
    return {trials.data(), chances.data(), weights.data(), n};
}

Result result_of(std::unique_ptr<double[]> values, std::size_t n) {
    double* data = values.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Result(data, {n}, owner);
}

Result pmf(const Numbers& trials, const Numbers& chances, const Numbers& weights,
           std::size_t first, std::size_t last) {
    const Mixture mixture = mixture_of(trials, chances, weights);
    if (last < first || static_cast<double>(last) >= kMost)
        throw std::invalid_argument("first must be at most last, and last below 2^53.");
    const std::size_t n = last - first + 1;
    auto out = std::make_unique<double[]>(n);  // zeros
    {
        nb::gil_scoped_release release;
        add_pmf(mixture, static_cast<double>(first), static_cast<double>(last), out.get());
    }
    return result_of(std::move(out), n);
}

Result sf(const Numbers& trials, const Numbers& chances, const Numbers& weights,
          const Numbers& k) {
    const Mixture mixture = mixture_of(trials, chances, weights);
    auto out = std::make_unique<double[]>(k.size());
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < k.size(); ++i) {
            const double at = k.data()[i];
            if (!(at >= 0 && at < kMost)) throw std::invalid_argument("k must not be negative.");
            out[i] = survival(mixture, at);
        }
    }
    return result_of(std::move(out), k.size());
}

std::pair<double, double> lower(const Numbers& trials, const Numbers& chances,
                                const Numbers& weights, double k) {
    const Mixture mixture = mixture_of(trials, chances, weights);
    if (!(k >= 0 && k < kMost)) throw std::invalid_argument("k must not be negative.");
    nb::gil_scoped_release release;
    const Lower part = lower_part(mixture, k);
    return {part.probability, part.sum};
}

}  // namespace

NB_MODULE(_binomial, m) {
    nb::set_leak_warnings(false);  // static type objects outlive the interpreter in subinterpreters
    m.def("pmf", &pmf, "trials"_a, "chances"_a, "weights"_a, "first"_a, "last"_a,
          "P(count = k) of a mixture of binomials for k from `first` to `last`.");
    m.def("sf", &sf, "trials"_a, "chances"_a, "weights"_a, "k"_a,
          "P(count > k) of a mixture of binomials, for whole k of at least zero.");
    m.def("lower", &lower, "trials"_a, "chances"_a, "weights"_a, "k"_a,
          "P(count <= k), and the sum of j P(count = j) over j <= k.");
}

}  // namespace nullforest
