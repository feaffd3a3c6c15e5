"""Maps of a selection in the geometry of its images, and pictures of them for the page."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError, MissingExtraError
from nullforest._util.files import as_path
from nullforest.selection.selection import Selection

if TYPE_CHECKING:
    from nullforest.data.readers.images.geometry import Geometry

#: Value of each map where nothing was tested.
_OUTSIDE = {"neglog10p": 0.0, "q": 1.0, "selected": 0.0, "difference": 0.0, "correlation": 0.0}
#: Effects with a sign; the first that the selection has is mapped.
_SIGNED = ("difference", "correlation")
#: Dots per inch of a drawing: sharp on a screen, and some 100 kB.
DPI = 110


def write_maps(selection: Selection, geometry: Geometry | None, folder: Any) -> list[Path]:
    """Write maps of −log₁₀ p, q, the selected features and their effect, as NIfTI, GIFTI or CIFTI.

    Parameters
    ----------
    selection : Selection
        Of the features of a :class:`~nullforest.Dataset`, with its `columns`.
    geometry : Geometry
        That of the table.
    folder : path
        Where the files go; it is made where it is missing. `neglog10p`, `q` and `selected`, and
        where the selection has effects, `difference` (of classes, standardised) or `correlation`
        (with numbers). Voxels and vertices that were not tested have −log₁₀ p = 0 and q = 1.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import nibabel, numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> ill, folder = np.arange(40) % 2, pathlib.Path(tempfile.mkdtemp())
    >>> images = np.random.default_rng(0).normal(size=(8, 9, 10, 40))
    >>> image = nibabel.Nifti1Image(images, np.diag([3, 3, 3, 1]))
    >>> nibabel.save(image, folder / "all.nii.gz")
    >>> people = pd.DataFrame({"ill": ill, "age": 50}).to_csv(folder / "people.csv", index=False)
    >>> table = nf.read_table(folder / "all.nii.gz", "ill", sample_table=folder / "people.csv")
    >>> selection = nf.select_table(table, trees=500)
    >>> [path.name for path in nf.write_maps(selection, table.geometry, folder / "maps")]
    ['neglog10p.nii.gz', 'q.nii.gz', 'selected.nii.gz', 'difference.nii.gz']
    """
    place = as_path(folder)
    place.mkdir(parents=True, exist_ok=True)
    return [
        path
        for name, values in map_values(selection, geometry).items()
        for path in _checked(geometry).save(place, name, values, _OUTSIDE[name])
    ]


def map_values(selection: Selection, geometry: Geometry | None) -> dict[str, NDArray[Any]]:
    """Values of each map at all features of the images, tested or not."""
    from nullforest.report.plots.display import log_p

    F, columns = len(_checked(geometry).names), selection.columns
    if columns is None or (len(columns) and columns[-1] >= F):
        raise InputError("The selection was not made from these images; give its own geometry.")
    tested: dict[str, NDArray[Any]] = {
        "neglog10p": log_p(selection.pvalues),
        "q": selection.qvalues,
        "selected": selection.support,
    }
    effects = {} if selection.effects is None else selection.effects.columns
    for name in [name for name in _SIGNED if name in effects][:1]:
        tested[name] = np.nan_to_num(effects[name])
    maps = {name: np.full(F, _OUTSIDE[name], values.dtype) for name, values in tested.items()}
    for name, values in tested.items():
        maps[name][columns] = values
    return maps


def brain_figure(selection: Selection, geometry: Geometry | None) -> Any:
    """A matplotlib figure of −log₁₀ p of the selected features: a glass brain, or surfaces.

    Examples
    --------
    >>> import nibabel, numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> ill, folder = np.arange(40) % 2, pathlib.Path(tempfile.mkdtemp())
    >>> images = np.random.default_rng(0).normal(size=(8, 9, 10, 40))
    >>> image = nibabel.Nifti1Image(images, np.diag([3, 3, 3, 1]))
    >>> nibabel.save(image, folder / "all.nii.gz")
    >>> people = pd.DataFrame({"ill": ill, "age": 50}).to_csv(folder / "people.csv", index=False)
    >>> table = nf.read_table(folder / "all.nii.gz", "ill", sample_table=folder / "people.csv")
    >>> type(nf.brain_figure(nf.select_table(table, trees=500), table.geometry)).__name__
    'Figure'
    """
    maps = map_values(selection, geometry)
    shown = np.where(maps["selected"], maps["neglog10p"], 0.0)
    least = float(shown[shown > 0].min()) if (shown > 0).any() else 1.0
    title = f"{selection.n_selected} selected, −log₁₀ p"
    return _checked(geometry).draw(shown, np.nextafter(least, 0.0), title)


def _checked(geometry: Geometry | None) -> Geometry:
    if geometry is None:
        raise InputError("The data are no images, so there are no maps; leave out --maps.")
    return geometry


def drawings_of(selection: Selection, geometry: Geometry | None = None) -> list[dict[str, str]]:
    """Title, caption and PNG (base64) of each drawing that the annotations allow.

    Images give a glass brain or surfaces, variants a Manhattan plot; anything else none, and so
    does a machine without matplotlib and nilearn, or a surface without its mesh.
    """
    try:
        if geometry is not None:
            figure = brain_figure(selection, geometry)
            caption = "−log₁₀ p of the selected features."
        elif selection.annotations is not None and "chromosome" in selection.annotations:
            figure = selection.plot("manhattan").figure_
            caption = (
                "−log₁₀ p of all features by chromosome; the line is the largest p-value that is "
                "selected."
            )
        else:
            return []
    except (InputError, MissingExtraError):
        return []
    from matplotlib import pyplot

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    pyplot.close(figure)
    png = base64.b64encode(buffer.getvalue()).decode()
    return [{"title": "Where are the selected features?", "caption": caption, "png": png}]
