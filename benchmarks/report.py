"""Size of the report with the values of 200 features, and times to make, open and change it.

Times are taken inside the browser: from the move until the page has computed and drawn (scripts
and layout). Best and worst of the moves are printed; the aim is 100 ms per move at 10⁵ features.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

import nullforest as nf

FEATURES = (1_000, 10_000, 100_000)
#: As many samples as a picture shows, and the seed of the data.
SAMPLES, SEED = 2000, 7
MOVES = """() => {
    const times = [];
    const radios = Array.from(document.querySelectorAll("[name=error]"));
    const all = document.getElementById("only-selected");
    for (const only of [true, false]) {
        all.checked = only;
        for (const radio of radios) {
            radio.checked = true;
            for (let stop = 0; stop <= Number(report.slider.max); stop += 7) {
                report.slider.value = stop;
                const start = performance.now();
                report.update();
                document.body.getBoundingClientRect();  // layout is part of the move
                times.push(performance.now() - start);
            }
        }
    }
    return times.slice(3);  // the first moves compile the scripts
}"""


def selection_of(n_features: int) -> tuple[nf.Selection, np.ndarray, np.ndarray]:
    """Counts as overdispersed as those of a long forest, a few of them large; and data."""
    rng = np.random.default_rng(SEED)
    counts = rng.negative_binomial(2, 0.3, n_features)
    counts[: n_features // 500] += rng.integers(20, 3000, n_features // 500)
    names = [f"ENSG{i:011d}.{i % 9}" for i in rng.permutation(n_features)]
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=[int(counts.sum())], n_samples=SAMPLES, feature_names=names
    )
    X = rng.standard_normal((n_features, SAMPLES), np.float32).T
    y = np.arange(SAMPLES) % 2
    return nf.select(tally, error="fdr", null="paper").with_effects(X, y), X, y


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for n_features in FEATURES:
            selection, X, y = selection_of(n_features)
            file = Path(folder) / "report.html"
            start = time.perf_counter()
            selection.to_html(file, X=X, y=y)
            made = time.perf_counter() - start
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            times = {}
            start = time.perf_counter()
            page.goto(file.as_uri())
            for state in ("ready", "pictures"):
                page.wait_for_selector(f"html[data-{state}=true]")
                times[state] = time.perf_counter() - start
            moves = np.array(page.evaluate(MOVES))
            page.close()
            rows.append(
                {
                    "features": n_features,
                    "samples": SAMPLES,
                    "made_s": round(made, 2),
                    "size_mb": round(file.stat().st_size / 1e6, 2),
                    "opens_s": round(times["ready"], 2),
                    "pictures_s": round(times["pictures"], 2),
                    "move_best_ms": round(float(moves.min()), 1),
                    "move_median_ms": round(float(np.median(moves)), 1),
                    "move_worst_ms": round(float(moves.max()), 1),
                    "seed": SEED,
                    "version": nf.__version__,
                }
            )
            print(rows[-1], flush=True)
        browser.close()
    pd.DataFrame(rows).to_csv(Path(__file__).parent / "results" / "report.csv", index=False)


if __name__ == "__main__":
    main()
