"""Time and peak memory of `nullforest select` on a PLINK set, which it does not read whole.

PLINK simulates the set; a risk variant is placed on chromosome 7. The command runs in a process of
its own, whose largest resident set is reported beside that of `nullforest --version` and the size
of the genotypes as numbers. Writes benchmarks/results/genotypes.csv.

    python benchmarks/genotypes.py [--variants 100000] [--samples 1000] [--trees 2000]
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import nullforest as nf

SEED = 0
RESULTS = Path(__file__).parent / "results" / "genotypes.csv"
PAGE = Path(__file__).parents[1] / "docs" / "genomics.md"


def simulate(folder: Path, variants: int, samples: int) -> Path:
    plink = shutil.which("plink1.9") or shutil.which("plink")
    if plink is None:
        raise SystemExit("PLINK 1.9 is needed; install it first.")
    model = f"{variants - 1} null 0.05 0.5 1 1\n1 risk 0.4 0.4 5 mult\n"
    (folder / "model.txt").write_text(model)
    half = str(samples // 2)
    numbers = ("--simulate-ncases", half, "--simulate-ncontrols", half, "--seed", str(SEED + 1))
    quiet = {"cwd": folder, "check": True, "capture_output": True}
    subprocess.run((plink, "--simulate", "model.txt", *numbers, "--out", "raw"), **quiet)
    bim = pd.read_csv(folder / "raw.bim", sep=r"\s+", header=None)
    bim[0] = np.arange(variants) * 22 // variants + 1
    bim[3] = 1000 * (np.arange(variants) % (variants // 22 + 1) + 1)
    bim.loc[bim[1] == "risk", [0, 3]] = [7, 555]
    bim.to_csv(folder / "raw.bim", sep="\t", header=False, index=False)
    subprocess.run((plink, "--bfile", "raw", "--make-bed", "--out", "set"), **quiet)
    return folder / "set.bed"


def run(*words: object) -> tuple[float, float]:
    """Seconds, and the largest resident set in MiB, of a command."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "nullforest", *map(str, words)])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"The command failed with status {status}.")
    return time.perf_counter() - start, used.ru_maxrss / 2**10


def sentence(row: dict[str, str]) -> str:
    """What the page on genes says of the run."""
    samples, variants = (
        f"{int(row[name]):,}".replace(",", " ") for name in ("samples", "variants")
    )
    found = (
        f"{row['first']}, the planted one, comes first (chromosome {row['chromosome']}, "
        f"p = {row['p_value']}); variants selected: {row['selected']}"
    )
    return (
        f"`python benchmarks/genotypes.py`: {samples} samples × {variants} variants made by PLINK "
        f"({row['genotypes_as_float32_mib']} MiB as numbers), {row['trees']} trees with "
        f"{row['candidates']} candidates per node. The largest resident set is "
        f"{row['peak_resident_mib']} MiB ({row['resident_of_version_mib']} MiB of "
        f"`nullforest --version`); the ranks of all variants are mapped from a file. {found}."
    )


def write_page() -> None:
    """Put the sentence between its marks on the page."""
    row = next(csv.DictReader(RESULTS.open()))
    before, rest = PAGE.read_text("utf-8").split("<!-- genotypes -->")
    after = rest.split("<!-- end of genotypes -->")[1]
    middle = f"<!-- genotypes -->\n{sentence(row)}\n<!-- end of genotypes -->"
    PAGE.write_text(f"{before}{middle}{after}", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--trees", default="2000")
    parser.add_argument("--candidates", default="200")
    parser.add_argument("--page", action="store_true", help="write the page from the results alone")
    given = parser.parse_args()
    if given.page:
        write_page()
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bed = simulate(folder, given.variants, given.samples)
        table = folder / "table.csv"
        _, floor = run("--version")
        options = ("-t", "phenotype", "--trees", given.trees, "--candidates", given.candidates)
        options += ("--jobs", 2, "--seed", SEED)
        seconds, peak = run("select", bed, *options, "--table", table)
        frame = pd.read_csv(table)
        first = frame.iloc[0]
        row = {
            "samples": given.samples,
            "variants": given.variants,
            "trees": given.trees,
            "candidates": given.candidates,
            "seconds": round(seconds, 1),
            "peak_resident_mib": round(peak),
            "bed_mib": round(bed.stat().st_size / 2**20),
            "genotypes_as_float32_mib": round(4 * given.samples * given.variants / 2**20),
            "resident_of_version_mib": round(floor),
            "first": first["feature"],
            "chromosome": first["chromosome"],
            "p_value": f"{first['p_value']:.2g}",
            "selected": int(frame["selected"].sum()),
            "seed": SEED,
            "version": nf.__version__,
        }
    print(row)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(row), lineterminator="\n")
        writer.writeheader()
        writer.writerow(row)
    write_page()


if __name__ == "__main__":
    main()
