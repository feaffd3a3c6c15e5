// The search for any criterion, weights and data: members sorted by each candidate in turn.
#include "kernels/column_splits.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/split_scores.hpp"
#include "random/candidates.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericEvaluator final : public Evaluator {
public:
    GenericEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : outcome_(outcome),
          min_leaf_(settings.min_leaf),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          members_(table) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        ColumnBest<Score> best;
        Candidates(pool_, node.draw_key).each([&](std::uint32_t feature, std::uint32_t place) {
            const ColumnBest<Score> found(feature, members_, *score_, min_leaf_);
            if (!found.found || (best.found && !(found.value > best.value))) return false;
            best = found;
            best.split.place = place;
            return best.split.perfect = score_->perfect(best.value);
        });
        members_.leave();
        split = best.split;
        return best.found;
    }

private:
    const Outcome& outcome_;
    std::uint32_t min_leaf_;
    CandidatePool pool_;
    SortedMembers members_;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<Evaluator> make_generic_evaluator(const RankTable& table, const Outcome& outcome,
                                                  const Settings& settings, Weighting weighting) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<Evaluator> {
        using Score = std::remove_pointer_t<decltype(score)>;
        return std::make_unique<GenericEvaluator<Score>>(table, outcome, settings);
    });
}

}  // namespace nullforest
