// Evaluation of probes at nodes: which ones, in which places, with which columns.
#include "probes/probe_evaluator.hpp"

#include <algorithm>

namespace nullforest {

ProbeEvaluator::ProbeEvaluator(const RankTable& table, const Outcome& outcome,
                               const Settings& settings, const ProbeSet& probes,
                               Weighting weighting)
    : settings_(settings),
      probes_(probes),
      scorer_(make_scorer(table, *probes.table, outcome, settings, weighting)) {}

// Those with (w + floor(i 2^32 / n)) mod 2^32 below the rate: from where the sum wraps around.
ProbeEvaluator::Run ProbeEvaluator::run_of(std::uint64_t word, std::uint32_t n,
                                           std::uint32_t rate) {
    if (rate >= EvaluationRates::kAlways || n == 0) return {0, n};
    constexpr std::uint64_t kRound = std::uint64_t{1} << 32;
    // The first i with floor(i 2^32 / n) >= x, that is i >= x n / 2^32.
    const auto first_from = [&](std::uint64_t x) {
        return static_cast<std::uint32_t>((x * n + kRound - 1) >> 32);
    };
    const std::uint64_t w = word >> 32, end = std::uint64_t{rate} << 16;
    const std::uint32_t wrap = w == 0 ? 0 : first_from(kRound - w);
    // Beyond the wrap up to `end`, and, where w itself lies below `end`, from 0 on.
    const std::uint32_t last = w == 0 ? first_from(end) : std::min(n, first_from(kRound - w + end));
    const std::uint32_t more = w != 0 && w < end ? first_from(end - w) : 0;
    return {wrap == n ? 0 : wrap, last - wrap + more};
}

void ProbeEvaluator::begin_tree(std::uint64_t tree_key, const Bag& bag, const std::uint32_t* pool) {
    tree_ = run_of(evaluated_in_tree_key(tree_key), probes_.size(), probes_.rates.in_tree);
    latest_.assign(tree_.count, -1);
    replacements_.clear();
    scorer_->begin_tree(bag, pool);
}

const std::vector<Win>& ProbeEvaluator::wins(const NodeQuery& node, std::uint64_t node_key,
                                             std::uint32_t begin, std::uint32_t end,
                                             const Split* winner) {
    wins_.clear();
    node_ = run_of(evaluated_at_node_key(node_key), tree_.count, probes_.rates.at_node);
    if (node_.count == 0) return wins_;
    // Places ascend: first the probes whose place wraps around, then those from `start` on. Nothing
    // can win behind a split that nothing can beat.
    const std::uint32_t C = settings_.candidates, start = below(start_key(node_key), C);
    const std::uint32_t limit = winner && winner->perfect ? winner->place + 1 : C;
    // The first i with floor(i C / n) >= x.
    const auto first_from = [&](std::uint32_t x) {
        return static_cast<std::uint32_t>((std::uint64_t{x} * node_.count + C - 1) / C);
    };
    evaluations_.clear();
    const std::uint32_t wrap = C - start;
    add_evaluations(first_from(wrap), first_from(wrap + std::min(limit, start)), start - C, begin,
                    end);
    if (limit > start) add_evaluations(0, first_from(limit - start), start, begin, end);
    scorer_->score(node, winner, evaluations_, wins_);
    return wins_;
}

void ProbeEvaluator::add_evaluations(std::uint32_t from, std::uint32_t to, std::uint32_t offset,
                                     std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = from; i < to; ++i) {
        std::uint32_t slot = node_.first + i;
        if (slot >= tree_.count) slot -= tree_.count;
        std::uint32_t p = tree_.first + slot;
        if (p >= probes_.size()) p -= probes_.size();
        // Nodes come in preorder: a subtree once left does not come again.
        std::int32_t& c = latest_[slot];
        while (c >= 0 && !(replacements_[c].begin <= begin && end <= replacements_[c].end))
            c = replacements_[c].before;
        const std::uint32_t shift =
            static_cast<std::uint32_t>(std::uint64_t{i} * settings_.candidates / node_.count);
        evaluations_.push_back({p, c >= 0 ? replacements_[c].column : p, offset + shift});
    }
}

void ProbeEvaluator::count(const Win& win, std::uint64_t node_key, std::uint32_t begin,
                           std::uint32_t end) {
    const std::uint32_t p = win.probe;
    const auto& others = probes_.members[probes_.stratum[p]];
    if (others.size() < 2) return;
    const std::uint64_t key = step(replacement_key(node_key), probes_.id[p]);
    std::uint32_t k;
    for (std::uint64_t t = 0;; ++t) {
        const std::uint64_t word = step(key, t);
        k = below(word, static_cast<std::uint32_t>(others.size()) - 1);
        k += k >= probes_.number_in_stratum[p];
        if ((word & 0xffffffffu) < probes_.acceptance[others[k]]) break;
    }
    const std::uint32_t slot = p >= tree_.first ? p - tree_.first
                                                : p + probes_.size() - tree_.first;
    replacements_.push_back({begin, end, others[k], latest_[slot]});
    latest_[slot] = static_cast<std::int32_t>(replacements_.size()) - 1;
}

}  // namespace nullforest
