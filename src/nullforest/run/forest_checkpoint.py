"""Forests that survive a kill: kept in a folder while they grow.

The folder holds tallies: `latest.tally`, replaced every so often while the forest grows, and one
for every point of the trajectory that a report shows. Each holds the sums of exactly the trees that
its lineage names, so that a kill at any moment loses only the trees grown since, and none is
counted twice.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from nullforest import __version__
from nullforest._util.errors import InputError
from nullforest._util.files import as_path
from nullforest.data.dataset import Dataset
from nullforest.forest.settings import ForestSettings, TreeSettings, default_leaf, n_drawn
from nullforest.run.checkpoints import Checkpoint, DamagedError, digest
from nullforest.run.forest import Forest
from nullforest.tallies.file_format import from_arrays, to_arrays

KIND = "forest"
#: Seconds between two savings.
SAVE_EVERY = 30.0
_LATEST, _KEPT = "latest.tally", re.compile(r"trees-(\d{9,})\.tally")


class ForestCheckpoint(Checkpoint):
    """A forest that is kept in a folder while it grows; one process at a time may grow it.

    Parameters
    ----------
    folder : path
        Made where it is missing. A forest on other data or with other settings is refused.
    data : Dataset
    settings : ForestSettings
        The number of trees may be another one when the forest is resumed.
    oob : bool
        Whether there are out-of-bag predictions.
    save_every : float
        Seconds between two savings.
    """

    def __init__(
        self,
        folder: Any,
        data: Dataset,
        settings: ForestSettings,
        *,
        oob: bool = True,
        save_every: float = SAVE_EVERY,
    ) -> None:
        self.data = data
        target = data.target
        leaf = default_leaf(n_drawn(settings.samples, data.n_samples), target.criterion)
        decided = {"criterion": target.criterion, "min_leaf": settings.min_leaf or leaf}
        identity = {
            "version of nullforest": __version__,
            "features": digest(data.table.fingerprint),
            "feature names": digest(data.table.feature_names),
            "target": digest([target.values, target.classes, target.weight, target.blocks]),
            **{name: value for name, value in asdict(settings).items() if name != "trees"},
            **decided,
            "oob": oob,
        }
        super().__init__(folder, KIND, identity, every=save_every)
        self.path: Path = as_path(folder)
        self.note = ""
        self.latest: Forest | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.latest = self._restored(_LATEST)
        except BaseException:
            self.__exit__()
            raise
        return self

    def refuse_fewer(self, trees: int) -> None:
        """Refuse a number of trees that is smaller than that of the forest in the folder."""
        if self.latest is not None and self.latest.n_trees > trees:
            raise InputError(
                f"{self.path} holds {self.latest.n_trees} trees, more than trees = {trees}; give "
                f"at least {self.latest.n_trees}, or another folder."
            )

    def nearest(self, trees: int, forest: Forest | None) -> Forest | None:
        """The state with the most trees, but no more than `trees`; `forest` is one in memory."""
        states = [f for f in (forest, self.latest) if f is not None and f.n_trees <= trees]
        best = max(states, key=lambda state: state.n_trees, default=None)
        points = filter(None, (_KEPT.fullmatch(path.name) for path in self.path.iterdir()))
        for point in sorted(points, key=lambda match: -int(match[1])):
            if (0 if best is None else best.n_trees) < int(point[1]) <= trees:
                state = self._restored(point[0])
                if state is not None:
                    return state
        return best

    def save(self, forest: Forest, *, is_point: bool) -> None:
        """Keep a state: in place of the latest one, or for good at a point of a trajectory."""
        if is_point:
            name = f"trees-{forest.n_trees:09d}.tally"
            if not (self.path / name).exists():
                self._keep(forest, name)
        elif self.latest is None or forest.n_trees > self.latest.n_trees:
            self._keep(forest, _LATEST)
            self.latest = forest

    def _keep(self, forest: Forest, name: str) -> None:
        sums = {f"sum_{what}": values for what, values in forest.sums.items()}
        self.write(name, asdict(forest.settings), to_arrays(forest.tally) | sums)

    def _restored(self, name: str) -> Forest | None:
        try:
            part = self.read(name)
        except DamagedError as error:  # a disk that failed, not a kill
            self.note = f"{error} Its trees were grown again."
            return None
        if part is None:
            return None
        arrays = part.arrays
        return Forest(
            tally=from_arrays(arrays, self.path / name),
            trees=None,
            settings=TreeSettings(**part.content),
            target=self.data.target,
            remarks=self.data.notes,
            sums={what[4:]: arrays[what] for what in arrays if what.startswith("sum_")},
        )
