"""Verdict on the reproduction, a Markdown page written from the tables alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from scipy.optimize import brentq
from scipy.stats import poisson

from reproduction import printed_rates
from reproduction.claims import ADDED, ENOUGH_RUNS, held
from reproduction.experiment import Finished
from reproduction.stop_rules import BEST_RULE

_METHOD = {"model": "the model", "permutation": "permutation testing"}
_READING = {
    "model": "the model uses each tree's own number of nodes",
    "model_whole": "the model uses the mean number of nodes per tree, rounded up, for all trees",
    "permutation": "a permuted count at least as large counts against a feature",
    "permutation_larger": "only a larger permuted count counts against a feature",
}


@dataclass(frozen=True)
class Facts:
    """What was run."""

    seed: int
    version: str
    runs: Mapping[str, int]  # per setting of each experiment
    hours: float  # of one processor core that the finished runs took
    maps: str  # source of the cortical maps


_HEAD = """# Does the paper reproduce?

{total} The paper is Konukoglu and
Ganz, *Approximate False Positive Rate Control in Selection Frequency for Random Forest*,
arXiv:1410.2838. This page is written by `python -m reproduction` from its own tables, not by hand.
All numbers on it are measured.

## Verdict

{claims}
{printed}
**What was run by default.** `python -m reproduction` (in the repository: `make reproduction`)
repeats the paper's experiments, at the paper's sizes unless `--quick` is given, with the paper's
null model and, for comparison, the bagged null model (the null model that accounts for trees
sharing one sample). The default of `nf.select` for forests grown here, the probe null model, is
measured in the calibration study instead. Version {facts.version}, seed {facts.seed},
{facts.hours:.2f} hours of one processor core; cortical maps: {facts.maps}.

**What is assumed.** The printed rates are means of 20 runs whose standard deviation is not given;
ours is used instead. A printed number agrees with ours if they differ by at most two standard
errors of the difference (their runs, our runs, rounding to three digits). With fewer than
{enough} runs per setting nothing is concluded.

**What was set by hand.** The paper does not give its stop rule. The rule used, {rule}, is the
nearest of a grid of leaf sizes, node sizes and depths to the rates that the paper prints for its
model (`python -m studies.stop_rules`); the rates of permutation testing were not used. It is
hardly the paper's own rule, but its trees are about as large. As the best of many rules it agrees
with more of the model's numbers than a rule fixed in advance would. The criteria of the claims
(four of five curves, 90 % of the thresholds) are ours."""
_CLAIMS = """## The claims of the paper

The paper's figures have no printed numbers, but its text makes claims about them. Each is checked
on our tables. A trend holds when at least four of five curves show it and the mean change has the
claimed sign. "{added}" marks claims of our own."""
_WHY = (
    "Why a number can be far off: with T = F/10 and K nodes per tree a null feature is "
    "selected K/10 times on average, so the model's threshold is a count of 1, 2 or 3, and the "
    "rates jump by a factor of two or more where K crosses a value at which the threshold "
    "changes (at α = 0.05: {steps}). A stop rule or a split criterion that differs a little "
    "from the paper's moves a whole row of the table across such a step. Permutation testing "
    "has no such common threshold."
)
_RULES = """## The two comparison tables

### Stop rules and pairings

The captions of the two printed tables look swapped, so every stop rule is compared in both
pairings: *as printed* sets our Strategy I beside the table captioned I, *swapped* beside the
table captioned II. A rule is written as the fewest samples in a leaf, the fewest samples in a
node that is split (if more than twice the leaf), and the largest depth. Two sentences of the
paper can be read in two ways, which gives four columns, each with the share of numbers that
agree:

