"""How does a command go on after a kill? What was asked for is kept in the folder of its run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nullforest._util.errors import InputError
from nullforest.engine.resuming import Run, command_of, finish

if TYPE_CHECKING:
    from nullforest.engine import RankTable

_FILES = ("data", "table", "json", "report", "tally")
_OUTPUTS = _FILES[1:]
#: Options that may be others when the run goes on.
_FREE = ("resume", "save_every", "jobs", "cluster", "quiet", "force")


class Resumable:
    """A command whose forest is kept in a folder.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    asked : mapping
        The options of the command, by their names in Python.
    save_every : float
        Seconds between two savings.
    """

    def __init__(self, folder: Path, asked: Mapping[str, Any], save_every: float) -> None:
        self.folder, self.save_every = folder, save_every
        kept = {name: value for name, value in asked.items() if name not in _FREE}
        self.command = {
            name: str(value) if isinstance(value, Path) else value for name, value in kept.items()
        }
        self.command["where"] = str(Path.cwd())

    def ours(self) -> set[Path]:
        """Files that this run has written, or may have, before it was killed."""
        try:
            known = command_of(self.folder)
        except InputError:
            return set()
        if known["finished"]:
            return set()
        where = Path(known["where"])
        files = {(where / known[name]).resolve() for name in _OUTPUTS if known[name]}
        for path in files:
            for torn in path.parent.glob(f".{path.name}.*.part"):
                torn.unlink(missing_ok=True)  # what the kill left of a file
        return files

    def run(self, table: RankTable, y: Any, settings: Mapping[str, Any]) -> Run:
        """The run on these data, to be entered."""
        return Run(
            self.folder, table, y, settings, command=self.command, save_every=self.save_every
        )

    def finish(self) -> None:
        """Note that all results are written."""
        finish(self.folder)


def recalled(folder: Path) -> dict[str, Any]:
    """The options that a run was begun with, by their names in Python."""
    known = command_of(folder)
    known.pop("finished")
    where = Path(known.pop("where"))
    for name in _FILES:
        if known[name]:
            given = Path(known[name])
            known[name] = given if where == Path.cwd() else where / given
    return known
