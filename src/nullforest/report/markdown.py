"""How does a summary become text? Markdown, for notebooks, wikis and pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Rows that are read in a text; the table as CSV has them all.
MOST_ROWS = 50


def render_markdown(summary: Mapping[str, Any]) -> str:
    r"""Write what :func:`nullforest.report.summarize` lists as Markdown.

    Examples
    --------
    >>> import nullforest as nf
    >>> from nullforest.report import summarize
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> text = render_markdown(summarize(nf.select(t, alpha=0.01, null="paper")))
    >>> print(text.split("\n")[6])
    | x0 | 12 | 4 | 0.0001 | 0.00051 |
    """
    rows = summary["rows"][:MOST_ROWS]
    parts = ["# Which features does the forest use?", f"**{_safe(summary['headline'])}.**"]
    if summary["explanation"]:
        parts.append(_safe(summary["explanation"]))
    if rows:
        parts.append(
            _table(
                ["feature", "count", "expected", "p", "q"],
                (
                    [
                        row["feature"],
                        row["count"],
                        f"{row['expected_count']:.3g}",
                        f"{row['p_value']:.2g}",
                        f"{row['q_value']:.2g}",
                    ]
                    for row in rows
                ),
            )
        )
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
    """Keep names from being read as Markdown or HTML."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", " ")
