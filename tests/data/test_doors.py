"""The same data give the same bits through every door: file, command, arrays, selector, AnnData."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import nullforest as nf
from nullforest.cli.app import app
from nullforest.data.readers.options import SurvivalColumns

S = 72
RNG = np.random.default_rng(5)
X = RNG.normal(size=(S, 12))
FRAME = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)])
SIGNAL = X[:, 3] + 0.5 * RNG.normal(size=S)
ILL = np.where(SIGNAL > 0, "yes", "no")
SITE = np.array(["north", "south", "west"])[np.arange(S) % 3]
LEVELS = SIGNAL.argsort().argsort()


def levels(number):
    """So many whole numbers, in the order of the signal."""
    return LEVELS * number // S


def gaps(frame):
    """The frame without a tenth of its values."""
    return frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)


TARGETS = {
    "text": ILL,
    "booleans": SIGNAL > 0,
    "two whole numbers": np.where(SIGNAL > 0, 4, 7),
    "two floats": np.where(SIGNAL > 0, 1.5, 2.5),
    "two whole floats": np.where(SIGNAL > 0, 1.0, 2.0),
    "3 whole numbers": levels(3),
    "6 whole numbers": levels(6),
    "0.0 to 5.0": levels(6).astype(float),
    "7 whole numbers": levels(7),
    "12 whole numbers": levels(12),
    "15 whole numbers": levels(15),
    "numbers": SIGNAL,
    "numbers with ties": np.round(SIGNAL, 1),
    "survival": pd.DataFrame({"died": np.arange(S) % 4 > 0, "days": np.round(np.exp(SIGNAL), 2)}),
}
TABLES = {
    "float32": FRAME.astype("float32"),
    "whole numbers": (3 * FRAME).round().astype(int),
    "wide": pd.DataFrame(
        np.c_[X, np.random.default_rng(2).normal(size=(S, 600))],
        columns=[f"g{i}" for i in range(612)],
    ),
    "missing values": gaps(FRAME),
    "constant columns": FRAME.assign(same=3.0, empty=np.nan, g7=1),
    "a constant column with gaps": FRAME.assign(half=np.where(np.arange(S) % 2, 1.0, np.nan)),
    "booleans": FRAME.assign(flag=X[:, 1] > 0, g2=X[:, 2] > 1),
}
#: Columns that a matrix of an AnnData cannot hold.
MIXED = {
    "categories": FRAME.assign(
        group=np.array(["u", "v", "w", "x"])[np.arange(S) % 4], kind=np.where(X[:, 3] > 0, "p", "q")
    ),
    "categories with gaps": FRAME.assign(
        group=pd.Series(np.array(["u", "v", "w", None])[np.arange(S) % 4])
    ),
    "categories in another order": FRAME.assign(
        group=pd.Categorical(
            np.array(["u", "v", "w", "x"])[np.arange(S) % 4], ["w", "none", "x", "u", "v"]
        ),
        kind=pd.Categorical(np.where(X[:, 3] > 0, "p", "q"), ["q", "none", "p"]),
    ),
    "numbers with gaps": FRAME.assign(
        whole=pd.array([i % 5 if i % 7 else None for i in range(S)], dtype="Int64"),
        flag=pd.array([i % 2 > 0 if i % 7 else None for i in range(S)], dtype="boolean"),
        mixed=[1.5 if i % 2 else None for i in range(S)],
    ),
    "dates": FRAME.assign(day=pd.date_range("2020-01-01", periods=S)[RNG.permutation(S)]),
}
SETTINGS = {
    "probes": {"trees": 60},
    "shadows": {"trees": 60, "shadows": 4},
    "until settled": {"max_trees": 150},
    "bootstrap": {"trees": 40, "replace": True, "max_depth": 5},
}


def same(one, other, *, names=True):
    """Two selections rest on the same tally, to the last bit, and have the same p-values."""
    if names:
        assert one.tally == other.tally
        assert one.selected.tolist() == other.selected.tolist()
    np.testing.assert_array_equal(one.tally.counts, other.tally.counts)
    np.testing.assert_array_equal(one.tally.nodes_per_tree, other.tally.nodes_per_tree)
    mine, others = one.tally.null_columns, other.tally.null_columns
    assert (mine is None, one.tally.fingerprint) == (others is None, other.tally.fingerprint)
    if mine is not None:
        assert mine.kind == others.kind
        np.testing.assert_array_equal(mine.wins, others.wins)
        assert mine.mean_r2 == others.mean_r2
    np.testing.assert_array_equal(one.pvalues, other.pvalues)
    assert (one.alpha, one.error) == (other.alpha, other.error)
    np.testing.assert_equal(one.threshold, other.threshold)  # NaN with shadows


def answers(frame, y, folder, *, blocks=None, adjust=(), matrix=False, **settings):
    """The selections of one table through each door; `blocks` and `adjust` are more columns."""
    beside = {} if blocks is None else {"site": blocks}
    beside |= {f"about{i}": values for i, values in enumerate(adjust)}
    roles = {"blocks": "site"} if blocks is not None else {}
    roles |= {"adjust": [f"about{i}" for i in range(len(adjust))]} if adjust else {}
    survival = isinstance(y, pd.DataFrame)
    targets = y if survival else pd.DataFrame({"y": y})
    target = SurvivalColumns("died", "days") if survival else "y"
    table = frame.assign(**beside)
    whole = pd.concat([table, targets], axis=1)
    outcome = y if survival else np.asarray(y)
    found = {"grow": nf.select(nf.grow(table, outcome, **roles, **settings))}
    found["data set"] = nf.select_table(nf.Dataset.of(table, outcome, **roles), **settings)
    for suffix in ("csv", "parquet"):
        path = folder / f"table.{suffix}"
        getattr(whole, f"to_{suffix}")(path, index=False)
        found[suffix] = nf.select_table(nf.read_table(path, target, **roles), **settings)
    further = {"shadows": settings["shadows"]} if "shadows" in settings else {}
    selector = nf.ForestSelector(
        **{name: value for name, value in settings.items() if name not in further}
    )
    further |= roles
    if survival:
        outcome = np.array(
            list(zip(y["died"], y["days"], strict=True)), [("e", bool), ("t", float)]
        )
    found["selector"] = selector.fit(table, outcome, **further).selection_
    if matrix:
        cells = anndata.AnnData(
            frame.to_numpy(np.float64 if frame.dtypes.nunique() > 1 else None),
            obs=pd.concat([targets, table[list(beside)]], axis=1).set_index(
                frame.index.astype(str)
            ),
            var=pd.DataFrame(index=frame.columns),
        )
        named = {"time": "days", "event": "died"} if survival else {"target": "y"}
        found["genes"] = nf.select_genes(cells, **named, **roles, **settings)
        plain = dict(
            zip(("blocks", "adjust"), (blocks, pd.DataFrame(dict(enumerate(adjust)))), strict=True)
        )
        plain = {name: plain[name] for name in roles}
        values = cells.X.copy()
        found["arrays"] = nf.select(nf.grow(values, outcome, **plain, **settings))
        found["selector of arrays"] = selector.fit(values, outcome, **further | plain).selection_
    return found


def all_the_same(found):
    """Every door gives the answer of the first one."""
    first, *others = found
    for other in others:
        same(found[first], found[other], names="arrays" not in other)
    described = [selection.effects for selection in found.values() if selection.effects is not None]
    assert len(described) >= 4
    for effects in described[1:]:
        assert (effects.comparison, list(effects.columns)) == (
            described[0].comparison,
            list(described[0].columns),
        )
        for name, values in effects.columns.items():
            if values.dtype.kind == "f":  # float32 is written with fewer digits
                np.testing.assert_allclose(values, described[0].columns[name], rtol=1e-5, atol=1e-6)
            else:
                assert values.tolist() == described[0].columns[name].tolist()


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
def test_a_target_is_the_same_through_every_door(y, tmp_path):
    all_the_same(answers(FRAME, y, tmp_path, matrix=True, trees=60))


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("frame", TABLES.values(), ids=TABLES)
def test_a_table_is_the_same_through_every_door(frame, settings, tmp_path):
    all_the_same(answers(frame, ILL, tmp_path, matrix=True, **settings))


@pytest.mark.parametrize("y", [ILL, SIGNAL, levels(4)], ids=["text", "numbers", "4 levels"])
@pytest.mark.parametrize("frame", MIXED.values(), ids=MIXED)
def test_columns_of_every_kind_are_the_same(frame, y, tmp_path):
    all_the_same(answers(frame, y, tmp_path, trees=60))


@pytest.mark.parametrize("name", ["text", "booleans", "6 whole numbers", "numbers", "survival"])
@pytest.mark.parametrize(
    "roles",
    [
        {"blocks": SITE},
        {"blocks": np.arange(S) % 4},
        {"adjust": [X[:, 5] + SIGNAL]},
        {"blocks": SITE, "adjust": [X[:, 5] + SIGNAL, np.arange(S) % 2]},
    ],
    ids=["sites", "numbered sites", "a covariate", "both"],
)
def test_blocks_and_covariates_are_the_same(roles, name, tmp_path):
    all_the_same(answers(FRAME, TARGETS[name], tmp_path, matrix=True, trees=40, **roles))


@pytest.mark.parametrize("how", [{"task": "regression"}, {"task": "classification"}])
@pytest.mark.parametrize("name", ["3 whole numbers", "12 whole numbers", "two floats"])
def test_the_task_decides_at_every_door(how, name, tmp_path):
    y = TARGETS[name]
    grown = nf.select(nf.grow(FRAME, y, trees=60, **how))
    FRAME.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    data = nf.read_table(tmp_path / "t.csv", "y", **how)
    assert data.target.task == how["task"]
    same(grown, nf.select_table(data, trees=60))
    same(grown, nf.ForestSelector(trees=60, **how).fit(FRAME, y).selection_)
    cells = anndata.AnnData(X, pd.DataFrame({"y": y}, index=FRAME.index.astype(str)))
    cells.var_names = FRAME.columns
    same(grown, nf.select_genes(cells, "y", trees=60, **how))


COMMANDS = {
    "text": (FRAME, ILL, {}, []),
    "6 whole numbers": (FRAME, levels(6), {}, []),
    "15 whole numbers": (FRAME, levels(15), {}, []),
    "two floats": (FRAME, TARGETS["two floats"], {}, []),
    "task": (FRAME, levels(4), {"task": "regression"}, ["--task", "regression"]),
    "constant columns": (TABLES["constant columns"], ILL, {}, []),
    "missing values": (TABLES["missing values"], SIGNAL, {}, []),
    "categories": (MIXED["categories"], ILL, {}, []),
    "blocks": (FRAME.assign(site=SITE), ILL, {"blocks": "site"}, ["--blocks", "site"]),
    "covariate": (
        FRAME.assign(age=X[:, 5] + SIGNAL),
        SIGNAL,
        {"adjust": ["age"]},
        ["--adjust", "age"],
    ),
}


@pytest.mark.parametrize(("frame", "y", "roles", "words"), COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("number", [{"trees": 60}, {"max_trees": 150}], ids=["trees", "max_trees"])
def test_the_command_is_the_same(frame, y, roles, words, number, tmp_path):
    grown = nf.select(nf.grow(frame, y, **roles, **number))
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    for name, value in number.items():
        words = [*words, f"--{name.replace('_', '-')}", str(value)]
    outputs = ["--tally", tmp_path / "t.tally", "--table", tmp_path / "out.csv"]
    command = ["select", tmp_path / "t.csv", "--target", "y", *words, *outputs]
    done = CliRunner().invoke(app, [str(word) for word in command])
    assert done.exit_code == 0, done.output
    tally = nf.Tally.load(tmp_path / "t.tally")
    assert tally == grown.tally
    same(grown, nf.select(tally))
    table = pd.read_csv(tmp_path / "out.csv", index_col="feature").loc[grown.tally.names]
    np.testing.assert_array_equal(table["count"], grown.counts)
    np.testing.assert_allclose(table["p_value"], grown.pvalues, rtol=1e-12)


@pytest.mark.parametrize("criterion", ["variance", "gini", "entropy"])
def test_the_criterion_decides_at_every_door(criterion):
    y = levels(5)
    forest = nf.grow(FRAME, y, trees=60, criterion=criterion)
    found = {
        "grow": nf.select(forest).with_effects(FRAME, y),
        "watch": nf.watch(FRAME, y, trees=60, criterion=criterion),
        "data set": nf.select_table(nf.Dataset.of(FRAME, y, criterion=criterion), trees=60),
        "selector": nf.ForestSelector(trees=60, criterion=criterion).fit(FRAME, y).selection_,
    }
    all_the_same(found)
    numbers = criterion == "variance"
    assert found["grow"].effects.comparison == ("numbers" if numbers else "several classes")
    assert (forest.classes is None) == numbers


def test_another_target_on_the_same_columns_is_that_of_a_new_data_set():
    data = nf.Dataset.of(FRAME, ILL)
    again = data.with_target(SIGNAL)
    same(nf.select(nf.grow(again, trees=60)), nf.select(nf.grow(FRAME, SIGNAL, trees=60)))
    assert again.table is data.table
