"""Calls of the command line: exit 0, or exit 2 with one sentence and no traceback."""

from __future__ import annotations

import os
import select
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.damage import damage_file, damage_folder
from fuzz.inputs import NAMES, Rng, pick
from fuzz.library import small_forest
from fuzz.outcomes import REFUSED, RESULT, Say, check
from fuzz.tables import CELLS
from nullforest.cli import main

_TEXT = b"not\xff a table\n"
_NUMBERS = ["1", "3", "20"]
_ODD = [
    *("0", "-1", "nan", "inf", "-inf", "1e400", "4294967296", "4294967297", "9" * 30, "1.5", "x"),
    *("", " ", "\x1b[31m", "ü", "--", "-", "a" * 300, "None", "true"),
]
_ERROR, _TASK = ["fdr", "fpr", "fdr_by", "fwer"], ["auto", "classification", "regression"]
_SIZES = ["--n-samples", "20", "--n-features", "30", "--n-relevant", "2"]
_METHODS = ["janitza", "paper,bagged", "boruta", "probes", "nobody", ""]
#: Plausible values of each option; None is a flag.
_FOREST: dict[str, list[str] | None] = {
    "--candidates": _NUMBERS,
    "--draw": ["node", "tree"],
    "--samples": ["0.5", "1", "0.01"],
    "--min-leaf": _NUMBERS,
    "--max-depth": _NUMBERS,
    "--seed": ["0", "5", "18446744073709551615"],
    "--jobs": ["1", "2", "-1", "100000"],
    "--replace": None,
    "--cluster": ["tls://127.0.0.1:1", "text"],
}
_GROWING = {name: _FOREST[name] for name in ("--candidates", "--draw", "--seed", "--jobs")} | {
    "--cluster": _FOREST["--cluster"],
    "--set": [
        *("samples=0.5", "samples=1", "min_leaf=3", "max_depth=none", "replace=true", "bins=8"),
        *("first_tree=20", "shadows=2", "probes=0", "class_weight=balanced", "save_every=0"),
        *("min_gain=nan", "pool=x", "nothing=1", "bins=", "=", "save_every=x", "class_weight=1"),
    ],
}
_DATA: dict[str, list[str] | None] = {
    "--ids": ["f0", "f1", "nobody"],
    "--drop": ["f0", "f1", "target", "nobody"],
    "--task": _TASK,
    "--transpose": None,
    "--decimal": [".", ","],
}
_LEVEL: dict[str, list[str] | None] = {"--alpha": ["0.05", "1e-9", "0.9"], "--error": _ERROR}
_NULL: dict[str, list[str] | None] = {"--null": ["auto", "probes", "bagged", "paper"]}
_QUIET: dict[str, list[str] | None] = {"--quiet": None, "--force": None, "--help": None}
_OUT = [
    "out",
    *["out.csv"] * 9,
    "text",
    "folder",
    "folder/out",
    "none/out",
    "link",
    "pipe",
    "pipe",
    "table.csv",
]
_OUTPUTS: dict[str, list[str] | None] = {"--table": _OUT, "--json": _OUT}
_OUTPUTS |= {"--report": [*_OUT, "out.html"], "--tally": _OUT}

#: Options of each command, and how many of its calls there are.
COMMANDS: dict[str, tuple[int, dict[str, list[str] | None]]] = {
    "select": (
        12,
        {**_DATA, **_LEVEL, **_NULL, **_GROWING, **_OUTPUTS, **_QUIET, "--resume": ["run"]},
    ),
    "resume": (3, {"--jobs": ["1"], "--quiet": None, "--force": None}),
    "merge": (3, {**_LEVEL, **_NULL, **_OUTPUTS, **_QUIET}),
    "plan": (
        2,
        {**_LEVEL, **_NULL, **_QUIET, "--table": _OUT, "--json": _OUT, "--jobs": ["1"]}
        | {"--runs": ["1", "2"]},
    ),
    "simulate": (
        2,
        {"--samples": ["4", "20"], "--features": ["3", "10"], "--relevant": ["1", "2"]}
        | {
            "--relevance": ["0.5", "1", "5"],
            "--seed": ["0"],
            "--maps": ["text"],
            "--mesh": ["text"],
        }
        | {"--region": ["3"], **_QUIET},
    ),
    "audit": (
        2,
        {**_DATA, **_FOREST, "--alphas": ["0.05", "0.05,0.01", ""], "--blocks": ["f0", "nobody"]}
        | {"--nulls": ["paper", "bagged,paper"], "--max-seconds": ["0", "1e300"], **_QUIET}
        | {"--plot": ["out.png", "out.foo", "folder"], "--table": _OUT, "--json": _OUT},
    ),
    "compare": (
        1,
        {**_DATA, **_LEVEL, **_FOREST, "--methods": _METHODS, "--rounds": _NUMBERS, **_QUIET}
        | {"--relevant": ["text", "folder", "f0"], "--table": _OUT, "--json": _OUT},
    ),
}


def _prepared(rng: Rng, folder: Path) -> str:
    """Fill the folder with tables, tallies and things in the way of outputs; the table's name."""
    X = rng.normal(size=(16, 6))
    cells = [[f"{x:.4g}" for x in row] for row in X]
    names = [f"f{i}" for i in range(6)]
    if rng.random() < 0.15:
        for _ in range(3):
            pick(rng, cells)[int(rng.integers(6))] = pick(rng, CELLS)
        names[2] = pick(rng, NAMES)
    rows = [["target", *names], *([str(i % 2), *row] for i, row in enumerate(cells))]
    text = "\n".join(",".join(row) for row in rows) + "\n"
    (folder / "table.csv").write_text(text, "utf-8", "surrogatepass")
    np.savez(folder / "table.npz", X=X, target=np.arange(16) % 2)
    (folder / "bad.csv").write_text(text, "utf-8", "surrogatepass")
    damage_file(folder / "bad.csv", rng)
    small_forest(0).tally.save(folder / "good.tally")
    small_forest(0).tally.save(folder / "bad.tally")
    damage_file(folder / "bad.tally", rng)
    (folder / "text").write_bytes(_TEXT)
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    return pick(
        rng, ["table.csv"] * 20 + ["table.npz", "bad.csv", "text", "none.csv", "folder", ""]
    )


