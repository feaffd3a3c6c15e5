"""A selection in a notebook: headline, table and counts, as one piece of HTML."""

from __future__ import annotations

import base64
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

from nullforest._util.words import printable
from nullforest.selection.sentences import printed

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

#: Rows of the table; `selection.table` has all.
ROWS = 20


def notebook_html(selection: Selection) -> str:
    """HTML of a selection without scripts: headline, expected errors, notes, table and counts plot.

    The plot needs matplotlib and is left out without it.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> html = notebook_html(nf.select(t, alpha=0.01, null="paper"))
    >>> "1 of 5 features selected" in html, "<td>x0</td>" in html
    (True, True)
    """
    parts = [f"<p><b>{_safe(selection.headline())}.</b></p>"]
    parts.append(f"<p>{_safe(selection.expected_errors() or selection.explanation())}</p>")
    parts += [f"<p>Note: {_safe(note)}</p>" for note in selection.notes]
    if selection.n_selected:
        parts.append(_table(selection))
    if selection.tests_counts and find_spec("matplotlib") is not None:
        words = "Histogram of the selection counts with their null distribution"
        parts.append(f'<img alt="{words}" src="data:image/png;base64,{_counts(selection)}">')
    return f"<div>{''.join(parts)}</div>"


def _table(selection: Selection) -> str:
    by_count = "expected_count" in selection.table
    rows = selection.table[selection.table["selected"]].head(ROWS)
    if not by_count:  # another statistic than the selection frequency
        return str(rows.drop(columns="selected").to_html(index=False, escape=True))
    effects = {} if selection.effects is None else selection.effects.heads
    heads = ["feature", "count", "expected", "p", "q", *effects.values()]
    cells = (printed(row, effects) for row in rows.to_dict("records"))
    body = "".join(
        f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in row)}</tr>" for row in cells
    )
    head = "".join(f"<th>{_safe(name)}</th>" for name in heads)
    more = selection.n_selected - len(rows)
    rest = f"<p>… and {more} more in .table</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _counts(selection: Selection) -> str:
    """The plot of the counts as PNG in base64; nothing of matplotlib's state is changed."""
    from matplotlib.figure import Figure

    from nullforest.report.plots.counts import CountsDisplay

    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    CountsDisplay.from_selection(selection, ax=figure.subplots())
    file = BytesIO()
    figure.savefig(file, format="png", dpi=100)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _safe(text: str) -> str:
    return escape(printable(text))
