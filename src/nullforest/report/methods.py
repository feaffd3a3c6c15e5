"""Methods paragraph of a run with its references, and what it says of survival times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest import __version__
from nullforest.data.survival_times import median_follow_up
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection

_BREIMAN = "Breiman L. Random forests. Machine Learning 45, 5–32 (2001)."
_KONUKOGLU = (
    "Konukoglu E, Ganz M. Approximate false positive rate control in selection frequency for "
    "random forest. arXiv:1410.2838 (2014)."
)
_HOTHORN = (
    "Hothorn T, Lausen B. On the exact distribution of maximally selected rank statistics. "
    "Computational Statistics & Data Analysis 43, 121–137 (2003)."
)
#: Labels of the facts about survival times.
EVENTS, FOLLOW_UP = "events", "median follow-up (reverse Kaplan–Meier)"
#: Each error rate in words, its citation in the text, and the reference.
_RATES: dict[ErrorRate, tuple[str, str, str]] = {
    "fpr": ("a false positive rate", "", ""),
    "fdr": (
        "a false discovery rate",
        "Benjamini and Hochberg, 1995",
        "Benjamini Y, Hochberg Y. Controlling the false discovery rate: a practical and powerful "
        "approach to multiple testing. Journal of the Royal Statistical Society B 57, 289–300 "
        "(1995).",
    ),
    "fdr_by": (
        "a false discovery rate, under any dependence,",
        "Benjamini and Yekutieli, 2001",
        "Benjamini Y, Yekutieli D. The control of the false discovery rate in multiple testing "
        "under dependency. Annals of Statistics 29, 1165–1188 (2001).",
    ),
    "fwer": (
        "a family-wise error rate",
        "Holm, 1979",
        "Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 65–70 (1979).",
    ),
}
_NULLS = {
    "paper": "the null distribution of Konukoglu and Ganz (2014), under which all candidates of a "
    "node are equally likely to be selected",
    "bagged": "a null distribution that accounts for all trees sharing one sample, and so any "
    "chance association of a null feature with the target in it",
    "probes": "the null distribution of {probes} virtual probes, columns of random ranks that were "
    "scored at nodes of the same forest without ever splitting one, its mean estimated from the "
    "bulk of the counts",
    "shadows": "the null distribution of the feature's own {copies} shadows, copies of all "
    "features with their rows permuted as a whole{within} that competed for the nodes of the same "
    "forest",
}


def survival_facts(survival: NDArray[Any]) -> dict[str, Any]:
    """Number of events and median follow-up, by their labels in the report."""
    median = median_follow_up(survival)
    return {
        EVENTS: f"{int(survival['event'].sum())} of {len(survival)} samples",
        FOLLOW_UP: "not reached" if np.isnan(median) else f"{median:.4g}",
    }


def methods(selection: Selection, run: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A paragraph for the methods section, and its references.

    `run` has facts such as the samples per tree.
    """
    tally, null = selection.tally, selection.null
    references = [_BREIMAN, _KONUKOGLU]
    drawn = {
        "node": "at each node",
        "tree": "once for each tree",
        "both": "at each node out of a pool drawn once for each tree",
    }[tally.draw]
    number = "" if tally.candidates is None else f"{tally.candidates} "
    grown = ""
    if run.get("samples per tree"):
        part = run["samples per tree"]
        grown = f" Each tree was grown on a random part of the samples ({part})."
    if (tally.settings or {}).get("criterion") == "logrank":
        references.append(_HOTHORN)
        events = ""
        if EVENTS in run:
            events = f" ({run[EVENTS]} had an event; median follow-up: {run[FOLLOW_UP]})"
        grown += (
            f" The target was the time to an event or to censoring{events}; the forest was grown "
            "on its log-rank scores (Hothorn and Lausen, 2003), by the decrease of their variance."
        )
    within = f" within each {run['blocks']}" if run.get("blocks") else ""
    if run.get("adjusted for"):
        within += f" among samples of similar {run['adjusted for']}"
    sizes = {"probes": "", "copies": "", **null.describe()}
    compared = _NULLS.get(null.kind, null.kind).format(
        probes=sizes["probes"], copies=sizes["copies"], within=within
    )
    strata = null.feature_strata
    if strata is not None and strata.any() and null.kind != "shadows":
        compared += (
            f". Features were divided into {len(np.unique(strata))} strata by the distinct values "
            "of their columns, each with a null distribution of its own"
        )
    words, citation, reference = _RATES[selection.error]
    rate = f"{words} of {selection.alpha:g}"
    if citation:
        rate += f" ({citation})"
        references.append(reference)
    n = selection.n_selected
    verb = "feature was" if n == 1 else "features were"
    result = f"{n or 'No'} {verb} selected. {selection.expected_errors()}".rstrip()
    paragraph = (
        f"A random forest (Breiman, 2001) of {tally.n_trees} trees was grown on "
        f"{tally.n_samples} samples and {tally.n_features} features, with {number}"
        f"candidate features drawn at random {drawn}.{grown} The selection frequency of a "
        f"feature, the number of the forest's {tally.n_nodes} internal nodes that split on it "
        f"(Konukoglu and Ganz, 2014), was compared with {compared}. Features were "
        f"selected at {rate}, that is with counts above {selection.own_thresholds()}, "
        f"where {selection.own_expected_counts()} are expected under the null. "
        f"{result} The analysis was done with nullforest {__version__}."
    )
    return paragraph, references
