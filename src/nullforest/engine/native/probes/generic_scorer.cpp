// Scoring of probes for any criterion, weights and data, and the choice of the fastest scorer.
#include "kernels/column_splits.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/weighted_scores.hpp"
#include "probes/screened_scorer.hpp"
#include "random/candidates.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericScorer final : public ProbeScorer {
public:
    GenericScorer(const RankTable& table, const RankTable& probes, const Outcome& outcome,
                  const Settings& settings)
        : outcome_(outcome),
          settings_(settings),
          shape_(settings.pool),
          members_(table),
          probe_members_(probes) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_ = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    void score(const NodeQuery& node, const Split* winner,
               const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) override {
        if (evaluations.empty()) return;
        members_.enter(node.samples, node.n);
        probe_members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        Best winning;
        if (winner) winning = best_of(members_, winner->feature);
        for (const Evaluation& probe : evaluations) {
            const Best best = best_of(probe_members_, probe.column);
            if (!best.found) continue;
            bool won = true;
            if (winner && score_->perfect(winning.value) && score_->perfect(best.value))
                won = probe.place <= winner->place;  // the first of equals
            else if (winner && probe.place < winner->place)
                won = !(winning.value > best.value);
            else if (winner && probe.place > winner->place)
                won = best.value > winning.value;
            else if (winner)  // as good as the winner: beats the others as the winner did
                won = !(winning.value > best.value) || beats_all_others(node, best, winner->place);
            if (won) wins.push_back({probe.probe, best.split});
        }
        probe_members_.leave();
        members_.leave();
    }

private:
    struct Best {
        bool found = false;
        typename Score::Value value{};
        Split split;
    };

    Best best_of(SortedMembers& members, std::uint32_t column) {
        Best best;
        members.sort_by(column);
        try_splits(members, *score_, settings_.min_leaf,
                   [&](std::uint32_t n_left, bool missing_left) {
                       const auto value = score_->score();
                       if (!best.found || value > best.value)
                           best = {true, value, {column, n_left, missing_left}};
                       return false;
                   });
        return best;
    }

    // The probe takes the winner's place. Most are beaten by one of the first candidates.
    bool beats_all_others(const NodeQuery& node, const Best& probe, std::uint32_t place) {
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        std::uint32_t i = 0, drawn[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(drawn))
            for (std::uint32_t c = 0; c < count; ++c, ++i) {
                if (i == place) continue;
                const Best other = best_of(members_, drawn[c]);
                if (!other.found) continue;
                if (i < place ? !(probe.value > other.value) : other.value > probe.value)
                    return false;
            }
        return true;
    }

    const Outcome& outcome_;
    const Settings& settings_;
    ShuffleShape shape_;
    SortedMembers members_, probe_members_;
    const std::uint32_t* pool_ = nullptr;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<ProbeScorer> make_generic_scorer(const RankTable& table, const RankTable& probes,
                                                 const Outcome& outcome, const Settings& settings,
                                                 Weighting weighting) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<ProbeScorer> {
        using Score = std::remove_pointer_t<decltype(score)>;
        return std::make_unique<GenericScorer<Score>>(table, probes, outcome, settings);
    });
}

std::unique_ptr<ProbeScorer> make_scorer(const RankTable& table, const RankTable& probes,
                                         const Outcome& outcome, const Settings& settings,
                                         Weighting weighting) {
    const Kernel kernel = choose_kernel(table, outcome, settings, weighting);
    auto exact = make_generic_scorer(table, probes, outcome, settings, weighting);
    if (kernel.walk)
        return make_walk_scorer(table, probes, outcome, settings, kernel.walk, std::move(exact));
    if (kernel.scan)
        return make_scan_scorer(table, probes, outcome, settings, weighting, kernel.scan,
                                std::move(exact));
    return exact;
}

}  // namespace nullforest
