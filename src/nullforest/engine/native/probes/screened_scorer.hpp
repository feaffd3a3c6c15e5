// Screening of many probes at once: a kernel compares them with the best split of the node.
#pragma once
#include "kernels/scan_kernel.hpp"
#include "kernels/walk_kernel.hpp"
#include "probes/scorer.hpp"

namespace nullforest {

// Leaves to `exact` what the kernel cannot decide: columns with missing values, and the probe that
// takes the winner's own place.
class ScreenedScorer : public ProbeScorer {
public:
    ScreenedScorer(const RankTable& probes, const Settings& settings,
                   std::unique_ptr<ProbeScorer> exact)
        : probes_(probes), settings_(settings), exact_(std::move(exact)) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        exact_->begin_tree(bag, pool);
    }

    void score(const NodeQuery& node, const Split* winner,
               const std::vector<Evaluation>& evaluations, std::vector<Win>& wins) final {
        if (evaluations.empty()) return;
        // Where the split itself is wanted, or nothing was found, the exact scorer does it all.
        if (!winner || settings_.min_gain > 0.0)
            return exact_->score(node, winner, evaluations, wins);
        undecided_.clear();
        sort_out(evaluations, winner->place);
        enter(node);
        if (n_screened_ > 0) {
            passes_.resize(n_screened_);
            take_winner(node, *winner);
            screen(columns_.data(), n_screened_, n_or_equal_, passes_.data());
        }
        for (std::uint32_t i = 0; i < n_screened_; ++i)
            if (passes_[i]) wins.push_back({evaluations[which_[i]].probe, Split()});
        for (const Evaluation& evaluation : in_its_place_) {
            const Result result = replace_winner(node, evaluation);
            if (result == Result::undecided) undecided_.push_back(evaluation);
            if (result == Result::wins) wins.push_back({evaluation.probe, Split()});
        }
        exact_->score(node, winner, undecided_, wins);
    }

protected:
    enum class Result { loses, wins, undecided };

    virtual void enter(const NodeQuery& node) = 0;
    // Makes the winner's score the one to compare columns with.
    virtual void take_winner(const NodeQuery& node, const Split& winner) = 0;
    // Marks the columns of the probes that score as much (the first `n_or_equal`) or more.
    virtual void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                        std::uint8_t* passes) = 0;
    // The probe takes the winner's place and is compared with all other candidates.
    virtual Result replace_winner(const NodeQuery&, const Evaluation&) {
        return Result::undecided;
    }

    const RankTable& probes_;
    const Settings& settings_;

private:
    // Columns in places before the winner's, then those after it.
    void sort_out(const std::vector<Evaluation>& evaluations, std::uint32_t place) {
        columns_.resize(evaluations.size());
        which_.resize(evaluations.size());
        in_its_place_.clear();
        n_screened_ = n_or_equal_ = 0;
        const bool missing = probes_.has_missing();
        for (std::uint32_t i = 0; i < evaluations.size(); ++i) {
            const Evaluation& evaluation = evaluations[i];
            if (missing && (probes_.flags()[evaluation.column] & RankTable::kMissing)) {
                undecided_.push_back(evaluation);
            } else if (evaluation.place == place) {
                in_its_place_.push_back(evaluation);
            } else {
                which_[n_screened_] = i;
                columns_[n_screened_++] = evaluation.column;
                n_or_equal_ += evaluation.place < place;
            }
        }
    }

    std::unique_ptr<ProbeScorer> exact_;
    std::uint32_t n_screened_ = 0, n_or_equal_ = 0;
    std::vector<Evaluation> undecided_, in_its_place_;
    std::vector<std::uint32_t> columns_, which_;
    std::vector<std::uint8_t> passes_;
};

std::unique_ptr<ProbeScorer> make_walk_scorer(const RankTable& table, const RankTable& probes,
                                              const Outcome& outcome, const Settings& settings,
                                              WalkKernel kernel,
                                              std::unique_ptr<ProbeScorer> exact);
std::unique_ptr<ProbeScorer> make_scan_scorer(const RankTable& table, const RankTable& probes,
                                              const Outcome& outcome, const Settings& settings,
                                              Weighting weighting, ScanKernel kernel,
                                              std::unique_ptr<ProbeScorer> exact);

}  // namespace nullforest
