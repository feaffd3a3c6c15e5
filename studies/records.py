"""Resumable studies: the rows of a finished piece are appended to a CSV file at once."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import nullforest
from nullforest._util.progress import progress_bar

RESULTS = Path(__file__).parent / "results"


class Records:
    """Rows of one study in `results/<name>.csv`, by which finished pieces are recognised."""

    def __init__(self, name: str, keys: tuple[str, ...], folder: Path = RESULTS) -> None:
        self.path = folder / f"{name}.csv"
        self.keys = keys
        folder.mkdir(parents=True, exist_ok=True)

    def frame(self) -> pd.DataFrame:
        """All rows so far."""
        if not self.path.exists():
            return pd.DataFrame(columns=list(self.keys))
        return pd.read_csv(self.path)

    def done(self) -> set[tuple[str, ...]]:
        """Keys of the finished pieces, as text."""
        frame = self.frame()
        columns = [frame[key].astype(str) for key in self.keys]
        return set(zip(*columns, strict=True))

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Append the rows of one finished piece, in one write."""
        rows = [row | {"version": nullforest.__version__} for row in rows]
        fresh = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerows(rows)


def with_progress(pieces: Iterable[Any], title: str) -> Iterator[Any]:
    """Iterate over the pieces with a progress bar."""
    pieces = list(pieces)
    with progress_bar(title, log=True) as tell:
        for done, piece in enumerate(pieces):
            tell(done, len(pieces))
            yield piece
