"""Notes on a null mean that rests on too few null features."""

import numpy as np
from sklearn.datasets import load_diabetes

import nullforest as nf


def test_a_null_mean_above_the_mean_of_all_counts_is_said_to_be_a_contradiction():
    # load_diabetes had 30 926 expected, above the mean of all counts, 21 620, and p = 1 for all.
    X, y = load_diabetes(return_X_y=True)
    many, few = (nf.grow(X, y, trees=trees, keep_trees=False).tally for trees in (400, 100))
    s = nf.select(few, null=nf.null(many))
    assert s.null.mean > 1.2 * s.counts.mean()
    assert s.notes[0].startswith("The null mean cannot be estimated: it comes out as ")
    assert "nf.baselines.label_permutation" in s.notes[0]
    assert s.notes[0] in repr(s)


def test_few_features_are_said_to_be_few():
    # In null data the estimated mean varies around the mean of all counts: no contradiction.
    rng = np.random.default_rng(0)
    s = nf.select(nf.grow(rng.normal(size=(100, 30)), np.arange(100) % 2, trees=200))
    assert s.notes[0].startswith("The null mean is estimated from only 30 features")
    X, y, _ = nf.simulate.independent(100, 500, 5, 0.5)
    assert not any("null mean" in note for note in nf.select(nf.grow(X, y, trees=1000)).notes)
