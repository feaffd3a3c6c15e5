"""Annotations and links of a command, checked before the work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nullforest.data.annotations import joined, matched
from nullforest.data.readers import Table
from nullforest.data.readers.annotation_file import read_annotations
from nullforest.report.render import check_link


def annotated(table: Table, path: Path | None, link: str | None) -> Table:
    """The table with the annotations of a file, if any; the link may use them."""
    if path is not None:
        found = matched(read_annotations(path), table.feature_names, str(path))
        table = replace(table, annotations=joined(table.annotations, found))
    if link is not None:
        check_link(link, () if table.annotations is None else table.annotations)
    return table
