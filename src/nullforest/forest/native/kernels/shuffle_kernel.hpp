// The first values of a keyed bijection, many at once.
#pragma once
#include <cstdint>

#include "random/keyed_random.hpp"

namespace nullforest {

using ShuffleKernel = void (*)(const ShuffleShape& shape, std::uint64_t key, std::uint32_t count,
                               std::uint32_t* out);
void shuffle_portable(const ShuffleShape&, std::uint64_t, std::uint32_t, std::uint32_t*);
void shuffle_avx2(const ShuffleShape&, std::uint64_t, std::uint32_t, std::uint32_t*);
void shuffle_avx512(const ShuffleShape&, std::uint64_t, std::uint32_t, std::uint32_t*);
void shuffle_neon(const ShuffleShape&, std::uint64_t, std::uint32_t, std::uint32_t*);

}  // namespace nullforest
