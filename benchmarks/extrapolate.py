"""Time of 10⁵ trees on 10⁶ features on 100 cores, computed from measurements on two.

Reads benchmarks/results/large.csv and clusters.csv, does the arithmetic, and prints the tables of
docs/large.md, where every line says whether it was measured, assumed or computed. `make pages` puts
them there.

    python benchmarks/extrapolate.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from nullforest.run.workers import blocks_of

ROOT = Path(__file__).parents[1]
TREES, CORES = 100_000, 100
#: Bytes a second that reach a machine: ten gigabit, as common clusters have.
NETWORK = 1e9
#: Bytes that a worker sends for a node: feature, bin of the coupling, importance.
NODE_BYTES = 4 + 1 + 8


def extrapolation() -> list[str]:
    works = pd.read_csv(ROOT / "benchmarks/results/large.csv").set_index("work")
    engines = pd.read_csv(ROOT / "benchmarks/results/clusters.csv")
    short, long = works.loc["wide"], works.loc["wide, longer"]
    more = long["trees"] - short["trees"]
    per_tree = (long["grow_cpu_seconds"] - short["grow_cpu_seconds"]) / more
    once = max(0.0, short["grow_cpu_seconds"] - short["trees"] * per_tree)
    nodes = long["nodes"] / long["trees"]
    ranking, table = short["rank_cpu_seconds"] / 2, short["table_gib"] * 2**30
    adding = engines["nodes_per_second_added"].dropna().iloc[0]
    tally = engines[engines["result"] == "tally"].set_index("engine")
    blocks_measured = len(blocks_of(1024, 2))
    per_block = max(0.0, tally.loc["Dask", "cpu_seconds"] - tally.loc["threads", "cpu_seconds"])
    per_block /= blocks_measured
    blocks = len(blocks_of(TREES, CORES))
    growing = TREES * per_tree / CORES
    sending = table / NETWORK
    handing = blocks * per_block
    summing = TREES * nodes / adding
    testing = long["test_cpu_seconds"]
    total = ranking + sending + once + max(growing, handing, summing) + testing
    megabytes = TREES * nodes * NODE_BYTES / 1e6
    rows = [
        ("processor time of a tree", f"{1000 * per_tree:.2f} ms", "measured, 200 and 2 000 trees"),
        ("nodes of a tree", f"{nodes:.1f}", "measured"),
        ("ranking, once, on 2 cores", f"{ranking:.1f} s", "measured: half of its processor time"),
        ("probes and strata, once per worker", f"{once:.2f} s", "measured"),
        ("what a block of trees costs more than its trees", f"{1000 * per_block:.1f} ms",
         f"measured: processor time, Dask on work C, {blocks_measured} blocks, sending included"),
        ("nodes that one client adds up in a second", f"{adding / 1e6:.1f} million", "measured"),
        ("testing 10⁶ counts", f"{testing:.1f} s", "measured, processor time"),
        ("network to each machine", f"{NETWORK / 1e9:.0f} GB/s", "assumed"),
        ("sending the table", f"{sending:.1f} s", f"computed: {table / 1e9:.2f} GB, all at once"),
        (f"growing on {CORES} cores", f"{growing:.1f} s", "computed: linear in trees and cores"),
        (f"handing out {blocks} blocks", f"{handing:.1f} s", "computed; while trees grow"),
        (f"adding {megabytes:.0f} MB of results", f"{summing:.1f} s", "computed; while trees grow"),
        ("**in all**", f"**{total:.0f} s**", "computed"),
    ]  # fmt: skip
    return [
        f"| {TREES:,} trees, {CORES} cores, 10⁶ features × 500 samples | | |".replace(",", " ", 1),
        "|---|---|---|",
        *(f"| {a} | {b} | {c} |" for a, b, c in rows),
    ]


def clusters() -> list[str]:
    frame = pd.read_csv(ROOT / "benchmarks/results/clusters.csv").dropna(subset="seconds")
    names = frame["engine"].unique()
    rows = [f"| clock, processor | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for result, part in frame.groupby("result", sort=False):
        part = part.set_index("engine")
        cells = [
            f"{part.loc[n, 'seconds']:.2f} s"
            + ("" if n == "threads" else f" ({part.loc[n, 'overhead']:+.0%})")
            + f", {part.loc[n, 'cpu_seconds']:.2f} s"
            + ("" if n == "threads" else f" ({part.loc[n, 'cpu_overhead']:+.0%})")
            for n in names
        ]
        rows.append(f"| {result} | {' | '.join(cells)} |")
    return rows


def large() -> list[str]:
    frame = pd.read_csv(ROOT / "benchmarks/results/large.csv")
    rows = [
        "| samples × features | trees | candidates | drawn per | X | table "
        "| ranking: processor, clock | growing: processor, clock | largest resident set |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in frame.itertuples():
        shape = f"{r.samples:,} × {r.features:,}".replace(",", " ")
        rows.append(
            f"| {shape} | {r.trees} | {r.candidates} | {r.draw} | {r.data_gib} GiB "
            f"| {r.table_gib} GiB | {r.rank_cpu_seconds:.0f} s, {r.rank_seconds:.0f} s "
            f"| {r.grow_cpu_seconds:.1f} s, {r.grow_seconds:.1f} s "
            f"| {r.peak_resident_gib:.2f} GiB |"
        )
    return rows


def main() -> None:
    for part in (clusters, large, extrapolation):
        print("\n".join(part()), end="\n\n")


if __name__ == "__main__":
    main()
