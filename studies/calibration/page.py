"""The calibration page, written from the CSV files in `studies/results`."""

from __future__ import annotations

import pandas as pd

from studies import libraries_page
from studies.calibration import signal
from studies.calibration.null_data import NULLS, SETTINGS, TREES
from studies.calibration.tables import ranges, ratios, trend, wide
from studies.markdown import markdown
from studies.records import RESULTS

#: The largest forests of the study.
MANY_TREES = "100 000 trees"
#: Null models in words.
NAMES = {
    "auto": "default (`auto`)",
    "bagged": "bagged null model",
    "paper": "the paper's null model",
}
#: Headings of tables by null model.
HEADINGS = {
    "auto": "`auto`: the probe null model, the default",
    "bagged": "`bagged`: the bagged null model",
    "paper": "`paper`: the paper's null model",
}
SKLEARN = {
    "bootstrap": "`RandomForestClassifier`, 1 000 trees, bootstrap samples (its default)",
    "max_samples .5": "`RandomForestClassifier`, 1 000 trees, `max_samples=0.5`",
    "regression": '`RandomForestRegressor`, 500 trees, `max_features="sqrt"`, normal target',
}
SUBSETS = {
    "more than 40 mm away": "vertices more than 40 mm from the region",
    "nearer, outside the region": "vertices within 40 mm of the region, outside it",
}

HEAD = """\
# Calibration: are the error rates held?

{opening}

![False positive rate divided by the level, one dot per setting](figures/calibration.svg)

*Each dot is one setting of the tables below: false positive rate ÷ level, 1 (dashed) being exact;
ratios outside the axis are drawn at its end.*

This page is written by `make study-calibration` from the CSV files in `studies/results`, which hold
the seed of every data set and the version that was run. Everything on it is measured; what is
proved and what is approximated is in [theory](theory.md). Terms are defined in the
[glossary](glossary.md).

## Summary

{summary}

**What was run by default.** `nf.grow(X, y)` and `nf.select(forest.tally)` with `null="auto"`. For a
forest grown here, `auto` is the *probe null model*: some thousand *virtual probes*, columns of
random ranks, are scored at the nodes while the forest grows but never split one, and their wins
give the null distribution of the selection count. For a scikit-learn forest, `auto` is the *bagged
null model*, which accounts for the trees sharing one sample and needs the fitted trees only. Trees
are grown until the selection has settled ([power](power.md)), with 20 candidates per node, depth 3
and half of the samples per tree without replacement. A table line says what was changed.

**What is assumed.** Most features with small counts are null: the mean of the null distribution is
estimated from the counts below its 90 % quantile. Null features differ from virtual probes by a
log-normal random effect at most. Where the effective sample size of the probes falls below 25, the
tail of the null distribution is extrapolated with the bagged null model; this concerns small
p-values. A selected feature counts as a false positive here if the generator does not relate it to
the target.

**What was set by hand.** The [constants of the null models](constants.md) were chosen on
simulated null data, on the leukaemia data and on cortical maps. The data sets of this page have
other seeds (from 20 000), but they are of the same kinds. For your own data run `nullforest audit`.

**How to read the tables.** A ratio is the false positive rate ÷ the nominal level α; 1 is exact,
above 1 is too liberal, below 1 conservative. ± is one standard error, clustered by data set.
p-values are randomised here, which makes them continuous; plain p-values, which `nf.select` uses,
are larger. S is the number of samples, F of features. `auto` is the default, `bagged` the bagged
null model, `paper` the binomial model of the paper.

"""


def frame(name: str) -> pd.DataFrame:
    """Rows of one study."""
    return pd.read_csv(RESULTS / f"{name}.csv")


def null_ratios() -> pd.DataFrame:
    """Ratios on simulated null data, one setting after the other."""
    rows = frame("calibration_null")
    rows = rows[rows["subset"] == "all"]
    labels = {name: setting.label for name, setting in SETTINGS.items()}
    return ratios(rows.assign(setting=rows["setting"].map(labels)), ["setting"])


