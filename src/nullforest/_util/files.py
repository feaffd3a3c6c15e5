"""How does a file appear? Whole, by rename, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def writing(path: Any, *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` for writing and rename it to `path` when all went well.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> with writing(path) as file:
    ...     _ = file.write("whole")
    >>> path.read_text()
    'whole'
    """
    path = Path(path)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        # mkstemp is private to the user; a result is as readable as any other new file.
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(handle, 0o666 & ~umask)
        with os.fdopen(
            handle, "wb" if binary else "w", encoding=None if binary else "utf-8"
        ) as file:
            yield file
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
