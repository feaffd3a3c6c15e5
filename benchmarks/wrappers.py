"""Time of each wrapper on the leukaemia data, and of one forest.

Run: python benchmarks/wrappers.py
"""

from __future__ import annotations

from time import perf_counter, process_time

import nullforest as nf
import parts
from nullforest.forest.settings import paper_settings


def main() -> None:
    data = nf.datasets.load_leukemia_sex()
    X, y, known = data.data, data.target, data.known
    selector = nf.ForestSelector(alpha=0.05, error="fdr", **paper_settings(X.shape[1]))
    methods = {
        "one forest": selector,
        "backward": nf.wrappers.BackwardElimination(selector),
        "forward": nf.wrappers.ForwardSelection(selector),
        "knock-out": nf.wrappers.KnockOut(selector),
        "stability, 50 pairs": nf.wrappers.StabilitySelection(selector),
    }
    print(f"{X.shape[0]} samples, {X.shape[1]} probes, FDR 0.05")
    alone, taken = 0.0, {}
    for name, method in methods.items():
        start, cpu = perf_counter(), process_time()
        support = method.fit(X, y).get_support()
        seconds, work = perf_counter() - start, process_time() - cpu
        alone = alone or work
        taken[f"{name}, on the leukaemia data"] = seconds
        print(
            f"{name:20} {seconds:6.1f} s, {work:6.1f} s of processor time "
            f"({work / alone:5.1f} forests): {support.sum()} selected, "
            f"{(support & known).sum()} of {known.sum()} known"
        )
    parts.keep("wrappers.py", taken)


if __name__ == "__main__":
    main()
