#include "probes.hpp"

#include <algorithm>
#include <numeric>

#include "candidates.hpp"

namespace nullforest {

TieProfile profile_ties(const RankTable& table) {
    const std::size_t S = table.n_samples(), F = table.n_features();
    TieProfile profile;
    profile.n_levels.resize(F);
    profile.commonest.resize(F);
    profile.n_missing.resize(F);
    for (std::size_t f = 0; f < F; ++f) {
        const std::uint64_t* differs = table.differs(f);
        std::int64_t levels = 1, longest = 0, start = 0;
        for (std::size_t w = 0; w < table.n_words(); ++w)
            for (std::uint64_t bits = differs[w]; bits; bits &= bits - 1, ++levels) {
                const std::int64_t next = static_cast<std::int64_t>(64 * w) +
                                          __builtin_ctzll(bits) + 1;
                longest = std::max(longest, next - start);
                start = next;
            }
        profile.n_levels[f] = levels;
        profile.commonest[f] = std::max(longest, static_cast<std::int64_t>(S) - start);
        profile.n_missing[f] = static_cast<std::int64_t>(S) - table.n_known(f);
    }
    return profile;
}

ProbeSet make_probes(const RankTable& table, const std::int64_t* feature_stratum,
                     const std::vector<std::uint32_t>& n_probes,
                     const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                     std::uint32_t period) {
    const std::uint32_t S = static_cast<std::uint32_t>(table.n_samples());
    ProbeSet set;
    set.n_strata = static_cast<std::uint32_t>(n_probes.size());
    set.period = period;
    const std::size_t P = std::accumulate(n_probes.begin(), n_probes.end(), std::size_t{0});
    set.table = std::make_unique<RankTable>(table, P);
    std::vector<std::vector<std::uint32_t>> features(set.n_strata);
    for (std::size_t f = 0; f < table.n_features(); ++f)
        if (copies[feature_stratum[f]])
            features[feature_stratum[f]].push_back(static_cast<std::uint32_t>(f));

    const ShuffleShape shape(S);
    std::vector<std::uint32_t> arrangement(S), order(S);
    std::vector<std::uint64_t> distinct(table.n_words());
    for (std::uint32_t i = 0; i + 1 < S; ++i) distinct[i / 64] |= std::uint64_t{1} << i % 64;
    for (std::uint32_t s = 0; s < set.n_strata; ++s)
        for (std::uint32_t k = 0; k < n_probes[s]; ++k) {
            const std::uint64_t key = probe_key(seed, s, k);
            const std::size_t p = set.id.size();
            Shuffle(shape, step(key, 0)).next(S, arrangement.data());
            if (copies[s]) {
                const auto& among = features[s];
                const std::uint32_t f =
                    among[below(step(key, 1), static_cast<std::uint32_t>(among.size()))];
                const std::uint64_t* differs = table.differs(f);
                table.read_order(f, order.data());
                for (std::uint32_t& sample : order) sample = arrangement[sample];
                for (std::uint32_t start = 0, i = 0; i < S; ++i)
                    if (i + 1 == S || (differs[i / 64] >> i % 64 & 1)) {
                        std::sort(order.begin() + start, order.begin() + i + 1);
                        start = i + 1;
                    }
                set.table->set(p, order.data(), differs, table.n_known(f));
            } else {
                set.table->set(p, arrangement.data(), distinct.data(), S);
            }
            set.id.push_back(probe_id(key));
            set.stratum.push_back(s);
        }
    return set;
}

ProbeAsker::ProbeAsker(const RankTable& table, const Outcome& outcome, const Settings& settings,
                       const ProbeSet& probes, Weighting weighting)
    : settings_(settings),
      probes_(probes),
      shape_(settings.pool),
      judge_(make_judge(table, *probes.table, outcome, settings, weighting)) {}

void ProbeAsker::begin_tree(std::uint64_t tree, const Bag& bag, const std::uint32_t* pool) {
    first_ = static_cast<std::uint32_t>(tree % probes_.period);
    depleted_.assign(probes_.size() / probes_.period + 1, Span());
    pool_ = pool;
    judge_->begin_tree(bag, pool);
}

const std::vector<Verdict>& ProbeAsker::winners(const NodeQuery& node, std::uint64_t node_key,
                                                std::uint32_t begin, std::uint32_t end,
                                                const Split* winner) {
    const std::uint64_t key = ask_key(node_key);
    questions_.clear();
    won_.clear();
    Split placed;
    if (winner && winner->place == Split::kUnknown) {
        placed = *winner;
        placed.place = find_place(node.draw_key, winner->feature);
        winner = &placed;
    }
    std::size_t slot = 0;
    for (std::uint32_t p = first_; p < probes_.size(); p += probes_.period, ++slot)
        if (!(depleted_[slot].begin <= begin && end <= depleted_[slot].end))
            questions_.push_back({p, below(step(key, probes_.id[p]), settings_.candidates)});
    judge_->judge(node, winner, questions_, won_);
    return won_;
}

// Draws the candidates anew, for a kernel that does not say which of them won.
std::uint32_t ProbeAsker::find_place(std::uint64_t draw_key, std::uint32_t feature) const {
    Candidates candidates(shape_, draw_key, pool_, settings_.candidates);
    std::uint32_t place = 0;
    while (const std::uint32_t count = candidates.next_batch())
        for (std::uint32_t c = 0; c < count; ++c, ++place)
            if (candidates.feature[c] == feature) return place;
    return place;
}

void ProbeAsker::count(const Verdict& verdict, std::uint64_t node_key, std::uint32_t begin,
                       std::uint32_t end) {
    const std::uint64_t word = step(ask_key(node_key), probes_.id[verdict.probe]);
    if (below(word << 32, settings_.pool) < settings_.candidates)
        depleted_[verdict.probe / probes_.period] = {begin, end};
}

}  // namespace nullforest
