// Scoring of probes by the scan kernel: classes or one number, at most 512 samples.
#include "kernels/scan_node.hpp"
#include "probes/screened_scorer.hpp"

namespace nullforest {

namespace {

class ScanScorer final : public ScreenedScorer {
public:
    ScanScorer(const RankTable& table, const RankTable& probes, const Outcome& outcome,
               const Settings& settings, Weighting weighting, ScanKernel kernel,
               std::unique_ptr<ProbeScorer> exact)
        : ScreenedScorer(probes, settings, std::move(exact)),
          table_(table),
          probe_members_(probes),
          node_(table, outcome, settings, weighting),
          kernel_(kernel) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        ScreenedScorer::begin_tree(bag, pool);
        node_.begin_tree(bag);
    }

private:
    void enter(const NodeQuery& node) override { node_.enter(node); }

    // The search, with the winner as the only candidate.
    void take_winner(const NodeQuery&, const Split& winner) override {
        ScanTask& task = node_.task;
        node_.use(table_, node_.own_members());
        task.screened = nullptr;
        task.pool = &winner.feature;
        task.pool_size = task.side_a = task.side_b = task.candidates = 1;
        kernel_(task);
    }

    void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                std::uint8_t* passes) override {
        ScanTask& task = node_.task;
        node_.use(probes_, probe_members_);
        task.screened = columns;
        task.n_screened = n;
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

std::unique_ptr<ProbeScorer> make_scan_scorer(const RankTable& table, const RankTable& probes,
                                              const Outcome& outcome, const Settings& settings,
                                              Weighting weighting, ScanKernel kernel,
                                              std::unique_ptr<ProbeScorer> exact) {
    return std::make_unique<ScanScorer>(table, probes, outcome, settings, weighting, kernel,
                                        std::move(exact));
}

}  // namespace nullforest
