"""The picture of the power page: what is found, and how much of it is false."""

from __future__ import annotations

import pandas as pd

from studies.pictures import Dot, Panel, picture

TESTS = {"nullforest": "", "Wilcoxon's test": "_univariate"}
SHARES = {0.0: "0", 0.25: ".25", 0.5: ".5", 0.75: ".75", 1.0: "1"}
FALSE = {0.0: "0", 0.025: ".025", 0.05: ".05", 0.075: ".075", 0.1: ".1"}


def power_picture(rows: pd.DataFrame) -> str:
    """Power and false discovery proportion on the paper's generator, beside Wilcoxon's test."""
    words: dict[str, str] = {}
    found, false = [], []
    for (share, relevance), own in rows[rows["share"] > 0].groupby(["share", "relevance"]):
        key = f"{share}/{relevance}"
        words[key] = f"{share:.0%} of the features relevant, ρ = {relevance:g}"
        for test, column in TESTS.items():
            selected, wrong = own[f"selected{column}"], own[f"false{column}"]
            power = (selected - wrong) / own["relevant"]
            proportion = wrong / selected.clip(lower=1)
            found.append(Dot(key, test, power.mean(), power.sem()))
            false.append(Dot(key, test, proportion.mean(), proportion.sem()))
    panels = [
        Panel("relevant features selected", SHARES, found),
        Panel("null features among selected", FALSE, false, aim=0.05),
    ]
    return picture("Power and false discovery proportion", words, panels)
