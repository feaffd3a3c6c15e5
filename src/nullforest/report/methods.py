"""Methods paragraph of a run, and its references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nullforest import __version__
from nullforest.report.survival_facts import LOG_RANK_SCORES, survival_sentence
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection
from nullforest.selection.sentences import own_expected_counts, own_thresholds

_BREIMAN = "Breiman L. Random forests. Machine Learning 45, 5–32 (2001)."
_KONUKOGLU = (
    "Konukoglu E, Ganz M. Approximate false positive rate control in selection frequency for "
    "random forest. arXiv:1410.2838 (2014)."
)
#: Citation of each error rate: the short form in the text, and the reference.
_CITED: dict[ErrorRate, tuple[str, str]] = {
    "fdr": (
        "Benjamini and Hochberg, 1995",
        "Benjamini Y, Hochberg Y. Controlling the false discovery rate: a practical and powerful "
        "approach to multiple testing. Journal of the Royal Statistical Society B 57, 289–300 "
        "(1995).",
    ),
    "fdr_by": (
        "Benjamini and Yekutieli, 2001",
        "Benjamini Y, Yekutieli D. The control of the false discovery rate in multiple testing "
        "under dependency. Annals of Statistics 29, 1165–1188 (2001).",
    ),
    "fwer": (
        "Holm, 1979",
        "Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of "
        "Statistics 6, 65–70 (1979).",
    ),
}
_RATES = {
    "fpr": "a false positive rate",
    "fdr": "a false discovery rate",
    "fdr_by": "a false discovery rate, under any dependence,",
    "fwer": "a family-wise error rate",
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


def references(selection: Selection) -> list[str]:
    """References of the paragraph."""
    cited = _CITED.get(selection.error)
    scores = [LOG_RANK_SCORES] if _is_survival(selection) else []
    return [_BREIMAN, _KONUKOGLU, *scores, *([] if cited is None else [cited[1]])]


def _is_survival(selection: Selection) -> bool:
    return (selection.tally.settings or {}).get("criterion") == "logrank"


def methods(selection: Selection, run: Mapping[str, Any]) -> str:
    """A paragraph for the methods section; `run` has facts such as the samples per tree.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([12, 1, 2, 2, 3], nodes_per_tree=[4] * 5, n_samples=20)
    >>> text = methods(nf.select(t, alpha=0.01, error="fwer", null="paper"), {})
    >>> "a family-wise error rate of 0.01 (Holm, 1979)" in text
    True
    """
    tally, error = selection.tally, selection.error
    drawn = {
        "node": "at each node",
        "tree": "once for each tree",
        "both": "at each node out of a pool drawn once for each tree",
    }[tally.draw]
    number = "" if tally.candidates is None else f"{tally.candidates} "
    sampled = run.get("samples per tree")
    bagged = f" Each tree was grown on a random part of the samples ({sampled})." if sampled else ""
    target = survival_sentence(run) if _is_survival(selection) else ""
    known = selection.null.describe()
    null = _NULLS.get(selection.null.kind, selection.null.kind).format(
        probes=known.get("probes", ""),
        copies=known.get("copies", ""),
        within=_within(run),
    )
    rate = f"{_RATES[error]} of {selection.alpha:g}"
    if error in _CITED:
        rate += f" ({_CITED[error][0]})"
    n = selection.n_selected
    verb = "feature was" if n == 1 else "features were"
    found = f"{n or 'No'} {verb} selected. {selection.expected_errors()}".rstrip()
    return (
        f"A random forest (Breiman, 2001) of {tally.n_trees} trees was grown on "
        f"{tally.n_samples} samples and {tally.n_features} features, with {number}"
        f"candidate features drawn at random {drawn}.{bagged}{target} The selection frequency of a "
        f"feature, the number of the forest's {tally.n_nodes} internal nodes that split on it "
        f"(Konukoglu and Ganz, 2014), was compared with {null}.{_strata(selection)} Features were "
        f"selected at {rate}, that is with counts above {own_thresholds(selection)}, "
        f"where {own_expected_counts(selection)} are expected under the null. "
        f"{found} The analysis was done with nullforest {__version__}."
    )


def _within(run: Mapping[str, Any]) -> str:
    """Among which samples rows were permuted."""
    parts = [f" within each {run['blocks']}"] if run.get("blocks") else []
    if run.get("adjusted for"):
        parts.append(f" among samples of similar {run['adjusted for']}")
    return "".join(parts)


def _strata(selection: Selection) -> str:
    strata = selection.null.feature_strata
    if strata is None or not strata.any() or selection.null.kind == "shadows":
        return ""
    return (
        f" Features were divided into {len(np.unique(strata))} strata by the distinct values of "
        "their columns, each with a null distribution of its own."
    )
