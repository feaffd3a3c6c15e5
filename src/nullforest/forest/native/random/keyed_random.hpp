// Keyed random numbers of trees and nodes. A specification: any engine that follows this file grows
// the same trees. All words are unsigned and wrap around.
//
//   mix(x)           x ^= x>>30; x *= 0xbf58476d1ce4e5b9; x ^= x>>27; x *= 0x94d049bb133111eb;
//                    x ^= x>>31                                             (64-bit words)
//   step(key, i)     mix(key + 0x9e3779b97f4a7c15 * (i + 1))
//
// Keys (path from the root):
//   tree_key         step(step(0, seed), tree)          tree counts from 0 over the whole forest
//   root_key         step(tree_key, 0)
//   left/right child step(node_key, 1) / step(node_key, 2)
//   pool_key         step(tree_key, 1)
//   subsample_key    step(tree_key, 2)
//   bootstrap_key    step(tree_key, 3)
//   oob_permutation  step(tree_key, 16); feature f is shuffled by Shuffle(n, step(that, f))
//   draw_key         step(node_key, 0)                  candidates of the node
//
// Shuffle(n, key) is a keyed bijection of 0..n-1; its i-th value:
//   n <= 256         Fisher-Yates from the identity: for i = 0, 1, ... swap entries i and
//                    i + ((step(key, i) >> 32) * (n - i) >> 32); entry i is the i-th value.
//   n >  256         Six Feistel rounds on (L, R), L < a, R < b, with a = ceil(sqrt(n)),
//                    b = ceil(n / a). Round keys k[2j], k[2j+1] are the low and the high 32 bits
//                    of step(key, j), j = 0, 1, 2. Start at L = x / b, R = x mod b, x = i. Then
//                    for j = 0, 1, 2: L = (L + f(R, k[2j], a)) mod a, then
//                    R = (R + f(L, k[2j+1], b)) mod b; x = L b + R. While x >= n repeat from the
//                    new x (cycle walking). In 32-bit words
//                    f(v, k, m): h = (v ^ k) * 0x9e3779b1; h ^= h>>15; h *= 0x85ebca6b;
//                    h ^= h>>13; f = (64-bit) h * m >> 32.
//
// (Four rounds leave pairs of successive values visibly uneven, six do not from n = 100 on; for
// small n the exact shuffle is cheaper.)
//
// Choices:
//   subsample of n of S without replacement: the first n values of Shuffle(S, subsample_key)
//   bootstrap of n of S:                     draw j is (step(bootstrap_key, j) >> 32) * S >> 32
//   pool of F_t < V features:                the first F_t values of Shuffle(V, pool_key), each
//                                            looked up among the V columns that vary, ascending
//   candidate i of a node:                   value i of Shuffle(F_t, draw_key), looked up in the
//                                            pool, or where F_t = V among the columns that vary
#pragma once
#include <cstdint>

// A kernel file compiled for another instruction set names its own copy of these functions, so
// that the linker never mixes them.
#ifndef NULLFOREST_ISA
#define NULLFOREST_ISA baseline
#endif

namespace nullforest {

// The size of a bijection and the sides of its Feistel rectangle.
struct ShuffleShape {
    static constexpr std::uint32_t kSmall = 256;  // entries of the exact shuffle fit one byte
    std::uint32_t n, a = 1, b = 1;

