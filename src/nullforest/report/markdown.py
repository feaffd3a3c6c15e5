"""Markdown of a summary, for notebooks, wikis and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nullforest._util.words import printable
from nullforest.selection.sentences import printed

#: Rows of the printed table; the table as CSV has all features.
MOST_ROWS = 50


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
    parts = ["# Which features does the forest use?", f"**{_safe(summary['headline'])}.**"]
    parts.append(_safe(summary["explanation"] or summary["expected_errors"]))
    if summary["expected_agreement"]:
        parts.append(_safe(summary["expected_agreement"]))
    if rows:
        heads = {} if summary["effects"] is None else summary["effects"]["heads"]
        cells = (printed(row, heads) for row in rows)
        parts.append(_table(["feature", "count", "expected", "p", "q", *heads.values()], cells))
    more = summary["decision"]["selected"] - len(rows)
    if more > 0:
        parts.append(f"… and {more} more.")
    if summary["warnings"]:
        parts += ["## Warnings", "\n".join(f"- {_safe(words)}" for words in summary["warnings"])]
    parts += ["## How it was run", _table(["", ""], summary["run"].items())]
    if summary["command"]:
        parts.append(f"```\n{summary['command']}\n```")
    parts += ["## For the methods section", _safe(summary["methods"])]
    parts.append("\n".join(f"- {_safe(words)}" for words in summary["references"]))
    return "\n\n".join(parts) + "\n"


def _table(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(_safe(str(cell)) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _safe(text: str) -> str:
    """Text that is not read as Markdown, as HTML or by a terminal."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return printable(text)
