// Scoring of probes for any criterion, weights and data, and the choice of the fastest scorer.
#include "kernels/column_search.hpp"
#include "kernels/searches.hpp"
#include "kernels/scan_node.hpp"
#include "kernels/sweep_node.hpp"
#include "kernels/walk_node.hpp"
#include "kernels/split_scores.hpp"
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
          pool_{ShuffleShape(settings.pool), settings.candidates},
          features_(table, outcome, settings),
          probes_(probes, outcome, settings) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        bag_ = &bag;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    void score(const NodeQuery& node, const Split* winner,
               const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) override {
        if (evaluations.empty()) return;
        score_->enter(node.samples, node.n);
        features_.enter(*bag_, node, *score_);
        probes_.enter(*bag_, node, *score_);
        Best winning;
        if (winner) winning = features_.best_of(winner->feature);
        for (const Evaluation& probe : evaluations) {
            const Best best = probes_.best_of(probe.column);
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
        probes_.leave();
        features_.leave();
    }

private:
    using Best = ColumnBest<Score>;

    // The probe takes the winner's place. Most are beaten by one of the first candidates.
    bool beats_all_others(const NodeQuery& node, const Best& probe, std::uint32_t place) {
        bool beaten = false;
        Candidates(pool_, node.draw_key).each([&](std::uint32_t feature, std::uint32_t i) {
            if (i == place) return false;
            const Best other = features_.best_of(feature);
            beaten = other.found && (i < place ? !(probe.value > other.value)
                                               : other.value > probe.value);
            return beaten;
        });
        return !beaten;
    }

    const Outcome& outcome_;
    const Bag* bag_ = nullptr;
    CandidatePool pool_;
    ColumnSearch<Score> features_, probes_;
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
    auto exact = make_generic_scorer(table, probes, outcome, settings, weighting);
    const auto screened = [&](auto* node, auto kernel) -> std::unique_ptr<ProbeScorer> {
        using Scorer = ScreenedScorer<std::remove_pointer_t<decltype(node)>>;
        return std::make_unique<Scorer>(table, probes, outcome, settings, weighting, kernel,
                                        std::move(exact));
    };
    const Kernels kernels = choose_kernels(table, outcome, settings, weighting);
    if (kernels.walk) return screened((WalkNode*)nullptr, kernels.walk);
    if (kernels.sweep && (!probes.by_order() || probes.codes()))
        return screened((SweepNode*)nullptr, kernels.sweep);
    if (kernels.scan) return screened((ScanNode*)nullptr, kernels.scan);
    return exact;
}

}  // namespace nullforest
