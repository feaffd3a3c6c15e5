"""What does the forest's choice look like? Counts as bars, the null as a line, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

WIDTH, HEIGHT = 720, 340  # the page scales it to the width of the screen
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 30, 48
#: Bars begin at half a feature, so that one feature is seen on the log scale.
LEAST = 0.5


def histogram_svg(histogram: Mapping[str, Any]) -> str:
    """Draw the histogram of :func:`nullforest.report.summarize`.

    Examples
    --------
    >>> bins = [{"low": 0, "high": 0, "features": 9, "expected": 8.5},
    ...         {"low": 1, "high": 1, "features": 2, "expected": 1.5}]
    >>> svg = histogram_svg({"threshold": 0, "bins": bins})
    >>> svg.count("<rect"), svg.count("selected above 0")
    (2, 1)
    """
    bins = histogram["bins"]
    tallest = max(max(b["features"], b["expected"]) for b in bins)
    top = 10.0 ** math.ceil(math.log10(max(tallest, 2.0)))
    step = (WIDTH - LEFT - RIGHT) / len(bins)

    def x_at(i: float) -> float:
        return LEFT + i * step

    def y_at(value: float) -> float:
        share = math.log(max(value, LEAST) / LEAST) / math.log(top / LEAST)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [_y_axis(top, y_at), _x_axis(bins, x_at)]
    for i, b in enumerate(bins):
        if b["features"]:
            y = y_at(b["features"])
            kind = "selected" if b["low"] > histogram["threshold"] else "other"
            parts.append(
                f'<rect class="{kind}" x="{x_at(i + 0.08):.1f}" y="{y:.1f}" '
                f'width="{0.84 * step:.1f}" height="{y_at(LEAST) - y:.1f}">'
                f"<title>chosen {_label(b)} times: {b['features']} features, "
                f"{b['expected']:.3g} expected by chance</title></rect>"
            )
    points = [
        f"{x_at(i + 0.5):.1f},{y_at(b['expected']):.1f}"
        for i, b in enumerate(bins)
        if b["expected"] > LEAST
    ]
    parts.append(f'<polyline class="null" points="{" ".join(points)}"/>')
    parts.append(_threshold(bins, histogram["threshold"], x_at))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Histogram of selection '
        'frequencies with the null and the threshold">\n' + "\n".join(parts) + "\n</svg>"
    )


def _label(b: Mapping[str, Any]) -> str:
    return str(b["low"]) if b["low"] == b["high"] else f"{b['low']}–{b['high']}"


def _y_axis(top: float, y_at: Any) -> str:
    lines = []
    value = 1.0
    while value <= top:
        y = y_at(value)
        lines.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
        value *= 10
    middle = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(
        f'<text transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        "features</text>"
    )
    return "\n".join(lines)


def _x_axis(bins: list[Mapping[str, Any]], x_at: Any) -> str:
    every = max(1, math.ceil(len(bins) / 14))  # 14 labels of four digits fit side by side
    labels = [
        f'<text x="{x_at(i + 0.5):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
        f"{b['low']}</text>"
        for i, b in enumerate(bins)
        if i % every == 0
    ]
    title = (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        "how often the forest chose a feature</text>"
    )
    return "\n".join([*labels, title])


def _threshold(bins: list[Mapping[str, Any]], threshold: int, x_at: Any) -> str:
    place = next((i for i, b in enumerate(bins) if b["low"] > threshold), len(bins))
    x = x_at(place)
    # The words stand on the side with more room.
    side, anchor = (6, "start") if place < len(bins) / 2 else (-6, "end")
    return (
        f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" '
        f'y2="{HEIGHT - BOTTOM}"/><text class="threshold" x="{x + side:.1f}" y="{TOP - 4}" '
        f'text-anchor="{anchor}">selected above {threshold}</text>'
    )
