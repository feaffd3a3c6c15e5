// Classes or one number, at most 512 samples, drawn once or several times: hands every node to the
// scan kernel.
#include <algorithm>
#include <vector>

#include "dispatch.hpp"
#include "keyed_random.hpp"
#include "scan_kernel.hpp"
#include "sorted_members.hpp"

namespace nullforest {

namespace {

class ScanEvaluator final : public Evaluator {
public:
    ScanEvaluator(const RankTable& table, const Outcome& outcome, const Settings& settings,
                  Weighting weighting, ScanKernel kernel)
        : outcome_(outcome),
          members_(table),
          kernel_(kernel),
          label_(outcome.label.begin(), outcome.label.end()),
          class_total_(outcome.n_classes),
          crossing_(outcome.classes() ? 0 : table.n_samples()) {
        const ShuffleShape shape(settings.pool);
        task_.kind = outcome.criterion == Criterion::gini      ? ScanTask::gini
                     : outcome.criterion == Criterion::entropy ? ScanTask::entropy
                                                               : ScanTask::variance;
        task_.counts = weighting == Weighting::counts;
        task_.order = table.order(0);
        task_.stride = table.stride();
        task_.n_samples = static_cast<std::uint32_t>(table.n_samples());
        task_.n_words = static_cast<std::uint32_t>(table.n_words());
        task_.flags = table.flags();
        task_.min_leaf = settings.min_leaf;
        task_.label = label_.data();
        task_.crossing = crossing_.data();
        task_.class_total = class_total_.data();
        task_.n_classes = outcome.n_classes;
        task_.entropy_terms = outcome.entropy_terms.data();
        task_.pool_size = shape.n;
        task_.side_a = shape.a;
        task_.side_b = shape.b;
        task_.candidates = settings.candidates;
        task_.owner = this;
        task_.boundaries = [](void* self, std::uint32_t feature) {
            return static_cast<ScanEvaluator*>(self)->boundaries(feature);
        };
    }

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        task_.pool = pool;
        task_.multiplicity = bag.count.data();
    }

    bool best_split(const NodeQuery& node, Split& split) override {
        node_ = &node;
        std::fill(task_.member, task_.member + 8, 0);
        task_.n = node.n;
        task_.weight = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            task_.member[s / 64] |= std::uint64_t{1} << s % 64;
            task_.weight += task_.multiplicity[s];
        }
        if (outcome_.classes())
            enter_classes(node);
        else
            enter_numbers(node);
        task_.draw_key = node.draw_key;
        task_.found = task_.perfect = false;
        kernel_(task_);
        split = {task_.feature, task_.n_left, false};
        return task_.found;
    }

private:
    void enter_classes(const NodeQuery& node) {
        std::fill(class_total_.begin(), class_total_.end(), 0);
        for (std::uint32_t i = 0; i < node.n; ++i)
            class_total_[label_[node.samples[i]]] += task_.multiplicity[node.samples[i]];
        task_.sum_of_squares = task_.sum_of_terms = 0;
        for (std::int64_t total : class_total_) {
            task_.sum_of_squares += total * total;
            if (task_.kind == ScanTask::entropy)
                task_.sum_of_terms += outcome_.entropy_terms[total];
        }
    }
    // D = W s_left - W_left s is the sum of w (W y - s) over the members on the left.
    void enter_numbers(const NodeQuery& node) {
        std::int64_t sum = 0;
        for (std::uint32_t i = 0; i < node.n; ++i)
            sum += task_.multiplicity[node.samples[i]] * outcome_.fixed_number[node.samples[i]];
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t s = node.samples[i];
            crossing_[s] = static_cast<std::int64_t>(task_.multiplicity[s]) *
                           (task_.weight * outcome_.fixed_number[s] - sum);
        }
    }
    const std::uint8_t* boundaries(std::uint32_t feature) {
        members_.enter(node_->samples, node_->n);
        members_.sort_by(feature);
        members_.leave();
        return members_.boundary.data();
    }

    const Outcome& outcome_;
    SortedMembers members_;
    ScanKernel kernel_;
    const NodeQuery* node_ = nullptr;
    std::vector<std::uint16_t> label_;
    std::vector<std::int64_t> class_total_, crossing_;
    ScanTask task_{};
};

}  // namespace

bool scan_fits(const RankTable& table, const Outcome& outcome, const Settings& settings,
               Weighting weighting) {
    return table.by_order() && !table.has_missing() && weighting != Weighting::reals &&
           settings.n_drawn <= ScanTask::kMostDraws && outcome.n_classes <= ScanTask::kMost &&
           (outcome.classes() ||
            (outcome.criterion == Criterion::variance && outcome.n_outputs == 1));
}

std::unique_ptr<Evaluator> make_scan_evaluator(const RankTable& table, const Outcome& outcome,
                                               const Settings& settings, Weighting weighting,
                                               ScanKernel kernel) {
    return std::make_unique<ScanEvaluator>(table, outcome, settings, weighting, kernel);
}

}  // namespace nullforest
