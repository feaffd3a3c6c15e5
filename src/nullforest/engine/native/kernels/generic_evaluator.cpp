// The search for any criterion, weights and data: members sorted by each candidate in turn.
#include "kernels/column_splits.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/split_scores.hpp"
#include "kernels/stairs_node.hpp"
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

// Numbers: columns that cannot beat the best are passed over, the others scored exactly.
class StairsEvaluator final : public Evaluator {
public:
    StairsEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                    StairsKernel kernel)
        : table_(table),
          outcome_(outcome),
          min_leaf_(settings.min_leaf),
          pool_{ShuffleShape(settings.pool), settings.candidates},
          members_(table),
          node_(table, outcome, settings, kernel) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_.features = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        node_.enter(node);
        best_ = {};
        Candidates candidates(pool_, node.draw_key);
        std::uint32_t feature[Candidates::kBatch], place = 0;
        while (const std::uint32_t count = candidates.next_batch(feature)) {
            if (try_batch(feature, count, place)) break;
            place += count;
        }
        members_.leave();
        split = best_.split;
        return best_.found;
    }

private:
    using Score = VarianceScore<std::int64_t>;

    // True when the search is over.
    bool try_batch(const std::uint32_t* feature, std::uint32_t count, std::uint32_t place) {
        const std::uint8_t* flags = table_.flags();
        for (std::uint32_t c = 0; c < count; ++c) {
            if (best_.found && !(flags[feature[c]] & RankTable::kMissing)) {
                // Those with missing values end a run: the bound does not hold for them.
                std::uint32_t run = 1;
                while (c + run < count && !(flags[feature[c + run]] & RankTable::kMissing)) ++run;
                const std::uint32_t passed = node_.first(table_, best_.value, feature + c, run);
                c += passed;
                if (passed == run) {
                    --c;
                    continue;
                }
            }
            const ColumnBest<Score> found(feature[c], members_, *score_, min_leaf_);
            if (!found.found || (best_.found && !(found.value > best_.value))) continue;
            best_ = found;
            best_.split.place = place + c;
            best_.split.perfect = score_->perfect(best_.value) || node_.highest(best_.value);
            if (best_.split.perfect) return true;
        }
        return false;
    }

    const RankTable& table_;
    const Outcome& outcome_;
    std::uint32_t min_leaf_;
    CandidatePool pool_;
    SortedMembers members_;
    StairsNode node_;
    ColumnBest<Score> best_;
    std::unique_ptr<Score> score_;
};

}  // namespace

std::unique_ptr<Evaluator> make_stairs_evaluator(const RankTable& table, const Outcome& outcome,
                                                 const Settings& settings, StairsKernel kernel) {
    return std::make_unique<StairsEvaluator>(table, outcome, settings, kernel);
}

std::unique_ptr<Evaluator> make_generic_evaluator(const RankTable& table, const Outcome& outcome,
                                                  const Settings& settings, Weighting weighting) {
    return with_score(outcome, weighting, [&](auto* score) -> std::unique_ptr<Evaluator> {
        using Score = std::remove_pointer_t<decltype(score)>;
        return std::make_unique<GenericEvaluator<Score>>(table, outcome, settings);
    });
}

}  // namespace nullforest
