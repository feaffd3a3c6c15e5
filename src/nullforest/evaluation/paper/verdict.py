"""Does the paper reproduce? The verdict as a Markdown page, written from the tables alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from scipy.optimize import brentq
from scipy.stats import poisson

from nullforest.evaluation.paper.agreement import (
    PAIRINGS,
    all_compared,
    best,
    best_reading,
    ranking,
)
from nullforest.evaluation.paper.experiment import Claim
from nullforest.evaluation.paper.printed import COPIED
from nullforest.evaluation.paper.stop_rules import BEST_RULE

_RATE = {"fpr": "FPR", "fnr": "FNR"}
_METHOD = {"model": "the model", "permutation": "permutation testing"}
_READING = {
    "model": "the model takes each tree's own number of nodes",
    "model_whole": "the model takes the mean number of nodes per tree, rounded up, for all trees",
    "permutation": "a permuted count at least as large counts against a feature",
    "permutation_larger": "only a larger permuted count counts against a feature",
}


@dataclass(frozen=True)
class Facts:
    """What was run.

    Attributes
    ----------
    seed : int
    version : str
    runs : mapping of str to int
        Runs per setting of each experiment.
    hours : float
        Hours of one processor core that the finished runs took.
    maps : str
        Where the cortical maps came from.
    """

    seed: int
    version: str
    runs: Mapping[str, int]
    hours: float
    maps: str


def verdict(
    tables: Mapping[str, pd.DataFrame],
    claims: Mapping[str, list[Claim]],
    titles: Mapping[str, str],
    facts: Facts,
) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    tables : mapping of experiment to DataFrame
        The finished tables; the comparison with the printed numbers needs "comparison".
    claims, titles : mapping of experiment to list of Claim, to str
    facts : Facts
    """
    parts = [_head(facts)]
    if "comparison" in tables:
        parts += _comparison(tables["comparison"])
    parts.append("## What the figures say")
    parts.append(
        "The paper's figures have no printed numbers; their text makes claims. Each is checked on "
        "our tables. A trend counts as seen when at least four of five curves show it."
    )
    for name, checked in claims.items():
        lines = [
            f"### {titles[name]}",
            "",
            f"![{titles[name]}]({name}.png)",
            "",
            "| claim | found | holds |",
            "|---|---|---|",
        ]
        lines += [
            f"| {claim.text} | {claim.found} | {'yes' if claim.holds else '**no**'} |"
            for claim in checked
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _head(facts: Facts) -> str:
    runs = ", ".join(f"{name} {n}" for name, n in facts.runs.items())
    return (
        "# Does the paper reproduce?\n\n"
        "Written by `nullforest reproduce` from its own tables; not by hand. The paper is "
        "Konukoglu and Ganz, *Approximate False Positive Rate Control in Selection Frequency for "
        "Random Forest*.\n\n"
        f"Version {facts.version}, seed {facts.seed}; runs per setting: {runs}; "
        f"{facts.hours:.2f} hours of one processor core in all; cortical maps: {facts.maps}."
    )


def _comparison(table: pd.DataFrame) -> list[str]:
    cells = all_compared(table)
    if cells.empty:
        return ["None of the printed settings was run, so nothing can be set beside them."]
    ranked = ranking(cells)
    rule, pairing = best(ranked)
    chosen = best_reading(cells[(cells["rule"] == str(rule)) & (cells["pairing"] == pairing)])
    read = cells[cells["reading"].isin(chosen["reading"].unique())]
    return [
        "## The two comparison tables",
        _answer(read, chosen, str(rule), pairing),
        "### Stop rules and pairings\n\n"
        "The paper does not give its stop rule, and the captions of its two tables look swapped. "
        "Each rule is compared in both pairings: `as printed` sets our Strategy I beside the table "
        "captioned I, `swapped` beside the table captioned II. Each column named after a reading "
        "of the text holds the share of cells within two standard errors of the difference (20 "
        "printed runs with our own spread between runs, our runs, and the rounding to three "
        "digits): "
        + "; ".join(f"`{name}`, {words}" for name, words in _READING.items())
        + ". `distance` is the mean squared difference of the model's cells in standard errors, "
        "held to 25 per cell, for the better reading. The best fit is the smallest distance among "
        "the rules whose permutations were run. The rule with a smallest node that may split "
        "(`split`) is the nearest of a grid of leaf sizes, node sizes and depths "
        "(`python -m studies.stop_rules`), chosen by the model's cells alone: permutations had no "
        "say in it. So odd a rule is hardly the paper's own, but one whose trees are about as "
        "large as the paper's were; and as the best of many it agrees in more of the model's cells "
        "than a rule named beforehand would.\n\n" + _markdown(ranked),
        _disagreements(chosen),
        *(_cells(read, str(rule), caption) for caption in ("I", "II")),
    ]


def _answer(cells: pd.DataFrame, chosen: pd.DataFrame, rule: str, pairing: str) -> str:
    lines = [
        f"Best fit: **{rule}**, captions **{pairing}**: {int(chosen['agrees'].sum())} of "
        f"{len(chosen)} cells agree ({chosen['agrees'].mean():.0%}), where "
        + " and ".join(_READING[name] for name in chosen["reading"].unique())
        + "."
    ]
    copied = (chosen["n_samples"] == COPIED[0]) & (chosen["n_features"] == COPIED[1])
    own = chosen[~copied]
    fits = chosen[copied].groupby("caption")["agrees"].agg(["sum", "size"])
    lines.append(
        f"The printed row (S, F) = {COPIED} is the same in both tables, a copying slip that cannot "
        f"be right for both; without it {_of(own['agrees'].sum(), len(own))} agree."
    )
    if len(fits):
        once = fits.sort_values("sum").iloc[-1]
        lines.append(
            f"Counted once, in the table captioned {once.name}, which it fits better: "
            f"{_of(own['agrees'].sum() + once['sum'], len(own) + once['size'])} agree."
        )
    for other in PAIRINGS:
        if other != pairing:
            shares = cells[cells["pairing"] == other].groupby("rule")["agrees"].mean()
            lines.append(
                f"With the captions {other} the same rule agrees in {shares[rule]:.0%} of the "
                f"cells, and no rule in more than {shares.max():.0%} ({shares.idxmax()})."
            )
    if rule != str(BEST_RULE):
        lines.append(
            f"The other experiments were run with {BEST_RULE}, which was thought to fit best."
        )
    return "\n".join(lines)


def _of(part: float, whole: float) -> str:
    return f"{int(part)} of {int(whole)} ({part / whole:.0%})"


def _disagreements(chosen: pd.DataFrame) -> str:
    odd = chosen[~chosen["agrees"]]
    by_setting = ", ".join(
        f"{part['agrees'].mean():.0%} at ({S}, {F})"
        for (S, F), part in chosen.groupby(["n_samples", "n_features"])
    )
    lines = ["### Cells that disagree", "", f"Cells that agree, by (S, F): {by_setting}.", ""]
    if odd.empty:
        return "\n".join([*lines, "None disagrees."])
    for (method, rate), part in odd.groupby(["method", "rate"]):
        higher = int((part["difference"] > 0).sum())
        total = int(((chosen["method"] == method) & (chosen["rate"] == rate)).sum())
        lines.append(
            f"- {_RATE[str(rate)]} of {_METHOD[str(method)]}: {len(part)} of {total} cells; ours "
            f"is higher in {higher} and lower in {len(part) - higher}; mean difference "
            f"{part['difference'].mean():+.4f}, largest {part['difference'].abs().max():.4f}."
        )
    return "\n".join([*lines, "", _why()])


def _why() -> str:
    """What small counts do to the rates, in numbers."""
    # With T = F/10 a null feature's count has mean K/10 and is nearly Poisson.
    steps = ", ".join(
        f"K = {10 * brentq(lambda mean, k=k: poisson.sf(k, mean) - 0.05, 1e-6, 50):.2f} "
        f"from {k} to {k + 1}"
        for k in (1, 2, 3)
    )
    return (
        "Why a cell can be far off: with T = F/10 and K nodes per tree a null feature is chosen "
        "K/10 times on average, so the model's threshold is a count of 1, 2 or 3, and the rates "
        "jump by a factor of two or more where K crosses a value at which the threshold changes "
        f"(at α = 0.05: {steps}). A stop rule that differs a little from the paper's, or a split "
        "criterion that does, puts a whole row of cells on the other side of such a step. "
        "Permutation testing has no such common threshold."
    )


def _cells(cells: pd.DataFrame, rule: str, caption: str) -> str:
    """One printed table: every number, with ours in both pairings."""
    part = cells[(cells["rule"] == rule) & (cells["caption"] == caption)]
    keys = ["method", "n_samples", "n_features", "relevant_share", "alpha", "rate"]
    lines = [
        f"### The table captioned Strategy {caption}, stop rule {rule}",
        "",
        "| method | S, F | N | α | rate | printed | ours as printed | agrees "
        "| ours swapped | agrees |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for values, rows in part.groupby(keys, sort=False):
        method, S, F, relevant, alpha, rate = values
        by = {row.pairing: row for row in rows.itertuples()}
        ours = [
            f"{by[p].ours:.4f} ± {by[p].ours_se:.4f} | {'yes' if by[p].agrees else '**no**'}"
            if p in by
            else "– | –"
            for p in PAIRINGS
        ]
        printed = rows["printed"].iloc[0]
        lines.append(
            f"| {method} | {S}, {F} | {relevant:.0%} | {alpha} | {_RATE[str(rate)]} "
            f"| {printed:.3f} | {ours[0]} | {ours[1]} |"
        )
    return "\n".join(lines)


def _shown(value: object) -> str:
    """A cell of a table; a dash for what was not run."""
    if not isinstance(value, float):
        return str(value)
    return "–" if math.isnan(value) else f"{value:.3f}"


def _markdown(frame: pd.DataFrame) -> str:
    """A small table in Markdown, numbers to three digits."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * len(frame.columns)]
    for row in frame.itertuples(index=False):
        lines.append("| " + " | ".join(map(_shown, row)) + " |")
    return "\n".join(lines)
