"""Numbers of null columns: virtual probes and where they are evaluated, copies of the features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nullforest.data.rank_table import RankTable

#: Below so many features most may be relevant, so that the bulk of the counts is not null.
FEW_FEATURES = 500
#: Shadows of a stratum that are aimed at, for its null distribution down to about 1 %, and the
#: fewest and most columns of a table with shadows (where it has few features).
WANTED_SHADOWS, LEAST_COLUMNS, MOST_COLUMNS = 400, 1000, 2000
#: Fewest copies, from which a feature's own mean is estimated.
LEAST_COPIES = 4
#: Copies that blocks need: the own mean of a feature tells what it says about the blocks.
BLOCK_COPIES = 24

#: A probe is evaluated this many times as often as a feature is a candidate (where possible), so
#: that its wins are thinned by q = 2/3, which leaves room to scale q up to the counts.
EVALUATIONS_PER_CANDIDATE = 1.5
#: Rates of evaluation are whole multiples of one over this (`native/probes/probe_evaluator.hpp`).
RATE_UNITS = 2**16
#: Largest share that the probes add to the evaluations of a forest. The evaluation of a probe takes
#: twice the time of a candidate's, so this is a quarter of the time at most (benchmarks/probes.py).
LARGEST_SHARE = 0.1
#: Fewest and most probes whatever their share. With 2 000 the tail is estimated down to 25/2000,
#: about .01; with few features their share is large, but the forest is small.
FEWEST, MOST = 2000, 4000
#: Fewest probes with very few features, before the limit that follows.
FEWEST_OF_ALL = 300
#: With fewer than 500 features the probes add at most this many times the evaluations of the
#: forest: with one stratum, and with several, each of which needs its own. There are no fewer than
#: 100, which are as well calibrated as 300 with 10 to 100 features; 60 were not.
SHARE_OF_FEW, SHARE_OF_STRATA, ENOUGH_OF_FEW = 1, 4, 100
#: Increase of the number of probes for each further stratum, as a share.
PER_STRATUM = 0.15
#: From this number of features the share of the cost decides alone, up to this many probes.
MANY_FEATURES, MOST_OF_MANY = 20_000, 3500
#: Ranks (probes × samples) above which the number is reduced, but not below the second: of so many,
#: a tail of .05 has the 25 that the splice point needs.
MOST_RANKS, FEWEST_OF_MANY_SAMPLES = 2_000_000, 500


def evaluation_rates(n_features: int, pool: int, candidates: int) -> tuple[int, int]:
    """Share of the trees, and of their nodes, at which a probe is evaluated, in units of 2⁻¹⁶.

    A feature is in the pool of a tree with probability F_t/F, and there a candidate at a node with
    probability C/F_t. A probe is evaluated more often by one factor: in more trees where pools are
    drawn, so that its wins cluster in trees as a feature's do, else at more nodes.
    """
    in_tree = min(1.0, EVALUATIONS_PER_CANDIDATE * pool / n_features) if pool < n_features else 1.0
    overall = min(1.0, EVALUATIONS_PER_CANDIDATE * candidates / n_features)
    at_node = min(1.0, overall / in_tree)
    return math.ceil(in_tree * RATE_UNITS), math.ceil(at_node * RATE_UNITS)


def trees_evaluated(trees: int, rates: tuple[int, int]) -> float:
    """Trees' worth of nodes at which a probe is evaluated (exact below 2²¹ trees)."""
    return trees * (rates[0] / RATE_UNITS) * (rates[1] / RATE_UNITS)


def default_number(n_samples: int, n_features: int, candidates: int, n_strata: int = 1) -> int:
    """Number of probes for `probes="auto"`.

    The number that adds a quarter to the time of the forest, at most 3 500. Below 20 000 features
    at least 2 000, which take more than a quarter of a smaller forest's time (with 5 000 features
    about as long as the forest itself). Below 1 000 features, where the forest takes little time,
    two for each feature and at least 300. Further strata increase it. With many samples fewer, down
    to 500 from 4 000 samples on. Below 500 features at most as many as take the evaluations of the
    forest itself (four times that with several strata), or 100 where these are fewer.

    Examples
    --------
    >>> default_number(100, 20_000, 1000), default_number(100, 500, 25)
    (1333, 1000)
    >>> default_number(2000, 1000, 32), default_number(20_000, 1000, 20)
    (1000, 500)
    >>> default_number(100, 400, 20), default_number(100, 100, 10), default_number(100, 25, 5, 2)
    (266, 100, 100)
    """
    rate = min(1.0, EVALUATIONS_PER_CANDIDATE * candidates / n_features)
    cheap = int(LARGEST_SHARE * candidates / rate)
    fewest = min(FEWEST, max(FEWEST_OF_ALL, 2 * n_features))
    most = max(MOST_RANKS // n_samples, FEWEST_OF_MANY_SAMPLES)
    wanted = min(int(fewest * (1 + PER_STRATUM * (n_strata - 1))), most)
    many = n_features >= MANY_FEATURES
    number = min(MOST_OF_MANY, cheap) if many else min(MOST, max(cheap, wanted))
    if n_features < FEW_FEATURES:
        share = SHARE_OF_FEW if n_strata == 1 else SHARE_OF_STRATA
        number = min(number, max(ENOUGH_OF_FEW, int(share * candidates / rate)))
    return number


def default_copies(table: RankTable, *, blocks: bool) -> int:
    """Number of copies where it is not given; 0 where virtual probes serve as well."""
    F = table.n_varying
    if F >= FEW_FEATURES:
        return BLOCK_COPIES if blocks else 0
    sizes = table.strata.sizes[np.array(table.strata.evaluable)]
    wanted = WANTED_SHADOWS / max(int(sizes.min(initial=F)), 1)
    columns = min(max(F * (wanted + 1), LEAST_COLUMNS), MOST_COLUMNS)
    return max(math.ceil(columns / F) - 1, BLOCK_COPIES if blocks else LEAST_COPIES)
