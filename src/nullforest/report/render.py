"""HTML of a summary: one self-contained file in which every name is escaped."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any

from nullforest.data.effects import decimals
from nullforest.report.drawings import drawing_html
from nullforest.report.links import filled
from nullforest.selection.sentences import printed

#: Rows of the table without any script.
STATIC_ROWS = 25
#: Keys that only the static part of the page or the Markdown shows.
_NOT_LIVE = (
    "rows",
    "strata",
    "pictures",
    "drawings",
    "left_out",
    "run",
    "methods",
    "references",
    "warnings",
    "command",
)
#: What has a null distribution of its own, where not all features share one.
_OWN = {
    "stratum": "Features are tested in strata of similar columns, each with a null distribution "
    "and a threshold of its own",
    "feature": "Each feature is tested against its own shadows and has a threshold of its own",
}
#: Own scripts in the order in which they use each other.
_SCRIPTS = (
    "decide.js",
    "figures.js",
    "charts.js",
    "features.js",
    "correlation.js",
    "table.js",
    "page.js",
)


def render(summary: Mapping[str, Any]) -> str:
    """Render the dict of :func:`nullforest.report.summarize` as HTML.

    Style, scripts and data are inside the page; nothing is loaded from elsewhere.
    """
    command = summary["command"]
    return Template(_read("page", "page.html")).substitute(
        style=_read("page", "style.css"),
        headline=escape(summary["headline"]),
        explanation=escape(
            f"{summary['explanation'] or summary['expected_errors']} "
            f"{summary['expected_agreement']}".strip()
        ),
        warnings=_items(summary["warnings"]),
        drawings="".join(map(drawing_html, summary.get("drawings", ()))),
        switch="".join(_choice(key, words) for key, words in summary["error_rates"].items()),
        effect_heads=_effect_heads(summary["effects"]),
        effect_words=_effect_words(summary["effects"]),
        note_heads="".join(map(_note_head, summary["annotations"])),
        values_words=escape(_values_words(summary["pictures"])),
        table="".join(_row(row, summary) for row in summary["rows"][:STATIC_ROWS]),
        strata=_strata(summary["strata"]),
        own_hidden="" if summary["decision"]["own"] else "hidden",
        own_words=_OWN[summary["decision"]["own"] or "stratum"],
        trajectory_hidden="" if summary["trajectory"] else "hidden",
        run="".join(
            f"<tr><th scope=row>{escape(str(label))}</th><td>{escape(str(value))}</td></tr>\n"
            for label, value in summary["run"].items()
        ),
        command=f"<p>To repeat it:</p>\n<pre><code>{escape(command)}</code></pre>"
        if command
        else "",
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
        pictures=_packed(summary["pictures"]),
    )


def render_json(summary: Mapping[str, Any]) -> str:
    """Render the dict of :func:`nullforest.report.summarize` as JSON.

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


def _packed(data: Mapping[str, Any] | None) -> str:
    """Compressed JSON as text; base64 has no character that could end a script."""
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(
        gzip.compress(plain.encode("utf-8", "backslashreplace"), mtime=0)
    ).decode()


def _items(sentences: Iterable[str]) -> str:
    return "".join(f"<li>{escape(words)}</li>\n" for words in sentences)


def _choice(key: str, words: str) -> str:
    name, _, detail = words.partition(" (")
    detail = f"<small>{escape(detail.rstrip(')'))}</small>" if detail else ""
    return (
        f'<label><input type="radio" name="error" value="{escape(key)}" disabled>'
        f"<span>{escape(name)} {detail}</span></label>\n"
    )


def _strata(strata: list[Mapping[str, Any]]) -> str:
    """Table of the strata at the error rate of the run."""
    if not strata:
        return ""
    heads = ("features", "expected count", "count to exceed", "false positives expected")
    head = "".join(f"<th scope=col>{words}</th>" for words in (*heads, "selected"))
    rows = "".join(
        f"<tr><td>{row['features']}</td><td>{row['expected_count']:.3g}</td>"
        f"<td>{row['threshold']}</td><td>{row['expected_false_positives']:.3g}</td>"
        f"<td>{row['selected']}</td></tr>\n"
        for row in strata
    )
    words = "Strata at the error rate of the run; false positives if all features were null"
    return (
        f"<details><summary>{words}</summary>\n<div class=scroll><table class=strata><thead><tr>"
        f"{head}</tr></thead><tbody>\n{rows}</tbody></table></div></details>"
    )


def _effect_heads(effects: Mapping[str, Any] | None) -> str:
    return "".join(
        f'<th aria-sort="none"><button type="button" data-sort="{name}">{escape(head)}'
        "</button></th>\n"
        for name, head in ({} if effects is None else effects["heads"]).items()
    )


def _effect_words(effects: Mapping[str, Any] | None) -> str:
    if effects is None:
        return ""
    told = [f"{head}: {effects['words'][name]}." for name, head in effects["heads"].items()]
    return escape(" ".join([*told, "These describe the data and are not tested."]))


def _values_words(pictures: Mapping[str, Any] | None) -> str:
    """What of the data is in the page: it may leave the laboratory."""
    if pictures is None:
        return "This page holds no values of the data."
    shown, samples, n = pictures["shown"], pictures["samples"], len(pictures["columns"])
    some = f"{samples} samples" if shown == samples else f"{shown} of {samples} samples"
    which = "of one feature" if n == 1 else f"of the {n} most significant features"
    return f"This page holds the values {which} in {some}, rounded to four digits."


def _note(value: Any) -> str:
    """An annotation as people read it."""
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _note_head(name: str) -> str:
    return (
        f'<th class="note" aria-sort="none"><button type="button" data-sort="{escape(name)}">'
        f"{escape(name)}</button></th>\n"
    )


def _row(row: dict[str, Any], summary: Mapping[str, Any]) -> str:
    name, *numbers = printed(row)
    effects, link = summary["effects"], summary["link"]
    notes = "".join(
        f"<td class=note>{escape(_note(row[note]))}</td>" for note in summary["annotations"]
    )
    named = escape(name)
    if link and (address := filled(link, row)):
        named = f'<a href="{escape(address)}" rel="noopener noreferrer">{named}</a>'
    shown = [row[column] for column in ({} if effects is None else effects["heads"])]
    numbers += [cell if isinstance(cell, str) else decimals(cell) for cell in shown]
    cells = "".join(f"<td>{escape(number)}</td>" for number in numbers)
    return f"<tr class=selected><td class=name>{named}</td>{notes}{cells}</tr>\n"
