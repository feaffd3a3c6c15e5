"""The page of the power study, written from its results."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from studies.markdown import markdown
from studies.records import RESULTS

#: What the real data are.
DATA = (
    "The data (features are genes, but for madelon): golub, two kinds of leukaemia; singh, "
    "prostate tumours and healthy tissue; alon, colon tumours and healthy tissue; khan, four kinds "
    "of tumours; leukaemia, the sex of the patients; riboflavin, the rate at which bacteria "
    "produce it, a number; madelon, simulated, with 20 features that are relevant together."
)

BENCHMARK = RESULTS.parent.parent / "benchmarks" / "results" / "answer.csv"

HEAD = """# How much does it find?

{opening}

![Share of the relevant features found, and of null features among the selected](figures/power.svg)

*The paper's generator: 100 samples × 2 000 independent features, of which some are relevant, with
correlation ρ with the label. Default settings, a false discovery rate of .05 (dashed); means and
standard errors.*

This page is written by `make study-power` from the CSV files in `studies/results`, which hold the
seed of every run and the version. Terms are defined in the [glossary](glossary.md).

**What was run by default.** `nf.select(nf.grow(X, y, seed=...))` with nothing else set: 20
candidates per node, trees of depth 3, half of the samples per tree, a false discovery rate of .05,
and trees until the selection has *settled*. That is when the expected Jaccard index with the
selection of another seed (features selected by both ÷ by either) exceeds .9 by its standard
error, and four times the trees are expected to change the number of selected features by at most
5 % or by less than one feature. The expectation comes from two random halves of the forest, each
tested with a null distribution of its own. A forest that has not settled ends when a feature is
selected 300 times on average, or at 40 million nodes.

**What is assumed.** The two halves of a forest differ by √2 times the noise of two forests of the
whole size. All seeds share their virtual probes; with other probes (`probe_seed=`) the null
distribution differs a little more.

**What was set by hand.** Depth and candidates: on the data sets of this page and on cortical maps,
with seeds below 10 000. Nodes below the third level have few samples, and features that are
correlated with relevant ones are often selected there; with more candidates, strong features win
the nodes at which weak ones could have been selected. What is measured here has seeds from 30 000.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD.format(opening=_opening())]
    if (found := _read("power_seeds")) is not None:
        parts += ["## Real data", _real(found)]
    if (found := _read("power_permuted")) is not None:
        parts += ["## Permuted labels", _permuted(found)]
    if (found := _read("power_simulated")) is not None:
        parts += ["## The paper's generator", _simulated(found)]
    if (found := _read("power_settings")) is not None:
        parts += ["## Other numbers of candidates, other depths", _settings(found)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _opening() -> str:
    """The answer in a paragraph."""
    real, simulated = _read("power_seeds"), _read("power_simulated")
    assert real is not None
    assert simulated is not None
    median = np.median([agreement_of(own) for _, own in real.groupby("data")])
    power = (simulated["selected"] - simulated["false"]) / simulated["relevant"].clip(lower=1)
    plain = (simulated["selected_univariate"] - simulated["false_univariate"]) / simulated[
        "relevant"
    ].clip(lower=1)
    keys = [simulated["share"], simulated["relevance"]]
    table = pd.DataFrame({"own": power, "wilcoxon": plain}).groupby(keys).mean()
    weak, strong = table.xs(0.3, level="relevance"), table.xs(0.6, level="relevance")
    proportion = simulated["false"] / simulated["selected"].clip(lower=1)
    largest = proportion.groupby(keys).mean().max()
    madelon = real.loc[real["data"] == "madelon", "selected"]
    tests = pd.read_csv(BENCHMARK).set_index(["data", "test"])["selected"]
    alone = int(tests["madelon", "univariate"])
    return (
        "Where the features are independent of each other, a forest finds about as much as "
        "Wilcoxon's test of each feature alone, which is made for just that: "
        f"{weak['own'].min():.0%} to {weak['own'].max():.0%} of weak features (ρ = .3; Wilcoxon "
        f"{weak['wilcoxon'].min():.0%} to {weak['wilcoxon'].max():.0%}) and at least "
        f"{strong['own'].min():.1%} of strong ones (ρ = .6). At most "
        f"{largest:.1%} of the selected features are false on average, with 5 % allowed. On "
        "real data two seeds select nearly the same features (median Jaccard "
        f"index {median:.2f} over {real['data'].nunique()} data sets). Only a forest finds "
        "features that matter together with others: in madelon, simulated for this purpose, "
        f"{madelon.mean():.0f} features are selected; Wilcoxon's test selects {alone}."
    )


def _read(name: str, folder: Path = RESULTS) -> pd.DataFrame | None:
    path = folder / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=True) if path.exists() else None


