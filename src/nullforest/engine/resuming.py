"""How does a run survive a kill? Its forest is kept in a folder and grown on from there.

A folder holds `run.json`, which says of what data and settings the run is, and tallies: `latest`,
replaced every so often while the forest grows, and one for every look at the forest that a report
shows. Each file appears by rename and holds the sums of exactly the trees that its lineage names,
so that a kill at any moment loses only the trees grown since, and none is counted twice.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nullforest import __version__, compute
from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.engine import Forest, RankTable, grow
from nullforest.engine.data.targets import as_target
from nullforest.engine.settings import default_trees
from nullforest.tallies.file_format import read_with, write

FORMAT = "nullforest run"
#: Seconds between two savings.
SAVE_EVERY = 30.0
#: A saving may take this share of the time, however large the tally.
MOST_SAVING = 0.05
#: Settings that cannot change a tree, or that the number of trees alone depends on.
_IDLE = ("n_jobs", "progress", "trees", "keep_trees", "feature_names", "max_seconds", "backend")


def resume(
    X: Any,
    y: Any,
    folder: Any,
    *,
    trees: int | None = None,
    save_every: float = SAVE_EVERY,
    n_jobs: int = -1,
    feature_names: Any = None,
    progress: Callable[[int, int], object] | None = None,
    **settings: Any,
) -> Forest:
    """Grow a forest that a kill cannot cost: begin it, or go on where it was left.

    The forest equals that of one uninterrupted :func:`nullforest.grow` to the last bit. Its trees
    are not kept, only what they chose and predicted out of the bag.

    Parameters
    ----------
    X, y
        The data; see :func:`nullforest.grow`.
    folder : path
        Where the run is kept; made if it is not there. A run on other data or with other settings
        is refused.
    trees : int, optional
        Trees in all. More may be asked for later.
    save_every : float
        Seconds between two savings.
    n_jobs, feature_names, progress
        See :func:`nullforest.grow`.
    **settings
        All other settings of :func:`nullforest.grow`.

    Returns
    -------
    Forest

    Examples
    --------
    >>> import numpy as np, nullforest as nf, tempfile
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> folder = tempfile.mkdtemp()
    >>> part = nf.resume(X, X[:, 3] > 0, folder, trees=40)
    >>> whole = nf.resume(X, X[:, 3] > 0, folder, trees=100)
    >>> whole.tally == nf.grow(X, X[:, 3] > 0, trees=100).tally
    True
    """
    table = (
        X if isinstance(X, RankTable) else RankTable(X, n_jobs=n_jobs, feature_names=feature_names)
    )
    with Run(folder, table, y, settings, save_every=save_every) as run:
        wanted = default_trees(table.shape[1]) if trees is None else int(trees)
        return run.grown(wanted, n_jobs=n_jobs, progress=progress)


class Run:
    """A folder in which a forest is kept while it grows; one process at a time may be at it.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    table, y
        The data.
    settings : mapping
        Settings of :func:`nullforest.grow`, apart from the number of trees.
    command : mapping, optional
        What was asked for on the command line, kept for :func:`command_of`.
    save_every : float
        Seconds between two savings.
    """

    def __init__(
        self,
        folder: Any,
        table: RankTable,
        y: Any,
        settings: Mapping[str, Any],
        *,
        command: Mapping[str, Any] | None = None,
        save_every: float = SAVE_EVERY,
    ) -> None:
        self.folder = Path(folder)
        self.table, self.y = table, y
        self.settings = {name: v for name, v in settings.items() if name not in _IDLE}
        self.command = command
        self.interval = max(float(save_every), 1e-3)
        self.note = ""
        self.latest: Forest | None = None
        self._at_once = 100  # trees of the first step on a cluster; later ones go by the clock

    def __enter__(self) -> Run:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / ".lock").open("w")
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be used as the folder of a run ({error.strerror}); give "
                "another one."
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # ends with the process
        except OSError:
            self._lock.close()
            raise InputError(
                f"Another process is at work on the run in {self.folder}; wait for it to end."
            ) from None
        try:
            self._agree()
        except BaseException:
            self._lock.close()
            raise
        for torn in self.folder.glob(".*.part"):  # what a kill left of a file
            torn.unlink(missing_ok=True)
        self.latest = self._restored(self.folder / "latest.tally")
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _agree(self) -> None:
        """Refuse a run on other data or with other settings; say what this one is if new."""
        identity = {
            "X": f"{self.table.native.fingerprint:016x}",
            "y": _hash(self.y),
            "settings": {name: _plain(v) for name, v in sorted(self.settings.items())},
        }
        path = self.folder / "run.json"
        if path.exists():
            known = _read(path)
            for what, words in [("X", "features"), ("y", "labels")]:
                if known["identity"][what] != identity[what]:
                    raise InputError(
                        f"The run in {self.folder} is on other {words}; give the same data, or "
                        "another folder."
                    )
            theirs, mine = known["identity"]["settings"], identity["settings"]
            assert isinstance(mine, dict)
            for name in sorted({*theirs, *mine}):
                if theirs.get(name) != mine.get(name):
                    raise InputError(
                        f"The run in {self.folder} was begun with another {name} "
                        f"({theirs.get(name)}, not {mine.get(name)}); give the same, or another "
                        "folder."
                    )
        elif any(self.folder.glob("*.tally")):
            raise InputError(f"{self.folder} holds tallies but no run; give another folder.")
        _describe(self.folder, identity, self.command, finished=False)

    def grown(
        self,
        trees: int,
        *,
        more: Forest | None = None,
        look: bool = False,
        n_jobs: int = -1,
        progress: Callable[[int, int], object] | None = None,
    ) -> Forest:
        """The forest of so many trees, grown from whatever is there already.

        Parameters
        ----------
        trees : int
            Trees in all.
        more : Forest, optional
            An earlier state that is in memory.
        look : bool
            Keep this state for good, beside the later ones.
        n_jobs, progress
            See :func:`nullforest.grow`.
        """
        if self.latest is not None and self.latest.n_trees > trees and not look:
            raise InputError(
                f"The run in {self.folder} holds {self.latest.n_trees} trees, more than the "
                f"{trees} asked for; ask for at least {self.latest.n_trees}, or give another "
                "folder."
            )
        forest = self._nearest(trees, more)
        name = f"look-{trees:09d}.tally"
        backend = compute.find()
        while forest is None or forest.n_trees < trees:
            done, start = 0 if forest is None else forest.n_trees, time.monotonic()
            # A cluster cannot stop in the midst of its blocks without losing them, so that it is
            # given as many trees as it should finish in the time.
            step = trees - done if backend is None else min(trees - done, self._at_once)
            forest = grow(
                self.table,
                self.y,
                trees=step,
                more=forest,
                max_seconds=self.interval if backend is None else None,
                n_jobs=n_jobs,
                keep_trees=False,
                progress=None if progress is None else _shifted(progress, done, trees),
                **self.settings,
            )
            taken = time.monotonic() - start
            self._at_once = max(1, min(int(step * self.interval / taken), 4 * step))
            if forest.n_trees < trees or not look:
                self._keep_latest(forest)
        if look and not (self.folder / name).exists():
            self._keep(forest, name)
        return forest

    def _nearest(self, trees: int, more: Forest | None) -> Forest | None:
        """The state with the most trees, but no more than asked for."""
        states = [f for f in (more, self.latest) if f is not None and f.n_trees <= trees]
        best = max(states, key=lambda state: state.n_trees, default=None)
        for path in sorted(self.folder.glob("look-*.tally"), reverse=True):
            number = int(path.stem.removeprefix("look-"))
            if (0 if best is None else best.n_trees) < number <= trees:
                state = self._restored(path)
                if state is not None:
                    return state
        return best

    def _keep_latest(self, forest: Forest) -> None:
        if self.latest is None or forest.n_trees > self.latest.n_trees:
            self._keep(forest, "latest.tally")
            self.latest = forest

    def _keep(self, forest: Forest, name: str) -> None:
        start = time.monotonic()
        plan = json.dumps(forest.settings).encode()
        write(
            forest.tally,
            self.folder / name,
            {"plan": np.frombuffer(plan, np.uint8), **forest.sums},
        )
        self.interval = max(self.interval, (time.monotonic() - start) / MOST_SAVING)

    def _restored(self, path: Path) -> Forest | None:
        if not path.exists():
            return None
        try:
            tally, beside = read_with(path)
            plan = json.loads(beside.pop("plan").tobytes())
        except (InputError, KeyError, ValueError) as error:  # a disk that failed, not a kill
            self.note = f"{path} could not be read ({error}), so its trees were grown again."
            return None
        allowed = ("criterion", "distance", "sample_weight", "class_weight")
        target = as_target(
            self.y,
            n_samples=self.table.shape[0],
            X=self.table.matrix if self.y is None else np.empty((self.table.shape[0], 0)),
            **{name: v for name, v in self.settings.items() if name in allowed},
        )
        return Forest(
            tally=tally,
            trees=None,
            classes=target.classes,
            settings=plan,
            seconds=0.0,
            stopped_early=False,
            note="",
            target=target,
            sums=beside,
        )


def command_of(folder: Any) -> dict[str, Any]:
    """What was asked for when a run was begun on the command line, and whether it is finished."""
    path = Path(folder) / "run.json"
    known = _read(path) if path.exists() else {"command": None}
    if not known["command"]:
        raise InputError(
            f"There is no run in {folder} that could be gone on with; give the data and the target."
        )
    return {**known["command"], "finished": bool(known["finished"])}


def finish(folder: Any) -> None:
    """Note that all results of a run are written."""
    known = _read(Path(folder) / "run.json")
    _describe(Path(folder), known["identity"], known["command"], finished=True)


def _describe(
    folder: Path,
    identity: Mapping[str, Any],
    command: Mapping[str, Any] | None,
    *,
    finished: bool,
) -> None:
    content = {
        "format": FORMAT,
        "version": __version__,
        "identity": identity,
        "command": command,
        "finished": finished,
    }
    with writing(folder / "run.json") as file:
        json.dump(content, file, indent=1)


def _read(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text("utf-8"))
        if known["format"] == FORMAT and {"identity", "command", "finished"} <= known.keys():
            return dict(known)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(f"{path} does not describe a run of nullforest; give another folder.")


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str | None) else _hash(value)


def _hash(value: Any) -> str:
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    array = np.asarray(value)
    content = array.tobytes() if array.dtype.kind in "biufUS" else str(array.tolist()).encode()
    words = f"{array.shape}{array.dtype.str}".encode()
    return hashlib.blake2b(words + content, digest_size=16).hexdigest()


def _shifted(
    progress: Callable[[int, int], object], done: int, total: int
) -> Callable[[int, int], object]:
    return lambda now, _: progress(done + now, total)
