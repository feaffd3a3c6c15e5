"""A summary as a page: one self-contained HTML file in which every name is escaped; and as JSON."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from string import Template
from typing import Any
from urllib.parse import quote

from nullforest._util.errors import InputError
from nullforest._util.words import printable
from nullforest.selection.selection import printed

#: A column of the features in a link.
FIELD = re.compile(r"\{([^{}]*)\}")
#: Rows of the table without any script.
STATIC_ROWS = 25
#: Keys that only the static part of the page or the Markdown shows.
_NOT_LIVE = (
    *("rows", "strata", "pictures", "drawings"),
    *("run", "methods", "references", "warnings", "command"),
)
#: What has a null distribution of its own, where not all features share one.
_TESTED_IN = {
    "stratum": "Features are tested in strata of similar columns, each with a null distribution "
    "and a threshold of its own",
    "feature": "Each feature is tested against its own shadows and has a threshold of its own",
}
#: Own scripts in the order in which they use each other.
_SCRIPTS = ("decide", "figures", "charts", "features", "correlation", "table", "page")
#: Scripts of others and their licences.
_LIBRARIES = {"d3.min.js": "LICENSE-d3.txt", "plot.umd.min.js": "LICENSE-plot.txt"}


def render(summary: Mapping[str, Any]) -> str:
    """Render the dict of :func:`nullforest.report.summarize` as HTML.

    Style, scripts and data are inside the page; nothing is loaded from elsewhere.
    """
    command, effects = summary["command"], summary["effects"]
    heads = {} if effects is None else effects["heads"]
    phrases = [f"{head}: {effects['words'][name]}." for name, head in heads.items()]
    return Template(_read("page", "page.html")).substitute(
        style=_read("page", "style.css"),
        headline=escape(summary["headline"]),
        explanation=escape(
            f"{summary['explanation'] or summary['expected_errors']} "
            f"{summary['expected_agreement']}".strip()
        ),
        warnings=_items(summary["warnings"]),
        drawings="".join(map(_drawing, summary.get("drawings", ()))),
        switch=_switch(summary["error_rates"]),
        effect_heads=_heads(heads),
        effect_words=escape(" ".join([*phrases, "These describe the data and are not tested."]))
        if effects
        else "",
        note_heads=_heads({name: name for name in summary["annotations"]}, ' class="note"'),
        values_words=escape(_values_words(summary["pictures"])),
        table="".join(
            _row(row, summary["annotations"], heads, summary["link"])
            for row in summary["rows"][:STATIC_ROWS]
        ),
        strata=_strata(summary["strata"]),
        own_hidden="" if summary["decision"]["tested_in"] else "hidden",
        own_words=_TESTED_IN[summary["decision"]["tested_in"] or "stratum"],
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
            for script, licence in _LIBRARIES.items()
        ),
        script="\n".join(_read("page", f"{name}.js") for name in _SCRIPTS),
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


def _drawing(drawing: Mapping[str, str]) -> str:
    """A drawing of :func:`nullforest.report.maps.drawings_of` as a figure of the page."""
    title, caption = escape(drawing["title"]), escape(drawing["caption"])
    return (
        f'<figure>\n<h2>{title}</h2>\n<img alt="{caption}" style="max-width:100%" '
        f'src="data:image/png;base64,{drawing["png"]}">\n<figcaption>{caption}</figcaption>\n'
        "</figure>\n"
    )


def _switch(error_rates: Mapping[str, str]) -> str:
    """A choice for each error rate, its detail in brackets small."""
    choices = []
    for key, words in error_rates.items():
        name, _, detail = words.partition(" (")
        small = f"<small>{escape(detail.rstrip(')'))}</small>" if detail else ""
        choices.append(
            f'<label><input type="radio" name="error" value="{escape(key)}" disabled>'
            f"<span>{escape(name)} {small}</span></label>\n"
        )
    return "".join(choices)


def _heads(columns: Mapping[str, str], attribute: str = "") -> str:
    """Heads of columns by which the table can be sorted."""
    return "".join(
        f'<th{attribute} aria-sort="none"><button type="button" data-sort="{escape(name)}">'
        f"{escape(head)}</button></th>\n"
        for name, head in columns.items()
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


def _values_words(pictures: Mapping[str, Any] | None) -> str:
    """What of the data is in the page: it may leave the laboratory."""
    if pictures is None:
        return "This page holds no values of the data."
    shown, samples, n = pictures["shown"], pictures["samples"], len(pictures["columns"])
    of_samples = f"{samples} samples" if shown == samples else f"{shown} of {samples} samples"
    of_features = "one feature" if n == 1 else f"the {n} most significant features"
    return f"This page holds the values of {of_features} in {of_samples}, rounded to four digits."


def _row(
    row: dict[str, Any], notes: Iterable[str], effects: Iterable[str], link: str | None
) -> str:
    """A row of the table, with annotations after the name and effects after the p-values."""
    name, *numbers = (escape(words) for words in printed(row, effects))
    if link and (address := filled(link, row)):
        name = f'<a href="{escape(address)}" rel="noopener noreferrer">{name}</a>'
    cells = [f"<td class=name>{name}</td>"]
    for note in notes:
        value = "" if row[note] is None else row[note]
        words = f"{value:.6g}" if isinstance(value, float) else str(value)
        cells.append(f"<td class=note>{escape(words)}</td>")
    cells += [f"<td>{number}</td>" for number in numbers]
    return f"<tr class=selected>{''.join(cells)}</tr>\n"


def check_link(link: str, annotations: Iterable[Any] = ()) -> None:
    """Refuse an address that is not one, or that names no column of the features."""
    if not (isinstance(link, str) and link.startswith(("https://", "http://"))):
        raise InputError(
            f"The link {printable(link)!r:.60} is no web address; begin it with https://."
        )
    columns = ["feature", *map(str, annotations)]
    fields = FIELD.findall(link)
    if not fields:
        raise InputError(
            f"The link {printable(link)!r:.60} names no feature; write {{feature}} where its name "
            "belongs."
        )
    for name in fields:
        if name not in columns:
            raise InputError(
                f"The link asks for {{{printable(name):.60}}}, but there is no such column; use "
                f"{' or '.join(f'{{{column}}}' for column in columns[:5])}."
            )


def filled(link: str, row: Mapping[str, Any]) -> str:
    """The address for one feature; empty where a column that it needs is."""
    if any(row[name] in ("", None) for name in FIELD.findall(link)):
        return ""
    # What JavaScript's encodeURIComponent leaves as it is.
    return FIELD.sub(lambda field: quote(str(row[field[1]]), safe="!'()*~"), link)
