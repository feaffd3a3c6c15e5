"""How does a summary become a page? One self-contained HTML file; every name is escaped."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any

#: Rows that are there before (or without) any script.
STATIC_ROWS = 25
#: What only the static part of the page or the Markdown shows.
_NOT_LIVE = ("rows", "left_out", "run", "methods", "references", "warnings", "command")
#: Own scripts in the order in which they use each other.
_SCRIPTS = ("decide.js", "charts.js", "table.js", "page.js")


def render(summary: Mapping[str, Any]) -> str:
    """Render what :func:`nullforest.report.summarize` lists.

    Parameters
    ----------
    summary : mapping
        See :func:`nullforest.report.summarize`.

    Returns
    -------
    str
        The page: style, scripts and data inside, nothing loaded from elsewhere.
    """
    page = Template(_read("page", "page.html"))
    return page.substitute(
        style=_read("page", "style.css"),
        headline=escape(summary["headline"]),
        explanation=escape(summary["explanation"]),
        warnings=_items(summary["warnings"]),
        switch="".join(_choice(key, words) for key, words in summary["error_rates"].items()),
        table=_rows(summary["rows"][:STATIC_ROWS]),
        growth_hidden="" if summary["trajectory"] else "hidden",
        run="".join(
            f"<tr><th scope=row>{escape(str(label))}</th><td>{escape(str(value))}</td></tr>\n"
            for label, value in summary["run"].items()
        ),
        command=_command(summary["command"]),
        methods=escape(summary["methods"]),
        references=_items(summary["references"]),
        version=escape(summary["version"]),
        library="\n".join(
            f"<script>\n/*\n{_read('vendor', licence)}*/\n{_read('vendor', script)}\n</script>"
            for licence, script in [
                ("LICENSE-d3.txt", "d3.min.js"),
                ("LICENSE-plot.txt", "plot.umd.min.js"),
            ]
        ),
        script="\n".join(_read("page", name) for name in _SCRIPTS),
        data=_packed({key: value for key, value in summary.items() if key not in _NOT_LIVE}),
    )


def render_json(summary: Mapping[str, Any]) -> str:
    """Write what :func:`nullforest.report.summarize` lists as JSON.

    Examples
    --------
    >>> import json, nullforest as nf
    >>> from nullforest.report import render_json, summarize
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> summary = summarize(nf.select(t, alpha=0.01, null="paper"))
    >>> json.loads(render_json(summary)) == summary
    True
    """
    return json.dumps(summary, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _read(*path: str) -> str:
    return resources.files("nullforest.report").joinpath(*path).read_text("utf-8")


def _packed(data: Mapping[str, Any]) -> str:
    """JSON, zipped, as text; base64 has no sign that could end a script."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(plain.encode(), mtime=0)).decode()


def _items(sentences: Iterable[str]) -> str:
    return "".join(f"<li>{escape(words)}</li>\n" for words in sentences)


def _choice(key: str, words: str) -> str:
    name, _, detail = words.partition(" (")
    detail = f"<small>{escape(detail.rstrip(')'))}</small>" if detail else ""
    return (
        f'<label><input type="radio" name="error" value="{escape(key)}" disabled>'
        f"<span>{escape(name)} {detail}</span></label>\n"
    )


def _command(command: str | None) -> str:
    if not command:
        return ""
    return f"<p>To repeat it:</p>\n<pre><code>{escape(command)}</code></pre>"


def _rows(rows: list[dict[str, Any]]) -> str:
    return "".join(
        f"<tr class=selected><td class=name>{escape(row['feature'])}</td><td>{row['count']}</td>"
        f"<td>{row['expected_count']:.3g}</td><td>{row['p_value']:.2g}</td>"
        f"<td>{row['q_value']:.2g}</td></tr>\n"
        for row in rows
    )
