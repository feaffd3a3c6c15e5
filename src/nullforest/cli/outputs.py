"""Where do results go? Checked before the work, written whole after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from nullforest._util.errors import InputError
from nullforest._util.files import writing
from nullforest.cli.endings import complain

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


@dataclass(frozen=True)
class Outputs:
    """Files that a selection is to be written to; None for those not asked for."""

    table: Path | None = None
    json: Path | None = None
    tally: Path | None = None
    report: Path | None = None
    plot: Path | None = None

    def paths(self) -> dict[str, Path]:
        """The files asked for, by their option."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: path for name, path in given.items() if path is not None}

    def check(self, *, force: bool, never: Iterable[Path] = (), ours: Iterable[Path] = ()) -> None:
        """Refuse, before any work is done, what could not be written or would be lost.

        Files in `ours` were written by the same work before it was interrupted.
        """
        mine = set(ours)
        kept = {path.resolve() for path in never}
        seen: dict[Path, str] = {}
        for name, path in self.paths().items():
            place = path.resolve()
            if place in kept:
                raise InputError(f"--{name} {path} would overwrite the data; give another name.")
            if place in seen:
                raise InputError(
                    f"--{seen[place]} and --{name} both name {path}; give each a file of its own."
                )
            seen[place] = name
            if path.is_dir():
                raise InputError(f"--{name} {path} is a folder; give the name of a file.")
            if path.exists() and not force and place not in mine:
                raise InputError(f"{path} exists already; give another name, or --force.")
            if not path.parent.is_dir():
                raise InputError(f"There is no folder {path.parent} for --{name}; create it first.")
            if not os.access(path.parent, os.W_OK):
                raise InputError(
                    f"The folder {path.parent} may not be written to; give another place for "
                    f"--{name}."
                )

    def write(self, selection: Selection, page: Callable[[], str]) -> tuple[list[Path], bool]:
        """Write every file; one that fails does not keep the others from being written.

        Parameters
        ----------
        selection : Selection
        page : callable
            Makes the report, when it is its turn.

        Returns
        -------
        written : list of Path
        well : bool
            Whether the answer is on disk wherever it was asked for; what is not is said on
            standard error. A report that fails is said too, but the selection stands without it.
        """
        written, well = [], True
        for name, path in self.paths().items():
            try:
                _write(name, path, selection, page)
            except Exception as error:
                if name != "report" and not isinstance(error, OSError):
                    raise
                reason = (isinstance(error, OSError) and error.strerror) or str(error)
                complain(f"{path} could not be written: {reason or type(error).__name__}.")
                well &= name == "report"
            else:
                written.append(path)
        return written, well


def _write(name: str, path: Path, selection: Selection, page: Callable[[], str]) -> None:
    match name:
        case "table":
            selection.to_csv(path)
        case "json":
            selection.to_json(path)
        case "tally":
            selection.tally.save(path)
        case "report":
            text = page()
            with writing(path) as file:
                file.write(text)


def write_each(
    outputs: Outputs, writers: Mapping[str, Callable[[Path], object]]
) -> tuple[list[Path], bool]:
    """Write each file asked for by its own writer; which were written, and whether all were."""
    written, well = [], True
    for name, path in outputs.paths().items():
        try:
            writers[name](path)
        except OSError as error:
            complain(f"{path} could not be written: {error.strerror or error}.")
            well = False
        else:
            written.append(path)
    return written, well


def make_folder(path: Path) -> None:
    """Create a folder for results where there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {path} cannot be made ({error.strerror}); give another name."
        ) from None
