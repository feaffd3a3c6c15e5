// Large arrays of zeros, whose pages cost nothing until they are written.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace nullforest {

struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* memory) const { munmap(memory, bytes); }
};
using MappedBytes = std::unique_ptr<std::uint8_t, Unmap>;

// Zeros, at the begin of a page.
inline MappedBytes map_zeros(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return {static_cast<std::uint8_t*>(memory), Unmap{bytes}};
}

}  // namespace nullforest
