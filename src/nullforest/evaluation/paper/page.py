"""How are all figures seen at once? One HTML page that holds them and needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from nullforest.evaluation.paper.experiment import Claim
from nullforest.evaluation.paper.figures import data_address

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


@dataclass(frozen=True)
class Section:
    """What the page shows of one experiment; `image` is its figure as a PNG."""

    name: str
    title: str
    image: bytes
    claims: Sequence[Claim]
    note: str


def render_page(sections: Sequence[Section], facts: str) -> str:
    """The page.

    Parameters
    ----------
    sections : sequence of Section
    facts : str
        A sentence about what was run.
    """
    body = "".join(_section(section) for section in sections)
    links = " · ".join(f'<a href="#{s.name}">{escape(s.title)}</a>' for s in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>The paper, reproduced</title><style>{_STYLE}</style></head><body>"
        f"<h1>The paper, reproduced</h1><p>{escape(facts)}</p><p>{links}</p>"
        f'<p>The verdict is in <a href="reproduction.md">reproduction.md</a>.</p>{body}'
        "</body></html>\n"
    )


def _section(section: Section) -> str:
    rows = "".join(
        f"<tr><td>{escape(claim.text)}</td><td>{escape(claim.found)}</td>"
        f'<td class="{"yes" if claim.holds else "no"}">{"yes" if claim.holds else "no"}</td></tr>'
        for claim in section.claims
    )
    return (
        f'<h2 id="{section.name}">{escape(section.title)}</h2><p>{escape(section.note)} '
        f'<a href="{section.name}.csv">CSV</a>, <a href="{section.name}.md">Markdown</a></p>'
        f'<img alt="{escape(section.title)}" src="{data_address(section.image)}">'
        "<table><thead><tr><th>claim</th><th>found</th><th>holds</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