def _words(rng: Rng, command: str, table: str) -> list[str]:
    options = COMMANDS[command][1]
    words: list[str] = []
    for name in rng.permutation(list(options))[: rng.integers(0, 5)].tolist():
        values = options[name]
        # An odd name of a file would be written to; those of _OUT are odd enough.
        odd = rng.random() < 0.15 and values is not None and values[:1] != ["out"]
        odd = odd and name not in ("--report", "--plot", "--resume", "--out")
        words += [name] if values is None else [name, pick(rng, _ODD if odd else values)]
    trees = ["--trees", pick(rng, ["1", "5", "30"])]
    aim = ["--target", pick(rng, ["target"] * 30 + ["y", "f0", "nobody", "", "x" * 300])]
    match command:
        case "select" | "audit" | "compare":
            words = [command, table, *aim, *trees, *words]
            if command == "audit":
                words += ["--permutations", "2"]
            if command == "compare":
                words += ["--permutations", "3"]
        case "resume":
            words = ["select", "--resume", "run", *words]
        case "merge":
            found = ["good.tally", "bad.tally", "text", "none.tally", "folder", "other.tally"]
            words = ["merge", *(pick(rng, found) for _ in range(rng.integers(0, 4))), *words]
        case "plan":
            words = ["plan", *_SIZES, *trees, "--runs", "1", *words]
        case "simulate":
            kind = pick(rng, ["independent"] * 5 + ["cortical", "nobody"])
            out = pick(
                rng, ["out.csv", "out.csv", "out.npz", "out.parquet", "out.foo", "folder", ""]
            )
            words = ["simulate", kind, out, *words]
    if rng.random() < 0.03:
        words.insert(int(rng.integers(len(words) + 1)), pick(rng, _ODD))
    return words


def command_line(rng: Rng, folder: Path, say: Say) -> str:
    """Every command with plausible and odd options, on good and bad files."""
    table = _prepared(rng, folder)
    command = pick(rng, [name for name, (times, _) in COMMANDS.items() for _ in range(times)])
    words = _words(rng, command, table)
    back = Path.cwd()
    os.chdir(folder)
    try:
        if command == "resume":
            begin = ["select", "table.csv", "--target", "target", "--trees", "9", "--resume", "run"]
            begun = _run([*begin, "--table", "begun.csv", "-q"])[0]
            what = damage_folder(folder / "run", rng, folder) if begun == 0 else "not begun"
            whole = (folder / "begun.csv").read_bytes() if begun == 0 else b""
            say(f"nullforest {' '.join(map(repr, words))} (run: {what})")
        else:
            say(f"nullforest {' '.join(map(repr, words))} ({(folder / table).name})")
        with _drained(folder / "pipe"):
            status, out, err = (_run_apart if rng.random() < 0.01 else _run)(words)
        _check_ending(status, out, err, folder, "--force" in words)
        if command == "resume" and status == 0 and "--help" not in words:
            check((folder / "begun.csv").read_bytes() == whole, "the resumed run has another table")
    finally:
        os.chdir(back)
    return RESULT if status == 0 else REFUSED


@contextmanager
def _drained(pipe: Path) -> Iterator[None]:
    """Read what is written into a pipe, so that its writer does not wait."""
    handle, ended = os.open(pipe, os.O_RDWR | os.O_NONBLOCK), threading.Event()

    def drain() -> None:
        while not ended.is_set():
            if select.select([handle], [], [], 0.05)[0]:
                os.read(handle, 1 << 16)

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        yield
    finally:
        ended.set()
        reader.join()
        os.close(handle)


def _run(words: list[str]) -> tuple[Any, str, str]:
    """The command in this process: exit status and what it printed."""
    out, err, before = StringIO(), StringIO(), sys.argv
    sys.argv = ["nullforest", *words]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as ending:
        return ending.code or 0, out.getvalue(), err.getvalue()
    finally:
        sys.argv = before
    return 0, out.getvalue(), err.getvalue()


def _run_apart(words: list[str]) -> tuple[Any, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "nullforest", *words],
        capture_output=True,
        text=True,
        errors="backslashreplace",
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


def _check_ending(status: Any, out: str, err: str, folder: Path, forced: bool) -> None:
    check(status in (0, 2), f"exit {status}: {err[-300:]!r}")
    check("Traceback" not in out + err, f"a traceback: {err[-300:]!r}")
    check("Warning:" not in err, f"a warning of Python: {err[-300:]!r}")
    check("\x1b[31m" not in out + err, "an escape sequence from the data was printed")
    if status == 2 and "Usage:" not in err:
        told = [line for line in err.splitlines() if line.startswith("Error: ")]
        check(len(told) == 1, f"{len(told)} sentences: {err[-300:]!r}")
        check(err.rstrip().splitlines()[-1] == told[0], f"more after the sentence: {err[-300:]!r}")
    check(stat.S_ISFIFO((folder / "pipe").stat().st_mode), "a pipe was replaced by a file")
    check((folder / "folder").is_dir(), "a folder was replaced")
    if not forced:
        check(not (folder / "nowhere").exists(), "a dangling link was followed")
        check((folder / "text").read_bytes() == _TEXT, "a file was replaced without --force")
    check((folder / "link").is_symlink(), "a link was replaced")
