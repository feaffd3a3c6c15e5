"""Null distributions of selection counts: one hierarchical count model with three stages.

The stages are the mean, the overdispersion and the tail of the count of a null feature (`stages`).
The sources `paper`, `bagged`, `probes` and `shadows` supply its rates; `constants` lists what was
set by hand. A new null model is a module with a function `from_tally`, named here.
"""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Literal

from nullforest._util.errors import InputError
from nullforest.nulls import probes
from nullforest.nulls.distribution import Null, NullDistribution
from nullforest.tallies.favoured_columns import mixed_levels
from nullforest.tallies.tally import Tally

Kind = Literal["auto", "probes", "shadows", "bagged", "paper"]
KINDS: tuple[Kind, ...] = ("auto", "probes", "shadows", "bagged", "paper")

__all__ = ["KINDS", "Kind", "Null", "NullDistribution", "null"]

#: Null distributions of the tallies that are in use, by the identity of the tally: they are
#: estimated once. A tally never changes, and an entry goes with its tally.
_estimated: dict[int, tuple[weakref.ref[Tally], dict[Kind, Null]]] = {}


def null(tally: Tally, kind: Kind = "auto") -> Null:
    """The null distribution of the selection count.

    It is estimated once: a second call with the same tally and kind returns the same object.

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
    best: Kind = "paper"
    if tally.candidates is not None:
        if tally.null_columns is not None and len(tally.null_columns):
            best = tally.null_columns.kind
        elif tally.couplings is not None and tally.splitter == "best":
            best = "bagged"
    model = best if kind == "auto" else kind
    mixed = "" if model in ("probes", "shadows") else mixed_levels(tally.levels)
    if mixed and kind == "auto":
        raise InputError(
            f"{mixed} Use nf.grow(X, y), or ForestSelector() without a forest: they test each "
            "column against virtual probes of its own kind."
        )
    if model in ("bagged", "paper") and tally.shadows is not None:
        raise InputError(
            f'The features of this forest compete with their shadows; use null="shadows", or grow '
            f'with shadows=0 for null="{model}".'
        )
    number = id(tally)
    if number not in _estimated:
        forgotten = weakref.ref(tally, lambda _: _estimated.pop(number, None))
        _estimated[number] = forgotten, {}
    by_model = _estimated[number][1]
    if model not in by_model:
        # Beside the default, null models are imported when they are asked for.
        source = probes if model == "probes" else import_module(f"nullforest.nulls.{model}")
        best_is_paper = {"best": bool(mixed) or best == "paper"} if model == "paper" else {}
        by_model[model] = source.from_tally(tally, **best_is_paper)
        if mixed:
            by_model[model].notes = (
                f"{mixed} These p-values are not valid.",
                *by_model[model].notes,
            )
    return by_model[model]
