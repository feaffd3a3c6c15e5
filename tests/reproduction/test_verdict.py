"""Verdict on the reproduction: what it concludes, and when it cannot tell."""

import pandas as pd
import pytest

from reproduction.claims import ENOUGH_RUNS, Claim, held
from reproduction.experiment import Finished
from reproduction.page import render_page
from reproduction.verdict import Facts, verdict
from studies.records import RESULTS

CLAIMS = [Claim("Rates fall with S.", "3 of 3 curves", True), Claim("It is easy.", "0.4", False)]


FACTS = Facts(0, "0.1.0", {}, 0.5, "simulated smooth fields")


def control(runs):
    return {"control": Finished("control", "Control", pd.DataFrame(), CLAIMS, runs)}


@pytest.mark.parametrize("runs", [2, ENOUGH_RUNS - 1])
def test_too_few_runs_conclude_nothing(runs):
    text = verdict(control(runs), FACTS)
    assert f"cannot tell whether the 2 claims hold: {runs} runs per setting" in text
    assert text.count("| cannot tell |") == 2
    assert "claims of the paper hold" not in text
    assert "**no**" not in text
    html = render_page(control(runs).values(), FACTS)
    assert html.count('<td class="cannot tell">cannot tell</td>') == 2


def test_enough_runs_conclude():
    text = verdict(control(ENOUGH_RUNS), FACTS)
    assert "1 of 2 claims of the paper hold" in text
    assert "| It is easy. | 0.4 | **no** |" in text
    assert "cannot tell" not in text
    assert held(CLAIMS, ENOUGH_RUNS) == "1 of 2 claims hold"
    assert [claim.answer(ENOUGH_RUNS) for claim in CLAIMS] == ["yes", "no"]


@pytest.mark.parametrize(("runs", "concludes"), [(2, False), (20, True)])
def test_printed_numbers_are_compared_with_enough_runs_only(runs, concludes):
    table = pd.read_csv(RESULTS / "reproduction" / "comparison.csv")
    text = verdict({"comparison": Finished("comparison", "Comparison", table, [], runs)}, FACTS)
    assert ("of 144 printed numbers agree" in text) == concludes
    assert ("Cannot tell whether our numbers agree" in text) != concludes
    assert "### The table captioned Strategy II" in text
