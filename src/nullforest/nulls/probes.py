"""Probe null model: the null distribution from the forest's own virtual probes.

A virtual probe is a column of random ranks that is scored at nodes but never splits one. W_p is the
number of the nodes at which it was evaluated that it would have won. A null feature is a candidate
at a node with probability C/F only, and in all T trees, so its count is a thinned W_p:

    P(n > k) = weighted mean over p of P(Bin(W_p, q_p) > k),   q_p = (C/F) · T / trees_p,

trees_p the trees' worth of nodes at which p was evaluated, the weights those of the importance
sampling. This is exact where probes are evaluated the way features are drawn: at nodes one by one
where candidates are drawn per node, in whole trees where they are drawn per tree. Real features are
correlated with each other and win less than independent probes; `sampled.fit` estimates their mean,
their overdispersion and the tail. Features with few distinct values form strata with probes, tail
and, if selected often enough, mean of their own.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from nullforest._util.errors import InputError
from nullforest.nulls import constants
from nullforest.nulls.distribution import Ints, StratifiedNull
from nullforest.nulls.mean import pi0
from nullforest.nulls.paper import dispersion
from nullforest.nulls.rates import saturation
from nullforest.nulls.sampled import NullSample, fit
from nullforest.nulls.tail import Spliced
from nullforest.tallies.null_columns import NullColumns
from nullforest.tallies.tally import Tally


def from_tally(tally: Tally) -> StratifiedNull:
    """The probe null distribution of a forest with virtual probes.

    Parameters
    ----------
    tally : Tally
        With probes and candidates.

    Examples
    --------
    Here 200 probes were evaluated in all of 100 trees; features are candidates at every tenth node.

    >>> import numpy as np, nullforest as nf
    >>> from nullforest.nulls import probes
    >>> from nullforest.tallies.null_columns import NullColumns
    >>> rng = np.random.default_rng(0)
    >>> counts, wins = rng.poisson(2, 1000), rng.poisson(20, 200)
    >>> nodes = np.bincount(rng.integers(0, 100, counts.sum()), minlength=100)
    >>> evaluated = NullColumns(
    ...     "probes", np.arange(200), wins, np.bincount([9], [wins.sum()], 18)[None],
    ...     np.zeros(1000), trees=np.full(200, 100), strata=np.zeros(200))
    >>> tally = nf.Tally(counts, nodes, np.full(100, 1000), 100, 50, null_columns=evaluated)
    >>> null = probes.from_tally(tally)
    >>> bool(abs(null.mean - 2) < 0.2), null.describe()["probes"]
    (True, 200)
    """
    probes = _checked(tally)
    names, strata = _numbered(probes.feature_strata)
    samples = [_sample(tally, probes, int(name)) for name in names]
    counts = [tally.counts[strata == number] for number in range(len(names))]
    distributions, notes = fit(tally, samples, counts, probes.mean_r2)
    null = StratifiedNull("probes", distributions, strata, notes=(*_saturation_note(tally), *notes))
    # Told when asked for: a forest that settles is tested many times.
    null.diagnostics = partial(_diagnostics, null, distributions, tally, probes, samples)
    return null


def _diagnostics(
    null: StratifiedNull,
    distributions: list[Spliced],
    tally: Tally,
    probes: NullColumns,
    samples: list[NullSample],
) -> dict[str, Any]:
    """What the null distribution says about the forest and its probes."""
    threshold = null.thresholds(1 / max(tally.n_features, 2))  # about one null feature exceeds it
    each = [
        pi0(d.bulk, tally.counts[null.feature_strata == number])
        for number, d in enumerate(distributions)
    ]
    expected = float(null.shares @ [s.mean if len(s.wins) else 0.0 for s in samples])
    mean = null.mean
    return {
        "pi0": float(null.shares @ each),
        "dispersion": dispersion(tally, tally.counts[tally.counts <= threshold]),
        "probes": sum(sample.n_columns for sample in samples),
        "mean_r2": probes.mean_r2,
        "strata": len(samples),
        "probe_to_feature_ratio": expected / mean if mean > 0 else float("nan"),
        "extrapolated_below": max(d.extrapolated_below for d in distributions),
    }


def _checked(tally: Tally) -> NullColumns:
    if tally.probes is None or len(tally.probes) == 0 or not tally.probes.trees.any():
        raise InputError(
            "This tally holds no probes; grow the forest with nullforest.grow(..., "
            'probes="auto"), or use null="bagged".'
        )
    if tally.candidates is None:
        raise InputError(
            "The probe null model needs the number of features compared at each node. Give "
            "candidates when the tally is made."
        )
    return tally.probes


def _numbered(strata: Ints) -> tuple[Ints, Ints]:
    """The strata that occur, and for each feature the place of its own among them."""
    if strata.min() == strata.max():  # nearly always; avoids sorting a million features
        return strata[:1], np.zeros_like(strata)
    names, places = np.unique(strata, return_inverse=True)
    return names, places.astype(np.int64)


def _sample(tally: Tally, probes: NullColumns, name: int) -> NullSample:
    """The probes of one stratum, equal ones merged, without those that were never evaluated."""
    assert tally.candidates is not None
    here = (probes.strata == name) & (probes.trees > 0)
    pairs, place, number = np.unique(
        np.stack([probes.wins[here], probes.trees[here]]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    weights = probes.weights[here]
    couplings = probes.couplings[name] if 0 <= name < len(probes.couplings) else None
    if couplings is None or couplings.sum() == 0:
        couplings = probes.couplings.sum(0)
    return NullSample(
        wins=pairs[0].astype(np.int64),
        thinning=tally.candidates / tally.n_features * tally.n_trees / pairs[1],
        number=number.astype(np.int64),
        weights=np.bincount(place.ravel(), weights, len(number)).astype(float),
        squares=np.bincount(place.ravel(), weights**2, len(number)).astype(float),
        couplings=couplings,
    )


def _saturation_note(tally: Tally) -> tuple[str, ...]:
    """A note for pools so small that a feature wins several nodes of the same tree."""
    load = saturation(tally)
    if load <= constants.SATURATED or tally.pool_per_tree.min() == tally.n_features:
        return ()
    return (
        f"The trees are saturated: {load:.1f} nodes for each feature of a pool. p-values below "
        '0.01 may be too small. Draw features at every node (draw="node").',
    )
