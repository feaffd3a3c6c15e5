// The kernels for any processor: one position after the other.
#define NULLFOREST_ISA portable
#include "kernels/kernels.hpp"
#include "kernels/scan.hpp"
#include "kernels/stairs.hpp"
#include "kernels/sweep.hpp"
#include "kernels/walk.hpp"

namespace nullforest {
inline namespace NULLFOREST_ISA {
namespace {

class Portable : public PlainSimd {
public:
    explicit Portable(const WalkTask& task) : PlainSimd(task) {
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
        for (int i = 0; i < 64; ++i) running[i] = static_cast<Count>(base += bits >> i & 1);
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

// The members in sorted order, without a branch.
template <class Id>
class PortablePick {
public:
    static constexpr bool kByRank = false;
    explicit PortablePick(const ScanTask& task) : task_(task) {
        for (std::uint32_t s = 0; s < task.n_samples; ++s)
            member_[s] = task.member[s / 64] >> s % 64 & 1;
    }
    void pick(const std::uint8_t* order, const std::uint64_t* high, Id* out) const {
        const std::uint32_t n_high = sizeof(Id) == 2 ? task_.high_planes() : 0;
        for (std::uint32_t p = 0; p < task_.n_samples; ++p) {
            std::uint64_t s = order[p];
            for (std::uint32_t h = 0; h < n_high; ++h)
                s |= (high[h * task_.n_words + p / 64] >> p % 64 & 1) << (8 + h);
            *out = static_cast<Id>(s);
            out += member_[s];
        }
    }

private:
    const ScanTask& task_;
    std::uint8_t member_[ScanTask::kMost];
};

}  // namespace
}  // namespace NULLFOREST_ISA

const Kernels portable_kernels{walk<Portable>, sweep<NoPlanes>, scan<PortablePick>, stairs,
                               first_values};

}  // namespace nullforest
