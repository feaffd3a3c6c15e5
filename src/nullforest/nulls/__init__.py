"""Null distributions of selection counts: one hierarchical count model with three stages.

The stages are the mean (`mean`), the overdispersion (`overdispersion`) and the tail (`tail`) of the
count of a null feature. The sources `paper`, `bagged`, `probes` and `shadows` supply its rates;
`constants` lists what was set by hand. A new null model is a module with a function `from_tally`,
named here.
"""

from __future__ import annotations

from typing import Literal

from nullforest._util.errors import InputError
from nullforest.nulls import bagged, paper, probes, shadows
from nullforest.nulls.distribution import Null, NullDistribution
from nullforest.tallies.levels import mixed_levels
from nullforest.tallies.tally import Tally

Kind = Literal["auto", "probes", "shadows", "bagged", "paper"]
KINDS: tuple[Kind, ...] = ("auto", "probes", "shadows", "bagged", "paper")

__all__ = ["KINDS", "Kind", "Null", "NullDistribution", "null"]


def null(tally: Tally, kind: Kind = "auto") -> Null:
    """The null distribution of the selection count.

    Parameters
    ----------
    tally : Tally
        The selection counts of a forest.
    kind : {"auto", "probes", "shadows", "bagged", "paper"}
        The null model. "auto" is "shadows" or "probes" where the forest has them (those of
        :func:`nullforest.grow` have either), else "bagged" where the couplings of the nodes are
        known (scikit-learn's forests), else "paper", whose false positive rate grows with the
        number of trees.

    Returns
    -------
    NullDistribution
        `sf(k)` is P(n > k); `threshold(alpha)` is the count that a null feature exceeds with
        probability at most alpha.

    Examples
    --------
    >>> import nullforest as nf
    >>> t = nf.Tally.from_counts([9, 0, 1, 2], nodes_per_tree=[4] * 3, n_samples=20)
    >>> null = nf.null(t, kind="paper")
    >>> null.mean, null.threshold(0.05)
    (3.0, 6)
    """
    if not (isinstance(kind, str) and kind in KINDS):
        raise InputError(f"There is no null model {kind!r}; choose one of {', '.join(KINDS)}.")
    by_user = kind != "auto"
    kind = kind if by_user else _best_kind(tally)
    if kind == "shadows":
        return shadows.from_tally(tally)
    if kind == "probes":
        return probes.from_tally(tally)
    if tally.shadows is not None:
        raise InputError(
            f'The features of this forest compete with their shadows; use null="shadows", or grow '
            f'with shadows=0 for null="{kind}".'
        )
    wrong = mixed_levels(tally.levels)
    if wrong and not by_user:
        raise InputError(
            f"{wrong} Use nf.grow(X, y), or ForestSelector() without a forest: they test each "
            "column against virtual probes of its own kind."
        )
    if kind == "bagged":
        model: Null = bagged.from_tally(tally)
    else:
        model = paper.from_tally(tally, best=bool(wrong) or _best_kind(tally) == "paper")
    if wrong:
        model.notes = (f"{wrong} These p-values are not valid.", *model.notes)
    return model


def _best_kind(tally: Tally) -> Kind:
    """Shadows or probes where the forest has any, else couplings, else the paper's null model."""
    if tally.shadows is not None and tally.candidates is not None:
        return "shadows"
    if tally.probes is not None and len(tally.probes) and tally.candidates is not None:
        return "probes"
    if tally.couplings is not None and tally.candidates is not None and tally.splitter == "best":
        return "bagged"
    return "paper"
