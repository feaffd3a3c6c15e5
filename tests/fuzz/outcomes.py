"""What a call may end in: a result that fits, or one sentence that says what is wrong."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: Tells in one line what is about to be called.
Say = Callable[[str], object]

RESULT, REFUSED = "result", "refused"


class UnsoundError(AssertionError):
    """A result that contradicts itself, its settings, or the one of undamaged data."""


def check(holds: Any, what: str) -> None:
    """Raise an UnsoundError unless something holds."""
    if not bool(holds):
        raise UnsoundError(what)


def check_sentence(message: str) -> None:
    """A refusal is one sentence or a few, on one line."""
    check(message.strip(), "the refusal says nothing")
    check("\n" not in message.strip(), f"the refusal has several lines: {message[:200]!r}")
    check("Traceback" not in message, "the refusal holds a traceback")
    check(len(message) < 2000, f"the refusal has {len(message)} characters")


def check_selection(selection: Any) -> None:
    """A selection has a p-value for every feature, and selects the significant ones."""
    F = selection.tally.n_features
    p, q = selection.pvalues, selection.qvalues
    check(p.shape == q.shape == selection.support.shape == (F,), "lengths differ")
    check(np.all((p >= 0) & (p <= 1)), f"p-values outside [0, 1]: {p[~((p >= 0) & (p <= 1))][:3]}")
    check(np.all((q >= 0) & (q <= 1)), "q-values outside [0, 1]")
    if selection.support.any() and not selection.support.all():
        worst, best = p[selection.support].max(), p[~selection.support].min()
        check(worst <= best, f"p = {worst} is selected, p = {best} is not")
    check(len(selection.table) == F, "the table has other features")
    check(all(isinstance(note, str) for note in selection.notes), "notes that are no text")


def place_of(error: BaseException) -> str:
    """Type, message and the last lines of code of an exception, on one line."""
    frames = traceback.extract_tb(error.__traceback__)[-2:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    message = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {message} [{where}]"