    explicit ShuffleShape(std::uint32_t size) : n(size) {
        while (static_cast<std::uint64_t>(a) * a < n) ++a;
        b = (n + a - 1) / a;
    }
};

inline namespace NULLFOREST_ISA {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ull;

inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

inline std::uint64_t step(std::uint64_t key, std::uint64_t i) {
    return mix(key + kGolden * (i + 1));
}

// A number below n from the upper half of a random word.
inline std::uint32_t below(std::uint64_t word, std::uint32_t n) {
    return static_cast<std::uint32_t>(((word >> 32) * n) >> 32);
}

inline std::uint64_t tree_key(std::uint64_t seed, std::uint64_t tree) {
    return step(step(0, seed), tree);
}
inline std::uint64_t root_key(std::uint64_t tree) { return step(tree, 0); }
inline std::uint64_t pool_key(std::uint64_t tree) { return step(tree, 1); }
inline std::uint64_t subsample_key(std::uint64_t tree) { return step(tree, 2); }
inline std::uint64_t bootstrap_key(std::uint64_t tree) { return step(tree, 3); }
inline std::uint64_t oob_permutation_key(std::uint64_t tree) { return step(tree, 16); }
inline std::uint64_t draw_key(std::uint64_t node) { return step(node, 0); }
inline std::uint64_t child_key(std::uint64_t node, bool right) { return step(node, right ? 2 : 1); }

// The values of one keyed bijection, drawn lazily in order.
class Shuffle {
public:
    Shuffle(const ShuffleShape& shape, std::uint64_t key) : shape_(shape), key_(key) {
        if (shape.n <= ShuffleShape::kSmall) {
            for (std::uint32_t i = 0; i < shape.n; ++i) entries_[i] = static_cast<std::uint8_t>(i);
        } else {
            for (int j = 0; j < 3; ++j) {
                const std::uint64_t word = step(key, j);
                keys_[2 * j] = static_cast<std::uint32_t>(word);
                keys_[2 * j + 1] = static_cast<std::uint32_t>(word >> 32);
            }
        }
    }

    // The next `count` values, at most n in all.
    void next(std::uint32_t count, std::uint32_t* out) {
        if (shape_.n <= ShuffleShape::kSmall) {
            // The random numbers first, more than are needed: the compiler makes many together.
            constexpr std::uint32_t kMany = 8;
            for (std::uint32_t c = 0; c < count;) {
                std::uint32_t ahead[kMany];
                for (std::uint32_t i = 0; i < kMany; ++i)
                    ahead[i] = below(step(key_, drawn_ + i), shape_.n - drawn_ - i);
                for (std::uint32_t i = 0; i < kMany && c < count; ++i, ++c, ++drawn_) {
                    const std::uint32_t j = drawn_ + ahead[i];
                    const std::uint8_t value = entries_[j];
                    entries_[j] = entries_[drawn_];
                    entries_[drawn_] = value;
                    out[c] = value;
                }
            }
            return;
        }
        while (count > 0) {
            const std::uint32_t drawn = count > kBlock ? next_block<2 * kBlock>(count, out)
                                                       : next_block<kBlock>(count, out);
            count -= drawn;
            out += drawn;
        }
    }

private:
    static constexpr std::uint32_t kBlock = 16;  // no more than the shorter side of any rectangle

    // Up to `size` values at once, first without a test of the range: the compiler does many
    // together.
    template <std::uint32_t size>
    std::uint32_t next_block(std::uint32_t count, std::uint32_t* out) {
        const std::uint32_t n = shape_.n, a = shape_.a, b = shape_.b;
        std::uint32_t value[size], outside = 0;
        for (std::uint32_t half = 0; half < size; half += kBlock) {
            for (std::uint32_t c = 0; c < kBlock; ++c) {
                const std::uint32_t right = right_ + c, wrap = right >= b;
                value[half + c] = around(left_ + wrap, right - (wrap ? b : 0), a, b);
                outside |= value[half + c] >= n;
            }
            right_ += kBlock;
            left_ += right_ >= b;
            right_ -= right_ >= b ? b : 0;
        }
        const std::uint32_t used = count < size ? count : size;
        if (outside)
            for (std::uint32_t c = 0; c < used; ++c)
                while (value[c] >= n) value[c] = around(value[c] / b, value[c] % b, a, b);
        for (std::uint32_t c = 0; c < used; ++c) out[c] = value[c];
        drawn_ += used;
        if (used < size) {
            left_ = drawn_ / b;
            right_ = drawn_ % b;
        }
        return used;
    }

    static std::uint32_t round_value(std::uint32_t v, std::uint32_t key, std::uint32_t m) {
        std::uint32_t h = (v ^ key) * 0x9e3779b1u;
        h ^= h >> 15;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        return static_cast<std::uint32_t>((static_cast<std::uint64_t>(h) * m) >> 32);
    }
    std::uint32_t around(std::uint32_t left, std::uint32_t right, std::uint32_t a,
                         std::uint32_t b) const {
        for (int j = 0; j < 3; ++j) {
            left += round_value(right, keys_[2 * j], a);
            left -= left >= a ? a : 0;
            right += round_value(left, keys_[2 * j + 1], b);
            right -= right >= b ? b : 0;
        }
        return left * b + right;
    }

    const ShuffleShape& shape_;
    std::uint64_t key_;
    std::uint32_t drawn_ = 0, left_ = 0, right_ = 0;
    std::uint32_t keys_[6] = {};
    std::uint8_t entries_[ShuffleShape::kSmall];
};

}  // namespace NULLFOREST_ISA
}  // namespace nullforest
