"""Printed and computed rates compared, on tables with a known answer."""

import numpy as np
import pandas as pd
import pytest

from reproduction.experiment import Finished
from reproduction.printed_rates import (
    best,
    best_reading,
    compared,
    printed_tables,
    ranking,
)
from reproduction.stop_rules import BEST_RULE, STOP_RULES, StopRule
from reproduction.verdict import Facts, verdict
from studies import stop_rules
from studies.records import Records

OTHER = {"I": "II", "II": "I"}


def ours(shift, rule=BEST_RULE, swap=False, sd=0.01):
    """A table of ours that is the printed one, shifted, with or without swapped strategies."""
    printed = printed_tables()
    wide = printed.pivot_table(
        index=["caption", "method", "n_samples", "n_features", "relevant_share", "alpha"],
        columns="rate",
        values="printed",
    ).reset_index()
    strategy = wide["caption"].map(OTHER) if swap else wide["caption"]
    return wide.assign(
        strategy=strategy,
        fpr=wide["fpr"] + shift,
        fnr=wide["fnr"] + shift,
        fpr_sd=sd,
        fnr_sd=sd,
        runs=20,
        rule=str(rule),
    )


def as_printed(table):
    """Our numbers beside the printed ones, the captions as printed."""
    numbers = compared(table)
    return numbers[numbers["pairing"] == "as printed"]


def test_printed_tables_are_whole():
    table = printed_tables()
    assert len(table) == 144
    assert table.groupby("caption").size().tolist() == [72, 72]
    # The row that the paper has twice.
    copied = table[(table["n_samples"] == 250) & (table["n_features"] == 2000)]
    one, two = (part["printed"].to_numpy() for _, part in copied.groupby("caption"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("shift", "agrees"), [(0.0, True), (0.006, True), (0.0066, False)])
def test_a_number_agrees_within_two_standard_errors_of_the_difference(shift, agrees):
    # 2 √(0.01²/20 + 0.01²/20 + 0.001²/12) = 0.00635
    numbers = as_printed(ours(shift))
    assert len(numbers) == 144
    assert (numbers["agrees"] == agrees).all()


def test_the_right_rule_and_pairing_are_found():
    odd = StopRule(1)
    table = pd.concat([ours(0.0, swap=True), ours(0.02, rule=odd)])
    ranked = ranking(compared(table))
    assert best(ranked) == (str(BEST_RULE), "swapped")
    assert ranked[["model", "permutation"]].iloc[0].tolist() == [1.0, 1.0]
    assert len(ranked) == 4


def test_of_two_readings_the_nearer_one_is_taken():
    exact = ours(0.02)
    exact = exact[exact["method"] == "model"]
    whole = ours(0.0)
    whole = whole[whole["method"] == "model"].assign(method="model_whole")
    numbers = as_printed(pd.concat([exact, whole]))
    chosen = best_reading(numbers)
    assert len(numbers) == 2 * len(chosen) == 144
    assert set(chosen["reading"]) == {"model_whole"}
    assert chosen["agrees"].all()


def test_rules_are_named_once_each():
    assert len({str(rule) for rule in STOP_RULES}) == len(STOP_RULES) == 7
    assert BEST_RULE in STOP_RULES


def test_no_rule_of_the_grid_comes_nearer_than_the_best_one():
    tried = Records("stop_rules", ("rule",)).frame().sort_values("distance")
    assert set(tried["rule"]) == {str(rule) for rule in stop_rules.rules()}
    assert tried["rule"].iloc[0] == str(BEST_RULE)
    assert tried["pairing"].iloc[0] == "swapped"


def test_verdict_says_how_many_numbers_agree():
    facts = Facts(0, "1.0", {"comparison": 20}, 0.5, "simulated smooth fields")
    comparison = Finished("comparison", "Comparison", ours(0.0, swap=True), [], 20)
    text = verdict({"comparison": comparison}, facts)
    assert "144 of 144 printed numbers agree (100%) with the captions of the tables **swap" in text
    assert "| permutation | 100, 500 | 2% | 0.05 | FNR | 0.520 |" in text