{readings}
- `distance`: mean squared difference of the model's numbers in standard errors, at most 25 per
  number, for the better reading. The best fit has the smallest distance among the rules whose
  permutations were run."""


def verdict(finished: Mapping[str, Finished], facts: Facts, figures: str = "") -> str:
    """The page, in Markdown; `figures` is the path of their folder, with a slash at its end."""
    summary, comparison = "", list[str]()
    if "comparison" in finished:
        summary, comparison = _comparison(finished["comparison"])
    counts = ["experiment", "claims of the paper", "claims of our own", "runs per setting"]
    parts = [
        _HEAD.format(
            total=_total(finished.values()),
            claims=markdown(counts, map(_counted, finished.values())),
            printed=summary and f"\n**The two comparison tables.** {summary}\n",
            facts=facts,
            enough=ENOUGH_RUNS,
            rule=BEST_RULE,
        ),
        *comparison,
        _CLAIMS.format(added=ADDED),
    ]
    for one in finished.values():
        answers = [(c.text, c.evidence, c.answer(one.runs)) for c in one.claims]
        parts += [
            f"### {one.title}",
            f"![{one.title}]({figures}{one.name}.png)",
            markdown(["claim", "found", "holds"], answers),
        ]
    return "\n\n".join(parts) + "\n"


def markdown(columns: Iterable[str], rows: Iterable[Sequence[object]], digits: str = ".3f") -> str:
    """A table in Markdown: numbers in the given format, missing ones as a dash, "no" in bold.

    Examples
    --------
    >>> print(markdown(["rule", "distance"], [("leaf 1", 0.5), ("leaf 5", float("nan"))]))
    | rule | distance |
    |---|---|
    | leaf 1 | 0.500 |
    | leaf 5 | – |
    """

    def shown(value: object) -> str:
        if not isinstance(value, float):
            return "**no**" if value == "no" else str(value)
        return "–" if math.isnan(value) else f"{value:{digits}}"

    names = list(columns)
    lines = ["| " + " | ".join(map(shown, row)) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(names) + " |", "|" + "---|" * len(names), *lines])


def _total(finished: Iterable[Finished]) -> str:
    """The verdict in one sentence."""
    tellable = [claim for one in finished if one.runs >= ENOUGH_RUNS for claim in one.claims]
    of_paper = [claim for claim in tellable if not claim.text.startswith(ADDED)]
    if not of_paper:
        return f"**Too few runs to tell:** at least {ENOUGH_RUNS} per setting are needed."
    return (
        f"**{sum(claim.holds for claim in of_paper)} of {len(of_paper)} claims of the paper hold.**"
    )


def _counted(one: Finished) -> tuple[object, ...]:
    """A line of the verdict's table."""
    ours = [claim for claim in one.claims if claim.text.startswith(ADDED)]
    theirs = [claim for claim in one.claims if claim not in ours]
    return one.title, held(theirs, one.runs), held(ours, one.runs) if ours else "–", one.runs


def _comparison(comparison: Finished) -> tuple[str, list[str]]:
    """The verdict on the two printed tables, and the sections that show every number."""
    numbers = printed_rates.compared(comparison.table)
    if numbers.empty:
        return "None of the printed settings was run.", []
    ranked = printed_rates.ranking(numbers)
    rule, pairing = printed_rates.best(ranked)
    fits = (numbers["rule"] == rule) & (numbers["pairing"] == pairing)
    best = printed_rates.best_reading(numbers[fits])
    read = numbers[numbers["reading"].isin(best["reading"].unique())]
    enough = comparison.runs >= ENOUGH_RUNS
    readings = "\n".join(f"- `{name}`: {words};" for name, words in _READING.items())
    sections = [
        _RULES.format(readings=readings),
        markdown(ranked.columns, ranked.itertuples(index=False)),
        *([_disagreements(best)] if enough else []),
        *(_beside(read, rule, caption) for caption in ("I", "II")),
    ]
    if enough:
        return _agreement(read, best, rule, pairing), sections
    return (
        "Cannot tell whether our numbers agree with the printed ones: "
        f"{comparison.runs} runs per setting, at least {ENOUGH_RUNS} are needed.",
        sections,
    )


