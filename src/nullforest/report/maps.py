"""Maps of a selection in the geometry of the images it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.data.readers.images.geometry import Geometry
from nullforest.report.plots.display import log_p
from nullforest.selection.selection import Selection

#: Value of each map where nothing was tested.
_OUTSIDE = {"neglog10p": 0.0, "q": 1.0, "selected": 0.0, "difference": 0.0, "correlation": 0.0}
#: Effects with a sign; the first that the selection has is mapped.
_SIGNED = ("difference", "correlation")


def write_maps(selection: Selection, geometry: Geometry | None, folder: Any) -> list[Path]:
    """Write maps of −log₁₀ p, q, the selected features and their effect, as NIfTI, GIFTI or CIFTI.

    Parameters
    ----------
    selection : Selection
        Of the features of a :class:`~nullforest.data.readers.Table`, with its `columns`.
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
        for path in _known(geometry).save(place, name, values, _OUTSIDE[name])
    ]


def map_values(selection: Selection, geometry: Geometry | None) -> dict[str, NDArray[Any]]:
    """Values of each map at all features of the images, tested or not."""
    names = _known(geometry).names
    if selection.columns is None or (
        len(selection.columns) and selection.columns[-1] >= len(names)
    ):
        raise InputError("The selection was not made from these images; give its own geometry.")
    maps: dict[str, NDArray[Any]] = {}
    given = {
        "neglog10p": log_p(selection.pvalues),
        "q": selection.qvalues,
        "selected": selection.support,
    }
    of_effects = {} if selection.effects is None else selection.effects.columns
    signed = next((name for name in _SIGNED if name in of_effects), None)
    if signed is not None:
        given[signed] = np.nan_to_num(of_effects[signed])
    for name, values in given.items():
        maps[name] = np.full(len(names), _OUTSIDE[name], values.dtype)
        maps[name][selection.columns] = values
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
    return _known(geometry).draw(shown, np.nextafter(least, 0.0), title)


def _known(geometry: Geometry | None) -> Geometry:
    if geometry is None:
        raise InputError("The data are no images, so there are no maps; leave out --maps.")
    return geometry
