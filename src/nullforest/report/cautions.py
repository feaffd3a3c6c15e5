"""Cautions: weaknesses of the run and of the data, one sentence each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from nullforest._util.words import AUDIT, MORE_TREES, PERMUTATION_TEST, Sentence, printable
from nullforest.data.column_blocks import column_blocks, columns_of
from nullforest.data.targets import Target
from nullforest.selection.selection import Selection

#: A level of this share of the nominal one, or less, wastes half of the error rate.
COARSE = 0.5
#: A class with less than this share of its equal part is rare: 20 % of two classes.
RARE = 0.4
#: So many times the expected false positives are more than a forest without signal selects.
MANY_TIMES = 5
#: Names in a list before "and n more".
NAMED = 3


def cautions(selection: Selection, X: Any = None, target: Target | None = None) -> list[str]:
    """List what a reader of the selection should know; of the data, where they are given.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> from nullforest.data.targets import as_target
    >>> t = nf.Tally.from_counts([2, 0, 0, 1], nodes_per_tree=[1] * 3, n_samples=20)
    >>> selection = nf.select(t, error="fpr", null="paper")
    >>> for words in cautions(selection, target=as_target(["ill"] * 2 + ["well"] * 18, 20)):
    ...     print(words)
    Few trees for this alpha: a null feature is selected 0.75 times on average, and counts are
    whole numbers, so that the level reached is 0.0156 instead of 0.05. Relevant features may be
    missed. Grow more trees (trees=).
    The classes are imbalanced: 2 of 20 samples are 'ill'. The out-of-bag error is small there
    even without any signal, and this null model may be too lenient; that of virtual probes
    accounts for it. Compare with permuted classes (nf.baselines.label_permutation).
    """
    return [
        *_of_the_run(selection),
        *([] if target is None else _of_the_classes(target, selection.null.kind)),
        *([] if X is None else _of_copies(X, selection)),
    ]


def _of_the_run(selection: Selection) -> Iterator[str]:
    """Few trees, a selection that has not settled, a forest that finds no signal."""
    if selection.error == "fpr" and selection.level <= COARSE * selection.alpha:
        yield Sentence(
            f"Few trees for this alpha: a null feature is selected {selection.null.mean:.3g} times "
            "on average, and counts are whole numbers, so that the level reached is "
            f"{selection.level:.3g} instead of {selection.alpha:g}. Relevant features may be "
            "missed. ",
            MORE_TREES,
        )
    agreement = selection.agreement
    # A forest that grew until it settled has a note of its own.
    if not (agreement is None or agreement.settled or selection.known_agreement is not None):
        now = agreement.n_selected
        then = max(round(now + agreement.change * max(now, 1)), 0)
        yield Sentence(
            "The selection has not settled: that of another seed is expected to have a Jaccard "
            f"index of {agreement.expected:.2f} with this one, and four times the trees to select "
            f"about {then} features instead of {now}. ",
            MORE_TREES,
        )
    trajectory = selection.trajectory
    # Shallow trees on few candidates predict little where few of many features are relevant; these
    # may be selected all the same.
    many = selection.n_selected > MANY_TIMES * selection.expected_false_discoveries > 0
    if trajectory is not None and trajectory.better_than_guessing is False and not many:
        yield Sentence(
            "The forest finds no signal: its out-of-bag predictions are not clearly better than "
            f"guessing (error {trajectory.oob_errors[-1]:.3g}, "
            f"guessing {trajectory.guessing_error:.3g}). Selected features may be false positives; "
            "compare with permuted targets (",
            AUDIT,
            ").",
        )


def _of_the_classes(target: Target, kind: str) -> Iterator[str]:
    """A class with few samples."""
    if target.classes is None:
        return
    sizes = np.bincount(target.values, minlength=target.n_classes)
    rarest = int(sizes.argmin())
    if sizes[rarest] >= RARE * len(target.values) / target.n_classes:
        return
    lenient = ", and this null model may be too lenient; that of virtual probes accounts for it"
    yield Sentence(
        f"The classes are imbalanced: {sizes[rarest]} of {len(target.values)} samples are "
        f"'{printable(str(target.classes[rarest]))}'. The out-of-bag error is small there even "
        f"without any signal{'' if kind in ('probes', 'shadows') else lenient}. Compare with "
        "permuted classes (",
        PERMUTATION_TEST,
        ").",
    )


def _of_copies(X: Any, selection: Selection) -> Iterator[str]:
    """Columns with the same values."""
    first_of: dict[bytes, int] = {}
    pairs: list[tuple[int, int]] = []
    start = 0
    for block in column_blocks(columns_of(X)[0], what="Looking for copies"):
        for number, column in enumerate(block + 0.0, start):  # -0 becomes 0
            key = hashlib.blake2b(column.tobytes(), digest_size=16).digest()
            first = first_of.setdefault(key, number)
            if first != number:
                pairs.append((first, number))
        start += len(block)
    if not pairs:
        return
    names = selection.tally.names
    listed = ", ".join(printable(f"{names[b]} (= {names[a]})") for a, b in pairs[:NAMED])
    more = "" if len(pairs) <= NAMED else f", and {len(pairs) - NAMED} more"
    verb = "column repeats another" if len(pairs) == 1 else "columns repeat others"
    yield (
        f"{len(pairs)} {verb}: {listed}{more}. Copies share the selections of their feature, so "
        "that each is selected less often than it would be alone; leave the copies out."
    )
