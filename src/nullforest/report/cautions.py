"""Cautions: weaknesses of the run and of the data, one sentence each."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.words import printable
from nullforest.data.column_blocks import column_blocks, columns_of
from nullforest.data.matrices import Source
from nullforest.selection.selection import Selection

#: A level of this share of the nominal one, or less, wastes half of the error rate.
COARSE = 0.5
#: A class with less than this share of its equal part is rare: 20 % of two classes.
RARE = 0.4
#: So many times the expected false positives are more than a forest without signal selects.
MANY_TIMES = 5
#: Names in a list before "and n more".
NAMED = 3


def cautions(selection: Selection, X: Any = None, labels: Any = None) -> list[str]:
    """List what a reader of the selection should know; parameters as in `summarize`.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> t = nf.Tally.from_counts([2, 0, 0, 1], nodes_per_tree=[1] * 3, n_samples=20)
    >>> selection = nf.select(t, error="fpr", null="paper")
    >>> for words in cautions(selection, labels=["ill"] * 2 + ["well"] * 18):
    ...     print(words)
    Few trees for this alpha: a null feature is selected 0.75 times on average, and counts are
    whole numbers, so that the level reached is 0.0156 instead of 0.05. Relevant features may be
    missed; grow more trees (trees=).
    The classes are imbalanced: 2 of 20 samples are 'ill'. The out-of-bag error is small there
    even without any signal, and this null model may be too lenient; that of virtual probes
    accounts for it. Compare with permuted classes (nf.baselines.label_permutation).
    """
    source = None if X is None else columns_of(X)[0]
    shape = (selection.tally.n_samples, selection.tally.n_features)
    if source is not None and source.shape != shape:
        raise InputError(
            f"X has {source.shape[0]} samples and {source.shape[1]} features, but the forest was "
            f"grown on {shape[0]} and {shape[1]}; give the same data."
        )
    found = [
        _few_trees(selection),
        _unsettled(selection),
        _no_signal(selection),
        None if labels is None else _imbalance(np.asarray(labels), selection.null.kind),
        None if source is None else _duplicates(source, selection.tally.names),
    ]
    return [words for words in found if words]


def _few_trees(selection: Selection) -> str | None:
    if selection.error != "fpr" or selection.level > COARSE * selection.alpha:
        return None
    return (
        f"Few trees for this alpha: a null feature is selected {selection.null.mean:.3g} times on "
        "average, and counts are whole numbers, so that the level reached is "
        f"{selection.level:.3g} instead of {selection.alpha:g}. Relevant features may be missed; "
        "grow more trees (trees=)."
    )


def _unsettled(selection: Selection) -> str | None:
    found = selection.agreement
    if found is None or found.settled or selection.known_agreement is not None:
        return None  # a forest that grew until it settled has a note of its own
    now = found.n_selected
    then = max(round(now + found.change * max(now, 1)), 0)
    return (
        "The selection has not settled: that of another seed is expected to have a Jaccard index "
        f"of {found.expected:.2f} with this one, and four times the trees to select about {then} "
        f"features instead of {now}. Grow more trees (trees=)."
    )


def _no_signal(selection: Selection) -> str | None:
    trajectory = selection.trajectory
    if trajectory is None or trajectory.better_than_guessing is not False:
        return None
    # Shallow trees on few candidates predict little where few of many features are relevant; these
    # may be selected all the same.
    if selection.n_selected > MANY_TIMES * selection.expected_false_discoveries > 0:
        return None
    return (
        "The forest finds no signal: its out-of-bag predictions are not clearly better than "
        f"guessing (error {trajectory.oob_errors[-1]:.3g}, "
        f"guessing {trajectory.guessing_error:.3g}). Selected features may be false positives; "
        "compare with permuted targets (nf.audit)."
    )


def _imbalance(labels: NDArray[Any], kind: str) -> str | None:
    classes, sizes = np.unique(labels.astype(str), return_counts=True)
    rarest = int(sizes.argmin())
    if sizes[rarest] >= RARE * len(labels) / len(classes):
        return None
    words = (
        f"The classes are imbalanced: {sizes[rarest]} of {len(labels)} samples are "
        f"'{printable(classes[rarest])}'. The out-of-bag error is small there even without any "
        "signal"
    )
    lenient = ", and this null model may be too lenient; that of virtual probes accounts for it"
    told = f"{words}{'' if kind in ('probes', 'shadows') else lenient}."
    return f"{told} Compare with permuted classes (nf.baselines.label_permutation)."


def _duplicates(source: Source, names: NDArray[np.str_]) -> str | None:
    first_of: dict[bytes, int] = {}
    pairs: list[tuple[int, int]] = []
    start = 0
    for block in column_blocks(source, what="Looking for copies"):
        for offset, column in enumerate(block + 0.0):  # -0 becomes 0
            key = hashlib.blake2b(column.tobytes(), digest_size=16).digest()
            first = first_of.setdefault(key, start + offset)
            if first != start + offset:
                pairs.append((first, start + offset))
        start += len(block)
    if not pairs:
        return None
    listed = ", ".join(printable(f"{names[b]} (= {names[a]})") for a, b in pairs[:NAMED])
    more = "" if len(pairs) <= NAMED else f", and {len(pairs) - NAMED} more"
    verb = "column repeats another" if len(pairs) == 1 else "columns repeat others"
    return (
        f"{len(pairs)} {verb}: {listed}{more}. Copies share the selections of their feature, so "
        "that each is selected less often than it would be alone; leave the copies out."
    )
