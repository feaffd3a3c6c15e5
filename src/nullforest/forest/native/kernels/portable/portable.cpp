// The kernels for any processor.
#define NULLFOREST_ISA portable
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "kernels/stairs.hpp"
#include "kernels/sweep.hpp"
#include "kernels/walk.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

// Running counts of the eight low-to-high bits of every byte, one per byte of the entry.
struct ByteCounts {
    std::uint64_t of[256];
    ByteCounts() {
        for (int b = 0; b < 256; ++b) {
            std::uint64_t entry = 0;
            for (int i = 0, sum = 0; i < 8; ++i) {
                sum += b >> i & 1;
                entry |= static_cast<std::uint64_t>(sum) << (8 * i);
            }
            of[b] = entry;
        }
    }
};
const ByteCounts kByteCounts;

class PortableSimd : public PlainSimd {
public:
    explicit PortableSimd(const WalkTask& task)
        : PlainSimd(task) {
        for (std::uint32_t s = 0; s < task.n_samples; ++s)
            code_[s] = static_cast<std::uint8_t>((task.member[s / 64] >> s % 64 & 1) |
                                                 (task.one[s / 64] >> s % 64 & 1) << 1);
    }
    void gather(const std::uint8_t* order, const std::uint64_t* high, std::uint32_t w,
                std::uint64_t& members, std::uint64_t& ones) const {
        const std::uint8_t* p = order + 64 * w;
        const std::uint64_t ninth = n_high_ > 0 ? high[w] : 0;
        const std::uint64_t tenth = n_high_ > 1 ? high[n_words_ + w] : 0;
        std::uint64_t m = 0, l = 0;
        for (std::uint32_t i = 0; i < 64; ++i) {
            const std::uint64_t code = code_[p[i] | (ninth >> i & 1) << 8 | (tenth >> i & 1) << 9];
            m |= (code & 1) << i;
            l |= (code >> 1) << i;
        }
        members = m;
        ones = l;
    }
    template <class Count>
    static std::uint64_t outside(std::uint64_t bits, std::uint32_t base, const Count* lo,
                                 const Count* hi, Count* running) {
        for (int b = 0; b < 8; ++b) {
            const std::uint64_t counts = kByteCounts.of[bits >> (8 * b) & 255];
            for (int i = 0; i < 8; ++i)
                running[8 * b + i] = static_cast<Count>(base + (counts >> (8 * i) & 255));
            base += static_cast<std::uint32_t>(counts >> 56);
        }
        std::uint8_t any = 0, flag[64];
        for (int i = 0; i < 64; ++i) {
            flag[i] = (running[i] < lo[i]) | (running[i] > hi[i]);
            any |= flag[i];
        }
        if (!any) return 0;
        std::uint64_t out = 0;
        for (int i = 0; i < 64; ++i) out |= std::uint64_t{flag[i]} << i;
        return out;
    }

private:
    std::uint8_t code_[WalkTask::kMostByOrder];
};

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels portable_kernels{walk<PortableSimd>, sweep<NoBits>, scan<PlainPick>, stairs, first_values};

}  // namespace nullforest
