"""Survival targets: scores, forests grown on them, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sksurv.compare import compare_survival
from sksurv.metrics import concordance_index_censored
from sksurv.nonparametric import kaplan_meier_estimator, nelson_aalen_estimator
from sksurv.util import Surv

import nullforest as nf
from naive import survival as naive
from nullforest.data.survival_times import (
    kaplan_meier,
    log_rank_scores,
    median_follow_up,
    survival_of,
)
from nullforest.data.targets import as_target
from nullforest.forest.concordance import concordance_index

#: Few distinct times, so that events tie with events and with censored samples.
tied_samples = st.lists(
    st.tuples(st.booleans(), st.integers(0, 6), st.integers(-3, 3), st.integers(0, 3)),
    min_size=1,
    max_size=25,
)


def columns(samples):
    return [np.array(column) for column in zip(*samples, strict=True)]


@settings(max_examples=100, deadline=None)
@given(tied_samples)
def test_scores_are_those_of_the_definition(samples):
    event, time, _, weight = columns(samples)
    np.testing.assert_allclose(
        log_rank_scores(event, time), naive.log_rank_scores(event, time), atol=1e-12
    )
    weighted = log_rank_scores(event, time, weight.astype(float))
    np.testing.assert_allclose(weighted, naive.log_rank_scores(event, time, weight), atol=1e-12)
    assert abs(float(weighted @ weight)) < 1e-9


@settings(max_examples=100, deadline=None)
@given(tied_samples)
def test_the_sum_of_a_groups_scores_is_the_numerator_of_the_log_rank_test(samples):
    event, time, group, _ = columns(samples)
    found = log_rank_scores(event, time)[group > 0].sum()
    expected = naive.observed_less_expected(event, time, group > 0)
    assert found == pytest.approx(expected, abs=1e-10)


def test_weights_count_samples_several_times():
    rng = np.random.default_rng(0)
    event, time = rng.random(30) < 0.6, rng.integers(1, 12, 30)
    weight = rng.integers(0, 4, 30)
    once = log_rank_scores(event, time, weight.astype(float))
    again = log_rank_scores(np.repeat(event, weight), np.repeat(time, weight))
    np.testing.assert_allclose(np.repeat(once, weight), again, atol=1e-12)


def test_scores_agree_with_scikit_survival():
    """Its Nelson–Aalen estimate is the hazard; two groups give its log-rank statistic."""
    _, y, _ = nf.simulate.survival(80, 2, 0, censoring=0.4, seed=3)
    y["time"] = np.ceil(5 * y["time"])
    scores = log_rank_scores(y["event"], y["time"])
    times, hazard = nelson_aalen_estimator(y["event"], y["time"])
    place = np.searchsorted(times, y["time"])
    np.testing.assert_allclose(y["event"] - hazard[place], scores, atol=1e-12)
    group = np.arange(80) % 2
    *_, table, covariance = compare_survival(y, group, return_stats=True)
    assert scores[group == 1].sum() == pytest.approx(-table["statistic"].iloc[0], abs=1e-9)
    assert np.isfinite(covariance).all()


@settings(max_examples=100, deadline=None)
@given(tied_samples)
def test_concordance_is_that_of_all_pairs(samples):
    event, time, risk, _ = columns(samples)
    expected = naive.concordance(event, time, risk)
    assert concordance_index(event, time, risk) == pytest.approx(expected, nan_ok=True)


def test_concordance_and_kaplan_meier_agree_with_scikit_survival():
    X, y, _ = nf.simulate.survival(500, 3, 1, censoring=0.5, seed=1)
    y["time"] = np.ceil(20 * y["time"])
    risk = np.round(X[:, 2], 1)
    expected = concordance_index_censored(y["event"], y["time"], risk)[0]
    assert concordance_index(y["event"], y["time"], risk) == pytest.approx(expected, abs=1e-12)
    times, left = kaplan_meier(y["event"], y["time"])
    known = kaplan_meier_estimator(y["event"], y["time"])
    np.testing.assert_array_equal(times, known[0])
    np.testing.assert_allclose(left, known[1], atol=1e-12)
    np.testing.assert_allclose(left, naive.kaplan_meier(y["event"], y["time"]), atol=1e-12)
    reverse = kaplan_meier_estimator(y["event"], y["time"], reverse=True)
    assert median_follow_up(y) == reverse[0][np.flatnonzero(reverse[1] <= 0.5)[0]]


def test_every_form_of_a_survival_target_gives_one_tally():
    X, y, _ = nf.simulate.survival(60, 40, 2, seed=0)
    event, time = y["event"], y["time"]
    forms = [
        Surv.from_arrays(event, time),
        Surv.from_arrays(event, time, name_event="e.tdm", name_time="t.tdm"),
        y[["time", "event"]],
        y.reshape(-1, 1),
        np.rec.fromarrays([event, time], names="dead,years"),
        pd.DataFrame({"event": event.astype(int), "time": time}),
        pd.DataFrame({"years": time, "dead": event}),
        pd.DataFrame({"time": time, "event": event}).convert_dtypes(),
        pl.DataFrame({"Time": time, "Event": event.astype(float)}),
        np.array(list(zip(event.astype("u1"), time * 2, strict=True)), "u1,f4").astype(
            [("event", "u1"), ("time", ">f4")]
        ),
    ]
    expected = nf.grow(X, y, trees=20).tally
    assert expected.settings["criterion"] == "logrank"
    for form in forms:
        assert nf.grow(X, form, trees=20).tally == expected
    scores = log_rank_scores(event, time)
    assert expected.settings["min_leaf"] == 3  # a tenth of the 30 samples of a tree
    plain = nf.grow(X, scores, criterion="variance", trees=20, min_leaf=3)
    np.testing.assert_array_equal(plain.tally.counts, expected.counts)


def test_other_frames_are_outputs_as_before():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["height", "weight"])
    assert survival_of(frame) is None
    assert as_target(frame, 30).criterion == "variance"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y["time"].__setitem__(3, -1.0), "negative"),
        (lambda y: y["time"].__setitem__(3, np.nan), "missing"),
        (lambda y: y["time"].__setitem__(3, np.inf), "infinite"),
        (lambda y: y["event"].__setitem__(slice(None), False), "no event"),
        (lambda y: y["time"].__setitem__(slice(None), 2.0), "equal"),
    ],
)
def test_bad_times_are_refused(change, words):
    X, y, _ = nf.simulate.survival(30, 5, 0)
    change(y)
    with pytest.raises(nf.InputError, match=words):
        nf.grow(X, y, trees=5)


def test_other_bad_targets_are_refused():
    X, y, _ = nf.simulate.survival(30, 5, 0)
    event, time = y["event"], y["time"]
    frame = pd.DataFrame({"event": event + 1, "time": time})
    bad = {
        "1 and 0": frame,
        "missing": frame.assign(event=[np.nan, *event[1:]]),
        "no numbers": frame.assign(event=event, time=[f"day {t}" for t in time]),
        "fields a, b": np.rec.fromarrays([time, time], names="a,b"),
        "fields event, time, site": np.rec.fromarrays([event, time, time], names="event,time,site"),
        "28 values for 30": y[:28],
        "survives the first event": np.array([(False, 1), (True, 2), (True, 2)] * 10, y.dtype),
    }
    for words, target in bad.items():
        with pytest.raises(nf.InputError, match=words):
            nf.grow(X, target, trees=5)
    for words, target, setting in [
        ("omit it, or use 'logrank'", y, {"criterion": "gini"}),
        ("class_weight", y, {"class_weight": "balanced"}),
        ("needs events and times", time, {"criterion": "logrank"}),
    ]:
        with pytest.raises(nf.InputError, match=words):
            nf.grow(X, target, trees=5, **setting)


def test_predictions_are_risks():
    X, y, relevant = nf.simulate.survival(200, 30, 2, hazard_ratio=3.0, seed=0)
    forest = nf.grow(X, y, trees=200)
    seen = concordance_index_censored(y["event"], y["time"], forest.oob_prediction)[0]
    assert forest.oob_score == pytest.approx(seen)
    assert forest.oob_score > 0.65
    fresh, later, _ = nf.simulate.survival(200, 30, 2, hazard_ratio=3.0, seed=1)
    risk = forest.predict(fresh)
    assert concordance_index_censored(later["event"], later["time"], risk)[0] > 0.65
    selection = nf.watch(X, y, trees=200)
    assert selection.trajectory.guessing_error == 0.5
    assert selection.trajectory.better_than_guessing
    assert selection.trajectory.oob_errors[-1] == pytest.approx(1 - forest.oob_score)
    assert selection.support[relevant].all()


def test_forests_extend_resume_merge_and_take_weights_and_blocks(tmp_path):
    X, y, _ = nf.simulate.survival(80, 30, 2, censoring=0.5, seed=0)
    whole = nf.grow(X, y, trees=60, keep_trees=False)
    half = nf.grow(X, y, trees=30, keep_trees=False)
    assert nf.grow(X, y, trees=30, more=half).tally == whole.tally
    later = nf.grow(X, y, trees=30, first_tree=30, keep_trees=False)
    half.tally.save(tmp_path / "a.tally")
    assert nf.Tally.load(tmp_path / "a.tally") + later.tally == whole.tally
    nf.resume(X, y, tmp_path / "run", trees=30)
    assert nf.resume(X, y, tmp_path / "run", trees=60).tally == whole.tally
    other = y.copy()
    other["event"][0] = ~other["event"][0]
    with pytest.raises(nf.InputError, match="target"):
        nf.resume(X, other, tmp_path / "run", trees=60)
    sites = np.arange(80) % 4
    weight = np.where(sites == 0, 2.0, 1.0)
    blocked = nf.grow(X, y, trees=60, blocks=sites, sample_weight=weight)
    assert len(blocked.tally.shadows) >= 24
    scores = as_target(y, 80).values[:, 0]
    numbers = nf.grow(X, scores, trees=30, first_tree=30, criterion="variance").tally
    with pytest.raises(nf.InputError, match="different settings"):
        half.tally + numbers


def test_the_simulator_censors_the_share_asked_for():
    """Tolerance: 4 standard errors of a share, √(c(1−c)/S)."""
    for censoring in (0.0, 0.3, 0.7):
        _, y, relevant = nf.simulate.survival(4000, 10, 4, 2.0, censoring, seed=5)
        error = np.sqrt(censoring * (1 - censoring) / 4000)
        assert abs((~y["event"]).mean() - censoring) <= 4 * error
        assert relevant.sum() == 4
    X, y, _ = nf.simulate.survival(4000, 4, 4, 2.0, 0.0, seed=5)
    # Without censoring log T = −Xβ + a Gumbel variable: least squares finds β within 5 errors.
    found = np.linalg.lstsq(X, -np.log(y["time"]) - np.euler_gamma, rcond=None)[0]
    error = np.pi / np.sqrt(6 * 4000)
    assert np.abs(found - np.log(2.0) * np.array([1, -1, 1, -1])).max() < 5 * error


@pytest.mark.parametrize(
    "given",
    [
        {"n_samples": 1},
        {"n_features": 0, "n_relevant": 0},
        {"n_relevant": 7},
        {"hazard_ratio": 0.0},
        {"censoring": 1.0},
        {"dtype": "int64"},
    ],
)
def test_the_simulator_refuses(given):
    with pytest.raises(nf.InputError):
        nf.simulate.survival(**{"n_samples": 20, "n_features": 5, "n_relevant": 1} | given)
