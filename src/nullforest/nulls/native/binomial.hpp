// Sums over the components of a mixture of binomials. A number of trials n need not be whole: the
// binomial coefficient is that of the gamma function, and tails are incomplete beta functions. With
// p near 1 the pmf of such a component then adds to less than one.
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

// P(count <= k), and the sum of j P(count = j) over j <= k.
struct Lower {
    double probability, sum;
};
Lower lower_part(const Mixture& mixture, double k);

}  // namespace nullforest
