"""Classes or numbers: one rule, and `task` and `criterion` that decide otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nullforest as nf
from nullforest.data.targets import as_target

S = 60


def cycle(*values, n_samples=S):
    """The values in turn, one for each sample."""
    return [values[i % len(values)] for i in range(n_samples)]


CLASSES = {
    "text": cycle("u", "v", "w"),
    "much text": cycle(*(f"class {i}" for i in range(30))),
    "text that looks like numbers": cycle("1", "2", "3"),
    "bytes": np.array(cycle(b"u", b"v")),
    "categories": pd.Series(cycle("u", "v", "w"), dtype="category"),
    "categories of numbers": pd.Series(cycle(1, 2), dtype="category"),
    "booleans": cycle(True, False),
    "booleans of pandas": pd.array(cycle(True, False), dtype="boolean"),
    "booleans among objects": np.array(cycle(True, False), dtype=object),
    "two whole numbers": cycle(0, 1),
    "two floats": cycle(1.5, 2.5),
    "two values far apart": cycle(-1e9, 1e-9),
    "3 whole numbers": cycle(1, 2, 3),
    "3 whole numbers in 12 samples": cycle(1, 2, 3, n_samples=12),
    "6 whole numbers": cycle(*range(6)),
    "6 whole numbers as floats": cycle(*np.arange(6.0)),
    "6 whole numbers as float32": np.array(cycle(*range(6)), np.float32),
    "6 whole numbers among objects": np.array(cycle(*range(6)), dtype=object),
    "whole numbers of pandas": pd.array(cycle(3, 1, 2), dtype="Int64"),
    "negative whole numbers": cycle(-1, 0, 1),
    "6 levels of two samples": cycle(*range(6), n_samples=12),
    "a rare class": [*cycle(0, 1, n_samples=S - 1), 2],
    "one column": np.array(cycle(0, 1))[:, None],
}
NUMBERS = {
    "7 whole numbers": cycle(*range(7)),
    "12 whole numbers": cycle(*range(12)),
    "15 whole numbers": cycle(*range(15)),
    "ages": cycle(*range(20, 70)),
    "3 floats": cycle(0.5, 1.5, 2.5),
    "whole numbers and a half": cycle(1.0, 2.0, 2.5),
    "numbers": np.linspace(0, 1, S),
    "numbers among objects": np.array(cycle(0.5, 1.5, 2), dtype=object),
    "6 levels in 11 samples": cycle(*range(6), n_samples=11),
    "3 levels in 5 samples": cycle(1, 2, 3, n_samples=5),
    "several columns": np.column_stack([cycle(0, 1), cycle(0, 1, 2)]),
}
NOTED = {name for name in CLASSES if "whole numbers" in name or "levels" in name}
NOTED = (NOTED | {"a rare class"}) - {"two whole numbers"}


@pytest.mark.parametrize("y", CLASSES.values(), ids=CLASSES)
def test_these_are_classes(y):
    target = as_target(y, len(y))
    assert (target.criterion, target.task) == ("gini", "classification")
    assert target.n_classes == len(np.unique(np.asarray(y)))
    np.testing.assert_array_equal(target.y, np.asarray(y).ravel())


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS)
def test_these_are_numbers(y):
    target = as_target(y, len(y))
    assert (target.criterion, target.task, target.n_classes) == ("variance", "regression", 0)
    np.testing.assert_array_equal(target.y, np.asarray(y, float))
    assert target.notes == ()


@pytest.mark.parametrize("name", CLASSES)
def test_a_note_says_that_numbers_were_taken_for_classes(name):
    y = CLASSES[name]
    notes = as_target(y, len(y)).notes
    assert len(notes) == (name in NOTED)
    for note in notes:
        assert note.startswith(f"y holds {len(np.unique(y))} different whole numbers, which were")
        assert str(note).endswith('taken for classes; task="regression" takes them for amounts.')
        assert note.in_shell({}).endswith("; --task regression takes them for amounts.")


def test_the_note_names_the_target_and_reaches_the_selection(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(S, 5)), columns=list("abcde")).assign(
        grade=cycle(1, 2, 3)
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = nf.read_table(tmp_path / "t.csv", "grade")
    (note,) = data.notes
    assert note.startswith("The target 'grade' holds 3 different whole numbers")
    assert note in nf.select_table(data, trees=50).notes
    X, y = frame.drop(columns="grade"), frame["grade"]
    assert any("taken for classes" in words for words in nf.select(nf.grow(X, y, trees=50)).notes)
    assert not nf.read_table(tmp_path / "t.csv", "grade", task="regression").notes


@pytest.mark.parametrize("y", [y for y in CLASSES.values() if np.asarray(y).dtype.kind in "iuf"])
def test_the_task_makes_numbers_of_them(y):
    for how in ({"task": "regression"}, {"criterion": "variance"}):
        target = as_target(y, len(y), **how)
        assert (target.criterion, target.task, target.notes) == ("variance", "regression", ())
        np.testing.assert_array_equal(target.y, np.asarray(y, float).ravel())


@pytest.mark.parametrize(
    "y",
    [NUMBERS[name] for name in NUMBERS if name.startswith(("7", "12", "15", "3 floats", "whole"))],
)
def test_the_task_makes_classes_of_them(y):
    for how in ({"task": "classification"}, {"criterion": "gini"}, {"criterion": "entropy"}):
        target = as_target(y, len(y), **how)
        assert target.criterion == how.get("criterion", "gini")
        assert (target.task, target.notes) == ("classification", ())
        np.testing.assert_array_equal(target.y, y)


def test_the_task_and_the_criterion_may_agree():
    y = cycle(0, 1)
    target = as_target(y, S, task="classification", criterion="entropy")
    assert target.criterion == "entropy"
    assert as_target(y, S, task="regression", criterion="variance").criterion == "variance"


REFUSED = {
    "task and criterion": (
        {"y": cycle(0, 1), "task": "regression", "criterion": "gini"},
        "criterion = 'gini' is not for regression; omit one of the two",
    ),
    "task and log-rank": (
        {"y": cycle(0, 1), "task": "classification", "criterion": "logrank"},
        "criterion = 'logrank' is not for classification",
    ),
    "unknown task": ({"y": cycle(0, 1), "task": "both"}, "There is no task 'both'"),
    "unknown criterion": ({"y": cycle(0, 1), "criterion": "gain"}, "criterion = 'gain' is unknown"),
    "names": ({"y": [f"patient {i}" for i in range(S)]}, "60 different values in 60 samples, too"),
    "numbers as classes": (
        {"y": np.linspace(0, 1, S), "task": "classification"},
        'too many to be classes; use task="regression"',
    ),
    "text as numbers": (
        {"y": cycle("u", "v"), "task": "regression"},
        'y holds text, which is no number to predict; use task="classification"',
    ),
    "booleans as numbers": (
        {"y": cycle(True, False), "task": "regression"},
        'use task="classification"',
    ),
    "constant numbers": ({"y": [3.0] * S}, r"the same value in every sample \(3.0\)"),
    "one class": ({"y": ["ill"] * S}, r"the same value in every sample \(ill\)"),
    "one boolean": ({"y": [True] * S}, r"the same value in every sample \(True\)"),
    "constant, as classes": (
        {"y": [3] * S, "task": "classification"},
        r"the same value in every sample \(3\)",
    ),
    "missing numbers": (
        {"y": [np.nan, 1.0, *cycle(0.0, 1.0, n_samples=S - 3), np.nan]},
        r"no value in 2 of 60 samples \(the first is number 1\)",
    ),
    "missing text": (
        {"y": ["u", None, *cycle("u", "v", n_samples=S - 2)]},
        r"no value in 1 of 60 samples \(the first is number 2\)",
    ),
    "infinite": (
        {"y": [0.0, 1.0, np.inf, *cycle(0.0, n_samples=S - 3)]},
        r"an infinite value in 1 of 60 samples \(the first is number 3\)",
    ),
    "mixed": ({"y": np.array(cycle(1, "a"), dtype=object)}, "mixes types that cannot be compared"),
    "two columns of classes": (
        {"y": np.column_stack([cycle(0, 1)] * 2), "task": "classification"},
        "several columns",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_predicted_is_refused(arguments, message):
    with pytest.raises(nf.InputError, match=message):
        as_target(n_samples=S, **arguments)
    X = np.random.default_rng(0).normal(size=(S, 4))
    with pytest.raises(nf.InputError, match=message):
        nf.grow(X, trees=2, **arguments)
    with pytest.raises(nf.InputError, match=message):
        nf.Dataset.of(X, **arguments)


def test_survival_times_have_no_task():
    y = np.array([(i % 3 > 0, 1.0 + i) for i in range(S)], dtype=[("event", bool), ("time", float)])
    assert as_target(y, S).task == "survival"
    for how in ({"task": "regression"}, {"task": "classification"}):
        with pytest.raises(nf.InputError, match="task= is for classes and numbers; survival times"):
            as_target(y, S, **how)
    with pytest.raises(nf.InputError, match="which criterion='variance' does not take"):
        as_target(y, S, criterion="variance")


def test_a_criterion_takes_any_number_of_classes():
    y = np.arange(S)
    assert as_target(y, S, criterion="entropy").n_classes == S
    assert as_target([f"patient {i}" for i in y], S, criterion="gini").n_classes == S
