// The searches that score one column at a time: for any criterion, weights and data, and for large
// nodes by steps of rank.
#include "kernels/column_search.hpp"
#include "kernels/searches.hpp"
#include "kernels/stairs_search.hpp"

namespace nullforest {

namespace {

// `Columns` finds the best split of each (column_search.hpp, stairs_search.hpp).
template <class Score, class Columns>
class ColumnEvaluator final : public Evaluator {
public:
    template <class... More>
    ColumnEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                    const More&... more)
        : outcome_(outcome),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          columns_(table, outcome, settings, more...) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        bag_ = &bag;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        score_->enter(node.samples, node.n);
        columns_.enter(*bag_, node, *score_);
        ColumnBest<Score> best;
        Candidates(pool_, node.draw_key).each([&](std::uint32_t feature, std::uint32_t place) {
            const ColumnBest<Score> found = columns_.best_of(feature, best);
            if (!found.found || (best.found && !(found.value > best.value))) return false;
            best = found;
            best.split.place = place;
            return best.split.perfect = score_->perfect(best.value);
        });
        columns_.leave();
        split = best.split;
        return best.found;
    }

private:
    const Outcome& outcome_;
    const Bag* bag_ = nullptr;
    CandidatePool pool_;
    Columns columns_;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<Evaluator> make_column_evaluator(const RankTable& table, const Outcome& outcome,
                                                 const Settings& settings, Weighting weighting,
                                                 const Kernels& kernels) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<Evaluator> {
        using Score = std::remove_pointer_t<decltype(score)>;
        if constexpr (Score::kAdds && !std::is_same_v<Score, EntropyScore>)
            if (kernels.stairs)
                return std::make_unique<ColumnEvaluator<Score, StairsSearch<Score>>>(
                    table, outcome, settings, kernels);
        return std::make_unique<ColumnEvaluator<Score, ColumnSearch<Score>>>(table, outcome, settings);
    });
}

}  // namespace nullforest
