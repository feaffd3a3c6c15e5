"""The committed tables of the full reproduction, and the page that is written from them."""

from pathlib import Path

import pandas as pd
import pytest

from reproduction import low_dimensional
from reproduction.printed_rates import best, best_reading, compared, ranking
from reproduction.stop_rules import BEST_RULE
from studies.records import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


def published(name):
    return pd.read_csv(RESULTS / "reproduction" / f"{name}.csv", float_precision="round_trip")


def test_four_of_five_printed_numbers_agree():
    table = published("comparison")
    numbers = compared(table)
    rule, pairing = best(ranking(numbers))
    assert (rule, pairing) == (str(BEST_RULE), "swapped")
    chosen = best_reading(numbers[(numbers["rule"] == rule) & (numbers["pairing"] == pairing)])
    assert len(chosen) == 144
    assert chosen["agrees"].mean() >= 0.8
    assert f"{chosen['agrees'].sum()} of 144 printed numbers agree" in PAGE.read_text("utf-8")


def test_the_bagged_null_model_meets_nine_of_ten_thresholds_where_features_are_few():
    claims = low_dimensional.claims(published("low_dimensional"))
    (whole,) = [c for c in claims if "bagged" in c.text and "Strategy I and II" in c.text]
    assert whole.holds


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("low_dimensional", 100),
        ("high_dimensional", 20),
        ("control", 20),
        ("power", 20),
        ("comparison", 20),
        ("cortical", 20),
    ],
)
def test_every_experiment_was_run_in_full(name, runs):
    table = published(name)
    assert set(table["runs"]) == {runs}
    assert table["seed"].nunique() == table["version"].nunique() == 1
