"""Where do the figures of the documentation come from? Run this: `make figures`."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import nullforest as nf
from nullforest.report import summarize

FIGURES = Path(__file__).parent / "figures"
OTHER, SELECTED, KNOWN, NULL = "#9fb0bf", "#f0a884", "#c2410c", "#1d4ed8"


def leukemia(out: Path) -> None:
    """Counts of the leukaemia data with the null, the threshold, and the genes that are known."""
    data = nf.datasets.load_leukemia_sex()
    forest = nf.grow(data.data, data.target, feature_names=data.feature_names)
    selection = nf.select(forest.tally, alpha=0.05, error="fdr")
    drawn = summarize(selection)["histogram"]
    bins, threshold = drawn["bins"], drawn["threshold"]
    edges = [b["low"] for b in bins] + [bins[-1]["high"] + 1]
    known = np.histogram(selection.counts[data.known], bins=edges)[0]
    features = np.array([b["features"] for b in bins])
    place = np.arange(len(bins))
    first = next((i for i, b in enumerate(bins) if b["low"] > threshold), len(bins))

    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    colors = np.where(place >= first, SELECTED, OTHER)
    axes.bar(place, features, width=0.85, color=list(colors))
    axes.bar(place, known, width=0.85, color=KNOWN, label="known to tell the sex")
    expected = np.array([b["expected"] for b in bins])
    seen = expected > 0.5
    axes.plot(place[seen], expected[seen], color=NULL, lw=2, label="expected by chance")
    axes.axvline(first - 0.5, color="black", ls="--", lw=1)
    axes.text(first - 0.3, features.max(), f"selected: more than {threshold}", va="top")
    axes.set_yscale("log")
    axes.set_ylim(0.5, None)
    every = max(1, len(bins) // 16)
    axes.set_xticks(place[::every], [str(b["low"]) for b in bins][::every])
    axes.set_xlabel("how often the forest chose a probe")
    axes.set_ylabel("probes")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="center right")
    figure.savefig(out / "leukemia.png", dpi=150, metadata={"Software": None})
    plt.close(figure)
    hits = int((selection.support & data.known).sum())
    print(f"leukemia.png: {selection.headline()}; {hits} of {data.known.sum()} known probes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FIGURES, help="folder for the figures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    mpl.use("agg")
    leukemia(arguments.out)
