"""Does a resumable run survive a kill at any moment? SIGKILL at random, then on to the end.

Each trial begins `nullforest select --resume`, kills it at a random moment of its life (start-up,
growing, saving, writing), goes on with the bare `nullforest select --resume FOLDER` and compares
every result with those of a run that nobody disturbed. Results: studies/results/kills.csv.

    python -m studies.kills [--trials 20] [--kills 1] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nullforest as nf

SAMPLES, FEATURES = 120, 1500
OUTPUTS = ("table.csv", "out.json", "sum.tally")


def write_table(path: Path) -> None:
    """Noise, two columns that matter, and the target `y`."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, FEATURES)).astype(np.float32)
    y = X[:, 3] + X[:, 11] + 0.3 * rng.normal(size=SAMPLES) > 0
    names = np.array([f"gene{i}" for i in range(FEATURES)])
    np.savez(path, X=X, y=y.astype(int), feature_names=names)


def command(data: Path, folder: Path, trees: int, *, report: bool = False) -> list[str]:
    """The whole command that begins a run in `folder / "run"`, its results beside it."""
    words = [sys.executable, "-m", "nullforest", "select", data, "--target", "y", "--quiet"]
    words += ["--trees", trees, "--candidates", 200, "--jobs", 1, "--seed", 7, "--error", "fdr"]
    words += ["--resume", folder / "run", "--save-every", 0.05]
    words += ["--table", folder / "table.csv", "--json", folder / "out.json"]
    words += ["--tally", folder / "sum.tally"]
    words += ["--report", folder / "report.html"] if report else []
    return [str(word) for word in words]


def going_on(folder: Path) -> list[str]:
    """The bare command that goes on with a run."""
    run = str(folder / "run")
    words = ["-m", "nullforest", "select", "--resume", run, "--save-every", "0.05", "--jobs", "1"]
    return [sys.executable, *words, "--quiet"]


def finished(words: list[str]) -> float:
    """Run a command to its end; the seconds it took."""
    start = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return time.monotonic() - start


def killed_after(words: list[str], seconds: float) -> bool:
    """Kill a command after so many seconds; False if it had ended by itself."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def results(folder: Path) -> dict[str, Any]:
    """Everything a run wrote, apart from the time it took."""
    answer = json.loads((folder / "out.json").read_text())
    answer.pop("seconds")
    tally = nf.Tally.load(folder / "sum.tally")
    return {"table": (folder / "table.csv").read_bytes(), "json": answer, "tally": tally}


def trial(
    data: Path, folder: Path, trees: int, moments: list[float], *, report: bool = False
) -> tuple[int, int]:
    """Kill a run at these seconds of its lives and finish it; kills that hit, trees kept then."""
    hits = kept = 0
    for moment in moments:
        begun = (folder / "run" / "run.json").exists()
        words = going_on(folder) if begun else command(data, folder, trees, report=report)
        if not killed_after(words, moment):
            break
        hits += 1
        kept = _trees_in(folder / "run")
    if not _is_finished(folder):
        begun = (folder / "run" / "run.json").exists()
        finished(going_on(folder) if begun else command(data, folder, trees, report=report))
    return hits, kept


def _trees_in(run: Path) -> int:
    """Trees that are safe on disk."""
    return max((nf.Tally.load(path).n_trees for path in run.glob("*.tally")), default=0)


def _is_finished(folder: Path) -> bool:
    path = folder / "run" / "run.json"
    return path.exists() and json.loads(path.read_text())["finished"]


def main() -> None:
    """Run the trials and keep what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--kills", type=int, default=1, help="kills of each run")
    parser.add_argument("--trees", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        data, whole = Path(place) / "data.npz", Path(place) / "whole"
        write_table(data)
        whole.mkdir()
        seconds = finished(command(data, whole, asked.trees))
        expected = results(whole)
        for number in range(asked.trials):
            folder = Path(place) / f"trial{number}"
            folder.mkdir()
            moments = rng.uniform(0, seconds, asked.kills).tolist()
            hits, kept = trial(data, folder, asked.trees, moments)
            equal = results(folder) == expected
            rows.append(
                {
                    "trial": number,
                    "killed_after": " ".join(f"{m:.2f}" for m in moments[:hits]),
                    "of_seconds": round(seconds, 2),
                    "trees_kept": kept,
                    "of_trees": asked.trees,
                    "equal": equal,
                    "seed": asked.seed,
                    "version": nf.__version__,
                }
            )
            print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    path = Path(__file__).parent / "results" / "kills.csv"
    frame.to_csv(path, index=False)
    print(f"{int(frame['equal'].sum())} of {len(frame)} runs equal the undisturbed one")
    if not frame["equal"].all():
        raise SystemExit(1)


if __name__ == "__main__":
    main()
