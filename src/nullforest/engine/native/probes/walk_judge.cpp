// Two classes, unweighted, at most 512 samples: the walk kernel holds the probes against the best.
#include <algorithm>

#include "tree/candidates.hpp"
#include "kernels/dispatch.hpp"
#include "probes/screened_judge.hpp"
#include "kernels/sorted_members.hpp"

namespace nullforest {

namespace {

class WalkJudge final : public ScreenedJudge {
public:
    WalkJudge(const RankTable& table, const RankTable& probes, const Outcome& outcome,
              const Settings& settings, WalkKernel kernel, std::unique_ptr<Judge> exact)
        : ScreenedJudge(probes, settings, std::move(exact)),
          table_(table),
          outcome_(outcome),
          shape_(settings.pool),
          members_(table),
          probe_members_(probes),
          kernel_(kernel) {
        task_.stride = table.stride();
        task_.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task_.n_words = static_cast<std::uint32_t>(table.n_words());
        task_.min_leaf = settings.min_leaf;
        task_.owner = this;
        task_.boundaries = [](void* self, std::uint32_t column) {
            return static_cast<WalkJudge*>(self)->boundaries(column);
        };
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        ScreenedJudge::begin_tree(bag, pool);
        pool_ = pool;
    }

private:
    void enter(const NodeQuery& node) override {
        node_ = &node;
        std::fill(task_.member, task_.member + 8, 0);
        std::fill(task_.one, task_.one + 8, 0);
        task_.n = node.n;
        task_.n_ones = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i], label = outcome_.label[s];
            task_.member[s / 64] |= std::uint64_t{1} << s % 64;
            task_.one[s / 64] |= std::uint64_t{label} << s % 64;
            task_.n_ones += label;
        }
    }

    void take_winner(const NodeQuery& node, const Split& winner) override {
        sort_by(members_, node, winner.feature);
        std::uint32_t k = winner.n_left, ones = 0;
        for (std::uint32_t j = 0; j < winner.n_left; ++j) ones += outcome_.label[members_.sample[j]];
        if (winner.missing_left)
            for (std::uint32_t j = members_.n_known; j < node.n; ++j, ++k)
                ones += outcome_.label[members_.sample[j]];
        task_.take(winner.feature, k, ones);
    }

    void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                std::uint8_t* passes) override {
        ask(probes_, probe_members_, columns, n, n_or_equal, passes);
    }

    void ask(const RankTable& table, SortedMembers& members, const std::uint32_t* columns,
             std::uint32_t n, std::uint32_t n_or_equal, std::uint8_t* passes) {
        sorted_ = &members;
        task_.order = table.order(0);
        task_.flags = table.flags();
        task_.asked = columns;
        task_.n_asked = n;
        task_.n_or_equal = n_or_equal;
        task_.passes = passes;
        kernel_(task_);
    }

    const std::uint8_t* boundaries(std::uint32_t column) {
        sort_by(*sorted_, *node_, column);
        return sorted_->boundary.data();
    }

    static void sort_by(SortedMembers& members, const NodeQuery& node, std::uint32_t column) {
        members.enter(node.samples, node.n);
        members.sort_by(column);
        members.leave();
    }

    // Now the candidates are held against the probe. Most are beaten by one of the first.
    Stand stand_in(const NodeQuery& node, const Question& question) override {
        sort_by(probe_members_, node, question.column);
        task_.found = false;
        for (std::uint32_t k = 1, ones = 0; k < node.n; ++k) {
            ones += outcome_.label[probe_members_.sample[k - 1]];
            if (probe_members_.boundary[k - 1] && k >= task_.min_leaf &&
                k + task_.min_leaf <= node.n && task_.beats(k, ones))
                task_.take(question.column, k, ones);
        }
        if (!task_.found) return Stand::loses;
        bool sure = true;
        Candidates candidates(shape_, node.draw_key, pool_, settings_.candidates);
        std::uint32_t feature[Candidates::kBatch], rival[Candidates::kBatch], place = 0;
        std::uint8_t passes[Candidates::kBatch];
        while (const std::uint32_t count = candidates.next_batch(feature)) {
            std::uint32_t n = 0, n_or_equal = 0;
            for (std::uint32_t c = 0; c < count; ++c, ++place) {
                if (place == question.place) continue;
                sure = sure && !(table_.flags()[feature[c]] & RankTable::kMissing);
                rival[n++] = feature[c];
                n_or_equal += place < question.place;
            }
            if (n > 0) ask(table_, members_, rival, n, n_or_equal, passes);
            // Missing values on the left, which the kernel does not try, could only add to this.
            for (std::uint32_t i = 0; i < n; ++i)
                if (passes[i]) return Stand::loses;
        }
        return sure ? Stand::wins : Stand::unsure;
    }

    const RankTable& table_;
    const Outcome& outcome_;
    ShuffleShape shape_;
    const std::uint32_t* pool_ = nullptr;
    SortedMembers members_, probe_members_, *sorted_ = &probe_members_;
    const NodeQuery* node_ = nullptr;
    WalkKernel kernel_;
    WalkTask task_{};
};

}  // namespace

std::unique_ptr<Judge> make_walk_judge(const RankTable& table, const RankTable& probes,
                                       const Outcome& outcome, const Settings& settings,
                                       WalkKernel kernel, std::unique_ptr<Judge> exact) {
    return std::make_unique<WalkJudge>(table, probes, outcome, settings, kernel,
                                       std::move(exact));
}

}  // namespace nullforest
