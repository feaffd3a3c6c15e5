"""How does a summary become a page? One self-contained HTML file; every name is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any

from nullforest.report.histogram import histogram_svg


def render(summary: Mapping[str, Any]) -> str:
    """Render what :func:`nullforest.report.summarize` lists.

    Parameters
    ----------
    summary : mapping
        See :func:`nullforest.report.summarize`.

    Returns
    -------
    str
        The page: style and figure inside, nothing loaded from elsewhere.
    """
    folder = resources.files("nullforest.report")
    page = Template((folder / "page.html").read_text("utf-8"))
    return page.substitute(
        style=(folder / "style.css").read_text("utf-8"),
        headline=escape(summary["headline"]),
        explanation=_paragraph(summary["explanation"]),
        notes="".join(f'<li class="note">{escape(note)}</li>' for note in summary["notes"]),
        figure=histogram_svg(summary["histogram"]),
        table=_table(summary["rows"], summary["left_out"]),
        run="".join(
            f"<tr><th>{escape(str(label))}</th><td>{escape(str(value))}</td></tr>\n"
            for label, value in summary["run"].items()
        ),
        methods=escape(summary["methods"]),
        citation=escape(summary["citation"]),
        version=escape(summary["version"]),
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _table(rows: list[dict[str, Any]], left_out: int) -> str:
    if not rows:
        return "<p>No feature passed the threshold.</p>"
    body = "".join(
        f"<tr><td class=name>{escape(row['feature'])}</td><td>{row['count']}</td>"
        f"<td>{row['expected_count']:.3g}</td><td>{row['p_value']:.2g}</td>"
        f"<td>{row['q_value']:.2g}</td></tr>\n"
        for row in rows
    )
    more = f"<p>… and {left_out} more; the CSV table lists them all.</p>" if left_out else ""
    return (
        "<div class=scroll><table class=features><thead><tr><th class=name>feature</th>"
        "<th>count</th><th>expected</th><th>p</th><th>q</th></tr></thead>\n"
        f"<tbody>\n{body}</tbody></table></div>{more}"
    )
