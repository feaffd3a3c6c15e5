"""How does a study survive an interruption? One CSV row per finished piece, appended at once."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import nullforest

RESULTS = Path(__file__).parent / "results"


class Records:
    """Rows of one study in `results/<name>.csv`; pieces that are there are not run again."""

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
    """Go through the pieces with a bar that tells the time left."""
    pieces = list(pieces)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as progress:
        yield from progress.track(pieces, description=title)
