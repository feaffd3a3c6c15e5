"""The measures of importance equal their definitions, worked out tree by tree."""

import numpy as np
import pytest

import nullforest as nf
from naive import baselines as naive
from nullforest.evaluation.baselines.importances import MEASURES
from nullforest.run.permutation import permuted_errors

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 6))
X[::7, 2] = np.nan
CLASSES = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, "a", "b")
NUMBERS = X[:, 0] + 0.5 * RNG.normal(size=40)


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("how", [{}, {"replace": True, "samples": 1.0}], ids=["half", "bootstrap"])
def test_permutation_importance_is_the_mean_increase_of_the_out_of_bag_error(y, how):
    forest = nf.grow(X, y, trees=25, candidates=2, seed=5, probes=0, **how)
    expected = naive.oob_increases(forest, X, forest.target.values)
    mean, deviation = permuted_errors(forest, X)
    np.testing.assert_allclose(mean, expected.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(deviation, expected.std(axis=0), atol=1e-9)
    again = permuted_errors(forest, X, n_jobs=1)
    assert np.array_equal(again[0], mean)
    assert np.array_equal(again[1], deviation)


def test_permutation_importance_of_a_continued_forest_equals_that_of_one_run():
    first = nf.grow(X, CLASSES, trees=10, seed=2, probes=0)
    both = nf.grow(X, CLASSES, trees=15, more=first, probes=0)
    whole = nf.grow(X, CLASSES, trees=25, seed=2, probes=0)
    np.testing.assert_array_equal(permuted_errors(both, X)[0], permuted_errors(whole, X)[0])


def test_minimal_depth_is_found_by_walking_each_tree():
    forest = nf.grow(X, NUMBERS, trees=30, candidates=1, max_depth=4, probes=0)
    expected = naive.minimal_depths(forest, X.shape[1]).mean(axis=0)
    measured = nf.baselines.importance(forest, X, "minimal_depth")
    np.testing.assert_allclose(measured, expected)


def test_the_correction_removes_the_bias_towards_many_levels():
    # Strobl's bias: of features that mean nothing, those with more levels win more splits. The
    # corrected importance has mean zero whatever the levels. Over R data sets its mean must lie
    # within 4 standard errors of zero, and the plain one tells the two kinds apart.
    plain, corrected = [], []
    for r in range(25):
        rng = np.random.default_rng(r)
        few, many = rng.integers(0, 2, (60, 10)), rng.normal(size=(60, 10))
        data, y = np.hstack([few, many]), np.arange(60) % 2
        how = {"trees": 40, "candidates": 4, "seed": r}
        plain.append(nf.grow(data, y, probes=0, **how).gini_importance)
        corrected.append(nf.baselines.corrected_gini(data, y, **how))
    plain = np.array(plain).reshape(25, 2, 10).mean(axis=2)
    corrected = np.array(corrected).reshape(25, 2, 10).mean(axis=2)
    for kind in (0, 1):
        error = corrected[:, kind].std(ddof=1) / 5
        assert abs(corrected[:, kind].mean()) < 4 * error
    assert plain[:, 0].max() < plain[:, 1].min()


def test_measures_agree_on_a_strong_feature_and_the_table_says_how_far():
    frame = nf.baselines.importances(X, CLASSES, trees=100, candidates=2)
    assert list(frame) == list(MEASURES)
    assert (frame.drop(columns="minimal_depth").idxmax() == "x0").all()
    assert frame["minimal_depth"].idxmin() == "x0"
    pairs = nf.baselines.rank_agreement(frame, top=1)
    assert len(pairs) == 10
    assert (pairs["top_shared"] == 1.0).all()
    same = nf.baselines.rank_agreement(frame[["gini"]].assign(again=frame["gini"]), top=3)
    assert same["kendall"].iloc[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: permuted_errors(nf.grow(X, CLASSES, trees=2, keep_trees=False), X), "not kept"),
        (
            lambda: permuted_errors(nf.grow(X, CLASSES, trees=2, samples=1.0), X),
            "drew every sample",
        ),
        (lambda: permuted_errors(nf.grow(X, CLASSES, trees=2), X[:, :3]), "grown on 40 × 6"),
        (lambda: nf.baselines.importances(X, CLASSES, ["jini"], trees=2), "no importance 'jini'"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_sentence(call, words):
    with pytest.raises(nf.InputError, match=words):
        call()
