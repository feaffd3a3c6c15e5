// Growth of one tree: draws, splits, out-of-bag samples and records.
#include "tree/grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/searches.hpp"

namespace nullforest {

void draw_bag(const Settings& settings, const ShuffleShape& samples, std::uint64_t tree_key,
              std::vector<std::uint32_t>& count, std::vector<std::uint32_t>& scratch) {
    const std::uint32_t S = samples.n;
    count.assign(S, 0);
    if (settings.replace) {
        const std::uint64_t stream = bootstrap_key(tree_key);
        for (std::uint32_t j = 0; j < settings.n_drawn; ++j) ++count[below(step(stream, j), S)];
    } else if (settings.n_drawn == S) {
        std::fill(count.begin(), count.end(), 1);
    } else {
        scratch.resize(S);
        kernels_of(settings.isa).shuffle(samples, subsample_key(tree_key), settings.n_drawn,
                                         scratch.data());
        for (std::uint32_t j = 0; j < settings.n_drawn; ++j) count[scratch[j]] = 1;
    }
}

void TreeResult::clear() {
    list.feature.clear();
    list.coupling_bin.clear();
    list.importance.clear();
    list.oob_sample.clear();
    list.oob_value.clear();
    probe_winner.clear();
    probe_coupling_bin.clear();
    tree = FlatTree();
}

TreeGrower::TreeGrower(const RankTable& table, const Outcome& outcome, const Settings& settings,
                       const ProbeSet* probes, const std::vector<double>& coupling_edges)
    : table_(table),
      outcome_(outcome),
      settings_(settings),
      edges_(coupling_edges),
      pool_shape_(static_cast<std::uint32_t>(table.n_varying())),
      sample_shape_(static_cast<std::uint32_t>(table.n_samples())),
      meter_(outcome),
      members_(table),
      samples_(table.n_samples()),
      oob_(table.n_samples()),
      goes_left_(table.n_samples()),
      leaf_value_(outcome.n_values()) {
    bag_.weighting = weighting_of(outcome, settings);
    bag_.count.resize(table.n_samples());
    if (bag_.weighting == Weighting::reals) bag_.weight.resize(table.n_samples());
    evaluator_ = make_evaluator(table, outcome, settings, bag_.weighting);
    if (probes && probes->size() > 0) {
        probes_ = std::make_unique<ProbeEvaluator>(table, outcome, settings, *probes,
                                                   bag_.weighting);
        probe_members_ = std::make_unique<SortedMembers>(*probes->table);
    }
}

void TreeGrower::draw_samples(std::uint64_t key) {
    const std::uint32_t S = static_cast<std::uint32_t>(table_.n_samples());
    draw_bag(settings_, sample_shape_, key, bag_.count, buffer_);
    const bool weighted = bag_.weighting == Weighting::reals;
    n_drawn_ = n_oob_ = 0;
    for (std::uint32_t s = 0; s < S && !weighted; ++s) {
        samples_[n_drawn_] = s;
        n_drawn_ += bag_.count[s] != 0;
    }
    for (std::uint32_t s = 0; s < S && weighted; ++s) {
        bag_.weight[s] = bag_.count[s] * outcome_.weight[s];
        samples_[n_drawn_] = s;
        n_drawn_ += bag_.weight[s] > 0.0;
    }
    for (std::uint32_t s = 0; s < S && settings_.oob; ++s) {
        oob_[n_oob_] = s;
        n_oob_ += bag_.count[s] == 0;
    }
}

const std::uint32_t* TreeGrower::draw_pool(std::uint64_t key) {
    const std::uint32_t* varying = table_.varying();
    if (settings_.pool == table_.n_varying()) return varying;
    pool_.resize(settings_.pool);
    kernels_of(settings_.isa).shuffle(pool_shape_, pool_key(key), settings_.pool, pool_.data());
    for (std::uint32_t& feature : pool_) feature = varying ? varying[feature] : feature;
    return pool_.data();
}

bool TreeGrower::grow(std::uint64_t tree, const std::function<bool()>& stop, TreeResult& result) {
    result.clear();
    const std::uint64_t key = tree_key(settings_.seed, tree);
    draw_samples(key);
    const std::uint32_t* pool = draw_pool(key);
    evaluator_->begin_tree(bag_, pool);
    if (probes_) probes_->begin_tree(key, bag_, pool);
    // Every drawn sample weighs nothing: a lone leaf over all samples, none of them out of bag.
    const bool weightless = n_drawn_ == 0;
    if (weightless) {
        n_oob_ = 0;
        n_drawn_ = static_cast<std::uint32_t>(table_.n_samples());
        for (std::uint32_t s = 0; s < n_drawn_; ++s) samples_[s] = s;
        std::copy(outcome_.weight.begin(), outcome_.weight.end(), bag_.weight.begin());
    }
    stack_.clear();
    stack_.push_back({0, n_drawn_, 0, n_oob_, 0, root_key(key),
                      meter_.measure(bag_, samples_.data(), n_drawn_), -1, false});
    const double tree_weight = stack_[0].statistics.weight;

    while (!stack_.empty()) {
        if (stop()) return false;
        const Pending node = stack_.back();
        stack_.pop_back();
        const std::int32_t id = settings_.keep_trees ? record_node(node, result.tree) : -1;
        Split split;
        bool found = false;
        if (!weightless && may_split(node)) {
            table_.touch(settings_.candidates * table_.stride());
            found = evaluator_->best_split(query(node), split);
            if (probes_) evaluate_probes(node, found ? &split : nullptr, tree_weight, result);
        }
        if (!found) {
            record_leaf(node, result);
            continue;
        }
        mark_left(node, split, members_);
        const std::uint32_t middle = partition(node);
        Pending left = node, right = node;
        left.end = right.begin = middle;
        left.depth = right.depth = node.depth + 1;
        left.key = child_key(node.key, false);
        right.key = child_key(node.key, true);
        left.parent = right.parent = id;
        left.is_right = false;
        right.is_right = true;
        left.statistics = meter_.measure(bag_, samples_.data() + left.begin, left.end - left.begin);
        right.statistics =
            meter_.measure(bag_, samples_.data() + right.begin, right.end - right.begin);
        const double decrease =
            (node.statistics.weight * node.statistics.impurity -
             left.statistics.weight * left.statistics.impurity -
             right.statistics.weight * right.statistics.impurity) / tree_weight;
        if (settings_.min_gain > 0.0 && decrease < settings_.min_gain) {
            record_leaf(node, result);
            continue;
        }
        // Values missing here for the first time go with the majority.
        const bool missing_seen = members_.n_known < members_.n;
        const bool missing_left = missing_seen ? split.missing_left
                                               : middle - node.begin >= node.end - middle;
        left.oob_end = right.oob_begin = node.oob_begin;
        if (node.oob_begin < node.oob_end)
            left.oob_end = right.oob_begin = partition_oob(node, split, missing_left);
        result.list.feature.push_back(split.feature);
        result.list.coupling_bin.push_back(coupling_bin(node.statistics.coupling));
        result.list.importance.push_back(decrease);
        if (settings_.keep_trees) {
            result.tree.feature[id] = static_cast<std::int32_t>(split.feature);
            result.tree.threshold[id] = threshold_of(split);
            result.tree.missing_left[id] = missing_left;
        }
        stack_.push_back(right);
        stack_.push_back(left);
    }
    double total = 0.0;
    for (double decrease : result.list.importance) total += decrease;
    for (double& decrease : result.list.importance) decrease = total > 0.0 ? decrease / total : 0.0;
    return true;
}

bool TreeGrower::may_split(const Pending& node) const {
    const std::uint32_t n = node.end - node.begin;
    return !node.statistics.pure && n >= settings_.min_split && n >= 2 &&
           n / 2 >= settings_.min_leaf && node.depth < settings_.max_depth;
}

NodeQuery TreeGrower::query(const Pending& node) const {
    return {samples_.data() + node.begin, node.end - node.begin, draw_key(node.key)};
}

void TreeGrower::evaluate_probes(const Pending& node, const Split* winner, double tree_weight,
                                 TreeResult& result) {
    for (const Win& win : probes_->wins(query(node), node.key, node.begin, node.end, winner)) {
        if (settings_.min_gain > 0.0 &&
            decrease_by(node, win.split, tree_weight) < settings_.min_gain)
            continue;
        probes_->count(win, node.key, node.begin, node.end);
        result.probe_winner.push_back(win.probe);
        result.probe_coupling_bin.push_back(coupling_bin(node.statistics.coupling));
    }
}

void TreeGrower::mark_left(const Pending& node, const Split& split, SortedMembers& members) {
    const std::uint32_t n = node.end - node.begin, *samples = samples_.data() + node.begin;
    members.divide(samples, n, split.feature, split.n_left);
    for (std::uint32_t j = 0; j < n; ++j) goes_left_[samples[j]] = 0;
    for (std::uint32_t j = 0; j < split.n_left; ++j) goes_left_[members.sample[j]] = 1;
    for (std::uint32_t j = members.n_known; split.missing_left && j < n; ++j)
        goes_left_[members.sample[j]] = 1;
}

std::uint32_t TreeGrower::partition_oob(const Pending& node, const Split& split,
                                        bool missing_left) {
    std::uint32_t* oob = oob_.data();
    const double threshold = threshold_of(split);
    buffer_.resize(node.oob_end - node.oob_begin);
    std::uint32_t left = node.oob_begin, right = 0;
    for (std::uint32_t i = node.oob_begin; i < node.oob_end; ++i) {
        const std::uint32_t s = oob[i];
        const double x = table_.value(s, split.feature);
        const std::uint32_t moves = std::isnan(x) ? missing_left : x <= threshold;
        oob[left] = s;
        buffer_[right] = s;
        left += moves;
        right += 1 - moves;
    }
    std::copy(buffer_.begin(), buffer_.begin() + right, oob + left);
    return left;
}

// The decrease of impurity that a probe's split would give.
double TreeGrower::decrease_by(const Pending& node, const Split& split, double tree_weight) {
    const std::uint32_t* samples = samples_.data() + node.begin;
    const std::uint32_t n = node.end - node.begin;
    mark_left(node, split, *probe_members_);
    double decrease = node.statistics.weight * node.statistics.impurity;
    for (const bool left : {true, false}) {
        buffer_.clear();
        for (std::uint32_t i = 0; i < n; ++i)
            if (bool(goes_left_[samples[i]]) == left) buffer_.push_back(samples[i]);
        const NodeStatistics side = meter_.measure(bag_, buffer_.data(),
                                                   static_cast<std::uint32_t>(buffer_.size()));
        decrease -= side.weight * side.impurity;
    }
    return decrease / tree_weight;
}

// Midway between the neighbours on both sides; the members are sorted by the feature.
double TreeGrower::threshold_of(const Split& split) const {
    if (split.n_left >= members_.n_known)
        return std::numeric_limits<double>::infinity();  // known left, missing right
    double below = table_.value(members_.sample[split.n_left - 1], split.feature);
    double above = table_.value(members_.sample[split.n_left], split.feature);
    if (table_.may_join_values(split.feature)) {
        for (std::uint32_t i = 0; i < split.n_left; ++i)
            below = std::max(below, table_.value(members_.sample[i], split.feature));
        for (std::uint32_t i = split.n_left; i < members_.n_known; ++i)
            above = std::min(above, table_.value(members_.sample[i], split.feature));
    }
    const double threshold = below + (above - below) / 2.0;
    return threshold < above ? threshold : below;  // neighbours in floating point
}

std::uint32_t TreeGrower::partition(const Pending& node) {
    const std::uint32_t n = node.end - node.begin;
    std::uint32_t* samples = samples_.data() + node.begin;
    buffer_.resize(n);
    std::uint32_t left = 0, right = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        // Written to both sides, one of which moves on: no branch to foretell.
        const std::uint32_t s = samples[i], goes_left = goes_left_[s];
        samples[left] = s;
        buffer_[right] = s;
        left += goes_left;
        right += 1 - goes_left;
    }
    std::copy(buffer_.begin(), buffer_.begin() + right, samples + left);
    return node.begin + left;
}