def sklearn_ratios() -> pd.DataFrame:
    """Ratios in scikit-learn's forests."""
    rows = frame("scikit_learn")
    return ratios(rows.assign(setting=rows["setting"].map(SKLEARN)), ["setting"])


def permuted_ratios() -> pd.DataFrame:
    """Ratios on the leukaemia data with permuted labels."""
    label = "leukaemia expression, permuted labels"
    return ratios(frame("leukaemia_permuted").assign(setting=label), ["setting"])


def cortical_ratios(subset: str) -> pd.DataFrame:
    """Ratios on simulated cortical maps, for one subset of the vertices."""
    rows = frame("cortical")
    rows = rows[rows["subset"] == subset]
    share = rows["share"].map("region of {:.0%} of the vertices".format)
    setting = share + ", S = " + rows["S"].astype(str)
    return ratios(rows.assign(setting=setting), ["setting"])


def default_tables() -> dict[str, pd.DataFrame]:
    """Ratios of the default null model by kind of data."""
    far, near = SUBSETS
    found = {
        "independent null features, forest grown here": null_ratios(),
        "leukaemia expression with permuted labels, forest grown here": permuted_ratios(),
        "independent null features, scikit-learn forest": sklearn_ratios(),
        f"simulated cortical maps, {SUBSETS[far]}": cortical_ratios(far),
        f"simulated cortical maps, {SUBSETS[near]}": cortical_ratios(near),
    }
    return {name: table[table["null"] == "auto"] for name, table in found.items()}


def all_tables() -> dict[tuple[str, str], pd.DataFrame]:
    """The same, and the other null models on independent features, by data and null model."""
    default, independent = default_tables(), null_ratios()
    shown = {(name, NAMES["auto"]): table for name, table in default.items()}
    first = next(iter(default))
    for kind in NULLS[1:]:
        shown[first, NAMES[kind]] = independent[independent["null"] == kind]
    return shown


def as_shipped() -> dict[str, pd.DataFrame]:
    """Settings in which nothing but the data differs from the defaults."""
    default = default_tables()
    first = next(iter(default))
    base = default[first]["setting"] == SETTINGS["base"].label
    return default | {first: default[first][base]}


def worst_default() -> str:
    """The worst setting in which nothing but the data differs from the defaults."""
    return _worst(as_shipped())


def opening() -> str:
    """The answer in a paragraph."""
    default = default_tables()
    near = list(default)[-1]
    held = pd.concat([table for name, table in default.items() if name != near])
    low, high = (
        {a: getattr(part["ratio"], of)() for a, part in held.groupby("alpha")}
        for of in ("min", "max")
    )
    assert near in worst_default(), "the last sentence of the paragraph would be wrong"
    number = sum(table["setting"].nunique() for name, table in default.items() if name != near)
    return (
        f"In {number} settings (numbers of samples, candidates and trees, depth, leaves, targets, "
        "ties, real data with permuted labels, forests of scikit-learn), the default tests select "
        f"{low[0.05]:.2f} to {high[0.05]:.2f} times as many null features as a level of .05 "
        f"allows, and {low[0.001]:.2f} to {high[0.001]:.2f} times at .001. Features that are "
        "correlated with relevant ones are selected more often than that. **The worst setting of "
        f"the defaults** among these is one of them: {worst_default()}. {elsewhere()}"
    )


def elsewhere() -> str:
    """The largest ratios of the default tests that are not in the tables by setting."""
    rows = frame("calibration_null")
    rows = rows[(rows["setting"] == "sparse counts") & (rows["subset"] != "all")]
    sparse = ratios(rows[rows["null"] == "auto"], ["subset"])
    sparse = sparse[sparse["alpha"] == 0.001]
    sparsest = sparse.loc[sparse["ratio"].idxmax()]
    table = frame("tables_independent")
    small = (table["at 0.05"] / table["features"] / 0.05).groupby([table["S"], table["F"]])
    S, F = small.mean().idxmax()
    library = libraries_page.rates()
    library = library.loc[library["0.05"].idxmax()]
    return (
        f"Elsewhere: features {sparsest['subset']} of the samples, {sparsest['ratio']:.2f} ± "
        f"{sparsest['error']:.2f} at α = .001; [small tables](tables.md), "
        f"{small.mean()[S, F]:.2f} ± {small.sem()[S, F]:.2f} at .05 ({S} samples × {F} features); "
        f"[forests of other libraries](libraries.md), {library['0.05']:.2f} at .05 "
        f"({library['library']}, {library['setting']}), with a note in the result; "
        "[survival times](survival.md)."
    )


