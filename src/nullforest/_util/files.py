"""Files that appear whole or not at all, locks, and temporary folders that are always removed."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import threading
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from nullforest._util.errors import InputError, MissingExtraError, reason_of


def as_path(name: Any) -> Path:
    """The path that a caller named; what cannot be one is refused.

    Examples
    --------
    >>> as_path("table.csv").suffix
    '.csv'
    """
    with suppress(TypeError):
        if "\0" not in str(path := Path(name)):
            return path
    raise InputError(f"There can be no file or folder {name!r:.60}; give a path.")


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError:  # Python's name for a circle of links, until 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


@contextmanager
def reading(path: Path, form: str = "") -> Iterator[None]:
    """Turn whatever libraries raise over a file into a sentence; `form` is what it is read as."""
    try:
        yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check the path.") from None
    except PermissionError:
        raise InputError(f"{path} may not be read; change its permissions.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not a table of text in UTF-8 or UTF-16; if it is text, save it as UTF-8."
        ) from None
    except Exception as error:  # damaged bytes raise anything in zip, zlib, numpy and pyarrow
        raise InputError(
            f"{path} cannot be read{form and ' as '}{form} ({reason_of(error)}); it is damaged, "
            "truncated, or another kind of file."
        ) from None


@contextmanager
def writing(path: Any, *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file beside `path` for writing and rename it to `path` when all went well.

    A file that is replaced keeps its mode and owner, and a link keeps naming it. Devices and pipes
    are written into, not replaced.
    """
    path = _resolved(as_path(path))
    how: dict[str, Any] = {"mode": "wb"} if binary else {"mode": "w", "encoding": "utf-8"}
    old = path.stat() if path.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with path.open(**how) as file:  # a folder is refused here, by the system
            yield file
        return
    partial = path.with_name(f"{_partial_prefix(path)}{secrets.token_hex(4)}.part")
    # The mode of a new file is cut by the umask of the process, which the kernel alone knows.
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if old else 0o666)
    try:
        with os.fdopen(handle, **how) as file:
            if old is not None:
                with suppress(PermissionError):  # only root gives files away
                    os.fchown(handle, old.st_uid, old.st_gid)
                os.fchmod(handle, stat.S_IMODE(old.st_mode))
            yield file
            file.flush()
            os.fsync(handle)  # the rename must not reach the disk before the content
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def writing_beside(path: Any) -> Iterator[Path]:
    """Path of a file beside `path`, for libraries that open their files themselves.

    It has the same ending, is renamed to `path` when all went well, and is removed otherwise.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "map.nii.gz"
    >>> with writing_beside(path) as partial:
    ...     _ = partial.write_text("whole")
    >>> partial.name.endswith(".part.nii.gz"), path.read_text()
    (True, 'whole')
    """
    path = _resolved(as_path(path))
    ending = "".join(path.suffixes[-2:])
    partial = path.with_name(f"{_partial_prefix(path)}{secrets.token_hex(4)}.part{ending}")
    try:
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())  # the rename must not reach the disk before the content
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def remove_partial(path: Path) -> None:
    """Remove what killed processes left of a file that only they wrote."""
    name = re.compile(re.escape(_partial_prefix(path)) + r"[0-9a-f]{8}\.part(\..*)?")
    for other in path.parent.iterdir() if path.parent.is_dir() else ():
        if name.fullmatch(other.name) and not other.is_symlink():
            other.unlink(missing_ok=True)


def _partial_prefix(path: Path) -> str:
    """The beginning of the names of unfinished copies; short, since names are limited."""
    return f".nullforest-{hashlib.blake2b(os.fsencode(path.name), digest_size=8).hexdigest()}-"


def write_sealed(path: Path, content: dict[str, Any]) -> None:
    """Write JSON with its checksum; see :func:`read_sealed`."""
    with writing(path) as file:
        json.dump({**content, "check": _check(content)}, file, indent=1)


def read_sealed(path: Path, form: str, what: str) -> dict[str, Any] | None:
    """The JSON in a file whose "format" is `form`; None where there is no file.

    A file that is damaged or foreign "does not describe `what`".
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        if content.pop("check") == _check(content) and content["format"] == form:
            return dict(content)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); give another folder."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(
        f"{path} is damaged, or does not describe {what} of this version of nullforest; give "
        "another folder."
    )


def _check(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


@contextmanager
def locked(folder: Path, use: str) -> Iterator[None]:
    """Hold a folder, which is made where it is missing, against other processes.

    Parameters
    ----------
    folder : Path
        The lock is the file `.lock` in it; it ends with the process, however that ends.
    use : str
        What the folder is for, to complete "cannot be used for ...".
    """
    # A link that somebody else made must not lead to another file.
    how = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", how, 0o666)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be used for {use} ({error.strerror}); give another folder."
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"Another process is using {folder} for {use}; wait for it to end, or give "
                "another folder."
            ) from None
        yield
    finally:
        os.close(handle)


def temporary_folder(owner: object) -> Path:
    """Make a folder that is removed with its owner, or when the process ends, by SIGTERM too."""
    folder = Path(tempfile.mkdtemp(prefix="nullforest-"))
    weakref.finalize(owner, _remove, folder, os.getpid())
    # Without a handler SIGTERM ends a process at once; a handler of the program's own stays.
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    ):
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    return folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child leaves its parent's folders alone
        shutil.rmtree(folder, ignore_errors=True)
