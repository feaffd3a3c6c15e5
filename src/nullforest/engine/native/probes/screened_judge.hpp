// Which of many probes can be ruled out at once? A kernel holds them against the best of the node.
#pragma once
#include "probes/judge.hpp"

namespace nullforest {

// Leaves to `exact` what the kernel cannot judge: columns with missing values, and the probe that
// stands where the winner stood.
class ScreenedJudge : public Judge {
public:
    ScreenedJudge(const RankTable& probes, const Settings& settings, std::unique_ptr<Judge> exact)
        : probes_(probes), settings_(settings), exact_(std::move(exact)) {}

    void begin_tree(const Bag& bag, const std::uint32_t* pool) override {
        exact_->begin_tree(bag, pool);
    }

    void judge(const NodeQuery& node, const Split* winner, const std::vector<Question>& questions,
               std::vector<Verdict>& won) final {
        if (questions.empty()) return;
        // Where the split itself is wanted, or nothing was found, the exact judge says it all.
        if (!winner || settings_.min_gain > 0.0)
            return exact_->judge(node, winner, questions, won);
        open_.clear();
        sort_out(questions, winner->place);
        enter(node);
        if (n_asked_ > 0) {
            passes_.resize(n_asked_);
            take_winner(node, *winner);
            screen(columns_.data(), n_asked_, n_or_equal_, passes_.data());
        }
        for (std::uint32_t i = 0; i < n_asked_; ++i)
            if (passes_[i]) won.push_back({questions[who_[i]].probe, Split()});
        for (const Question& question : in_its_place_) {
            const Stand stand = stand_in(node, question);
            if (stand == Stand::unsure) open_.push_back(question);
            if (stand == Stand::wins) won.push_back({question.probe, Split()});
        }
        exact_->judge(node, winner, open_, won);
    }

protected:
    enum class Stand { loses, wins, unsure };

    virtual void enter(const NodeQuery& node) = 0;
    // Makes the winner's score the one to hold columns against.
    virtual void take_winner(const NodeQuery& node, const Split& winner) = 0;
    // Which columns of the probes score as much (the first `n_or_equal`) or more (the others)?
    virtual void screen(const std::uint32_t* columns, std::uint32_t n, std::uint32_t n_or_equal,
                        std::uint8_t* passes) = 0;
    // The probe takes the winner's place and has to face all other candidates.
    virtual Stand stand_in(const NodeQuery&, const Question&) { return Stand::unsure; }

    const RankTable& probes_;
    const Settings& settings_;

private:
    // Columns that stand before the winner, then those after it.
    void sort_out(const std::vector<Question>& questions, std::uint32_t place) {
        columns_.resize(questions.size());
        who_.resize(questions.size());
        in_its_place_.clear();
        n_asked_ = n_or_equal_ = 0;
        const bool missing = probes_.has_missing();
        for (std::uint32_t i = 0; i < questions.size(); ++i) {
            const Question& question = questions[i];
            if (missing && (probes_.flags()[question.column] & RankTable::kMissing)) {
                open_.push_back(question);
            } else if (question.place == place) {
                in_its_place_.push_back(question);
            } else {
                who_[n_asked_] = i;
                columns_[n_asked_++] = question.column;
                n_or_equal_ += question.place < place;
            }
        }
    }

    std::unique_ptr<Judge> exact_;
    std::uint32_t n_asked_ = 0, n_or_equal_ = 0;
    std::vector<Question> open_, in_its_place_;
    std::vector<std::uint32_t> columns_, who_;
    std::vector<std::uint8_t> passes_;
};

}  // namespace nullforest