def agreement_of(rows: pd.DataFrame) -> float:
    """Mean Jaccard index of all pairs of seeds."""
    sets = [set(str(columns).split()) - {"nan"} for columns in rows["columns"]]
    pairs = [(a, b) for a, b in combinations(sets, 2)]
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]))


def settled(rows: pd.DataFrame) -> str:
    """How many of the forests settled before they reached the largest number of trees."""
    return f"{rows['settled'].sum()} of {len(rows)}"


def short_table() -> str:
    """The table of the README: what is found, and the agreement of five seeds."""
    rows = _read("power_seeds")
    assert rows is not None
    lines = [
        {
            "data": name,
            "samples × features": f"{own['samples'].iloc[0]} × {own['features'].iloc[0]}",
            "selected": f"{own['selected'].mean():.0f}",
            "agreement of five seeds": f"{agreement_of(own):.2f}",
            "settled": settled(own),
        }
        for name, own in rows.groupby("data", sort=False)
    ]
    return markdown(pd.DataFrame(lines))


def _real(rows: pd.DataFrame) -> str:
    lines = []
    others = pd.read_csv(BENCHMARK).set_index(["data", "test"]) if BENCHMARK.exists() else None
    for name, own in rows.groupby("data", sort=False):
        number, known = own["selected"], own["known"]
        ratio = own["selected_4x"].mean() / number.mean()
        line: dict[str, object] = {
            "data": name,
            "samples × features": f"{own['samples'].iloc[0]} × {own['features'].iloc[0]}",
            "trees": f"{own['trees'].mean():.0f}",
            "selected": f"{number.mean():.0f} ({number.min()}–{number.max()})",
            "agreement of five seeds": f"{agreement_of(own):.3f}",
            "expected": f"{own['expected'].mean():.3f}",
            "settled": settled(own),
            "selected with 4 × the trees": f"{ratio - 1:+.1%}",
        }
        if known.min() >= 0:
            line["selected"] = f"{line['selected']}, known {known.min()}–{known.max()}"
        if others is not None:
            for test in ("ranger_janitza", "boruta_py", "univariate"):
                run = (name, test) in others.index
                line[test] = f"{others.loc[(name, test), 'selected']:.0f}" if run else "–"
        lines.append(line)
    agreements = [float(str(line["agreement of five seeds"])) for line in lines]
    return (
        f"{DATA}\n\n"
        "Means over five seeds, smallest and largest in brackets; *expected*: the expected "
        "agreement, estimated from the halves of one forest; *settled*: forests that settled "
        "before they reached the largest number of trees; with four times the trees, the "
        "mean of two of these seeds beside the mean of all five; the other tests once, at a false "
        "discovery rate of .05 (`ranger_janitza`: ranger's corrected Gini importance with 5 000 "
        "trees and its other defaults; `univariate`: Wilcoxon's, Kruskal's or Spearman's test; "
        "`boruta_py`: 1 000 trees, 100 rounds, .05 of its own rule). Times are in "
        "[speed](speed.md).\n\n"
        + markdown(pd.DataFrame(lines))
        + f"\n\nMedian agreement of five seeds: {np.median(agreements):.3f}; smallest: "
        f"{min(agreements):.3f}."
    )


