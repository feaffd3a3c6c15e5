"""Short forms of a report: Markdown of a summary, and what a notebook shows of a selection."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from nullforest._util.words import printable
from nullforest.selection.selection import printed

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

#: Rows of the table in Markdown and in a notebook; the table as CSV has all features.
MOST_ROWS, NOTEBOOK_ROWS = 50, 20
_HEADS = ("feature", "count", "expected", "p", "q")


def render_markdown(summary: Mapping[str, Any]) -> str:
    r"""Render the dict of :func:`nullforest.report.summarize` as Markdown.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report import summarize
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> text = render_markdown(summarize(nf.select(t, alpha=0.01, null="paper")))
    >>> print(text.split("\n")[10])
    | x0 | 12 | 4 | 0.0001 | 0.00051 |
    """
    rows = summary["rows"][:MOST_ROWS]
    parts = ["# Which features does the forest use?", f"**{_plain(summary['headline'])}.**"]
    parts.append(_plain(summary["explanation"] or summary["expected_errors"]))
    if summary["expected_agreement"]:
        parts.append(_plain(summary["expected_agreement"]))
    if rows:
        effects = {} if summary["effects"] is None else summary["effects"]["heads"]
        parts.append(_table([*_HEADS, *effects.values()], (printed(row, effects) for row in rows)))
    more = summary["decision"]["selected"] - len(rows)
    if more > 0:
        parts.append(f"… and {more} more.")
    if summary["warnings"]:
        parts += ["## Warnings", "\n".join(f"- {_plain(words)}" for words in summary["warnings"])]
    parts += ["## How it was run", _table(["", ""], summary["run"].items())]
    if summary["command"]:
        parts.append(f"```\n{summary['command']}\n```")
    parts += ["## For the methods section", _plain(summary["methods"])]
    parts.append("\n".join(f"- {_plain(words)}" for words in summary["references"]))
    return "\n\n".join(parts) + "\n"


def _table(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(_plain(str(cell)) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that is not read as Markdown, as HTML or by a terminal."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return printable(text)


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
    notes = (f"Note: {note}" for note in selection.notes)
    words = (selection.expected_errors() or selection.explanation(), *notes)
    parts = [f"<p><b>{escape(printable(selection.headline()))}.</b></p>"]
    parts += [f"<p>{escape(printable(text))}</p>" for text in words]
    if selection.n_selected:
        parts.append(_html_table(selection))
    if find_spec("matplotlib") is not None:
        from matplotlib.figure import Figure  # unlike pyplot, it changes nothing elsewhere

        figure, png = Figure(figsize=(7.0, 3.2), layout="constrained"), BytesIO()
        selection.plot("counts", ax=figure.subplots())
        figure.savefig(png, format="png", dpi=100)
        label = "Histogram of the selection counts with their null distribution"
        image = base64.b64encode(png.getvalue()).decode("ascii")
        parts.append(f'<img alt="{label}" src="data:image/png;base64,{image}">')
    return f"<div>{''.join(parts)}</div>"


def _html_table(selection: Selection) -> str:
    rows = selection.table[selection.table["selected"]].head(NOTEBOOK_ROWS)
    effects = {} if selection.effects is None else selection.effects.heads
    head = "".join(f"<th>{escape(name)}</th>" for name in (*_HEADS, *effects.values()))
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(printable(cell))}</td>' for cell in printed(row, effects))}"
        "</tr>"
        for row in rows.to_dict("records")
    )
    more = selection.n_selected - len(rows)
    below = f"<p>… and {more} more in .table</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
