"""Finished runs of the experiments, kept in a checkpoint: one part per setting.

The name of a part says its parameters, the seed and the version, in words and as a hash, so that
other parameters never meet old results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nullforest import __version__
from nullforest.run.checkpoints import Checkpoint, digest

Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment.

    Attributes
    ----------
    kind : str
        What is computed: a name in `reproduction.computing`.
    parameters : mapping of str to number, str or None
    """

    kind: str
    parameters: Mapping[str, Any]

    def key(self, seed: int) -> str:
        """Name of the cell's part.

        Examples
        --------
        >>> Cell("power", {"n_samples": 150, "draw": "node"}).key(seed=0)[:27]
        'power-n_samples=150-draw=no'
        """
        words = "-".join(f"{name}={value}" for name, value in self.parameters.items())
        words = "".join(c if c.isalnum() or c in "=-._" else "_" for c in words)
        # 200 characters of words leave room for the rest in the 255 of a file name.
        full = digest([__version__, self.kind, seed, self.parameters])
        return f"{self.kind}-{words[:200]}-{full[:12]}"


class Store:
    """Finished runs in a folder.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    seed : int
        Seed of the whole reproduction.

    Examples
    --------
    >>> import tempfile
    >>> store, cell = Store(tempfile.mkdtemp(), seed=0), Cell("power", {"n_samples": 150})
    >>> with store.checkpoint:
    ...     store.add(cell, 3, {"fpr": 0.01})
    >>> store.runs(cell)
    {3: {'fpr': 0.01}}
    """

    def __init__(self, folder: Any, seed: int) -> None:
        self.checkpoint = Checkpoint(folder, "reproduction", {})
        self.seed = seed

    def runs(self, cell: Cell) -> dict[int, Record]:
        """Finished runs of a cell, by their number."""
        part = self.checkpoint.read(cell.key(self.seed))
        return {} if part is None else {int(run): one for run, one in part.content.items()}

    def add(self, cell: Cell, run: int, record: Record) -> None:
        """Keep a finished run; the checkpoint must have been entered."""
        self.checkpoint.write(cell.key(self.seed), {**self.runs(cell), run: record})
