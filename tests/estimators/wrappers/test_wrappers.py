"""The wrappers: subsets, layers, stability, resumed runs, names, errors."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import nullforest as nf
from nullforest.estimators.wrappers.out_of_bag import gain, of_columns, of_forest, of_guessing
from nullforest.estimators.wrappers.stability import (
    expected_false,
    halves_of,
    lowest_threshold,
)
from nullforest.estimators.wrappers.wrapper import fit_selector

ALL = (
    nf.wrappers.BackwardElimination,
    nf.wrappers.ForwardSelection,
    nf.wrappers.KnockOut,
    nf.wrappers.StabilitySelection,
)
FEW = {nf.wrappers.StabilitySelection: {"pairs": 3}}


def bagged(X, y, seed, alpha=0.05, error="fwer"):
    """A small forest without probes; a function is a selector too."""
    forest = nf.grow(X, y, trees=150, probes=0, keep_trees=False, oob=False, seed=seed)
    return nf.select(forest.tally, alpha, error, "bagged")


@pytest.fixture(scope="module")
def data():
    return nf.simulate.independent(100, 200, n_relevant=12, relevance=0.5, seed=3)


def answers(fitted):
    """Everything a wrapper says, in comparable form."""
    parts = [fitted.support_, fitted.table_.to_numpy(dtype=object)[:, 1:]]
    parts += [
        getattr(fitted, name) for name in ("probabilities_", "ranked_") if hasattr(fitted, name)
    ]
    for name in ("trail_", "accounting_"):
        if hasattr(fitted, name):
            parts.append(getattr(fitted, name).to_numpy(dtype=object))
    return [pd.DataFrame(np.atleast_1d(part)).astype(str) for part in parts]


def assert_same(a, b):
    for one, other in zip(answers(a), answers(b), strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("wrapper", ALL)
def test_same_seed_gives_the_same_answer_on_any_number_of_cores(wrapper, data):
    X, y, _ = data
    one, two = (
        wrapper(nf.ForestSelector(trees=60, null="paper", n_jobs=n), **FEW.get(wrapper, {})).fit(
            X, y
        )
        for n in (1, 2)
    )
    assert_same(one, two)


@pytest.mark.parametrize("wrapper", ALL)
def test_an_interrupted_run_resumes_to_the_same_answer(wrapper, data, tmp_path):
    X, y, _ = data
    settings = {**FEW.get(wrapper, {}), "random_state": 7, "progress": False}
    whole = wrapper(bagged, **settings).fit(X, y)
    path = tmp_path / "steps"
    calls = []

    def interrupted(X, y, seed):
        calls.append(seed)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return bagged(X, y, seed)

    # A function is known by its name, so the one that is interrupted bears the same.
    interrupted.__qualname__ = bagged.__qualname__
    interrupted.__name__ = bagged.__name__
    with contextlib.suppress(KeyboardInterrupt):
        wrapper(interrupted, **settings, resume=path).fit(X, y)
    resumed = wrapper(bagged, **settings, resume=path).fit(X, y)
    assert_same(whole, resumed)
    # All is kept: once more, and no step but the first forest is done again.
    calls.clear()

    def counting(X, y, seed):
        calls.append(seed)
        return bagged(X, y, seed)

    counting.__qualname__ = bagged.__qualname__
    assert_same(whole, wrapper(counting, **settings, resume=path).fit(X, y))
    assert calls == [7]
    with pytest.raises(nf.InputError, match="differs in its features"):
        wrapper(bagged, **settings, resume=path).fit(X + 1, y)
    named = pd.DataFrame(X).add_prefix("gene ")
    with pytest.raises(nf.InputError, match="differs in its feature names"):
        wrapper(bagged, **settings, resume=path).fit(named, y)


@pytest.mark.parametrize("wrapper", [nf.wrappers.BackwardElimination, nf.wrappers.ForwardSelection])
def test_the_answer_is_part_of_what_the_first_forest_selected(wrapper, data):
    X, y, _ = data
    fitted = wrapper(bagged).fit(X, y)
    assert fitted.selection_.support.sum() >= fitted.support_.sum() > 0
    assert not np.any(fitted.support_ & ~fitted.selection_.support)
    assert np.array_equal(fitted.selection_.counts, bagged(X, y, 0).counts)


def test_backward_elimination_keeps_its_trail(data):
    X, y, relevant = data
    fitted = nf.wrappers.BackwardElimination(bagged).fit(X, y)
    trail = fitted.trail_
    assert trail["n_features"].tolist() == [200, *trail["n_kept"].tolist()[:-1]]
    assert trail["n_kept"].iloc[-1] == fitted.support_.sum()
    assert (
        fitted.n_steps_ == 1
        or (trail["oob_error"].iloc[1:] < trail["oob_error"].iloc[0] + 0.1).all()
    )
    dropped = fitted.table_["dropped"].sort_index().to_numpy()
    assert np.array_equal(dropped == -1, fitted.support_)
    assert fitted.support_[~relevant].sum() <= 1


def test_forward_selection_adds_while_the_loss_falls_by_its_standard_error(data):
    X, y, _ = data
    fitted = nf.wrappers.ForwardSelection(bagged).fit(X, y)
    trail = fitted.trail_
    tried = trail.iloc[1:]
    assert (tried["joined"] == (tried["gain"] > tried["gain_se"])).all()
    assert tried["joined"].iloc[:-1].all()  # it ends at the first that does not
    assert tried["p_value"].is_monotonic_increasing
    joined = trail[trail["joined"]]["oob_loss"].to_numpy()
    assert (np.diff(joined) < 0).all()


def test_knock_out_surfaces_what_one_forest_hides():
    missed = []
    for seed in range(4):
        X, y, relevant = nf.simulate.independent(100, 300, n_relevant=25, relevance=0.45, seed=seed)
        fitted = nf.wrappers.KnockOut(bagged).fit(X, y)
        found = [set(layer.features) for layer in fitted.layers_]
        assert sum(map(len, found)) == len(set().union(*found)) == fitted.support_.sum()
        assert set(np.flatnonzero(fitted.selection_.support)) == (found[0] if found else set())
        accounts = fitted.accounting_
        assert np.allclose(accounts["alpha_sum"], np.cumsum(accounts["alpha"]))
        assert not accounts["accepted"].iloc[-1]
        missed.append([(relevant & ~s).sum() for s in (fitted.selection_.support, fitted.support_)])
    one, layers = np.sum(missed, axis=0)
    assert layers < one


def test_halving_spends_no_more_than_alpha(data):
    X, y, _ = data
    fitted = nf.wrappers.KnockOut(
        nf.ForestSelector(trees=100, null="paper", error="fwer"), spending="halving"
    ).fit(X, y)
    assert fitted.accounting_["alpha_sum"].iloc[-1] < 0.05
    assert fitted.accounting_["alpha"].tolist()[0] == 0.025


def test_stability_selection_counts_the_halves(data):
    X, y, _ = data
    fitted = nf.wrappers.StabilitySelection(
        bagged, pairs=3, threshold=0.8, keep=10, random_state=5
    ).fit(X, y)
    times = np.zeros(200)
    for step in range(6):
        rows = halves_of(y, np.random.default_rng([5, step // 2]))[step % 2]
        state = np.random.SeedSequence([5, step + 1]).generate_state(1)
        p = bagged(X[rows], y[rows], int(state[0]) >> 1).pvalues
        best = fitted.ranked_[step, :10]
        assert np.all(p[best] <= np.sort(p)[9])
        times[best] += 1
    assert np.array_equal(fitted.probabilities_, times / 6)
    assert np.array_equal(fitted.support_, times >= 5)
    assert fitted.expected_false_ == pytest.approx(10**2 / 200 / 0.6)
    path = fitted.path([int(fitted.ranked_[0, 0])])
    assert path.iloc[9, 0] == times[fitted.ranked_[0, 0]] / 6
    assert (path.diff().dropna() >= 0).all().all()


def test_halves_are_halves_of_every_class():
    classes = np.repeat([0, 1, 2], [31, 10, 7])
    for seed in range(20):
        first, second = halves_of(classes, np.random.default_rng(seed))
        assert len(first) == len(second) == 24
        assert not set(first) & set(second)
        for half in (first, second):
            assert np.all(np.abs(np.bincount(classes[half]) - np.array([15.5, 5, 3.5])) <= 1)


def test_bound_on_false_selections_holds_where_nothing_is_relevant():
    """Features are selected by chance, some more often: no real association, exact halves.

    The number of stable features is averaged over 400 runs; 4 standard errors above the bound
    would be a defect.
    """
    rng = np.random.default_rng(1)
    F, pairs, q, threshold = 100, 25, 20, 0.7
    stable = []
    for _ in range(400):
        probability = rng.random(F) * 0.4  # of selection on a half, 0.2 on average
        times = (rng.random((2 * pairs, F)) < probability).sum(0)
        low = probability <= q / F  # the theorem is about features selected no more often than that
        stable.append(((times >= threshold * 2 * pairs) & low).sum())
    error = np.std(stable) / np.sqrt(len(stable))
    assert np.mean(stable) - 4 * error <= expected_false(threshold, q, F)


def test_lowest_threshold_is_the_lowest():
    found = lowest_threshold(1.0, 20, 1000, 20)
    assert expected_false(found, 20, 1000) <= 1.0 + 1e-12  # rounding
    assert expected_false(found - 1 / 40, 20, 1000) > 1.0
    assert lowest_threshold(0.01, 200, 1000, 20) is None
    with pytest.raises(nf.InputError, match="above 0\\.5"):
        expected_false(0.5, 1, 10)


@pytest.mark.parametrize("wrapper", ALL)
def test_names_are_kept_from_input_to_output(wrapper, data):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(200)])
    fitted = wrapper(
        nf.ForestSelector(trees=200, null="paper", error="fpr"), **FEW.get(wrapper, {})
    ).fit(frame, y)
    kept = fitted.get_feature_names_out()
    assert list(kept) == [f"gene {i}" for i in np.flatnonzero(fitted.support_)]
    assert set(fitted.table_["feature"][fitted.table_["selected"]]) == set(kept)
    assert fitted.transform(frame).shape == (100, len(kept))


@pytest.mark.parametrize("wrapper", [*ALL, nf.wrappers.GroupSelector])
def test_an_empty_selection_names_the_step_and_the_option(wrapper):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 20)), np.arange(40) % 2
    none = nf.ForestSelector(trees=30, alpha=1e-9, error="fwer", null="paper")
    settings = FEW.get(wrapper, {"alpha": 1e-9} if wrapper is nf.wrappers.GroupSelector else {})
    steps = make_pipeline(wrapper(selector=none, **settings), LogisticRegression())
    words = f"{wrapper.__name__} selected none of the 20 features.* Set min_features=1 to keep"
    with pytest.raises(nf.InputError, match=words):
        steps.fit(X, y)
    steps[0].set_params(min_features=2)
    kept = steps.fit(X, y)[0]
    smallest = np.lexsort((-kept.selection_.counts, kept.selection_.pvalues))[:2]
    assert set(kept.get_support(indices=True)) == set(smallest)
    assert set(kept.table_[kept.table_["selected"]].index) == set(smallest)
    assert kept.selection_.notes[-1] == (
        "min_features=2 keeps 2 features: 0 selected, and 2 more with the smallest p-values."
    )
    steps[0].set_params(min_features=0)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert steps[0].fit(X, y).transform(X).shape == (40, 0)


def test_min_features_adds_to_what_is_selected(data):
    X, y, _ = data
    alone = nf.wrappers.ForwardSelection(bagged).fit(X, y).support_
    more = (
        nf.wrappers.ForwardSelection(bagged, min_features=int(alone.sum()) + 2).fit(X, y).support_
    )
    assert more.sum() == alone.sum() + 2
    assert more[alone].all()
    same = nf.wrappers.ForwardSelection(bagged, min_features=1).fit(X, y)
    assert same.support_.tolist() == alone.tolist()
    assert not any("min_features" in note for note in same.selection_.notes)


def test_candidates_shrink_with_the_features(data):
    X, y, _ = data
    selector = nf.ForestSelector(trees=20, candidates=150, null="paper")
    selection, _ = fit_selector(selector, X[:, :40], y, 1)
    assert selection.tally.candidates == 40
    assert selector.candidates == 150


def test_out_of_bag_losses_are_those_of_the_predictions(data):
    X, y, _ = data
    forest = nf.grow(X, y, trees=50, probes=0)
    shares = forest.oob_prediction
    oob = of_forest(forest)
    assert np.allclose(oob.losses, (shares[np.arange(100), 1 - y]) ** 2)
    assert oob.error == pytest.approx(1 - forest.oob_score)
    better, error = gain(of_guessing(y), of_columns(X[:, -12:], y, 0))
    assert better > 3 * error
    numbers = of_guessing(np.array([0.5, 1.5, 4.5]))
    assert np.allclose(numbers.losses, [6.25, 1.0, 12.25])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nf.wrappers.KnockOut(3), "neither be fitted nor called"),
        (lambda: nf.wrappers.KnockOut(nf.ForestSelector), "neither be fitted nor called"),
        (lambda: nf.wrappers.KnockOut(nf.ForestSelector(prefit=True)), "prefit"),
        (lambda: nf.wrappers.KnockOut(lambda X, y, seed: 3), "must return"),
        (lambda: nf.wrappers.KnockOut(bagged, stop="never"), "stop"),
        (lambda: nf.wrappers.KnockOut(bagged, spending="halving"), "alpha"),
        (lambda: nf.wrappers.KnockOut(bagged, max_layers=0), "max_layers"),
        (lambda: nf.wrappers.KnockOut(bagged, min_features=-1), "min_features"),
        (lambda: nf.wrappers.ForwardSelection(bagged, patience=0), "patience"),
        (lambda: nf.wrappers.BackwardElimination(bagged, max_steps=1.5), "max_steps"),
        (lambda: nf.wrappers.StabilitySelection(bagged, threshold=0.4), "threshold"),
        (lambda: nf.wrappers.StabilitySelection(bagged, keep=1000), "keep"),
        (lambda: nf.wrappers.StabilitySelection(bagged, keep=50, max_false=0.1, pairs=1), "Keep"),
        (lambda: nf.wrappers.KnockOut(bagged, resume="/dev/null/folder"), "cannot be used"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(make, words, data):
    X, y, _ = data
    with pytest.raises(nf.InputError, match=words):
        make().fit(X, y)


def test_a_file_of_something_else_is_not_overwritten(data, tmp_path):
    path = tmp_path / "precious.csv"
    path.write_text("a,b\n")
    with pytest.raises(nf.InputError, match="cannot be used for a series of forests"):
        nf.wrappers.KnockOut(bagged, resume=path).fit(*data[:2])
    assert path.read_text() == "a,b\n"


def test_nothing_relevant_selects_nothing_more_often_than_alpha():
    """30 runs at a family-wise error rate of 0.05: more than 5 have a probability of 0.3 %."""
    hits = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 150)), rng.permutation(np.arange(60) % 2)
        hits += nf.wrappers.KnockOut(bagged, random_state=seed).fit(X, y).support_.any()
    assert hits <= 5
