"""Figures of the experiments, in one style; matplotlib is loaded when needed."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nullforest._util.errors import optional
from reproduction.experiment import Parameters, Results, grid
from reproduction.rate_tables import ALPHAS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that readers with any colour vision tell apart (Okabe and Ito).
COLOURS = {"paper": "#d55e00", "bagged": "#0072b2"}
PALETTE = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
#: Parameters in titles and legends.
WORDS = {
    "strategy": "Strategy {}",
    "null": "{} null",
    "n_samples": "S = {}",
    "n_features": "F = {}",
    "n_relevant": "N = {}",
    "relevant_share": "N = {:.1%}",
    "region_share": "N = {:.1%}",
    "trees": "T = {}",
    "candidates": "$F_n$ = {}",
    "alpha": "α = {}",
}
#: Columns along the axes.
LABELS = {
    "n_samples": "samples S",
    "n_features": "features F",
    "relevance": "relevance ρ",
    "fpr": "false positive rate",
    "fpr_far": "false positive rate, far",
    "fpr_near": "false positive rate, near",
    "fnr": "false negative rate",
    "tpr": "true positive rate",
}


def facets(
    table: pd.DataFrame,
    rows: Sequence[Parameters],
    columns: Sequence[Parameters],
    draw: Callable[[Axes, pd.DataFrame, Parameters], None],
    x_label: str = "threshold",
    legend: int = 5,
) -> Figure:
    """A figure of rows × columns panels.

    Rows and columns name the values that their panels show; "rate" is the rate along the y axis.
    `draw` gets the axes of a panel, its part of the table and its values; `legend` is the size of
    the type in the legend.
    """
    figure = optional("matplotlib.figure", "plot", "A figure")
    fig: Figure = figure.Figure(figsize=(3.4 * len(columns), 2.6 * len(rows)), layout="constrained")
    axes = fig.subplots(len(rows), len(columns), squeeze=False)
    for (row, column), ax in zip(product(rows, columns), axes.flat, strict=True):
        key = {**row, **column}
        masks = [table[name] == value for name, value in key.items() if name in table]
        draw(ax, table[np.logical_and.reduce(masks)], key)
        ax.set_title(words(key), fontsize=8)
        ax.set_xlabel(x_label, fontsize=7)
        ax.set_ylabel(LABELS[key.get("rate", "fpr")], fontsize=7)
        ax.tick_params(labelsize=7)
    axes[0][0].legend(fontsize=legend)
    return fig


def panels(table: pd.DataFrame, values: Parameters) -> list[dict[str, Any]]:
    """Rows or columns of panels: the values that are in the table, or all in it if none is."""
    levels = {}
    for name, order in values.items():
        present = sorted(table[name].unique()) if name in table else order
        levels[name] = tuple(v for v in order if v in present) or tuple(present)
    return grid(levels)


def words(key: Parameters) -> str:
    """Parameters in a title or legend."""
    return ", ".join(WORDS[name].format(value) for name, value in key.items() if name in WORDS)


def rate_figure(
    table: pd.DataFrame, results: Results, rows: Parameters, columns: Parameters, x: str, by: str
) -> Figure:
    """Panels of rates along `x`, a curve for each value of `by`.

    Where a panel does not fix alpha, the curves of the smaller one are dashed, and false positive
    rates are shown on a logarithmic scale.
    """

    def draw(ax: Axes, part: pd.DataFrame, key: Parameters) -> None:
        names = [by] if "alpha" in key else [by, "alpha"]
        colours = dict(zip(sorted(part[by].unique()), cycle(PALETTE), strict=False))
        for values, curve in part.groupby(names):
            shown: dict[str, Any] = dict(zip(names, values, strict=True))
            dashes = "--" if shown.get("alpha") == min(ALPHAS) else "-"
            colour = colours[shown[by]]
            ax.plot(curve[x], curve[key["rate"]], dashes, color=colour, label=words(shown))
        if key["rate"].startswith("fpr"):
            mark_levels(ax, part)
            if "alpha" not in key:
                ax.set_yscale("symlog", linthresh=1e-4)

    return facets(table, panels(table, rows), panels(table, columns), draw, LABELS[x])


def mark_levels(ax: Axes, part: pd.DataFrame) -> None:
    """Draw a line at every alpha of a part of a table."""
    for alpha in part["alpha"].unique():
        ax.axhline(alpha, color="0.7", linewidth=0.8)


def png(fig: Figure) -> bytes:
    """The figure as a PNG, the same bytes for the same figure."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=90, metadata={"Software": None})
    return buffer.getvalue()
