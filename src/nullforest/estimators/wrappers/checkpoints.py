"""How does a long run survive an interruption? Its finished steps, in a file written by rename."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest._util.files import writing

_FORMAT = "nullforest steps 1"


class Checkpoint:
    """The finished steps of a run, each a dictionary of plain numbers, lists and strings.

    Parameters
    ----------
    path : path or None
        Where the steps are kept; None keeps them in memory only. A file of the same run is gone
        on from; one of another run, or any other file, is refused.
    key : str
        Hash of the data and the settings; see `run_key`.
    seed : int
        Seed of the run. The file's own seed wins, so that a run that drew it at random can be
        gone on from.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "steps.json"
    >>> Checkpoint(path, "key", 3).add({"found": [1, 2]})
    >>> again = Checkpoint(path, "key", 5)
    >>> again.seed, again.steps
    (3, [{'found': [1, 2]}])
    """

    def __init__(self, path: Any, key: str, seed: int) -> None:
        self.path = None if path is None else Path(path)
        self.key = key
        self.seed = seed
        self.steps: list[dict[str, Any]] = []
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise InputError(
                f"resume={str(path)!r}: there is no folder {str(self.path.parent)!r}; make it "
                "first."
            )
        if self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            ours = isinstance(known, dict) and known.get("format") == _FORMAT
        except (OSError, UnicodeDecodeError, json.JSONDecodeError):
            ours = False
        if not ours:
            raise InputError(f"resume={str(path)!r} is no file of finished steps; name a new file.")
        if known["key"] != self.key:
            raise InputError(
                f"resume={str(path)!r} holds a run on other data or with other settings; name "
                "another file, or remove it."
            )
        self.seed, self.steps = int(known["seed"]), list(known["steps"])

    def add(self, step: dict[str, Any]) -> None:
        """Keep one more finished step."""
        self.steps.append(step)
        if self.path is not None:
            content = {"format": _FORMAT, "key": self.key, "seed": self.seed, "steps": self.steps}
            with writing(self.path) as file:
                json.dump(content, file)


def run_key(X: Any, y: Any, settings: dict[str, Any]) -> str:
    """Hash of the data and of the settings that decide the result.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(3), np.arange(3)
    >>> run_key(X, y, {"alpha": 0.05}) == run_key(X.copy(), y, {"alpha": 0.05})
    True
    >>> run_key(X, y, {"alpha": 0.05}) == run_key(X, y, {"alpha": 0.01})
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    if hasattr(X, "tocsc"):
        columns = X.tocsc()
        parts = [columns.data, columns.indices, columns.indptr]
    else:
        parts = [X]
    for part in [*parts, np.asarray(y)]:
        array = np.ascontiguousarray(part)
        digest.update(f"{array.shape}{array.dtype}".encode())
        digest.update(str(array.tolist()).encode() if array.dtype.kind == "O" else array.data)
    # A function shows its address, which is another one in every process.
    words = re.sub(r" at 0x[0-9a-f]+", "", repr(sorted(settings.items(), key=lambda kv: kv[0])))
    digest.update(words.encode())
    return digest.hexdigest()
