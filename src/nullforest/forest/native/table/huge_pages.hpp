// Pages of two megabytes, for large arrays that are read at random.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace nullforest {

// Covers the whole huge pages inside; does nothing where the system has none.
inline void request_huge_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + kPage - 1) & ~(kPage - 1);
    const std::uintptr_t last = (begin + bytes) & ~(kPage - 1);
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
    static_cast<void>(memory);
    static_cast<void>(bytes);
#endif
}

struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* memory) const { munmap(memory, bytes); }
};
using MappedBytes = std::unique_ptr<std::uint8_t, Unmap>;

// Zeros, at the begin of a page.
inline MappedBytes map_zeros(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    request_huge_pages(memory, bytes);
    return {static_cast<std::uint8_t*>(memory), Unmap{bytes}};
}

}  // namespace nullforest
