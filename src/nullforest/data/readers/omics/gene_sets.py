"""Gene sets in GMT files, as groups of the features of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.files import as_path, reading
from nullforest._util.words import Setting, listed


def read_gmt(path: Any) -> dict[str, list[str]]:
    r"""Read gene sets: a line for each, with its name, a description and its genes, by tabs.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sets.gmt"
    >>> _ = path.write_text("APOPTOSIS\tof a cell\tTP53\tBAX\n")
    >>> read_gmt(path)
    {'APOPTOSIS': ['TP53', 'BAX']}
    """
    file: Path = as_path(path)
    with reading(file, "gene sets"):
        lines = file.read_text("utf-8").splitlines()
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        name, *rest = line.rstrip("\n").split("\t")
        if len(rest) < 2:
            raise InputError(
                f"Line {number + 1} of {file} is no gene set; give a name, a description and "
                "genes, separated by tabs."
            )
        if name in sets:
            raise InputError(f"{file} has two gene sets {name!r}; give each a name of its own.")
        sets[name] = list(dict.fromkeys(gene.strip() for gene in rest[1:] if gene.strip()))
    if not sets:
        raise InputError(f"{file} holds no gene sets.")
    return sets


def members_of(
    sets: Mapping[str, Sequence[str]],
    names: Sequence[str],
    symbols: Sequence[str] | None = None,
    source: str = "The gene sets",
) -> tuple[dict[str, list[int]], list[str]]:
    """Features of each set, by name or symbol, and notes on genes that are not in the data.

    Examples
    --------
    >>> members_of({"a": ["TP53", "XYZ"]}, ["ENSG1", "ENSG2"], ["BAX", "TP53"])[0]
    {'a': [1]}
    """
    places: dict[str, list[int]] = {}
    for texts in (symbols or (), names):  # a name, where there is one, comes before a symbol
        named: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            named.setdefault(str(text), []).append(place)
        places |= named
    genes = list(dict.fromkeys(gene for members in sets.values() for gene in members))
    unknown = [gene for gene in genes if gene not in places]
    if len(unknown) == len(genes):
        raise InputError(
            f"{source} name no gene of the data: {listed(unknown)} against "
            f"{listed(list(names))}; give sets of the same kind of names, or the column of symbols "
            "with ",
            Setting("annotations"),
            ".",
        )
    members_by_set = {
        name: sorted({place for gene in members for place in places.get(gene, ())})
        for name, members in sets.items()
    }
    empty = [name for name, members in members_by_set.items() if not members]
    notes = []
    if unknown:
        notes.append(
            f"{len(unknown)} of {len(genes)} genes of the sets are not in the data: "
            f"{listed(unknown)}."
        )
    if empty:
        notes.append(f"{len(empty)} sets have no gene of the data: {listed(empty)}.")
    whole = [name for name, members in members_by_set.items() if len(members) == len(names)]
    if whole:
        notes.append(f"Sets of all genes were left out: {listed(whole)}.")
    groups = {n: m for n, m in members_by_set.items() if 0 < len(m) < len(names)}
    if not groups:
        raise InputError(f"{source} leave no group of features; give other sets.")
    return groups, notes


def region_groups(regions: Any) -> dict[str, list[int]]:
    """The features of each region of an atlas."""
    labels = np.asarray(regions, str)
    return {str(n): np.flatnonzero(labels == n).tolist() for n in np.unique(labels) if n}