def _permuted(rows: pd.DataFrame) -> str:
    lines = []
    for (name, test), own in rows.groupby(["data", "test"], sort=False):
        line: dict[str, object] = {"data": name, "test": test}
        for alpha, part in own.groupby("alpha", sort=False):
            rates = part["below"] / part["features"] / float(alpha)
            line[f"α = {alpha:g}"] = f"{rates.mean():.2f} ± {rates.sem():.2f}"
        each = own.drop_duplicates("seed")
        line["any discovery"] = f"{(each['discoveries'] > 0).sum()} of {len(each)}"
        lines.append(line)
    return (
        "False positive rate ÷ nominal level α on real data with permuted labels, ± one standard "
        "error clustered by permutation, and permutations in which Benjamini–Hochberg at .05 "
        "selects anything. p-values of counts are randomised here, which makes them continuous. "
        "Where a ratio is at most 1, a test does not find more by exceeding its level.\n\n"
        + markdown(pd.DataFrame(lines).sort_values(["test", "data"], kind="stable"))
    )


def _settings(rows: pd.DataFrame) -> str:
    lines = []
    for (candidates, depth), own in rows.groupby(["candidates", "depth"], sort=False):
        line: dict[str, object] = {"candidates": candidates, "depth": depth or "no limit"}
        for row in own.itertuples():
            line[str(row.data)] = f"{row.selected} ({row.expected:.2f}; {row.cpu_seconds:.1f} s)"
        lines.append(line)
    return (
        "Features selected by forests that select a feature 40 times on average, in brackets the "
        "expected agreement with another seed and the processor time of the growing (on a busy "
        "machine). The default is 20 candidates and depth 3. Depth 3 was preferred to full trees "
        "since fewer features that are only correlated with relevant ones are selected "
        "([calibration](calibration.md), cortical maps).\n\n" + markdown(pd.DataFrame(lines))
    )


def _simulated(rows: pd.DataFrame) -> str:
    lines = []
    for (share, relevance), own in rows.groupby(["share", "relevance"], sort=False):
        found = own["selected"] - own["false"]
        plain = own["selected_univariate"] - own["false_univariate"]
        fdp = own["false"] / own["selected"].clip(lower=1)
        plain_fdp = own["false_univariate"] / own["selected_univariate"].clip(lower=1)
        lines.append(
            {
                "relevant": f"{share:.0%}",
                "ρ": f"{relevance:g}" if share else "–",
                "selected": f"{own['selected'].mean():.1f}",
                "power": f"{(found / own['relevant']).mean():.3f}" if share else "–",
                "FDP": f"{fdp.mean():.3f} ± {fdp.sem():.3f}",
                "agreement of two seeds": f"{own['agreement'].mean():.3f}",
                "Wilcoxon: power": f"{(plain / own['relevant']).mean():.3f}" if share else "–",
                "Wilcoxon: FDP": f"{plain_fdp.mean():.3f}",
                "data sets": len(own),
            }
        )
    return (
        "100 samples × 2 000 independent features; relevant ones have the correlation ρ with the "
        "label. Power: share of the relevant features that is selected. FDP: share of null "
        "features among the selected, mean ± standard error.\n\n"
        + markdown(pd.DataFrame(lines))
        + _beside()
    )


def _beside() -> str:
    """What other tests select on one data set of the generator, as the benchmark of times ran."""
    if not BENCHMARK.exists():
        return ""
    rows = pd.read_csv(BENCHMARK)
    rows = rows[rows["data"].str.startswith("generator")]
    tests = ["nullforest", "ranger_janitza", "boruta_py", "univariate"]
    table = rows.pivot(index="data", columns="test", values="selected").reindex(columns=tests)
    table = table.loc[rows["data"].unique()].reset_index()
    for test in tests:
        table[test] = [f"{n:.0f}" if n == n else "–" for n in table[test]]
    return (
        "\n\nFeatures selected on one data set of each kind (relevant: 0, 20, 100 and 400), beside "
        "the tests of other packages. `boruta_py` selects features where none is relevant.\n\n"
        + markdown(table)
    )
