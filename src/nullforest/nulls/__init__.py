"""How does a feature behave that means nothing? One module per answer."""

from __future__ import annotations

from typing import Literal

from nullforest._util.errors import InputError
from nullforest.nulls import bagged, paper, probes
from nullforest.nulls.distribution import Null
from nullforest.tallies.tally import Tally

Kind = Literal["auto", "probes", "bagged", "paper"]
KINDS: tuple[Kind, ...] = ("auto", "probes", "bagged", "paper")

__all__ = ["KINDS", "Kind", "Null", "null"]


def null(tally: Tally, kind: Kind = "auto") -> Null:
    """Model how often a feature is selected that is not related to the label.

    Parameters
    ----------
    tally : Tally
        What the forest chose.
    kind : {"auto", "probes", "bagged", "paper"}
        Which model. "auto" takes the best one that the tally allows: "probes" where the forest
        asked virtual probes (those of :func:`nullforest.grow` do), else "bagged" where the
        couplings of the nodes are known (scikit-learn's forests), else "paper", which says in
        its notes why it is not to be trusted with many trees.

    Returns
    -------
    Null
        Its `sf(k)` is P(n > k); `threshold(alpha)` is the count that a null feature exceeds
        with probability at most alpha.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([9, 0, 1, 2], nodes_per_tree=[4] * 3, n_samples=20)
    >>> null = nf.null(t, kind="paper")
    >>> null.mean, null.threshold(0.05)
    (3.0, 6)
    """
    if kind not in KINDS:
        raise InputError(f"There is no null {kind!r}; choose one of {', '.join(KINDS)}.")
    if kind == "auto":
        kind = _best_kind(tally)
    if kind == "probes":
        return probes.from_tally(tally)
    if kind == "bagged":
        return bagged.from_tally(tally)
    return paper.from_tally(tally)


def _best_kind(tally: Tally) -> Kind:
    """Probes where the forest asked any, else the couplings, else the paper's model."""
    if tally.probes is not None and len(tally.probes) and tally.candidates is not None:
        return "probes"
    if tally.couplings is not None and tally.candidates is not None and tally.splitter == "best":
        return "bagged"
    return "paper"
