"""Other packages on the same data: the selections agree within the noise of their forests."""

import numpy as np
import pytest

import nullforest as nf
from nullforest.evaluation.baselines.janitza import mirrored_pvalues
from studies.packages import PACKAGES, PackageTask

X, Y, RELEVANT = nf.simulate.independent(80, 120, 6, relevance=0.6, seed=2)
TREES, CANDIDATES, B = 200, 12, 99


def task(**changes):
    given = {
        "X": X, "y": Y, "classes": True, "trees": TREES, "candidates": CANDIDATES, "samples": 40,
        "replace": False, "permutations": B, "rounds": 20, "alpha": 0.05, "seed": 7, "n_jobs": 2,
    }  # fmt: skip
    return PackageTask(**(given | changes))


def needs(name):
    why = PACKAGES[name].missing()
    return pytest.mark.skipif(bool(why), reason=f"PACKAGE NOT COMPARED: {name}: {why}")


@needs("ranger_altmann")
def test_label_permutation_agrees_with_ranger():
    theirs = PACKAGES["ranger_altmann"].run(task()).pvalues
    ours = nf.baselines.label_permutation(
        X, Y, statistic="gini", permutations=B, alpha=0.05, trees=TREES, candidates=CANDIDATES
    )
    again = nf.baselines.label_permutation(
        X, Y, statistic="gini", permutations=B, alpha=0.05, trees=TREES, candidates=CANDIDATES,
        seed=1,
    )  # fmt: skip
    assert theirs.min() == pytest.approx(1 / (1 + B))
    # Two of our own runs, of other seeds, tell how far forests and permutations alone move a
    # p-value. ranger may differ from us by as much: the mean square over F features has a relative
    # error of about sqrt(2 / F) for either, so a ratio beyond 1 + 4 * sqrt(4 / F) is another test.
    own = np.mean((ours.pvalues - again.pvalues) ** 2)
    cross = np.mean((ours.pvalues - theirs) ** 2)
    assert cross / own < 1 + 4 * np.sqrt(4 / X.shape[1])
    assert ours.support[RELEVANT].all()
    assert (theirs[RELEVANT] <= 0.05).all()


@needs("ranger_janitza")
def test_mirrored_importances_agree_with_ranger():
    theirs = PACKAGES["ranger_janitza"].run(task(trees=1000)).pvalues
    ours = nf.baselines.janitza(X, Y, trees=1000, candidates=CANDIDATES, plus_one=False, alpha=0.05)
    again = nf.baselines.janitza(
        X, Y, trees=1000, candidates=CANDIDATES, plus_one=False, alpha=0.05, seed=1
    )
    own = np.mean((ours.pvalues - again.pvalues) ** 2)
    cross = np.mean((ours.pvalues - theirs) ** 2)
    assert cross / own < 1 + 4 * np.sqrt(4 / X.shape[1])  # as above
    assert (ours.pvalues[RELEVANT] <= 0.05).all()
    assert (theirs[RELEVANT] <= 0.05).all()
    np.testing.assert_array_equal(ours.pvalues, mirrored_pvalues(ours.values, plus_one=False))


@needs("random_forest_explainer")
def test_the_papers_null_model_agrees_with_the_explainer():
    theirs = PACKAGES["random_forest_explainer"].run(task()).pvalues
    ours, again = (
        nf.select(
            nf.grow(X, Y, trees=TREES, candidates=CANDIDATES, seed=seed).tally, null="paper"
        ).pvalues
        for seed in (0, 1)
    )
    own = np.mean((ours - again) ** 2)
    cross = np.mean((ours - theirs) ** 2)
    assert cross / own < 1 + 4 * np.sqrt(4 / X.shape[1])  # as above
    assert (theirs[RELEVANT] <= 0.05).all()


@needs("boruta_py")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # boruta_py's
def test_boruta_agrees_with_boruta_py():
    small, y, relevant = nf.simulate.independent(80, 30, 3, relevance=0.7, seed=2)
    theirs = PACKAGES["boruta_py"].run(task(X=small, y=y, trees=50, rounds=20, n_jobs=1))
    ours = nf.baselines.boruta(small, y, trees=50, rounds=20, replace=True, samples=40)
    assert theirs.support is not None
    assert ours.support[relevant].all()
    assert theirs.support[relevant].all()
    # A null feature beats the best of 30 shadows in far fewer than half of the rounds; neither
    # may confirm more than one, which is associated with the label in this sample.
    assert ours.support[~relevant].sum() <= 1
    assert theirs.support[~relevant].sum() <= 1
    assert theirs.forests <= 20


def test_a_package_that_is_missing_says_why(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert "Rscript" in PACKAGES["ranger_altmann"].missing()
