// Scoring of probes by the walk kernel: two classes, unweighted, at most 512 samples.
#include "kernels/walk_node.hpp"
#include "probes/screened_scorer.hpp"
#include "random/candidates.hpp"

namespace nullforest {

namespace {

class WalkScorer final : public ScreenedScorer {
public:
    WalkScorer(const RankTable& table, const RankTable& probes, const Outcome& outcome,
               const Settings& settings, WalkKernel kernel, std::unique_ptr<ProbeScorer> exact)
        : ScreenedScorer(probes, settings, std::move(exact)),
          table_(table),
          outcome_(outcome),
          shape_(settings.pool),
          probe_members_(probes),
          node_(table, outcome, settings),
          kernel_(kernel) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        ScreenedScorer::begin_tree(bag, pool);
        pool_ = pool;
    }

private:
    void enter(const NodeQuery& node) override { node_.enter(node); }

    void take_winner(const NodeQuery& node, const Split& winner) override {
        node_.use(table_, node_.own_members());
        const SortedMembers& members = node_.sort_by(winner.feature);
        std::uint32_t k = winner.n_left, ones = 0;
        for (std::uint32_t j = 0; j < winner.n_left; ++j) ones += outcome_.label[members.sample[j]];
        if (winner.missing_left)
            for (std::uint32_t j = members.n_known; j < node.n; ++j, ++k)
                ones += outcome_.label[members.sample[j]];
        node_.task.take(winner.feature, k, ones);
    }

    void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                std::uint8_t* passes) override {
        node_.use(probes_, probe_members_);
        compare(columns, n, n_or_equal, passes);
    }

    void compare(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                 std::uint8_t* passes) {
        WalkTask& task = node_.task;
        task.screened = columns;
        task.n_screened = n;
        task.n_or_equal = n_or_equal;
        task.passes = passes;
        kernel_(task);
    }

    // Compares the candidates with the probe. Most probes are beaten by one of the first.
    Result replace_winner(const NodeQuery& node, const Evaluation& probe) override {
        WalkTask& task = node_.task;
        node_.use(probes_, probe_members_);
        const SortedMembers& members = node_.sort_by(probe.column);
        task.found = false;
        for (std::uint32_t k = 1, ones = 0; k < node.n; ++k) {
            ones += outcome_.label[members.sample[k - 1]];
            if (members.boundary[k - 1] && k >= task.min_leaf && k + task.min_leaf <= node.n &&
                task.beats(k, ones))
                task.take(probe.column, k, ones);
        }
        if (!task.found) return Result::loses;
        bool sure = true;
        node_.use(table_, node_.own_members());
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        std::uint32_t feature[Candidates::kBatch], rival[Candidates::kBatch], place = 0;
        std::uint8_t passes[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(feature)) {
            std::uint32_t n = 0, n_or_equal = 0;
            for (std::uint32_t c = 0; c < count; ++c, ++place) {
                if (place == probe.place) continue;
                sure = sure && !(table_.flags()[feature[c]] & RankTable::kMissing);
                rival[n++] = feature[c];
                n_or_equal += place < probe.place;
            }
            if (n > 0) compare(rival, n, n_or_equal, passes);
            // Missing values on the left, which the kernel does not try, could only add to this.
            for (std::uint32_t i = 0; i < n; ++i)
                if (passes[i]) return Result::loses;
        }
        return sure ? Result::wins : Result::undecided;
    }

    const RankTable& table_;
    const Outcome& outcome_;
    ShuffleShape shape_;
    const std::uint32_t* pool_ = nullptr;
    SortedMembers probe_members_;
    WalkNode node_;
    WalkKernel kernel_;
};

}  // namespace

std::unique_ptr<ProbeScorer> make_walk_scorer(const RankTable& table, const RankTable& probes,
                                              const Outcome& outcome, const Settings& settings,
                                              WalkKernel kernel,
                                              std::unique_ptr<ProbeScorer> exact) {
    return std::make_unique<WalkScorer>(table, probes, outcome, settings, kernel,
                                        std::move(exact));
}

}  // namespace nullforest