def summary() -> str:
    """Range of the ratios by kind of data, and the worst settings of the default."""
    default, shown = default_tables(), all_tables()
    lines = [
        ranges(table, "setting").assign(**{"data": name, "null model": kind})
        for (name, kind), table in shown.items()
    ]
    table = pd.concat(lines)
    table = table[["data", "null model", *table.columns.drop(["data", "null model"])]]
    null_data = {name: t for name, t in default.items() if "cortical" not in name}
    bagged = shown[next(iter(default)), NAMES["bagged"]]
    many = bagged[(bagged["setting"] == MANY_TREES) & (bagged["alpha"] == 0.001)]
    return "\n".join(
        [
            "False positive rate ÷ nominal level, smallest and largest over the settings:",
            "",
            markdown(table),
            "",
            f"- **Worst setting of the defaults:** {worst_default()}. The generator does not "
            "relate these vertices to the target, but they are correlated with relevant ones and "
            "help to cancel their noise. A selected vertex there shows that a relevant region is "
            "near, not that the vertex itself is related to the target.",
            f"- **Worst setting of the default null model without relevant features:** "
            f"{_worst(null_data)}.",
            "- **The bagged null model becomes more liberal with more trees:** "
            f"{many['ratio'].iloc[0]:.2f} times the level at α = 0.001 with {MANY_TREES} "
            "([slopes](#slope-of-the-ratio-on-the-number-of-trees)). It is also off with unequal "
            "classes, many classes, skewed numeric targets, SNPs and sparse counts. It is the "
            "default for forests of scikit-learn and other libraries; `nullforest audit --nulls "
            "bagged` measures it on your data, with forests grown here.",
            "- **The paper's null model** is too liberal in every setting without relevant "
            "features, and more so with more trees.",
        ]
    )


def _worst(tables: dict[str, pd.DataFrame]) -> str:
    """The setting with the largest ratio at α = .001, with all its ratios."""
    at = {name: table[table["alpha"] == 0.001] for name, table in tables.items()}
    name = max(at, key=lambda key: at[key]["ratio"].max())
    setting = at[name].loc[at[name]["ratio"].idxmax(), "setting"]
    own = tables[name][tables[name]["setting"] == setting]
    found = [
        f"{ratio:.2f} ± {error:.2f} at α = {alpha:g}"
        for alpha, ratio, error in zip(own["alpha"], own["ratio"], own["error"], strict=True)
    ]
    return f"{name}, {setting}: " + ", ".join(found)


def by_null(table: pd.DataFrame, level: str = "###") -> list[str]:
    """One table per null model."""
    out = []
    for kind in NULLS:
        out += [f"{level} {HEADINGS[kind]}", wide(table[table["null"] == kind], "setting")]
    return out


def null_section() -> list[str]:
    """Simulated null data."""
    rows = frame("calibration_null")
    snps, sparse = (
        rows[(rows["setting"] == name) & (rows["subset"] != "all")]
        for name in ("SNPs", "sparse counts")
    )
    slopes = trend(rows[rows["subset"] == "all"], TREES)
    return [
        "## No relevant features: false positive rate ÷ nominal level",
        "Independent features without relation to the target. Default forest: S = 100, F = 2 000, "
        "trees until the selection has settled (about 8 000), 20 candidates per node, depth 3, "
        "half of the samples per tree, two equal classes. Each line changes what it names.",
        *by_null(null_ratios()),
        "### SNPs by allele frequency",
        "SNPs with a minor allele frequency in the sample below .05 or exactly .5 are in no line.",
        wide(ratios(snps, ["subset"]), "subset"),
        "### Sparse counts by the share of samples above zero",
        "Features that are zero in all samples are in no line.",
        wide(ratios(sparse, ["subset"]), "subset"),
        "### Slope of the ratio on the number of trees",
        "Slope of log ratio on log trees over 300 to 100 000 trees, the same data sets for each; "
        "jackknife standard errors. 0: the number of trees does not matter.",
        markdown(slopes, ".3f"),
    ]


