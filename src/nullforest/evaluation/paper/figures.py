"""How do the figures look? One style for all experiments; matplotlib is loaded when needed."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that readers with any colour vision tell apart (Okabe and Ito).
COLOURS = {"paper": "#d55e00", "bagged": "#0072b2"}
PALETTE = ("#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
DASHES = {"paper": "-", "bagged": "--"}


def panels(rows: int, columns: int, **settings: Any) -> tuple[Figure, NDArray[Any]]:
    """A figure of rows × columns axes, always as a table of axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot", "A figure") from None
    fig = Figure(figsize=(3.4 * columns, 2.6 * rows), layout="constrained")
    axes = fig.subplots(rows, columns, squeeze=False, **settings)
    return fig, np.asarray(axes)


def label_axes(ax: Axes, title: str, x: str, y: str) -> None:
    """Title and labels in the small type that many panels need."""
    ax.set_title(title, fontsize=8)
    ax.set_xlabel(x, fontsize=7)
    ax.set_ylabel(y, fontsize=7)
    ax.tick_params(labelsize=7)


def png(fig: Figure) -> bytes:
    """The figure as a PNG, the same bytes for the same figure."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=90, metadata={"Software": None})
    return buffer.getvalue()


def data_address(image: bytes) -> str:
    """A PNG as an address that an HTML page can hold."""
    return "data:image/png;base64," + base64.b64encode(image).decode("ascii")
