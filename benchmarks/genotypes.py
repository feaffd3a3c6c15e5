"""Time and peak memory of `nullforest select` on a PLINK set, which it does not read whole.

PLINK simulates the set; a risk variant is placed on chromosome 7. The command runs with its
defaults in a process of its own, whose largest resident set is reported beside that of
`nullforest --version` and the size of the genotypes as numbers. Writes
benchmarks/results/genotypes.csv.

    python benchmarks/genotypes.py [--variants 100000] [--samples 1000] [--odds 3 2]
"""

from __future__ import annotations

import argparse
import csv
import json
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


def simulate(folder: Path, variants: int, samples: int, odds: float) -> Path:
    plink = shutil.which("plink1.9") or shutil.which("plink")
    if plink is None:
        raise SystemExit("PLINK 1.9 is needed; install it first.")
    model = f"{variants - 1} null 0.05 0.5 1 1\n1 risk 0.4 0.4 {odds:g} mult\n"
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


def run(*words: object) -> tuple[float, float, float]:
    """Seconds, processor seconds, and the largest resident set in MiB, of a command."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "nullforest", *map(str, words)])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"The command failed with status {status}.")
    seconds = time.perf_counter() - start
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**10


def sentence(rows: list[dict[str, str]]) -> str:
    """What the page on genes says of the runs."""
    row = rows[0]
    samples, variants = (
        f"{int(row[name]):,}".replace(",", " ") for name in ("samples", "variants")
    )
    found = "; ".join(
        f"with an odds ratio of {each['odds_ratio']} p = {each['p_value']}, the "
        f"{'smallest' if each['place'] == '1' else each['place'] + 'th'} of all, and variants "
        f"selected: {each['selected']} (chromosome {each['chromosomes'] or 'none'})"
        for each in rows
    )
    return (
        f"`python benchmarks/genotypes.py`: {samples} samples × {variants} variants made by PLINK "
        f"({row['genotypes_as_float32_mib']} MiB as numbers), all options left at their defaults. "
        f"The forest ends with {row['trees']} trees after {row['processor_seconds']} s of "
        f"processor time. The largest resident set is {row['peak_resident_mib']} MiB "
        f"({row['resident_of_version_mib']} MiB of `nullforest --version`); the ranks of all "
        f"variants are mapped from a file. The variant planted on chromosome 7 (allele frequency "
        f".4): {found}."
    )


def write_page() -> None:
    """Put the sentence between its marks on the page."""
    rows = list(csv.DictReader(RESULTS.open()))
    before, rest = PAGE.read_text("utf-8").split("<!-- genotypes -->")
    after = rest.split("<!-- end of genotypes -->")[1]
    middle = f"<!-- genotypes -->\n{sentence(rows)}\n<!-- end of genotypes -->"
    PAGE.write_text(f"{before}{middle}{after}", "utf-8")


def measured(variants: int, samples: int, odds: float) -> dict[str, object]:
    """One run of the command with its defaults."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        bed = simulate(folder, variants, samples, odds)
        table, answer = folder / "table.csv", folder / "answer.json"
        _, _, floor = run("--version")
        options = ("-t", "phenotype", "--jobs", 2, "--seed", SEED)
        seconds, processor, peak = run("select", bed, *options, "--table", table, "--json", answer)
        frame = pd.read_csv(table)
        risk = frame.index[frame["feature"] == "risk"][0]
        chosen = frame.loc[frame["selected"], "chromosome"]
        row: dict[str, object] = {
            "samples": samples,
            "variants": variants,
            "odds_ratio": f"{odds:g}",
            "trees": json.loads(answer.read_text("utf-8"))["trees"],
            "seconds": round(seconds, 1),
            "processor_seconds": round(processor),
            "peak_resident_mib": round(peak),
            "bed_mib": round(bed.stat().st_size / 2**20),
            "genotypes_as_float32_mib": round(4 * samples * variants / 2**20),
            "resident_of_version_mib": round(floor),
            "place": int(risk) + 1,
            "p_value": f"{frame['p_value'][risk]:.2g}",
            "selected": len(chosen),
            "chromosomes": " ".join(map(str, sorted(set(chosen)))),
            "seed": SEED,
            "version": nf.__version__,
        }
    print(row)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--odds", type=float, nargs="+", default=[3.0, 2.0])
    parser.add_argument("--page", action="store_true", help="write the page from the results alone")
    given = parser.parse_args()
    if given.page:
        write_page()
        return
    rows = [measured(given.variants, given.samples, odds) for odds in given.odds]
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_page()


if __name__ == "__main__":
    main()
