"""Control of the false positive rate, and false negative rates.

The paper's Tables "StrategyI" and "StrategyII": the forests of the high-dimensional experiment,
tested at α = 0.01 and 0.001.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd

from reproduction import high_dimensional
from reproduction.claims import ADDED, Claim, in_settings, trend
from reproduction.figures import rate_figure
from reproduction.outcomes import NULLS
from reproduction.rate_tables import ALPHAS, RATES, Rate, rate_table

_NODES: dict[str, Rate] = {"nodes_per_tree": lambda outcome, _: outcome.nodes_per_tree}


def claims(table: pd.DataFrame) -> list[Claim]:
    """The paper's sentences about its Tables "StrategyI" and "StrategyII"."""
    table = table.assign(ratio=table["fpr"] / table["alpha"])
    paper = table[table["null"] == "paper"]
    none, few = paper[paper["relevant_share"] == 0], paper[paper["relevant_share"] == 0.001]
    many = paper[paper["relevant_share"] >= 0.01]
    two, one = many[many["relevant_share"] == 0.02], many[many["relevant_share"] == 0.01]
    grows, falls = (trend("", none, "n_samples", "fpr", rising=r) for r in (True, False))
    all_claims = [
        in_settings(
            "At N = 0 the rates are higher than α.",
            none["ratio"] > 1,
            f"; mean ratio {none['ratio'].mean():.2f}",
            least=0.8,
        ),
        trend("At N = 0 the rates grow with F.", none, "n_features", "fpr", rising=True),
        Claim(
            "At N = 0 there is no consistent trend with S.",
            grows.evidence,
            not (grows.holds or falls.holds),
        ),
    ]
    if len(few):
        above = few[few["alpha"] == 0.001]["fpr"] > 0.001
        all_claims.append(
            Claim(
                "At N = 0.1 % the rates are lower than at N = 0 and still above α = 0.001.",
                f"mean ratio to α: {few['ratio'].mean():.2f} at 0.1 %, "
                f"{none['ratio'].mean():.2f} at 0",
                bool(few["fpr"].mean() < none["fpr"].mean() and above.mean() > 0.5),
            )
        )
    all_claims += [
        *_below("N = 1 % and 2 % and α = 0.01 all rates", many, 0.01),
        *_below("N = 2% and α = 0.001 all of the rates", two, 0.001),
        *_below("N = 1% and α = 0.001 the majority of the rates", one, 0.001, least=0.5),
        trend("At N ≥ 1 % the rates fall with F.", many, "n_features", "fpr", rising=False),
        trend("At N ≥ 1 % the rates fall with S.", many, "n_samples", "fpr", rising=False),
        trend("False negative rates fall with S.", many, "n_samples", "fnr", rising=False),
        trend("False negative rates rise with N.", many, "relevant_share", "fnr", rising=True),
        trend("False negative rates rise as α falls.", many, "alpha", "fnr", rising=False),
    ]
    easy = many[(many["n_samples"] >= 200) & (many["n_features"] >= 2000)]["fnr"]
    if len(easy):
        all_claims.append(
            Claim(
                "False negative rates are fairly low for S ≥ 200 and F ≥ 2000.",
                f"mean {easy.mean():.3f}, largest {easy.max():.3f}",
                bool(easy.mean() < 0.1),  # "fairly low" read as one in ten at most
            )
        )
    bagged = table[(table["null"] == "bagged") & (table["relevant_share"] == 0)]
    for alpha in ALPHAS:
        at = bagged[bagged["alpha"] == alpha]["ratio"]
        all_claims.append(
            Claim(
                f"{ADDED} The bagged null model holds α = {alpha} at N = 0.",
                f"rate over α: mean {at.mean():.2f}, from {at.min():.2f} to {at.max():.2f}",
                bool(at.mean() <= 1.1),  # a tenth above α is the noise of 20 runs at F = 500
            )
        )
    return all_claims


def _below(where: str, part: pd.DataFrame, alpha: float, least: float = 1.0) -> list[Claim]:
    """Claim that rates are below alpha; none where no setting was run."""
    rates = part[part["alpha"] == alpha]["fpr"]
    largest = f"; largest {rates.max():.4f}"
    claim = in_settings(f"At {where} are below α.", rates < alpha, largest, least=least)
    return [claim] if len(rates) else []


EXPERIMENT = replace(
    high_dimensional.EXPERIMENT,
    name="control",
    title="Control of false positive and false negative rates",
    table=partial(rate_table, names=high_dimensional.NAMES, rates={**RATES, **_NODES}),
    figure=partial(
        rate_figure,
        rows={"strategy": (), "null": NULLS, "rate": ("fpr", "fnr")},
        columns={"relevant_share": ()},
        x="n_features",
        by="n_samples",
    ),
    claims=claims,
)
