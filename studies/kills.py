"""Resumable runs under SIGKILL, SIGTERM and full disks at random moments.

Each trial begins `nullforest select --resume`, disturbs it at a random moment of its life
(start-up, growing, saving, writing of the results and the report), resumes it with the bare
`nullforest select --resume FOLDER` and compares the bytes of every result with those of an
undisturbed run. Results: studies/results/kills.csv.

    python -m studies.kills [--trials 100] [--kills 1] [--seed 0]
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

import nullforest as nf
from nullforest.run.checkpoints import Checkpoint
from nullforest.run.forest_checkpoint import KIND
from studies.markdown import filled
from studies.records import RESULTS, with_progress

SAMPLES, FEATURES = 120, 1500
OUTPUTS = ("table.csv", "out.json", "sum.tally", "report.html")
HOW = ("SIGKILL", "SIGTERM", "full disk")
#: Megabytes of the disk that gets full; a trial needs about 10.
DISK = 64


def write_table(path: Path) -> None:
    """Write noise, two relevant columns, and the target `y`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    y = X[:, 3] + X[:, 11] + 0.3 * rng.normal(size=SAMPLES) > 0
    names = np.array([f"gene{i}" for i in range(FEATURES)])
    np.savez(path, X=X, y=y.astype(int), feature_names=names)


def command(data: Path, folder: Path, trees: int) -> list[str]:
    """The whole command that begins a run in `folder / "run"`, its results beside it."""
    words = [sys.executable, "-m", "nullforest", "select", data, "--target", "y", "--quiet"]
    words += ["--trees", trees, "--candidates", 200, "--jobs", 1, "--seed", 7, "--error", "fdr"]
    words += ["--resume", "run", "--set", "save_every=0.05", "--table", "table.csv"]
    words += ["--json", "out.json", "--tally", "sum.tally", "--report", "report.html"]
    return [str(word) for word in words]


def resuming() -> list[str]:
    """The bare command that resumes a run."""
    words = ["-m", "nullforest", "select", "--resume", "run", "--jobs", "1"]
    return [sys.executable, *words, "--quiet"]


def finished(words: list[str], folder: Path) -> float:
    """Run a command to its end; the seconds it took."""
    start = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return time.monotonic() - start


def disturbed(words: list[str], folder: Path, how: str, seconds: float) -> bool:
    """Disturb a command after so many seconds; False if it had ended by itself."""
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            process.communicate(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            pass
        if how != "full disk":
            process.send_signal(signal.Signals[how])
            process.communicate()
            return True
        if folder.is_mount():
            _fill(folder / "ballast")
        else:  # no file of the process can grow any more
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, 0))
        said = process.communicate()[1]
        (folder / "ballast").unlink(missing_ok=True)
        if process.returncode not in (0, 2) or "Traceback" in said:
            raise SystemExit(f"A full disk ended a run with {process.returncode}: {said}")
        return process.returncode == 2


def _fill(path: Path) -> None:
    """Write zeros until the disk is full."""
    with path.open("wb", buffering=0) as file:
        for size in (2**20, 2**12):  # large pieces, then what is left
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


@contextmanager
def disk(folder: Path) -> Iterator[None]:
    """Make a folder a small disk of its own, where this user may."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "nullforest-kills", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False)
    try:
        yield
    finally:
        if mounted and mounted.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


def results(folder: Path) -> dict[str, bytes]:
    """The bytes of everything that a run wrote, apart from the time it took."""
    found = {name: (folder / name).read_bytes() for name in OUTPUTS}
    answer = json.loads(found["out.json"])
    answer.pop("seconds")
    found["out.json"] = json.dumps(answer).encode()
    found["report.html"] = re.sub(rb"seconds</th><td>[^<]*", b"", found["report.html"])
    return found


def trial(data: Path, folder: Path, trees: int, how: str, moments: list[float]) -> tuple[int, int]:
    """Disturb a run at these seconds of its lives and finish it; hits, and trees kept then."""
    hits = kept = 0
    for moment in moments:
        if not disturbed(_next(data, folder, trees), folder, how, moment):
            break
        hits += 1
        kept = _trees_in(folder / "run")
    if not _is_finished(folder):
        finished(_next(data, folder, trees), folder)
    return hits, kept


def _next(data: Path, folder: Path, trees: int) -> list[str]:
    """The command that begins or resumes a run."""
    begun = (folder / "run" / "command").exists()
    return resuming() if begun else command(data, folder, trees)


def _is_finished(folder: Path) -> bool:
    """Whether all results are written, and the run has noted it."""
    checkpoint = Checkpoint.open(folder / "run", KIND)
    noted = None if checkpoint is None else checkpoint.read("command")
    whole = all((folder / name).exists() for name in OUTPUTS)
    return whole and noted is not None and not noted.content["ours"]


def _trees_in(run: Path) -> int:
    """Trees that are safe on disk."""
    return max((nf.Tally.load(path).n_trees for path in run.glob("*.tally")), default=0)


def main() -> None:
    """Run the trials and keep their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--kills", type=int, default=1, help="disturbances of each run")
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        data, whole = Path(place) / "data.npz", Path(place) / "whole"
        write_table(data)
        whole.mkdir()
        seconds = finished(command(data, whole, given.trees), whole)
        expected = results(whole)
        for number in with_progress(range(given.trials), "Disturbed runs"):
            how, hits = HOW[number % len(HOW)], 0
            # Half of the moments fall into the last third, in which most files are written.
            first = 0.0 if number % 2 else 2 / 3
            while hits < given.kills:  # a run that ended before its moment is no trial
                folder, start = Path(tempfile.mkdtemp(dir=place)), time.monotonic()
                moments = (seconds * rng.uniform(first, 1, given.kills)).tolist()
                with disk(folder):
                    hits, kept = trial(data, folder, given.trees, how, moments)
                    equal = results(folder) == expected
                if not hits:
                    seconds = min(seconds, time.monotonic() - start)
            rows.append(
                {
                    "trial": number,
                    "how": how,
                    "after_seconds": " ".join(f"{m:.2f}" for m in moments),
                    "of_seconds": round(seconds, 2),
                    "trees_kept": kept,
                    "of_trees": given.trees,
                    "equal": equal,
                    "seed": given.seed,
                    "version": nf.__version__,
                }
            )
    frame = pd.DataFrame(rows)
    frame.to_csv(RESULTS / "kills.csv", index=False)
    print(sentence(frame))
    page = Path(__file__).parents[1] / "docs" / "large.md"
    page.write_text(filled(page.read_text("utf-8"), {"kills": sentence(frame)}), "utf-8")
    if not frame["equal"].all():
        raise SystemExit(1)


def sentence(frame: pd.DataFrame) -> str:
    """What docs/large.md says of the runs."""
    numbers = ", ".join(f"{count} by {how}" for how, count in frame["how"].value_counts().items())
    return (
        f"{len(frame)} runs were disturbed ({numbers}), with {frame['trees_kept'].min()} to "
        f"{frame['trees_kept'].max()} of {frame['of_trees'].iloc[0]} trees on disk; "
        f"{int(frame['equal'].sum())} of them ended with the same bytes."
    )


if __name__ == "__main__":
    main()
