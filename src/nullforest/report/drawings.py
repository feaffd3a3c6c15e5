"""Drawings of a report that Python makes: the brain, and the chromosomes."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import Any

from nullforest._util.errors import InputError, MissingExtraError
from nullforest.data.readers.images.geometry import Geometry
from nullforest.report.maps import brain_figure
from nullforest.selection.selection import Selection

#: Dots per inch: sharp on a screen, and some 100 kB.
DPI = 110


def drawings_of(selection: Selection, geometry: Geometry | None = None) -> list[dict[str, str]]:
    """Title, caption and PNG (base64) of each drawing that the annotations allow.

    Images give a glass brain or surfaces, variants a Manhattan plot; anything else none, and so
    does a machine without matplotlib and nilearn, or a surface without its mesh.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> drawings_of(nf.select(t, null="paper"))
    []
    """
    known = selection.annotations
    try:
        if geometry is not None:
            figure = brain_figure(selection, geometry)
            words = "Where are the selected features?", "−log₁₀ p of the selected features."
        elif known is not None and "chromosome" in known:
            figure = selection.plot("manhattan").figure_
            words = (
                "Where are the selected features?",
                "−log₁₀ p of all features by chromosome; the line is the largest p-value that is "
                "selected.",
            )
        else:
            return []
    except (InputError, MissingExtraError):
        return []
    return [{"title": words[0], "caption": words[1], "png": _png(figure)}]


def drawing_html(drawing: dict[str, str]) -> str:
    """A drawing as a figure of the page.

    Examples
    --------
    >>> drawing_html({"title": "Where?", "caption": "There.", "png": "iVBOR"}).splitlines()[1]
    '<h2>Where?</h2>'
    """
    return (
        f"<figure>\n<h2>{escape(drawing['title'])}</h2>\n"
        f'<img alt="{escape(drawing["caption"])}" style="max-width:100%" '
        f'src="data:image/png;base64,{drawing["png"]}">\n'
        f"<figcaption>{escape(drawing['caption'])}</figcaption>\n</figure>\n"
    )


def _png(figure: Any) -> str:
    from matplotlib import pyplot

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot.close(figure)
    return base64.b64encode(buffer.getvalue()).decode()
