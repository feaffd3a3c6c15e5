"""How is finished work kept? One small file per setting, one line per run; a torn line is lost.

The name of a file says its parameters, the seed and the version, in words and as a hash: work
that was interrupted goes on where it ended, and other parameters never meet old results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nullforest import __version__
from nullforest._util.errors import InputError

#: Raised when the meaning of a record changes, so that old files are not read.
FORMAT = 1
Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment.

    Attributes
    ----------
    kind : str
        What is computed: a name in `nullforest.evaluation.paper.computing`.
    parameters : mapping of str to number, str or None
    """

    kind: str
    parameters: Mapping[str, Any]

    def key(self, seed: int) -> str:
        """Name of the cell's file, without its ending.

        Examples
        --------
        >>> Cell("power", {"n_samples": 150, "draw": "node"}).key(seed=0)[:27]
        'power-n_samples=150-draw=no'
        """
        full = json.dumps(
            [FORMAT, __version__, self.kind, seed, self.parameters], sort_keys=True, default=str
        )
        words = "-".join(f"{name}={value}" for name, value in self.parameters.items())
        words = "".join(c if c.isalnum() or c in "=-._" else "_" for c in words)
        # 200 characters of words leave room for the rest in the 255 of a file name.
        return f"{self.kind}-{words[:200]}-{hashlib.sha256(full.encode()).hexdigest()[:12]}"


class Store:
    """Finished runs in a folder.

    Parameters
    ----------
    folder : path
        Created where it is not there.
    seed : int
        Seed of the whole reproduction.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp(), seed=0)
    >>> cell = Cell("power", {"n_samples": 150})
    >>> store.add(cell, 3, {"fpr": 0.01})
    >>> store.runs(cell)
    {3: {'fpr': 0.01}}
    """

    def __init__(self, folder: Any, seed: int) -> None:
        self.folder = Path(folder)
        self.seed = seed
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The folder {folder} cannot be made ({error.strerror}); give another name."
            ) from None

    def runs(self, cell: Cell) -> dict[int, Record]:
        """Finished runs of a cell, by their number."""
        path = self._path(cell)
        if not path.exists():
            return {}
        finished: dict[int, Record] = {}
        for line in path.read_text("utf-8").split("\n"):
            try:
                record = json.loads(line)
                finished[int(record.pop("run"))] = record
            except (ValueError, KeyError, AttributeError):
                continue  # a line that an interruption tore, or the empty one at the end
        return finished

    def add(self, cell: Cell, run: int, record: Record) -> None:
        """Keep a finished run."""
        # The line break comes first: a torn line before it cannot swallow this one.
        line = "\n" + json.dumps({"run": run, **record}, separators=(",", ":"))
        with self._path(cell).open("a", encoding="utf-8") as file:
            file.write(line)

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key(self.seed)}.jsonl"
