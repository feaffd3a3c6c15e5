"""Size of the report, and the times to make it and to follow its slider.

Times are taken inside the browser: from the move until the page has computed and drawn (scripts
and layout). Best and worst of the moves are printed; the aim is 100 ms per move at 10⁵ features.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import nullforest as nf

FEATURES = (1_000, 10_000, 100_000)
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


def selection_of(n_features: int) -> nf.Selection:
    """Counts as overdispersed as those of a long forest, a few of them large."""
    rng = np.random.default_rng(7)
    counts = rng.negative_binomial(2, 0.3, n_features)
    counts[: n_features // 500] += rng.integers(20, 3000, n_features // 500)
    names = [f"ENSG{i:011d}.{i % 9}" for i in rng.permutation(n_features)]
    tally = nf.Tally.from_counts(
        counts, nodes_per_tree=[int(counts.sum())], n_samples=100, feature_names=names
    )
    return nf.select(tally, error="fdr", null="paper")


def main() -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    print(f"{'features':>9} {'made in':>9} {'size':>9} {'opens in':>9} {'a move: best':>13} "
          f"{'median':>8} {'worst':>8}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for n_features in FEATURES:
            selection = selection_of(n_features)
            file = Path(folder) / "report.html"
            start = time.perf_counter()
            selection.to_html(file)
            made = time.perf_counter() - start
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            start = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready=true]")
            opened = time.perf_counter() - start
            moves = np.array(page.evaluate(MOVES))
            page.close()
            print(
                f"{n_features:>9} {made:>7.2f} s {file.stat().st_size / 1e6:>6.2f} MB "
                f"{opened:>7.2f} s {moves.min():>10.1f} ms {np.median(moves):>5.1f} ms "
                f"{moves.max():>5.1f} ms"
            )
        browser.close()


if __name__ == "__main__":
    main()
