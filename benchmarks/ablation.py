"""Processor time of forests with one special search of the kernels after the other switched off.

    python benchmarks/ablation.py [--data FOLDER] [--repeats 5] [--searches planes stairs]
                                  [--works D golub]

The kernels themselves have no switches. The sources are copied to build/ablation, a condition is
written into the copy where each search is chosen, and the copy is built. The same forests are then
grown with and without each search, in turn and in one process; they must be the same to the last
bit. Times are processor times of two threads, the best of several, without reading and ranking the
data, but with the virtual probes of the defaults, which most searches have no share in. FOLDER
holds golub.npz, singh.npz, madelon.npz and riboflavin.npz (X, y). Writes
benchmarks/results/ablation.csv: the time without a search divided by the time with it. Rows of
searches and works that were not measured stay, so that the file also tells what was removed for its
small gain.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "ablation"
RESULTS = Path(__file__).parent / "results" / "ablation.csv"
NATIVE = "src/nullforest/forest/native"
VARIABLE, ISA = "NULLFOREST_WITHOUT", "NULLFOREST_ISA"
THREADS = 2

WALK, SWEEP = "kernels/walk.hpp", "kernels/sweep.hpp"
STEPS = "kernels/step_search.hpp"
CHOICE, NODE, SORT = "kernels/searches.cpp", "kernels/scan_node.hpp", "kernels/key_sort.hpp"
MAY_SCREEN = "for (std::uint32_t s = 0; s < task.n_samples && task.counts; ++s)\n            may"

#: Works by the kernel that grows them (native/kernels/searches.hpp).
WALKED = ("golub", "leukaemia", "A", "C", "1000")
SWEPT = ("madelon", "D", "E", "20 000 × 30", "2000", "4000", "4000, defaults")
SCANNED = ("riboflavin", "diabetes", "A, 3 classes", "A, numbers")
DRAWN = ("A, bootstrap", "A, 3 classes, bootstrap", "A, numbers, bootstrap")
RANKED = ("2000, numbers", "2000, 3 classes", "2000, bootstrap", "4000, numbers", "D, bootstrap")
CODED = ("1000, 3 levels", "2000, 3 levels", "2000, numbers, 3 levels", "20 000 × 30")

#: Works in which a search runs, and where it is chosen: a file, and a line of it that begins with
#: "if (", whose condition is then false; or any other line, and what stands there instead, where it
#: says "OFF" for the switch, else the statement that comes before it.
SEARCHES: dict[str, tuple[tuple[str, ...], list[tuple[str, ...]]]] = {
    "walk": (
        WALKED,
        [(CHOICE, "binary = ", "binary = !(OFF && table.by_order() && !table.codes()) && ")],
    ),
    "scores together": (WALKED, [(WALK, "if (task_.n >= kFewestTogether)")]),
    "one word": (
        WALKED,
        [(WALK, "if (task_.n <= 64) return search_word"), (WALK, "if (task_.n <= 64) {")],
    ),
    "counts of one byte": (
        WALKED,
        [(WALK, "if (task.n < 256)")],
    ),
    "sweep": (
        SWEPT,
        [(CHOICE, "binary = ", "binary = !(OFF && (!table.by_order() || table.codes())) && ")],
    ),
    "planes": (SWEPT, [(CHOICE, "if (settings.isa == Isa::avx512 && table.steps()")]),
    "level of ends": (SWEPT, [(STEPS, "if (!task_.screened) raise_level")]),
    "pairs of the sweep": (
        (*SWEPT, *CODED),
        [(SWEEP, f"if (task_.n <= {n}) return by_pairs") for n in (8, 16, "kTiny")],
    ),
    "codes": (
        CODED,
        [("table/rank_table.cpp", "if (n_samples() <= RankLayout::kFewSamples ||", "return;")],
    ),
    "codes of scores": (
        CODED,
        [("kernels/column_search.hpp", "return n >= fewest_", "return !OFF && n >= fewest_")],
    ),
    "scan": ((*SCANNED, *DRAWN), [(CHOICE, "if (scan_fits(")]),
    "scan by rank": (
        RANKED,
        [(CHOICE, "if (table.by_order() && settings.n", "if (!table.by_order()) return false;")],
    ),
    "real weights": (
        ("A, weights",),
        [(CHOICE, "const bool reals =", "if (weighting == Weighting::reals) return false;")],
    ),
    "ceiling": (
        (*SCANNED, *DRAWN),
        [
            (NODE, "constexpr std::uint32_t kMost = ScanTask::kMostCeiling;", "return;"),
            (NODE, "std::int64_t present[", "return;"),
        ],
    ),
    "ceiling of draws": (
        DRAWN,
        [(NODE, "constexpr std::uint32_t kMost = ScanTask::kMostC", "if (task.counts) return;")],
    ),
    "envelopes": ((*SCANNED, *DRAWN), [(NODE, MAY_SCREEN, "may_screen_ = task.by_rank;")]),
    "rank screen": (RANKED, [(NODE, MAY_SCREEN, "may_screen_ = !task.by_rank;")]),
    "stairs": (RANKED, [(CHOICE, "if (by_rank && weighting != Weighting::reals")]),
    "bucket sort": ((*SWEPT, *RANKED), [(SORT, "if (n <= 1024) return bucket_keys")]),
    "screened probes": (
        ("golub", "madelon", "riboflavin", "2000, numbers"),
        [("probes/scorer.cpp", "const auto screened = [&]", "return exact;")],
    ),
    "first candidates": (
        ("golub", "leukaemia", "madelon", "riboflavin", "A", "4000, defaults"),
        [
            (CHOICE, "kernel_(node_.task);", "node_.task.pool.first = nullptr;"),
            (CHOICE, "return task.found;", "split.first = nullptr;"),
        ],
    ),
}
#: Instruction sets: each against the next one.
SETS = ("avx512", "avx2", "portable")
MEASURED_SETS = ("golub", "A", "C", "A, numbers", "D", "2000", "2000, numbers", "E")
#: What a rank table keeps depends on these searches: they get tables of their own.
OF_TABLES = ("planes", "codes")

Data = tuple[Any, Any]


def simulated(S: int, F: int, classes: int = 2, levels: int = 0, share: float = 1.0) -> Data:
    """Null data: a share of the columns has few levels, if any; classes = 0 is a number."""
    rng = np.random.default_rng(S + F)
    X = rng.normal(size=(S, F)).astype(np.float32)
    if levels:
        X[:, : int(share * F)] = rng.integers(0, levels, (S, int(share * F)))
    return X, rng.permutation(np.arange(S) % classes) if classes else rng.normal(size=S)


def leukaemia() -> Data:
    """Gene expression in leukaemia, with the sex of the patients."""
    import nullforest as nf

    data = nf.datasets.load_leukemia_sex()
    return data.data, data.target


def real(name: str, folder: Path | None) -> Data:
    """A data set of the folder."""
    assert folder is not None
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        return file["X"], file["y"]


def works(folder: Path | None) -> dict[str, tuple[Callable[[], Data], dict[str, Any]]]:
    """Data and settings by name: the defaults with some of their trees, and works A to E."""
    trees = {"golub": 20_000, "singh": 20_000, "madelon": 200, "riboflavin": 12_000}
    found: dict[str, tuple[Callable[[], Data], dict[str, Any]]] = {
        name: (partial(real, name, folder), {"trees": n}) for name, n in trees.items() if folder
    }
    found["leukaemia"] = leukaemia, {"trees": 20_000}
    found["diabetes"] = partial(load_diabetes, return_X_y=True), {"trees": 1_000, "shadows": 199}
    deep = {"max_depth": None}
    A = {"trees": 50, "candidates": 250} | deep
    found |= {
        "A": (partial(simulated, 250, 5_000), {"trees": 300, "candidates": 250} | deep),
        "A, bootstrap": (partial(simulated, 250, 5_000), A | {"replace": True}),
        "A, weights": (
            partial(simulated, 250, 5_000),
            A | {"sample_weight": np.linspace(0.5, 1.5, 250)},
        ),
        "A, 3 classes": (partial(simulated, 250, 5_000, 3), A),
        "A, 3 classes, bootstrap": (partial(simulated, 250, 5_000, 3), A | {"replace": True}),
        "A, numbers": (partial(simulated, 250, 5_000, 0), A),
        "A, numbers, bootstrap": (partial(simulated, 250, 5_000, 0), A | {"replace": True}),
        "B": (partial(simulated, 100, 10_000), {"trees": 500, "candidates": 500} | deep),
        "C": (partial(simulated, 500, 10_242), {"trees": 64, "candidates": 512} | deep),
        "D": (partial(simulated, 5_000, 1_000), {"trees": 20, "candidates": 32} | deep),
        "D, bootstrap": (
            partial(simulated, 5_000, 1_000),
            {"trees": 6, "candidates": 32, "replace": True} | deep,
        ),
        "E": (partial(simulated, 100_000, 100), {"trees": 2, "candidates": 10} | deep),
        "20 000 × 30": (partial(simulated, 20_000, 30), {"trees": 10, "candidates": 5} | deep),
    }
    for S, n in [(1_000, 60), (2_000, 30), (4_000, 15)]:
        wide = {"trees": n, "candidates": 100} | deep
        few = wide | {"trees": n // 3}
        found |= {
            f"{S}": (partial(simulated, S, 2_000), wide),
            f"{S}, defaults": (partial(simulated, S, 2_000), {"trees": 40 * n}),
            f"{S}, bootstrap": (partial(simulated, S, 2_000), few | {"replace": True}),
            f"{S}, numbers": (partial(simulated, S, 2_000, 0), few),
            f"{S}, 3 classes": (partial(simulated, S, 2_000, 3), few),
            f"{S}, 3 levels": (partial(simulated, S, 2_000, 2, 3), wide),
            f"{S}, half with 3 levels": (partial(simulated, S, 2_000, 2, 3, 0.5), wide),
            f"{S}, numbers, 3 levels": (partial(simulated, S, 2_000, 0, 3), few),
        }
    return found


def switch(name: str) -> str:
    """The variable that switches a search off."""
    return "without_" + name.replace(" ", "_")


def edited(text: str, name: str, line: str, statement: str | None = None) -> str:
    """The text with a switch where a search is chosen."""
    if text.count(line) != 1:
        raise SystemExit(f"{name}: there are {text.count(line)} lines {line!r}; mend SEARCHES.")
    off = switch(name)
    if statement is None:
        return text.replace(line, line.replace("if (", f"if (!{off} && ", 1))
    if "OFF" in statement:
        return text.replace(line, statement.replace("OFF", off))
    start = text.rindex("\n", 0, text.index(line)) + 1
    return f"{text[:start]}if ({off}) {statement}\n{text[start:]}"


def build() -> None:
    """Build the copy with switches, into a folder from which it is imported."""
    source = FOLDER / "source"
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.so", "*.pyi"))
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name, (_, places) in SEARCHES.items():
        for file, *edit in places:
            path = source / NATIVE / file
            path.write_text(edited(path.read_text("utf-8"), name, *edit), "utf-8")
    lines = ["#include <cstdlib>", "#include <cstring>"]
    lines += [f"inline bool {switch(name)} = false;" for name in SEARCHES]
    lines += ["inline void read_switches() {", f'  const char* off = std::getenv("{VARIABLE}");']
    lines += [f'  {switch(n)} = off && std::strcmp(off, "{n}") == 0;' for n in SEARCHES]
    header = FOLDER / "switches.hpp"
    header.write_text("\n".join(["#pragma once", *lines, "}", ""]), "utf-8")
    choice = source / NATIVE / CHOICE  # asked for once per forest
    asks = f'const char* variable = std::getenv("{ISA}");'
    text = choice.read_text("utf-8")
    assert asks in text
    choice.write_text(text.replace(asks, f"read_switches();\n{asks}"), "utf-8")
    flags = f"--config-settings=cmake.define.CMAKE_CXX_FLAGS=-include {header}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", flags]
    subprocess.run([*pip, "--target", FOLDER / "package", source], check=True)


class Timer:
    """Forests of one work, with and without searches."""

    def __init__(self, data: Data, settings: dict[str, Any]) -> None:
        import nullforest as nf

        self.X, self.y = data
        self.settings = {"keep_trees": False, "oob": False, "n_jobs": THREADS} | settings
        self.table = nf.RankTable(self.X)
        self.tally = nf.grow(self.table, self.y, **self.settings).tally

    def seconds(self, name: str, table: Any) -> float:
        """Grow the forest without a search, or with an instruction set; its processor time."""
        import nullforest as nf

        os.environ[VARIABLE] = name if name in SEARCHES else ""
        os.environ[ISA] = name if name in SETS else ""
        start = process_time()
        tally = nf.grow(table, self.y, **self.settings).tally
        seconds = process_time() - start
        if tally != self.tally:
            raise SystemExit(f"The forest differs without {name}.")
        return seconds

    def ratio(self, name: str, usual: str, repeats: int) -> tuple[float, float]:
        """Best time without a search over the best with it, in turn; and the latter."""
        import nullforest as nf

        table = self.table
        if name in OF_TABLES:
            table = nf.RankTable(self.X)
            self.seconds(name, table)
        times = [
            [self.seconds(name, table), self.seconds(usual, self.table)] for _ in range(repeats)
        ]
        without, within = np.min(times, axis=0)
        return without / within, within


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the NPZ files")
    parser.add_argument("--repeats", type=int, default=15)
    names = [*SEARCHES, *SETS]
    parser.add_argument("--searches", nargs="*", default=names, choices=names)
    parser.add_argument("--works", nargs="*", help="works to time; all where not given")
    parser.add_argument("--built", action="store_true", help="the copy is built already")
    arguments = parser.parse_args()
    if not arguments.built:
        build()
    sys.path.insert(0, str(FOLDER / "package"))
    for work, (load, settings) in works(arguments.data).items():
        pairs = [(name, "") for name, (runs_in, _) in SEARCHES.items() if work in runs_in]
        pairs += [(other, isa) for isa, other in pairwise(SETS) if work in MEASURED_SETS]
        pairs = [(n, u) for n, u in pairs if (u or n) in arguments.searches]
        if not pairs or (arguments.works and work not in arguments.works):
            continue
        timer = Timer(load(), settings)
        for name, usual in pairs:
            ratio, seconds = timer.ratio(name, usual, arguments.repeats)
            keep(usual or name, work, ratio, seconds)


def keep(search: str, work: str, ratio: float, seconds: float) -> None:
    """Put a row into the results, in place of an earlier one."""
    print(f"{search:20s} {work:24s} {ratio:5.2f} {seconds:7.3f} s", flush=True)
    row = {"search": search, "work": work, "ratio": round(ratio, 2), "seconds": round(seconds, 3)}
    rows = pd.DataFrame([row])
    if RESULTS.exists():
        rows = pd.concat([pd.read_csv(RESULTS), rows])
    rows = rows.drop_duplicates(["search", "work"], keep="last").sort_values(["search", "work"])
    rows.to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
