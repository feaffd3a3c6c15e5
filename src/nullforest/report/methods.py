"""What would a paper say of the run? A paragraph to paste, and what it cites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nullforest import __version__
from nullforest.selection.error_rates import ERROR_RATES, ErrorRate

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection

_BREIMAN = "Breiman L. Random forests. Machine Learning 45, 5–32 (2001)."
_KONUKOGLU = (
    "Konukoglu E, Ganz M. Approximate false positive rate control in selection frequency for "
    "random forest. arXiv:1410.2838 (2014)."
)
#: What each error rate cites: the short form in the text, and the reference.
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
    "paper": "the model of Konukoglu and Ganz (2014), in which a node is won by any of its "
    "candidates with the same probability",
    "bagged": "a model of uninformative features that share the samples of all trees, so that an "
    "association that exists by chance is found again and again, fitted to the couplings of the "
    "forest's nodes to the whole sample",
    "probes": "the behaviour of {probes} virtual probes, random features that were compared with "
    "the winners at the nodes of the same forest, scaled to the bulk of the counts",
}


def references(selection: Selection) -> list[str]:
    """What the paragraph cites."""
    cited = _CITED.get(selection.error)
    return [_BREIMAN, _KONUKOGLU, *([] if cited is None else [cited[1]])]


def methods(selection: Selection, run: Mapping[str, Any]) -> str:
    """A paragraph for the methods section.

    Parameters
    ----------
    selection : Selection
    run : mapping
        Facts of the run by label; "samples per tree" is used where it is there.

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
    bagged = ""
    if "samples per tree" in run:
        bagged = f" Each tree saw a random part of the samples ({run['samples per tree']})."
    probes = selection.null.describe().get("probes", "")
    null = _NULLS.get(selection.null.kind, selection.null.kind).format(probes=probes)
    rate = f"{_RATES[error]} of {selection.alpha:g}"
    if error in _CITED:
        rate += f" ({_CITED[error][0]})"
    return (
        f"A random forest (Breiman, 2001) of {tally.n_trees} trees was grown on "
        f"{tally.n_samples} samples and {tally.n_features} features, with {number}"
        f"candidate features drawn at random {drawn}.{bagged} The selection frequency of a "
        f"feature, the number of the forest's {tally.n_nodes} internal nodes that split on it "
        f"(Konukoglu and Ganz, 2014), was held against {null}. Features were selected at {rate}, "
        f"which was reached by counts above {selection.threshold} where "
        f"{selection.null.mean:.3g} are expected of an uninformative feature. "
        f"{_found(selection)} The analysis was done with nullforest {__version__}."
    )


def _found(selection: Selection) -> str:
    verb = "feature was" if selection.n_selected == 1 else "features were"
    return f"{selection.n_selected or 'No'} {verb} selected."


def error_words() -> dict[str, str]:
    """The error rates in the words of the headline."""
    return {str(key): words for key, words in ERROR_RATES.items()}
