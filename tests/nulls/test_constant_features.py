"""Constant features change nothing: they are no candidates, are not tested, and are not counted."""

import gc
import pickle
import weakref
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nullforest as nf
from nullforest.nulls.group_sums import group_null
from nullforest.selection.error_rates import ERROR_RATES, decide

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 120))
X[:, 80:] = np.rint(X[:, 80:])
y = X[:, 0] + X[:, 90] + rng.normal(size=60) > 0
TALLIES = {
    "probes": nf.grow(X, y, trees=400, keep_trees=False).tally,
    "pools": nf.grow(X, y, trees=200, draw="tree", keep_trees=False).tally,
    "shadows": nf.grow(X[:, 70:100], y, trees=400, shadows=8, keep_trees=False).tally,
    "bare": nf.grow(X, y, trees=400, probes=0, keep_trees=False).tally,
}
CASES = [
    *[("probes", kind) for kind in ("probes", "bagged", "paper")],
    *[("pools", kind) for kind in ("probes", "bagged", "paper")],
    ("shadows", "shadows"),
    *[("bare", kind) for kind in ("bagged", "paper")],
]


def with_constants(tally, places):
    """The tally with constant features inserted before these places."""

    def inserted(values, constant, axis=0):
        return None if values is None else np.insert(values, places, constant, axis=axis)

    columns = tally.null_columns
    if columns is not None:
        strata = inserted(columns.feature_strata, columns.feature_strata.max() + 1)
        wins, couplings = columns.wins, columns.couplings
        if columns.kind == "shadows":
            wins, couplings = inserted(wins, 0, axis=1), inserted(couplings, 0)
        else:
            couplings = np.concatenate([couplings, 0 * couplings[:1]])
        columns = replace(columns, feature_strata=strata, wins=wins, couplings=couplings)
    return replace(
        tally,
        counts=inserted(tally.counts, 0),
        couplings=inserted(tally.couplings, 0),
        levels=inserted(tally.levels, 1),
        feature_names=inserted(tally.feature_names, "constant"),
        null_columns=columns,
        n_constant=len(places),
    )


@pytest.mark.parametrize(("forest", "kind"), CASES)
@given(places=st.lists(st.integers(0, 30), min_size=1, max_size=40))
@settings(max_examples=5, deadline=None)
def test_the_other_features_have_the_same_null_distribution(forest, kind, places):
    plain = TALLIES[forest]
    tally = with_constants(plain, places)
    assert tally.draw == plain.draw
    assert tally.n_columns == plain.n_columns
    varying = tally.varying
    assert (tally.counts[varying] == plain.counts).all()
    same = partial(np.testing.assert_allclose, rtol=1e-12)  # windows of sums depend on the order
    before, null = nf.null(plain, kind), nf.null(tally, kind)
    for mid in (False, True):
        p = null.pvalues(tally.counts, mid=mid)
        same(p[varying], before.pvalues(plain.counts, mid=mid))
        assert (p[~varying] == 1).all()
    counts = null.expected_counts()
    same(counts[varying], before.expected_counts())
    assert not counts[~varying].any()
    assert null.mean == pytest.approx(before.mean, rel=1e-12)
    assert null.n_features == before.n_features
    thresholds = null.thresholds(0.01)
    same(thresholds[varying], before.thresholds(0.01))
    exceeding = null.pvalues(thresholds + 1).sum()
    assert exceeding == pytest.approx(before.pvalues(before.thresholds(0.01) + 1).sum())
    found, expected = null.describe(), before.describe()
    assert found.pop("null") == expected.pop("null")
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    longer = null.scaled(3.0).pvalues(3 * tally.counts)
    same(longer[varying], before.scaled(3.0).pvalues(3 * plain.counts))
    if kind != "shadows":
        members = np.flatnonzero(varying)[:20]
        of_some = group_null(null, [*members, *np.flatnonzero(~varying)])
        same(of_some.sf(np.arange(50)), group_null(before, np.arange(20)).sf(np.arange(50)))
    assert float(group_null(null, np.flatnonzero(~varying)).sf(-1)) == 1


@pytest.mark.parametrize("error", ERROR_RATES)
def test_features_that_are_not_tested_count_for_no_error_rate(error):
    p = np.random.default_rng(1).random(200) ** 3
    tested = np.random.default_rng(2).random(200) < 0.7
    found, alone = decide(p, 0.1, error, tested=tested), decide(p[tested], 0.1, error)
    for name in ("support", "qvalues", "adjusted"):
        np.testing.assert_array_equal(getattr(found, name)[tested], getattr(alone, name))
    assert not found.support[~tested].any()
    assert (found.qvalues[~tested] == 1).all()


def test_rows_of_strata_leave_out_constant_features():
    tally = with_constants(TALLIES["probes"], [0, 3, 3, 100])
    rows, before = (nf.select(t).strata() for t in (tally, TALLIES["probes"]))
    assert [row["features"] for row in rows] == [row["features"] for row in before]


@pytest.mark.parametrize("forest", TALLIES)
def test_they_add_halve_and_survive_the_disk(forest, tmp_path):
    tally = with_constants(TALLIES[forest], [0, 7, 30])
    tally.save(tmp_path / "a")
    assert nf.Tally.load(tmp_path / "a") == tally
    first, second = tally.halves()
    assert first.n_constant == (first + second).n_constant == 3
    with pytest.raises(nf.InputError, match="constant features"):
        first + replace(second, n_constant=0)


def test_a_wrong_number_of_constant_features_is_refused():
    tally = with_constants(TALLIES["probes"], [4])
    for number in (-1, 2, 121, 0.5):
        with pytest.raises(nf.InputError):
            replace(tally, n_constant=number)
    with pytest.raises(nf.InputError, match="tell them apart"):
        replace(tally, null_columns=None)


def test_a_null_distribution_is_estimated_once_and_goes_with_its_tally():
    tally = replace(TALLIES["probes"])
    for kind in ("probes", "bagged", "paper"):
        assert nf.null(tally, kind) is nf.null(tally, kind)
        assert nf.null(replace(tally), kind) is not nf.null(tally, kind)
    assert nf.null(tally) is nf.null(tally, "probes")
    assert pickle.loads(pickle.dumps(nf.null(tally))).describe() == nf.null(tally).describe()
    alive = weakref.ref(tally)
    null = nf.null(tally)
    del tally
    gc.collect()
    assert alive() is None
    assert null.describe()["probes"] > 0
