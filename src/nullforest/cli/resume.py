"""Commands that resume after a kill: their options are kept with their forest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nullforest._util.errors import InputError
from nullforest._util.files import remove_partial
from nullforest.cli.outputs import Outputs, Writers
from nullforest.run.checkpoints import Checkpoint
from nullforest.run.forest_checkpoint import KIND, SAVE_EVERY, ForestCheckpoint

if TYPE_CHECKING:
    from nullforest.data.dataset import Dataset
    from nullforest.forest.settings import ForestSettings

_FILES = (
    *("table", "json", "report", "tally", "h5ad", "maps", "plot"),
    *("sample_table", "mask", "annotations"),
)
#: Options that name several files.
_LISTS = ("data", "mesh", "atlas")
#: Options that may be others when the run resumes.
_FREE = ("resume", "jobs", "cluster", "quiet", "force")
#: Name of the options in the checkpoint.
_PART = "command"


class Resumable:
    """A command whose forest is kept in a folder; to be entered before it grows.

    `chosen` are the options of the command, by their names in Python; `save_every` is in seconds.
    """

    def __init__(
        self,
        folder: Path,
        chosen: Mapping[str, Any],
        outputs: Outputs,
        save_every: float = SAVE_EVERY,
    ) -> None:
        self.folder, self.outputs, self.save_every = folder, outputs, save_every
        self._options = {
            name: [str(path) for path in value]
            if name in _LISTS and value
            else str(value)
            if isinstance(value, Path)
            else value
            for name, value in chosen.items()
            if name not in _FREE
        }
        self._held = ExitStack()
        #: Files that this run may replace: it has written them, or was told to with --force.
        self.ours = {Path(path) for path in (_kept(folder) or {"ours": ()})["ours"]}

    def __enter__(self) -> Resumable:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def begin(self, data: Dataset, settings: ForestSettings, *, oob: bool) -> ForestCheckpoint:
        """The forest on these data; it is held until the command ends."""
        forest = ForestCheckpoint(self.folder, data, settings, oob=oob, save_every=self.save_every)
        self._forest = self._held.enter_context(forest)
        self._keep({path for path in self._places() if path.exists()} | self.ours)
        return self._forest

    def write(self, writers: Writers) -> tuple[list[Path], bool]:
        """Write the outputs as :meth:`Outputs.write` does, so that a kill can be resumed from."""
        self._keep(self._places() | self.ours)
        for path in self._places():
            remove_partial(path)
        written, well = self.outputs.write(writers)
        if well:
            self._keep(set())  # from now on they are the user's
        return written, well

    def _places(self) -> set[Path]:
        return {path.resolve() for path in self.outputs.paths().values()}

    def _keep(self, ours: set[Path]) -> None:
        content = {"options": self._options, "where": str(Path.cwd())}
        self._forest.write(_PART, {**content, "ours": sorted(map(str, ours))})


def recalled(folder: Path) -> dict[str, Any]:
    """The options that a run was begun with, by their names in Python."""
    content = _kept(folder)
    if content is None:
        raise InputError(
            f"There is no run in {folder} that could be resumed; give the data and the target."
        )
    options, where = dict(content["options"]), Path(content["where"])
    home = Path() if where == Path.cwd() else where
    for name in _FILES:
        if options.get(name):
            options[name] = home / options[name]
    for name in _LISTS:
        if options.get(name):
            options[name] = [home / path for path in options[name]]
    if options.get("groups") not in (None, "atlas"):  # the one word that is no file
        options["groups"] = str(home / options["groups"])
    return options


def _kept(folder: Path) -> dict[str, Any] | None:
    checkpoint = Checkpoint.open(folder, KIND)
    part = None if checkpoint is None else checkpoint.read(_PART)
    return None if part is None else dict(part.content)
