// The module `nullforest.nulls._binomial`.
//
// Sums over the components of a mixture of binomials. A number of trials n need not be whole: the
// binomial coefficient is that of the gamma function, and tails are incomplete beta functions. With
// p near 1 the pmf of such a component then adds to less than one.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace nullforest {

namespace {

// ---- Sums

// Component i is Bin(trials[i], chances[i]) with probability weights[i]; their means rise with i.
struct Mixture {
    const double* trials;
    const double* chances;
    const double* weights;
    std::size_t size;
};

// P(count <= k), and the sum of j P(count = j) over j <= k.
struct Lower {
    double probability, sum;
};

constexpr double kNegligible = 1e-300;  // where steps would no longer make numbers smaller
constexpr double kRounding = 1e-17;    // of a sum, relative
// Tails shrink with the mean, but for small differences between chances: after so many tails in a
// row that are too small to matter, none does.
constexpr std::size_t kManySmall = 64;
constexpr double kTooSmall = 1e-25;
constexpr double kAlmostOne = 1 - 0x1p-53;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;

// log Gamma(x+1) less Stirling's formula, x > 0.
double stirling_error(double x) {
    if (x < 15) return std::lgamma(x + 1) - (x + 0.5) * std::log(x) + x - kHalfLogTwoPi;
    const double square = 1 / (x * x);  // the next term is below 1e-16
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - square / 1188) * square) * square) *
                           square) / x;
}

// x log(x/m) + m - x, without the loss of digits where x is near m.
double deviance(double x, double m) {
    const double apart = x - m;
    if (std::abs(apart) > 0.1 * (x + m)) return x * std::log(x / m) - apart;
    const double v = apart / (x + m);
    double sum = apart * v, term = 2 * x * v;
    for (int j = 3;; j += 2) {  // 2 atanh(v) = log(x/m); v is at most .1
        term *= v * v;
        const double next = sum + term / j;
        if (next == sum) return sum;
        sum = next;
    }
}

// P(Bin(n, p) = k) for real n >= k, 0 < p < 1.
double one_pmf(double n, double p, double k) {
    if (k == 0) return std::exp(n * std::log1p(-p));
    if (k == n) return std::exp(n * std::log(p));
    const double rest = n - k;
    const double log = stirling_error(n) - stirling_error(k) - stirling_error(rest) -
                       deviance(k, n * p) - deviance(rest, n * (1 - p));
    return std::exp(log - kHalfLogTwoPi) * std::sqrt(n / (k * rest));
}

// P(Bin(n, p) > k) as a sum of positive terms: where k is above the mean, the hypergeometric series
// of the incomplete beta function; below it, one less the sum of the pmf downwards.
double one_survival(double n, double p, double k) {
    if (n <= k || p == 0) return 0;
    if (p == 1) return 1;
    if (n - k <= 1) return std::exp((k + 1) * std::log(p));  // k is the last below n
    // With p near 1 the series is long; there the other sum loses six digits at most.
    const bool long_series = p > 0.9 && (k + 1) * (1 - p) < 14;
    if ((n + 1) * p < k + 2 && !long_series) {
        double term = one_pmf(n, p, k + 1) * (1 - p), sum = term;
        for (double above = n + 1, below = k + 2; term > kRounding * sum + kNegligible;
             ++above, ++below)
            sum += term *= above * p / below;
        return std::min(sum, 1.0);
    }
    double term = one_pmf(n, p, k), sum = term;
    const double odds = p / (1 - p);
    for (double j = k; j > 0 && term > kRounding * sum + kNegligible; --j)
        sum += term *= j / ((n - j + 1) * odds);
    return std::max(1 - sum, 0.0);
}

// Add P(count = k) for k = first, ..., last to `out`. Terms below 1e-300 are left out.
void add_pmf(const Mixture& mixture, double first, double last, double* out) {
    for (std::size_t i = 0; i < mixture.size; ++i) {
        const double n = mixture.trials[i], w = mixture.weights[i];
        const double p = std::min(mixture.chances[i], kAlmostOne);  // no count is impossible
        if (n < first) continue;
        if (p == 0 || n == 0) {
            if (first == 0) out[0] += w;
            continue;
        }
        const double top = std::min(last, std::floor(n));
        const double mode = std::min(std::max(std::floor((n + 1) * p), first), top);
        const double odds = p / (1 - p), start = w * one_pmf(n, p, mode);
        double term = start;
        for (double k = mode; k <= top && term > kNegligible; ++k) {
            out[static_cast<std::size_t>(k - first)] += term;
            term *= (n - k) * odds / (k + 1);
        }
        term = start;
        for (double k = mode; k > first && term > kNegligible; --k) {
            term *= k / ((n - k + 1) * odds);
            out[static_cast<std::size_t>(k - first - 1)] += term;
        }
    }
}

// P(count > k) for whole k >= 0, to the relative accuracy of its largest component.
double survival(const Mixture& mixture, double k) {
    double sum = 0;
    std::size_t small = 0;
    for (std::size_t i = mixture.size; i-- > 0 && small < kManySmall;) {
        const double tail = one_survival(mixture.trials[i], mixture.chances[i], k);
        sum += mixture.weights[i] * tail;
        small = tail < kTooSmall * sum ? small + 1 : 0;
    }
    return std::min(sum, 1.0);
}

// E[n 1(n <= k)] = N p P(Bin(N-1, p) <= k-1), which is P(Bin(N, p) <= k) less p^k (1-p)^(N-k) (N-1
// over k).
Lower lower_part(const Mixture& mixture, double k) {
    Lower lower{0, 0};
    for (std::size_t i = 0; i < mixture.size; ++i) {
        const double n = mixture.trials[i], p = mixture.chances[i], w = mixture.weights[i];
        double below = 1, inside = 1;
        if (n > k && p > 0) {
            below = 1 - one_survival(n, p, k);
            inside = below;
            if (p < 1) inside -= one_pmf(n, p, k) * (n - k) / n;
        }
        lower.probability += w * below;
        lower.sum += w * n * p * inside;
    }
    return lower;
}

// ---- Arrays in and out

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
