"""Figures of the documentation; `make figures` runs this script."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from sklearn.utils import Bunch

import nullforest as nf
from nullforest.cli.demo import GENES
from nullforest.report.plots import DISPLAYS, CountsDisplay

FIGURES = Path(__file__).parent / "figures"
#: Width and height of the screens of the report.
SCREENS = {"desktop": (1280, 900), "phone": (390, 844), "dark": (1280, 900)}


def save(out: Path, name: str) -> None:
    """Write the current figure without anything that changes from run to run."""
    plt.savefig(out / name, dpi=150, metadata={"Software": None})
    plt.close("all")


def leukemia(out: Path, data: Bunch, selection: nf.Selection) -> None:
    """Counts of the leukaemia data, null distribution, threshold and known relevant genes."""
    axes = plt.subplots(figsize=(8, 3.6), layout="constrained")[1]
    CountsDisplay.from_selection(
        selection, known=data.known, known_label="known to be relevant", ax=axes
    )
    save(out, "leukemia.png")
    hits = int((selection.support & data.known).sum())
    print(f"leukemia.png: {selection.headline()}; {hits} of {data.known.sum()} known features")


def plots(out: Path, data: Bunch, selection: nf.Selection) -> None:
    """Every plot of `selection.plot` that this target has."""
    given = {"features": {"X": data.data, "y": data.target}, "correlation": {"X": data.data}}
    for kind in DISPLAYS:
        if kind == "survival":
            continue
        selection.plot(kind, **given.get(kind, {}))
        save(out, f"plot-{kind}.png")
        print(f"plot-{kind}.png")


def survival(out: Path) -> None:
    """Survival curves by the most significant gene of scikit-survival's breast cancer data."""
    from sksurv.datasets import load_breast_cancer

    X, y = load_breast_cancer()
    selection = nf.ForestSelector(alpha=0.2).fit(X, y).selection_
    axes = plt.subplots(figsize=(7, 3.6), layout="constrained")[1]
    display = selection.plot("survival", X=X, y=y, ax=axes)
    axes.set_xlabel("days to distant metastasis")
    axes.set_ylabel("share without metastasis")
    save(out, "plot-survival.png")
    print(f"plot-survival.png: {display.name}, {display.events} events of {display.sizes}")


def report(out: Path, data: Bunch, selection: nf.Selection) -> None:
    """The report as a browser shows it: its top, and a feature opened."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "report.html"
        selection.to_html(page_path, X=data.data, y=data.target, link=GENES)
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for name, (width, height) in SCREENS.items():
            scheme = "dark" if name == "dark" else "light"
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(page_path.as_uri())
            page.wait_for_selector("html[data-pictures=true]")
            page.screenshot(path=out / f"report-{name}.png")
            if name != "phone":
                page.locator("#rows .open").first.click()
                page.wait_for_selector("tr.picture svg")
                page.locator("h2:text-is('Features')").evaluate("e => e.scrollIntoView()")
                page.screenshot(path=out / f"report-feature-{name}.png")
            print(f"report-{name}.png")
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FIGURES, help="folder for the figures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    mpl.use("agg")
    embedded = nf.datasets.load_leukemia_sex()
    watched = nf.watch(
        embedded.data, embedded.target, error="fdr", feature_names=embedded.feature_names
    )
    symbols = dict(zip(embedded.feature_names, embedded.gene_symbols, strict=True))
    watched = watched.with_annotations({"symbol": symbols})
    leukemia(arguments.out, embedded, watched)
    plots(arguments.out, embedded, watched)
    survival(arguments.out)
    report(arguments.out, embedded, watched)
