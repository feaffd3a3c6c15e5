#include "probes/probes.hpp"

#include <algorithm>
#include <numeric>

#include "tree/candidates.hpp"

namespace nullforest {

TieProfile profile_ties(const RankTable& table) {
    const std::size_t S = table.n_samples(), F = table.n_features();
    TieProfile profile;
    profile.n_levels.resize(F);
    profile.alike.resize(F);
    profile.n_missing.resize(F);
    for (std::size_t f = 0; f < F; ++f) {
        const std::uint64_t* differs = table.differs(f);
        std::int64_t levels = 1, alike = 0, start = 0;
        const auto end_level = [&](std::int64_t next) {
            alike += (next - start) * (next - start);
            start = next;
        };
        for (std::size_t w = 0; w < table.n_words(); ++w)
            for (std::uint64_t bits = differs[w]; bits; bits &= bits - 1, ++levels)
                end_level(static_cast<std::int64_t>(64 * w) + __builtin_ctzll(bits) + 1);
        end_level(static_cast<std::int64_t>(S));
        profile.n_levels[f] = levels;
        profile.alike[f] = alike;
        profile.n_missing[f] = static_cast<std::int64_t>(S) - table.n_known(f);
    }
    return profile;
}

namespace {

struct Name {
    std::uint32_t stratum, number;
};

// All probes in the order of their numbers.
std::vector<Name> numbered(const std::vector<std::uint32_t>& n_probes) {
    std::vector<Name> names;
    for (std::uint32_t s = 0; s < n_probes.size(); ++s)
        for (std::uint32_t k = 0; k < n_probes[s]; ++k) names.push_back({s, k});
    std::stable_sort(names.begin(), names.end(), [&](const Name& a, const Name& b) {
        return (2 * std::uint64_t{a.number} + 1) * n_probes[b.stratum] <
               (2 * std::uint64_t{b.number} + 1) * n_probes[a.stratum];
    });
    return names;
}

// The samples whose missing values stay where they are, marked; see probes.hpp.
void mark_shared(const RankTable& table, const std::vector<std::uint32_t>& among, std::uint32_t f,
                 std::uint64_t key, std::vector<std::uint8_t>& stays) {
    constexpr std::uint32_t kPartners = 8;
    const std::uint32_t S = static_cast<std::uint32_t>(table.n_samples());
    const std::uint32_t own = S - table.n_known(f);
    std::fill(stays.begin(), stays.end(), 0);
    if (own == 0) return;
    std::vector<std::uint32_t> order(S);
    std::vector<std::uint8_t> missing(S), best_shared(S);
    table.read_order(f, order.data());
    for (std::uint32_t i = S - own; i < S; ++i) missing[order[i]] = 1;
    std::uint32_t most = 0, of_partner = 0;
    for (std::uint32_t t = 0; t < kPartners; ++t) {
        const std::uint32_t g = among[below(step(step(key, 3), t),
                                            static_cast<std::uint32_t>(among.size()))];
        if (g == f) continue;
        table.read_order(g, order.data());
        std::uint32_t shared = 0;
        for (std::uint32_t i = table.n_known(g); i < S; ++i) shared += missing[order[i]];
        if (shared <= most) continue;
        most = shared;
        of_partner = S - table.n_known(g);
        std::fill(best_shared.begin(), best_shared.end(), 0);
        for (std::uint32_t i = table.n_known(g); i < S; ++i)
            best_shared[order[i]] = missing[order[i]];
    }
    if (2 * std::uint64_t{S} * most > std::uint64_t{own} * (S + of_partner)) stays = best_shared;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> features_by_stratum(
    const RankTable& table, const std::int64_t* feature_stratum,
    const std::vector<std::uint8_t>& copies) {
    std::vector<std::vector<std::uint32_t>> features(copies.size());
    for (std::size_t f = 0; f < table.n_features(); ++f)
        if (copies[feature_stratum[f]])
            features[feature_stratum[f]].push_back(static_cast<std::uint32_t>(f));
    return features;
}

ProbeSet make_probes(const RankTable& table, const std::int64_t* feature_stratum,
                     const std::vector<std::uint32_t>& n_probes,
                     const std::vector<std::uint8_t>& copies, std::uint64_t seed,
                     const AskingRates& rates, const std::vector<Rankings>& rankings) {
    const std::uint32_t S = static_cast<std::uint32_t>(table.n_samples());
    const std::vector<Name> names = numbered(n_probes);
    const auto features = features_by_stratum(table, feature_stratum, copies);
    const std::size_t n_strata = n_probes.size();
    ProbeSet set;
    set.rates = rates;
    set.members.resize(n_strata);
    set.table = std::make_unique<RankTable>(table, names.size());
    std::vector<std::vector<std::uint32_t>> a(n_strata), b(n_strata);
    std::vector<double> heaviest(n_strata, 1.0);
    for (std::size_t s = 0; s < n_strata; ++s) {
        set.members[s].resize(n_probes[s]);
        const std::uint64_t family = family_key(seed, s);
        a[s] = arrangements(S, family, 0, rankings[s].side);
        b[s] = arrangements(S, family, 1, rankings[s].side);
        if (rankings[s].side > 0 && n_probes[s] > 0)
            heaviest[s] = *std::max_element(rankings[s].weight.begin(), rankings[s].weight.end());
    }

    const ShuffleShape shape(S);
    std::vector<std::uint32_t> arrangement(S), order(S);
    std::vector<std::uint8_t> stays(S);
    std::vector<std::uint64_t> distinct(table.n_words());
    for (std::uint32_t i = 0; i + 1 < S; ++i) distinct[i / 64] |= std::uint64_t{1} << i % 64;
    for (const Name& name : names) {
        const std::uint32_t s = name.stratum, p = set.size(), side = rankings[s].side;
        const std::uint64_t family = family_key(seed, s);
        const std::uint64_t* differs = distinct.data();
        std::uint32_t n_known = S;
        double weight = 1.0;
        if (side > 0) {
            const std::uint32_t i = rankings[s].number[name.number] / side;
            const std::uint32_t j = rankings[s].number[name.number] % side;
            for (std::uint32_t x = 0; x < S; ++x)
                order[x] = a[s][std::size_t{i} * S + b[s][std::size_t{j} * S + x]];
            if (copies[s]) differs = table.differs(tied_like(family, j, features[s]));
            set.id.push_back(ranking_id(family, i, j));
            weight = rankings[s].weight[name.number];
        } else {
            const std::uint64_t key = step(family, name.number);
            const auto& among = features[s];
            const std::uint32_t f =
                among[below(step(key, 1), static_cast<std::uint32_t>(among.size()))];
            differs = table.differs(f);
            n_known = table.n_known(f);
            Shuffle(shape, step(key, 0)).next(S, arrangement.data());
            mark_shared(table, among, f, key, stays);
            std::uint32_t placed = 0;
            for (std::uint32_t sample : arrangement)
                if (!stays[sample]) order[placed++] = sample;
            for (std::uint32_t sample = 0; sample < S; ++sample)
                if (stays[sample]) order[placed++] = sample;
            set.id.push_back(probe_id(key));
        }
        if (copies[s])
            for (std::uint32_t start = 0, i = 0; i < S; ++i)
                if (i + 1 == S || (differs[i / 64] >> i % 64 & 1)) {
                    std::sort(order.begin() + start, order.begin() + i + 1);
                    start = i + 1;
                }
        set.table->set(p, order.data(), differs, n_known);
        set.weight.push_back(weight);
        set.wearing.push_back(static_cast<std::uint64_t>(4294967296.0 * (weight / heaviest[s])));
        set.members[s][name.number] = p;
        set.stratum.push_back(s);
        set.number_in_stratum.push_back(name.number);
    }
    return set;
}

ProbeAsker::ProbeAsker(const RankTable& table, const Outcome& outcome, const Settings& settings,
                       const ProbeSet& probes, Weighting weighting)
    : settings_(settings),
      probes_(probes),
      shape_(settings.pool),
      judge_(make_judge(table, *probes.table, outcome, settings, weighting)) {}

// Those with (w + floor(i 2^32 / n)) mod 2^32 below the rate: from where the sum wraps round.
ProbeAsker::Run ProbeAsker::run_of(std::uint64_t word, std::uint32_t n, std::uint32_t rate) {
    if (rate >= AskingRates::kAlways || n == 0) return {0, n};
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

void ProbeAsker::begin_tree(std::uint64_t tree_key, const Bag& bag, const std::uint32_t* pool) {
    tree_ = run_of(asked_in_tree_key(tree_key), probes_.size(), probes_.rates.in_tree);
    latest_.assign(tree_.count, -1);
    changes_.clear();
    pool_ = pool;
    judge_->begin_tree(bag, pool);
}

const std::vector<Verdict>& ProbeAsker::winners(const NodeQuery& node, std::uint64_t node_key,
                                                std::uint32_t begin, std::uint32_t end,
                                                const Split* winner) {
    won_.clear();
    node_ = run_of(asked_at_node_key(node_key), tree_.count, probes_.rates.at_node);
    if (node_.count == 0) return won_;
    Split placed;
    if (winner && winner->place == Split::kUnknown) {
        placed = *winner;
        placed.place = find_place(node.draw_key, winner->feature);
        winner = &placed;
    }
    // Places ascend: first the probes whose place goes round, then those from `start` on. Nothing
    // can win behind a split that nothing can beat.
    const std::uint32_t C = settings_.candidates, start = below(start_key(node_key), C);
    const std::uint32_t limit = winner && winner->perfect ? winner->place + 1 : C;
    // The first i with floor(i C / n) >= x.
    const auto first_from = [&](std::uint32_t x) {
        return static_cast<std::uint32_t>((std::uint64_t{x} * node_.count + C - 1) / C);
    };
    questions_.clear();
    add_questions(first_from(C - start), first_from(C - start + std::min(limit, start)), start - C,
                  begin, end);
    if (limit > start) add_questions(0, first_from(limit - start), start, begin, end);
    judge_->judge(node, winner, questions_, won_);
    return won_;
}

void ProbeAsker::add_questions(std::uint32_t from, std::uint32_t to, std::uint32_t offset,
                               std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t i = from; i < to; ++i) {
        std::uint32_t slot = node_.first + i;
        if (slot >= tree_.count) slot -= tree_.count;
        std::uint32_t p = tree_.first + slot;
        if (p >= probes_.size()) p -= probes_.size();
        // Nodes come in preorder: a subtree once left is never seen again.
        std::int32_t& c = latest_[slot];
        while (c >= 0 && !(changes_[c].begin <= begin && end <= changes_[c].end))
            c = changes_[c].before;
        const std::uint32_t shift =
            static_cast<std::uint32_t>(std::uint64_t{i} * settings_.candidates / node_.count);
        questions_.push_back({p, c >= 0 ? changes_[c].column : p, offset + shift});
    }
}

// Draws the candidates anew, for a kernel that does not say which of them won.
std::uint32_t ProbeAsker::find_place(std::uint64_t draw_key, std::uint32_t feature) const {
    Candidates candidates(shape_, draw_key, pool_, settings_.candidates);
    std::uint32_t place = 0, drawn[Candidates::kBatch];
    while (const std::uint32_t count = candidates.next_batch(drawn))
        for (std::uint32_t c = 0; c < count; ++c, ++place)
            if (drawn[c] == feature) return place;
    return place;
}

void ProbeAsker::count(const Verdict& verdict, std::uint64_t node_key, std::uint32_t begin,
                       std::uint32_t end) {
    const std::uint32_t p = verdict.probe;
    const auto& others = probes_.members[probes_.stratum[p]];
    if (others.size() < 2) return;
    const std::uint64_t key = step(change_key(node_key), probes_.id[p]);
    std::uint32_t k;
    for (std::uint64_t t = 0;; ++t) {
        const std::uint64_t word = step(key, t);
        k = below(word, static_cast<std::uint32_t>(others.size()) - 1);
        k += k >= probes_.number_in_stratum[p];
        if ((word & 0xffffffffu) < probes_.wearing[others[k]]) break;
    }
    const std::uint32_t slot = p >= tree_.first ? p - tree_.first
                                                : p + probes_.size() - tree_.first;
    changes_.push_back({begin, end, others[k], latest_[slot]});
    latest_[slot] = static_cast<std::int32_t>(changes_.size()) - 1;
}

}  // namespace nullforest
