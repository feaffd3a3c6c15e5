// The search for any criterion, weights and data: members sorted by each candidate in turn.
#include "kernels/column_splits.hpp"
#include "kernels/evaluator.hpp"
#include "kernels/weighted_scores.hpp"
#include "random/candidates.hpp"

namespace nullforest {

namespace {

template <class Score>
class GenericEvaluator final : public Evaluator {
public:
    GenericEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings)
        : outcome_(outcome), settings_(settings), shape_(settings.pool), members_(table) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        pool_ = pool;
        score_ = std::make_unique<Score>(outcome_, bag);
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        members_.enter(node.samples, node.n);
        score_->enter(node.samples, node.n);
        found_ = done_ = false;
        std::uint32_t place = 0, feature[Candidates::kBatch];
        while (const std::uint32_t count = done_ ? 0 : candidates.next_batch(feature))
            for (std::uint32_t c = 0; c < count && !done_; ++c)
                try_feature(feature[c], place++, split);
        members_.leave();
        return found_;
    }

private:
    void try_feature(std::uint32_t feature, std::uint32_t place, Split& split) {
        members_.sort_by(feature);
        try_splits(members_, *score_, settings_.min_leaf,
                   [&](std::uint32_t n_left, bool missing_left) {
                       offer({feature, n_left, missing_left, place, false}, split);
                       return done_;
                   });
    }
    void offer(const Split& proposal, Split& split) {
        const auto value = score_->score();
        if (found_ && !(value > best_)) return;
        best_ = value;
        split = proposal;
        found_ = true;
        done_ = split.perfect = score_->perfect(value);
    }

    const Outcome& outcome_;
    const Settings& settings_;
    ShuffleShape shape_;
    SortedMembers members_;
    const std::uint32_t* pool_ = nullptr;
    std::unique_ptr<Score> score_;
    typename Score::Value best_{};
    bool found_ = false, done_ = false;
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