std::int32_t TreeGrower::record_node(const Pending& node, FlatTree& tree) {
    const std::int32_t id = static_cast<std::int32_t>(tree.feature.size());
    if (node.parent >= 0) (node.is_right ? tree.right : tree.left)[node.parent] = id;
    tree.feature.push_back(-1);
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    tree.threshold.push_back(0.0);
    tree.missing_left.push_back(0);
    tree.impurity.push_back(node.statistics.impurity);
    tree.n_samples.push_back(node.end - node.begin);
    meter_.value(bag_, samples_.data() + node.begin, node.end - node.begin, leaf_value_.data());
    tree.value.insert(tree.value.end(), leaf_value_.begin(), leaf_value_.end());
    return id;
}

void TreeGrower::record_leaf(const Pending& node, TreeResult& result) {
    if (node.oob_begin == node.oob_end || leaf_value_.empty()) return;
    meter_.value(bag_, samples_.data() + node.begin, node.end - node.begin, leaf_value_.data());
    for (std::uint32_t i = node.oob_begin; i < node.oob_end; ++i) {
        result.list.oob_sample.push_back(oob_[i]);
        result.list.oob_value.insert(result.list.oob_value.end(), leaf_value_.begin(), leaf_value_.end());
    }
}

std::uint8_t TreeGrower::coupling_bin(double r) const {
    const auto above = std::upper_bound(edges_.begin(), edges_.end(), r);
    const std::ptrdiff_t bin = above - edges_.begin() - 1;
    return static_cast<std::uint8_t>(
        std::clamp<std::ptrdiff_t>(bin, 0, static_cast<std::ptrdiff_t>(edges_.size()) - 2));
}

}  // namespace nullforest
