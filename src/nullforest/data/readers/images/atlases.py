"""Atlases: the names of their regions, from a table beside the labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import listed

#: Columns of the number and of the name of a region, as tables of labels call them.
_NUMBERS = ("index", "label", "value", "id", "number", "key", "intensity")
_NAMES = ("name", "region", "structure", "label_name", "roi", "abbreviation")


def region_names(path: Path) -> dict[int, str]:
    r"""Names of the regions of an atlas by their numbers, from a table with these two columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("index,name\n1,Hippocampus\n2,Amygdala\n")
    >>> region_names(path)
    {1: 'Hippocampus', 2: 'Amygdala'}
    """
    from nullforest.data.readers.formats import TableFile, texts_of

    frame = TableFile(path).read().reset_index()
    known = {str(name).casefold(): name for name in reversed(list(frame.columns))}
    number = next((known[name] for name in _NUMBERS if name in known), None)
    name = next((known[word] for word in _NAMES if word in known), None)
    if name is None and number is not None and number != known.get("label"):
        name = known.get("label")
    if number is None or name is None:
        raise InputError(
            f"{path} does not name the regions of an atlas; give a table with the columns index "
            f"and name instead of {listed(list(frame.columns))}."
        )
    try:
        numbers = frame[number].to_numpy(np.int64)
    except (TypeError, ValueError):
        raise InputError(f"The column {number} of {path} holds no whole numbers.") from None
    return dict(zip(numbers.tolist(), texts_of(frame[name]).tolist(), strict=True))


def named_regions(
    labels: NDArray[np.int64], names: Mapping[int, str] | None, source: str
) -> NDArray[np.str_]:
    """Names of labels; 0 and below is no region.

    Examples
    --------
    >>> import numpy as np
    >>> named_regions(np.array([0, 2]), {2: "Amygdala"}, "the atlas").tolist()
    ['', 'Amygdala']
    """
    found = [int(label) for label in np.unique(labels) if label > 0]
    if not found:
        raise InputError(
            f"No feature lies in a region of {source}; give an atlas in the space of the images."
        )
    if names is not None:
        unknown = [label for label in found if label not in names]
        if len(unknown) == len(found):
            raise InputError(f"None of the labels of {source} is named ({listed(unknown)}).")
    named = {label: (names or {}).get(label, f"region {label}") for label in found}
    return np.array([named.get(label, "") for label in labels.tolist()], str)