def signal_section() -> list[str]:
    """Simulated data with relevant features."""
    found = signal.table(frame("calibration_signal"))
    return [
        "## With relevant features: false discovery rate and power",
        "The paper's generator: 2 000 independent features, of which a share is relevant, with "
        "correlation ρ with the label; default forests; Benjamini–Hochberg at .05.",
        "\n".join(f"- {line}" for line in signal.verdicts(found)),
        "### Mean false discovery proportion (nominal: 0.05)",
        markdown(signal.shown(found, "fdp")),
        "### Power: mean share of the relevant features that is selected",
        markdown(signal.shown(found, "power")),
    ]


def leukaemia_section() -> list[str]:
    """Leukaemia data with sex as the label, true and permuted."""
    rows = frame("leukaemia_sex")
    lines = []
    for (trees, draw), part in rows.groupby(["trees", "draw"], sort=False):
        line: dict[str, object] = {"trees": trees, "`draw`": draw}
        for kind in NULLS:
            own = part[part["null"] == kind]
            line[kind] = f"{_range(own['selected'])} ({_range(own['known'])})"
        lines.append(line)
    once = frame("leukaemia_permuted").drop_duplicates(["permutation", "null"])
    some = (once["discoveries"] > 0).groupby(once["null"], sort=False).sum()
    number = once["permutation"].nunique()
    return [
        "## Leukaemia data, sex as the label: features selected",
        "125 samples × 12 625 features (microarray probe sets), of which 16 are known to be "
        "relevant. False discovery rate .05; features selected, known ones in brackets, smallest "
        "and largest of five seeds. Default settings but for the number of trees and `draw`.",
        markdown(pd.DataFrame(lines)),
        "## Leukaemia data, permuted labels",
        f"{number} permutations of the label, default settings.",
        wide(permuted_ratios(), "setting"),
        "Permutations in which Benjamini–Hochberg at .05 selects a feature: "
        + ", ".join(f"{count} of {number} (`{kind}`)" for kind, count in some.items())
        + ".",
    ]


def _range(values: pd.Series[int]) -> str:
    return str(values.min()) if values.min() == values.max() else f"{values.min()}–{values.max()}"


def sklearn_section() -> list[str]:
    """Null data in scikit-learn's forests."""
    return [
        "## scikit-learn forests, no relevant features",
        "100 samples × 2 000 independent features, two equal classes unless said otherwise. `auto` "
        "and `bagged` are the same model here and differ by the randomisation of the p-values.",
        wide(sklearn_ratios(), "setting"),
    ]


def cortical_section() -> list[str]:
    """Simulated cortical maps."""
    out = [
        "## Simulated cortical thickness maps with a real covariance",
        "9 354 vertices of fsaverage5; the cortex of one class is thinner in a connected region "
        "(correlation ρ = .5 with the label); default settings, 40 data sets per line. Where the "
        "maps come from: [reproduction](reproduction.md#where-the-cortical-maps-come-from).",
    ]
    for subset, words in SUBSETS.items():
        out.append(f"### {words[0].upper()}{words[1:]}")
        out += by_null(cortical_ratios(subset), "####")
    return out


def page() -> str:
    """The page, in Markdown."""
    parts = [
        *null_section(),
        *signal_section(),
        *leukaemia_section(),
        *sklearn_section(),
        *cortical_section(),
    ]
    return HEAD.format(opening=opening(), summary=summary()) + "\n\n".join(parts) + "\n"
