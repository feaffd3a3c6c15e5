// Sums over the components of a mixture of binomials. A number of trials n need not be whole: the
// tail P(count > k) is the incomplete beta function I_p(k+1, n-k) for k below floor(n), the largest
// count, so that the pmf below that is the usual one with the gamma function's coefficient.
#pragma once
#include <cstddef>

namespace nullforest {

// Component i is Bin(trials[i], chances[i]) with probability weights[i]; their means rise with i.
struct Mixture {
    const double* trials;
    const double* chances;
    const double* weights;
    std::size_t size;
};

// Add P(count = k) for k = first, ..., last to `out`. Terms below 1e-300
// are left out.
void add_pmf(const Mixture& mixture, double first, double last, double* out);

// P(count > k) for whole k >= 0, to the relative accuracy of its largest component.
double survival(const Mixture& mixture, double k);

}  // namespace nullforest
