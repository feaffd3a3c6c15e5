"""HTML page with all figures and claims, self-contained."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from reproduction.experiment import Finished
from reproduction.verdict import Facts

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
td, th { border-bottom: 1px solid #ddd; padding: 0.2rem 0.6rem; text-align: left; }
td.no { color: #b00020; font-weight: bold; }
@media (prefers-color-scheme: dark) {
  body { background: #181818; color: #ddd; } img { background: white; } a { color: #8ab4f8; }
}
"""


def render_page(finished: Iterable[Finished], facts: Facts) -> str:
    """The page of these experiments."""
    sections = list(finished)
    links = " · ".join(f'<a href="#{one.name}">{escape(one.title)}</a>' for one in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Reproduction of the paper</title><style>{_STYLE}</style></head><body>"
        f"<h1>Reproduction of the paper</h1><p>Version {facts.version}, seed {facts.seed}, "
        f"cortical maps: {escape(facts.maps)}; {facts.hours:.2f} hours of one processor core.</p>"
        f'<p>{links}</p><p>The verdict is in <a href="reproduction.md">reproduction.md</a>.</p>'
        f"{''.join(map(_section, sections))}</body></html>\n"
    )


def _section(one: Finished) -> str:
    title = escape(one.title)
    rows = "".join(
        f"<tr><td>{escape(claim.text)}</td><td>{escape(claim.evidence)}</td>"
        f'<td class="{holds}">{holds}</td></tr>'
        for claim, holds in [(claim, claim.answer(one.runs)) for claim in one.claims]
    )
    image = base64.b64encode(one.image).decode("ascii")
    return (
        f'<h2 id="{one.name}">{title}</h2>'
        f"<p>{one.runs} runs per setting, {one.minutes:.1f} minutes of a core. "
        f'<a href="{one.name}.csv">CSV</a>, <a href="{one.name}.md">Markdown</a></p>'
        f'<img alt="{title}" src="data:image/png;base64,{image}">'
        "<table><thead><tr><th>claim</th><th>found</th><th>holds</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