def _agreement(numbers: pd.DataFrame, best: pd.DataFrame, rule: str, pairing: str) -> str:
    """Sentences about the printed numbers that agree with ours."""
    agrees, row = best["agrees"], printed_rates.COPIED
    readings = " and ".join(_READING[name] for name in best["reading"].unique())
    copied = (best["n_samples"] == row[0]) & (best["n_features"] == row[1])
    once_only = agrees[~copied]
    lines = [
        f"{agrees.sum()} of {len(agrees)} printed numbers agree ({agrees.mean():.0%}) with the "
        f"captions of the tables **{pairing}** and the stop rule **{rule}**, if {readings}.",
        f"The printed row (S, F) = {row} is the same in both tables and cannot be right for "
        f"both; without it {_of(once_only.sum(), len(once_only))} agree.",
    ]
    fits = best[copied].groupby("caption")["agrees"].agg(["sum", "size"])
    if len(fits):
        once = fits.sort_values("sum").iloc[-1]
        lines.append(
            f"Counted once, in the table captioned {once.name}, which it fits better: "
            f"{_of(once_only.sum() + once['sum'], len(once_only) + once['size'])} agree."
        )
    for other in printed_rates.PAIRINGS:
        if other != pairing:
            shares = numbers[numbers["pairing"] == other].groupby("rule")["agrees"].mean()
            lines.append(
                f"With the captions {other}, {shares[rule]:.0%} of the numbers agree with this "
                f"rule and at most {shares.max():.0%} with any rule ({shares.idxmax()})."
            )
    if rule != str(BEST_RULE):
        lines.append(
            f"The other experiments were run with {BEST_RULE}, the nearest rule of an earlier grid."
        )
    return "\n".join(lines)


def _of(part: float, whole: float) -> str:
    """A number out of another, and its share."""
    return f"{int(part)} of {int(whole)} ({part / whole:.0%})"


def _disagreements(best: pd.DataFrame) -> str:
    """The numbers that disagree, by method and rate, and why some are far off."""
    odd = best[~best["agrees"]]
    by_setting = ", ".join(
        f"{part['agrees'].mean():.0%} at ({S}, {F})"
        for (S, F), part in best.groupby(["n_samples", "n_features"])
    )
    lines = ["### Numbers that disagree", "", f"Share that agrees, by (S, F): {by_setting}.", ""]
    if odd.empty:
        return "\n".join([*lines, "None disagrees."])
    for (method, rate), part in odd.groupby(["method", "rate"]):
        higher = int((part["difference"] > 0).sum())
        total = int(((best["method"] == method) & (best["rate"] == rate)).sum())
        lines.append(
            f"- {str(rate).upper()} of {_METHOD[str(method)]}: {len(part)} of {total} numbers; "
            f"ours is higher in {higher} and lower in {len(part) - higher}; mean difference "
            f"{part['difference'].mean():+.4f}, largest {part['difference'].abs().max():.4f}."
        )
    # With T = F/10 a null feature's count has mean K/10 and is nearly Poisson.
    steps = ", ".join(
        f"K = {10 * brentq(lambda mean, k=k: poisson.sf(k, mean) - 0.05, 1e-6, 50):.2f} "
        f"from {k} to {k + 1}"
        for k in (1, 2, 3)
    )
    return "\n".join([*lines, "", _WHY.format(steps=steps)])


def _beside(numbers: pd.DataFrame, rule: str, caption: str) -> str:
    """One printed table: every number, with ours in both pairings."""
    part = numbers[(numbers["rule"] == rule) & (numbers["caption"] == caption)]
    keys = ["method", "n_samples", "n_features", "relevant_share", "alpha", "rate"]
    rows = []
    for (method, S, F, relevant, alpha, rate), same in part.groupby(keys, sort=False):
        row = [method, f"{S}, {F}", f"{relevant:.0%}", str(alpha), str(rate).upper()]
        row.append(f"{same['printed'].iloc[0]:.3f}")
        by = {ours.pairing: ours for ours in same.itertuples()}
        for pairing in printed_rates.PAIRINGS:
            ours = by.get(pairing)
            row.append(f"{ours.ours:.4f} ± {ours.ours_se:.4f}" if ours else "–")
            row.append(("yes" if ours.agrees else "no") if ours else "–")
        rows.append(row)
    columns = ["method", "S, F", "relevant", "α", "rate", "printed"]
    for pairing in printed_rates.PAIRINGS:
        columns += [f"ours, captions {pairing}", "agrees"]
    title = f"### The table captioned Strategy {caption}, stop rule {rule}"
    return f"{title}\n\n{markdown(columns, rows)}"
