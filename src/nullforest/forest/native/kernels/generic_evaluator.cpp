// The searches that score one column at a time: for any criterion, weights and data, and for large
// nodes by steps of rank.
#include "kernels/column_search.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/searches.hpp"
#include "kernels/split_scores.hpp"
#include "kernels/stairs_node.hpp"
#include "kernels/stepped_members.hpp"
#include "random/candidates.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericEvaluator final : public Evaluator {
public:
    GenericEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : outcome_(outcome),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          columns_(table, outcome, settings) {}

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
            const ColumnBest<Score> found = columns_.best_of(feature);
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
    ColumnSearch<Score> columns_;
    std::unique_ptr<Score> score_;
};

// Large nodes: only the members of steps that may hold a better split are sorted and scored.
template <class Score>
class StairsEvaluator final : public Evaluator {
public:
    StairsEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                    const Kernels& kernels)
        : table_(table),
          outcome_(outcome),
          min_leaf_(settings.min_leaf),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          members_(table),
          node_(table, outcome, settings, kernels),
          steps_(table) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
        node_.begin_tree(bag);
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        node_.enter(node);
        best_ = {};
        const auto try_one = [&](std::uint32_t feature, std::uint32_t place) {
            const ColumnBest<Score> found = best_of(node, feature);
            if (!found.found || (best_.found && !(found.value > best_.value))) return false;
            best_ = found;
            best_.split.place = place;
            return best_.split.perfect = score_->perfect(best_.value);
        };
        Candidates(pool_, node.draw_key).each(try_one);
        members_.leave();
        split = best_.split;
        return best_.found;
    }

private:
    // The best split of a column, where it may be better than the best so far.
    ColumnBest<Score> best_of(const NodeQuery& node, std::uint32_t feature) {
        if (table_.flags()[feature] & RankTable::kMissing)
            return {feature, members_, *score_, min_leaf_};
        const std::uint64_t open = best_.found ? node_.open(feature, best_.value)
                                         : node_.open(feature);
        if (!open) return {};
        steps_.enter(node, feature, node_.sums());
        return steps_.best_of(open, *score_, min_leaf_);
    }

    const RankTable& table_;
    const Outcome& outcome_;
    std::uint32_t min_leaf_;
    CandidatePool pool_;
    SortedMembers members_;
    StairsNode node_;
    SteppedMembers steps_;
    ColumnBest<Score> best_;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<Evaluator> make_stairs_evaluator(const RankTable& table, const Outcome& outcome,
                                                 const Settings& settings, const Kernels& kernels) {
    if (outcome.classes())
        return std::make_unique<StairsEvaluator<GiniScore>>(table, outcome, settings, kernels);
    return std::make_unique<StairsEvaluator<VarianceScore<std::int64_t>>>(table, outcome, settings,
                                                                          kernels);
}

std::unique_ptr<Evaluator> make_generic_evaluator(const RankTable& table, const Outcome& outcome,
                                                  const Settings& settings, Weighting weighting) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<Evaluator> {
        using Score = std::remove_pointer_t<decltype(score)>;
        return std::make_unique<GenericEvaluator<Score>>(table, outcome, settings);
    });
}

}  // namespace nullforest
