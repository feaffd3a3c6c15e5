"""Result files: checked before the work, written whole after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.cli.endings import complain

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


#: Writers of files, by the option that names the file.
Writers = dict[str, Callable[[Path], object]]
#: Endings of the pictures that --plot draws.
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Outputs:
    """Files that a selection is written to; None for those that are not wanted."""

    table: Path | None = None
    json: Path | None = None
    tally: Path | None = None
    report: Path | None = None
    plot: Path | None = None
    h5ad: Path | None = None
    maps: Path | None = None
    group_table: Path | None = None

    def paths(self) -> dict[str, Path]:
        """The files that are wanted, by their option."""
        paths = {field.name.replace("_", "-"): getattr(self, field.name) for field in fields(self)}
        return {name: path for name, path in paths.items() if path is not None}

    def check(self, *, force: bool, never: Iterable[Path] = (), ours: Iterable[Path] = ()) -> None:
        """Refuse, before any work is done, what could not be written or would be lost.

        Files in `ours` were written by the same work before it was interrupted.
        """
        free = set(ours)
        inputs = {Path(os.path.realpath(path)) for path in never}
        seen: dict[Path, str] = {}
        for name, path in self.paths().items():
            place = Path(os.path.realpath(path))  # a link is kept, the file that it names written
            if place in inputs:
                raise InputError(f"--{name} {path} would overwrite the data; give another name.")
            if place in seen:
                raise InputError(
                    f"--{seen[place]} and --{name} both name {path}; give each a file of its own."
                )
            seen[place] = name
            try:
                _check(name, path, place, force=force or place in free)
            except OSError as error:
                raise InputError(
                    f"--{name} {path} cannot be written ({error.strerror}); give another name."
                ) from None

    def write(self, writers: Writers) -> tuple[list[Path], bool]:
        """Write every file; one that fails does not keep the others from being written.

        Returns
        -------
        written : list of Path
        well : bool
            Whether all files are on disk; those that are not are named on standard error.
        """
        written, well = [], True
        for name, path in self.paths().items():
            try:
                writers[name](path)
            except Exception as error:
                if name != "report" and not isinstance(error, OSError):
                    raise
                reason = (isinstance(error, OSError) and error.strerror) or str(error)
                complain(f"{path} could not be written: {reason or type(error).__name__}.")
                well = False
            else:
                written.append(path)
        return written, well


def writers_of(selection: Selection, page: Callable[[], str]) -> Writers:
    """Writers of the files of every selection; `page` makes the report, when it is its turn."""

    def report(path: Path) -> None:
        text = page()
        with writing(path) as file:
            file.write(text)

    return {
        "table": selection.to_csv,
        "json": selection.to_json,
        "tally": selection.tally.save,
        "report": report,
    }


def _check(name: str, path: Path, place: Path, *, force: bool) -> None:
    if name == "maps":  # a folder
        if path.is_dir() and any(path.iterdir()) and not force:
            raise InputError(f"{path} holds files already; give another folder, or --force.")
        if path.exists() and not path.is_dir():
            raise InputError(f"--maps {path} is a file; give the name of a folder.")
    elif path.is_dir():
        raise InputError(f"--{name} {path} is a folder; give the name of a file.")
    if path.is_char_device() or path.is_fifo():
        return  # written into; nothing is lost
    if name != "maps" and path.exists() and not path.is_file():
        raise InputError(f"--{name} {path} is a device; give the name of a file.")
    if name != "maps" and os.path.lexists(path) and not force:
        raise InputError(f"{path} exists already; give another name, or --force.")
    if not place.parent.is_dir():
        raise InputError(f"There is no folder {place.parent} for --{name}; create it first.")
    if not os.access(place.parent, os.W_OK):
        raise InputError(
            f"The folder {place.parent} may not be written to; give another place for --{name}."
        )
    if name == "plot" and path.suffix.lower() not in PICTURES:
        raise InputError(
            f"--plot {path} is no picture; give a name that ends in {', '.join(PICTURES)}."
        )
