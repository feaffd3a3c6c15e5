// In which of 64 steps of rank the samples of every column lie.
//
// Step b begins at rank sin^2(pi b / 128) S: narrow at both ends, where a few samples more or less
// change the score of a split most, so that all steps are about as coarse. Bits of the number of a
// step, from the highest on, are numbers of 2, 4, 8 ... steps.
//
// Plane j of a column is bit 5 - j of the step of every sample, one bit for each.
#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "table/mapped_bytes.hpp"
#include "threads/parallel.hpp"

namespace nullforest {

class RankTable;

class RankSteps {
public:
    static constexpr std::uint32_t kPlanes = 6, kSteps = 1u << kPlanes;
    // Larger tables keep to their ranks: less memory is worth more than speed.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 30;

    // Of a table by ranks, which must outlive it.
    explicit RankSteps(const RankTable& table);

    // Makes the planes, once, where they take no more than that.
    void make_planes(std::size_t n_threads, const Poll& poll);

    // Words of a plane: whole vectors of 512 bits, zeros behind the last sample.
    static std::size_t plane_words(std::size_t n_samples) { return (n_samples + 511) / 512 * 8; }
    // The planes of the first feature, those of the others behind it; null before they are made.
    const std::uint64_t* planes() const {
        return reinterpret_cast<const std::uint64_t*>(planes_.get());
    }
    // The first rank of each of the 64 steps, and the number of samples.
    const std::uint32_t* begins() const { return begin_.data(); }
    // The step of each rank.
    const std::uint8_t* step_of() const { return step_of_.data(); }

private:
    void slice(const std::uint8_t* step, std::uint8_t* planes) const;

    const RankTable& table_;
    std::vector<std::uint32_t> begin_;
    std::vector<std::uint8_t> step_of_;
    std::once_flag planes_made_;
    MappedBytes planes_;
};

}  // namespace nullforest
