// Classes or one number, at most 512 samples: the scan kernel holds the probes against the best.
#include "kernels/dispatch.hpp"
#include "kernels/scan_node.hpp"
#include "probes/screened_judge.hpp"

namespace nullforest {

namespace {

class ScanJudge final : public ScreenedJudge {
public:
    ScanJudge(const RankTable& table, const RankTable& probes, const Outcome& outcome,
              const Settings& settings, Weighting weighting, ScanKernel kernel,
              std::unique_ptr<Judge> exact)
        : ScreenedJudge(probes, settings, std::move(exact)),
          table_(table),
          probe_members_(probes),
          node_(table, outcome, settings, weighting),
          kernel_(kernel) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        ScreenedJudge::begin_tree(bag, pool);
        node_.begin_tree(bag);
    }

private:
    void enter(const NodeQuery& node) override { node_.enter(node); }

    // The search, with the winner as the only candidate.
    void take_winner(const NodeQuery&, const Split& winner) override {
        ScanTask& task = node_.task;
        node_.use(table_, node_.own_members());
        task.asked = nullptr;
        task.pool = &winner.feature;
        task.pool_size = task.side_a = task.side_b = task.candidates = 1;
        kernel_(task);
    }

    void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                std::uint8_t* passes) override {
        ScanTask& task = node_.task;
        node_.use(probes_, probe_members_);
        task.asked = columns;
        task.n_asked = n;
        task.n_or_equal = n_or_equal;
        task.passes = passes;
        kernel_(task);
    }

    const RankTable& table_;
    SortedMembers probe_members_;
    ScanNode node_;
    ScanKernel kernel_;
};

}  // namespace

std::unique_ptr<Judge> make_scan_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       Weighting weighting, ScanKernel kernel,
                                       std::unique_ptr<Judge> exact) {
    return std::make_unique<ScanJudge>(table, probes, outcome, settings, weighting, kernel,
                                       std::move(exact));
}

}  // namespace nullforest
