// The samples that a tree draws, when it is grown and when its out-of-bag samples are needed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/searches.hpp"
#include "random/keyed_random.hpp"

namespace nullforest {

// count[s]: how often sample s is drawn for the tree of this key; 0 out of the bag.
inline void draw_bag(const Settings& settings, const ShuffleShape& samples, std::uint64_t tree_key,
                     std::vector<std::uint32_t>& count, std::vector<std::uint32_t>& scratch) {
    const std::uint32_t S = samples.n;
    count.assign(S, 0);
    if (settings.replace) {
        const std::uint64_t stream = bootstrap_key(tree_key);
        for (std::uint32_t j = 0; j < settings.n_drawn; ++j) ++count[below(step(stream, j), S)];
    } else if (settings.n_drawn == S) {
        std::fill(count.begin(), count.end(), 1);
    } else {
        scratch.resize(S);
        kernels_of(settings.isa).shuffle(samples, subsample_key(tree_key), settings.n_drawn,
                                         scratch.data());
        for (std::uint32_t j = 0; j < settings.n_drawn; ++j) count[scratch[j]] = 1;
    }
}

}  // namespace nullforest
