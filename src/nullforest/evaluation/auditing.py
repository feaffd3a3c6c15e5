"""Audit of the null models on the user's data: false positive rates with permuted labels.

Of F features in each of R forests on permuted labels, a calibrated null model selects the share α
at level α. Features of one forest are not independent, so the confidence interval is that of R
independent forests: mean ± t(0.975, R - 1) · sd / √R of the shares.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from time import monotonic
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from nullforest._util.errors import InputError, check_known, optional
from nullforest._util.files import writing
from nullforest._util.progress import Report, progress_bar
from nullforest.evaluation.relabelling import grow_permuted, permutable
from nullforest.forest.null_column_budget import LEAST_COPIES, default_copies
from nullforest.nulls import KINDS, Kind, null
from nullforest.nulls.distribution import check_alpha
from nullforest.selection.error_rates import decide

#: p-values are counted in bins of -log10 p, this many to a decade, for the QQ plot.
PER_DECADE = 20
DECADES = 16
#: The false discovery rate at which each permuted forest is searched for discoveries.
FDR = 0.05
CONFIDENCE = 0.95

_TITLES = {
    "paper": "the paper's null model",
    "bagged": "the bagged null model",
    "probes": "the probe null model",
    "shadows": "the shadow null model",
}


@dataclass(frozen=True, repr=False)
class Audit:
    """False positive rates of the null models on data where all features are null.

    Attributes
    ----------
    shares : (nulls, alphas, R) float
        Share of features with a p-value of at most α in each permuted forest.
    discoveries : (nulls, R) int
        Features selected at a false discovery rate of .05; every one is false.
    histogram : (nulls, bins) int
        Counts of -log10 p over all forests, for the QQ plot.
    nulls, alphas : tuple
        Null models and levels.
    n_features, trees : int
    seconds : float
    notes : tuple of str
    """

    nulls: tuple[str, ...]
    alphas: tuple[float, ...]
    shares: NDArray[np.float64]
    discoveries: NDArray[np.int64]
    histogram: NDArray[np.int64]
    n_features: int
    trees: int
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def n_forests(self) -> int:
        """Permuted forests R."""
        return int(self.shares.shape[2])

    @property
    def table(self) -> pd.DataFrame:
        """One row per null model and α: rate reached, confidence interval, and ratio."""
        rows = list(product(self.nulls, self.alphas))
        frame = pd.DataFrame(rows, columns=["null", "alpha"])
        reached = [interval(shares) for shares in self.shares.reshape(len(rows), -1)]
        frame[["reached", "low", "high"]] = reached
        frame["ratio"] = frame["reached"] / frame["alpha"]
        with_discovery = np.count_nonzero(self.discoveries, axis=1)
        return frame.assign(
            runs_with_discovery=np.repeat(with_discovery, len(self.alphas)), runs=self.n_forests
        )

    def verdict(self, alpha: float | None = None) -> str:
        """One sentence on the level `alpha` (0.01 where audited, else the first)."""
        if alpha is None:
            alpha = 0.01 if 0.01 in self.alphas else self.alphas[0]
        if alpha not in self.alphas:
            raise InputError(f"α = {alpha} was not audited; choose from {self.alphas}.")
        j = self.alphas.index(alpha)
        parts = []
        for i, name in enumerate(self.nulls):
            reached, low, high = (100 * x for x in interval(self.shares[i, j]))
            verb = " selects" if i == 0 else ""
            parts.append(f"{_TITLES[name]}{verb} {reached:.3g} % ({low:.3g}–{high:.3g})")
        return f"At α = {alpha:g} {'; '.join(parts)} of the null features."

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain numbers and strings, ready for JSON."""
        return {
            "n_features": self.n_features,
            "trees": self.trees,
            "forests": self.n_forests,
            "seconds": self.seconds,
            "verdict": self.verdict(),
            "rows": self.table.to_dict("records"),
            "notes": list(self.notes),
        }

    def to_csv(self, path: Any) -> None:
        """Write the table; the file appears whole or not at all."""
        with writing(path) as file:
            self.table.to_csv(file, index=False)

    def to_json(self, path: Any) -> None:
        """Write `to_dict()` as JSON; the file appears whole or not at all."""
        with writing(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    def plot(self, path: Any) -> None:
        """Draw the QQ plot of the p-values: above the diagonal they are too small.

        The kind of picture follows the ending of `path` (.png, .svg, .pdf).
        """
        figures = optional("matplotlib.figure", "plot", "The QQ plot")
        figure = figures.Figure(figsize=(5, 5), layout="constrained")
        axes = figure.subplots()
        total = self.n_forests * self.n_features
        longest = 1.0
        for name, counts in zip(self.nulls, self.histogram, strict=True):
            expected, observed = qq_points(counts, total)
            axes.plot(expected, observed, marker=".", markersize=3, label=_TITLES[name])
            longest = max(longest, float(expected.max(initial=0)))
        axes.plot([0, longest], [0, longest], color="grey", linewidth=1, label="uniform")
        axes.set_xlabel("-log10 p, expected")
        axes.set_ylabel("-log10 p, observed")
        axes.set_title(f"{self.n_forests} forests on permuted labels")
        axes.legend(frameon=False)
        ending = str(path).rsplit(".", 1)[-1]
        with writing(path, binary=True) as file:
            figure.savefig(file, format=ending)

    def __repr__(self) -> str:
        lines = [f"<Audit by {self.n_forests} forests on permuted labels>", self.verdict()]
        lines.append(self.table.round(6).to_string(index=False))
        return "\n".join(lines + [f"note: {note}" for note in self.notes])


def interval(shares: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean of the shares of independent forests, with its 95 % confidence interval."""
    mean = float(shares.mean())
    error = float(shares.std(ddof=1) / np.sqrt(len(shares)))
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(shares) - 1)) * error
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def qq_points(
    counts: NDArray[np.int64], total: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected and observed -log10 p at the lower edge of every bin that holds p-values."""
    as_small = np.cumsum(counts[::-1])[::-1]
    edge = np.arange(len(counts)) / PER_DECADE
    held = counts > 0
    return -np.log10(as_small[held] / total), edge[held]


def audit(
    X: Any,
    y: Any = None,
    *,
    nulls: Sequence[Kind] = ("paper", "bagged", "probes"),
    alphas: Sequence[float] = (0.05, 0.01, 0.001),
    permutations: int = 20,
    blocks: Any = None,
    seed: int = 0,
    n_jobs: int = -1,
    max_seconds: float | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> Audit:
    """Measure the false positive rate that each null model reaches on these data.

    Parameters
    ----------
    X, y, blocks, seed, n_jobs, progress
        As in :func:`nullforest.baselines.label_permutation`.
    nulls : sequence of {"paper", "bagged", "probes"}, or ["shadows"]
        Null models. Features compete with their shadows, so that this one stands alone.
    alphas : sequence of float
        Levels.
    permutations : int
        Forests on permuted labels; at least 2.
    max_seconds : float, optional
        Use the forests finished by then (at least 2).
    **settings
        All other settings of :func:`nullforest.grow`: audit with those you select with.

    Returns
    -------
    Audit
        With `table` (rate reached, its interval and ratio for each null model and level),
        `verdict()`, `plot(path)`, `to_csv(path)` and `to_json(path)`.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 300))
    >>> a = nf.audit(X, np.arange(50) % 2, nulls=["paper"], permutations=3, trees=50)
    >>> a.table["alpha"].tolist(), a.shares.shape  # one null model, three levels and permutations
    ([0.05, 0.01, 0.001], (1, 3, 3))
    """
    start = monotonic()
    kinds = tuple(dict.fromkeys(nulls))
    _check(kinds, alphas, permutations)
    data = permutable(X, y, blocks, settings, n_jobs)
    settings = {"keep_trees": False, "oob": False, **settings}
    if "shadows" in kinds:
        if len(kinds) > 1:
            raise InputError('Audit "shadows" alone; other null models need a forest without them.')
        if settings.get("shadows", "auto") == "auto":
            settings["shadows"] = default_copies(data.table, blocks=False) or LEAST_COPIES
    else:
        if settings.get("shadows", "auto") not in ("auto", 0):
            raise InputError('Shadows are for nulls=["shadows"] alone; omit shadows.')
        settings["shadows"] = 0
        if "probes" not in kinds:
            settings["probes"] = 0
    levels = np.asarray(alphas, float)
    shares: list[NDArray[np.float64]] = []
    discoveries: list[list[int]] = []
    histogram = np.zeros((len(kinds), PER_DECADE * DECADES), np.int64)
    trees = 0
    deadline = None if max_seconds is None else start + max_seconds
    with progress_bar("Auditing", progress) as report:
        settings |= {"seed": seed, "n_jobs": n_jobs, "deadline": deadline, "progress": report}
        for forest in grow_permuted(data, permutations, least=2, **settings):
            trees = forest.n_trees
            tally = forest.tally
            pvalues = [null(tally, kind).pvalues(tally.counts) for kind in kinds]
            shares.append(np.array([(p[:, None] <= levels).mean(axis=0) for p in pvalues]))
            discoveries.append([int(decide(p, FDR, "fdr").support.sum()) for p in pvalues])
            for i, p in enumerate(pvalues):
                place = np.floor(-np.log10(p) * PER_DECADE).astype(np.int64)
                place = np.clip(place, 0, histogram.shape[1] - 1)
                histogram[i] += np.bincount(place, minlength=histogram.shape[1])
    note = f"Stopped by max_seconds after {len(shares)} of {permutations} forests."
    return Audit(
        nulls=kinds,
        alphas=tuple(float(a) for a in alphas),
        shares=np.stack(shares, axis=2),
        discoveries=np.array(discoveries).T,
        histogram=histogram,
        n_features=data.table.shape[1],
        trees=trees,
        seconds=monotonic() - start,
        notes=(note,) if len(shares) < permutations else (),
    )


def _check(kinds: tuple[Kind, ...], alphas: Sequence[float], permutations: int) -> None:
    for alpha in alphas:
        check_alpha(alpha)
    for kind in kinds or ("",):
        check_known("null model to audit", kind, (k for k in KINDS if k != "auto"))
    if not len(alphas):
        raise InputError("There are no levels to audit; give at least one level.")
    if permutations < 2:
        raise InputError(
            f"permutations = {permutations} must be at least 2: one forest has no standard error."
        )
