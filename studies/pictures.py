"""Pictures of the pages: dots and standard errors in rows, as SVG text.

The text depends on the numbers alone, so that a test can compare a picture with its results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

#: Colours that readers with any colour vision can tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
WIDTH, ROW, LABEL, HEAD, GAP = 560, 15, 18, 30, 52


@dataclass(frozen=True)
class Dot:
    """One value of a series in a row, with its standard error where it has one."""

    row: str
    series: str
    value: float
    error: float = 0.0


@dataclass(frozen=True)
class Panel:
    """Dots over one axis."""

    title: str
    ticks: dict[float, str]
    dots: list[Dot]
    #: Where a line is drawn: the value that is aimed at.
    aim: float | None = None
    logarithmic: bool = False
    ends: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", (min(self.ticks), max(self.ticks)))

    def place(self, value: float) -> float:
        """Position from 0 to 1; what lies outside the axis is drawn at its end."""
        low, high = self.ends
        value = min(max(value, low), high)
        if self.logarithmic:
            return math.log(value / low) / math.log(high / low)
        return (value - low) / (high - low)


def picture(title: str, rows: dict[str, str], panels: list[Panel]) -> str:
    """SVG with a row per key of `rows`, its text above it, and one panel beside the other.

    It is narrow, so that its words can be read on a phone. `title` is said by screen readers.
    """
    series = list(dict.fromkeys(dot.series for panel in panels for dot in panel.dots))
    colour = dict(zip(series, COLOURS, strict=False))
    lanes = ROW * (len(series) if _several(panels) else 1)
    step = LABEL + lanes + 6
    tops = {row: HEAD + n * step + LABEL for n, row in enumerate(rows)}
    bottom = HEAD + len(rows) * step
    foot = bottom + (54 if len(series) > 1 else 28)
    each = (WIDTH - GAP * len(panels)) / len(panels)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {foot}" role="img" '
        f'font-family="sans-serif" font-size="13"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{foot}" rx="6" fill="#ffffff"/>',
    ]
    for row in rows:
        line = tops[row] + lanes + 5
        out.append(f'<path d="M8 {line}H{WIDTH - 8}" stroke="#dddddd"/>')
    for number, panel in enumerate(panels):
        left = GAP / 2 + number * (each + GAP)
        out += _panel(panel, left, each, tops, bottom, lanes, colour)
    halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="5"'  # over the dashed lines
    for row, words in rows.items():
        place = f'x="{GAP / 2 - 10:g}" y="{tops[row] - 3}"'
        out.append(f"<text {place} {halo}>{escape(words)}</text>")
    x = GAP / 2
    for name in series if len(series) > 1 else ():
        out.append(f'<circle cx="{x + 5:.1f}" cy="{bottom + 40}" r="4" fill="{colour[name]}"/>')
        out.append(f'<text x="{x + 14:.1f}" y="{bottom + 44.5}">{escape(name)}</text>')
        x += 34 + 7.2 * len(name)
    return "\n".join([*out, "</svg>"]) + "\n"


def _several(panels: Iterable[Panel]) -> bool:
    return any(len({dot.series for dot in panel.dots}) > 1 for panel in panels)


def _panel(
    panel: Panel,
    left: float,
    width: float,
    tops: dict[str, int],
    bottom: int,
    height: int,
    colour: dict[str, str],
) -> list[str]:
    def at(value: float) -> float:
        return left + width * panel.place(value)

    middle = left + width / 2
    out = [f'<text x="{middle:.1f}" y="18" text-anchor="middle">{escape(panel.title)}</text>']
    for value, words in panel.ticks.items():
        out.append(f'<path d="M{at(value):.1f} {HEAD}V{bottom}" stroke="#eeeeee"/>')
        place = f'x="{at(value):.1f}" y="{bottom + 18}" text-anchor="middle"'
        out.append(f'<text {place} fill="#555555">{escape(words)}</text>')
    if panel.aim is not None:
        x = at(panel.aim)
        out.append(f'<path d="M{x:.1f} {HEAD}V{bottom}" stroke="#333333" stroke-dasharray="4 3"/>')
    order = {name: n for n, name in enumerate(colour)}
    lanes = len(order) if height > ROW else 1
    for dot in panel.dots:
        lane = order[dot.series] if lanes > 1 else 0
        y = tops[dot.row] + height * (lane + 0.5) / lanes
        paint = colour[dot.series]
        if dot.error > 0:
            ends = (at(dot.value - dot.error), at(dot.value + dot.error))
            out.append(f'<path d="M{ends[0]:.1f} {y:.1f}H{ends[1]:.1f}" stroke="{paint}"/>')
        place = f'cx="{at(dot.value):.1f}" cy="{y:.1f}" r="4"'
        out.append(f'<circle {place} fill="{paint}" fill-opacity=".7"/>')
    return out
