// Binary logarithms that are the same on every machine (docs/randomness.md, section 6).
//
// A platform's own differ in the last bit between C libraries, and between processors with and
// without fused multiply-add; its long double has 53, 64 or 113 bits. Here are only operations
// whose roundings IEEE 754 fixes, and integers.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nullforest {

// log2 x for positive, finite x, to about two units in the last place; whole where it is whole.
// With x = 2^e m, .7 < m < 1.42, and z = (m - 1) / (m + 1): log2 m = 2 / ln 2 (z + z^3/3 + ...).
inline double binary_logarithm(double x) {
    constexpr double kRootOfHalf = 0.70710678118654752440;
    constexpr double kTwiceByLn2[] = {  // 2 / ((2 k + 1) ln 2)
        2.8853900817779268147,  0.96179669392597560491,  0.57707801635558536295,
        0.41219858311113240210, 0.32059889797532520164,  0.26230818925253880134,
        0.22195308321368667806, 0.19235933878519512098,  0.16972882833987804793,
        0.15186263588304877972, 0.13739952770371080070,  0.12545174268599681803};
    int e;
    double m = std::frexp(x, &e);
    if (m < kRootOfHalf) {
        m *= 2.0;
        --e;
    }
    const double z = (m - 1.0) / (m + 1.0), square = z * z;
    double sum = kTwiceByLn2[11];
    for (int k = 10; k >= 0; --k) sum = sum * square + kTwiceByLn2[k];
    return e + z * sum;
}

// log2 j to kLogarithmBits bits behind the point, for j from 1 to 2^32. Bit by bit: a number from 1
// to 2 is squared; from 2 on the bit is one, and it is halved.
using LongFraction = unsigned __int128;
constexpr int kLogarithmBits = 90;
inline LongFraction logarithm_by_bits(std::uint64_t j) {
    const int whole = 63 - __builtin_clzll(j);
    LongFraction bits = static_cast<LongFraction>(whole);
    LongFraction number = LongFraction{j} << (127 - whole);  // 127 bits behind the point
    for (int b = 0; b < kLogarithmBits; ++b) {
        const auto high = static_cast<std::uint64_t>(number >> 64);
        const auto low = static_cast<std::uint64_t>(number);
        number = LongFraction{high} * high + (LongFraction{high} * low >> 63);
        const bool one = number >> 127;
        bits = bits << 1 | one;
        if (!one) number <<= 1;
    }
    return bits;
}

// The integers nearest to 2^32 j log2 j, for j = 0..most; most <= 2^22.
inline std::vector<std::int64_t> entropy_terms(std::size_t most) {
    std::vector<LongFraction> logarithm(most + 1);
    std::vector<std::uint32_t> divisor(most + 1);  // a prime that divides j; 0: j is a prime
    std::vector<std::int64_t> terms(most + 1);
    for (std::size_t j = 2; j <= most; ++j) {
        if (divisor[j]) {
            logarithm[j] = logarithm[divisor[j]] + logarithm[j / divisor[j]];
        } else {
            logarithm[j] = logarithm_by_bits(j);
            for (std::size_t i = 2 * j; i <= most; i += j)
                divisor[i] = static_cast<std::uint32_t>(j);
        }
        constexpr int kDropped = kLogarithmBits - 32;
        terms[j] = static_cast<std::int64_t>(
            (logarithm[j] * j + (LongFraction{1} << (kDropped - 1))) >> kDropped);
    }
    return terms;
}

}  // namespace nullforest
