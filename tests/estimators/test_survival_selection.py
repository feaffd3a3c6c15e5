"""Survival times in scikit-learn's interface, in the wrappers and in the published tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

import nullforest as nf
from nullforest.evaluation.baselines.comparison import METHODS
from studies.packages import PACKAGES, compared


@pytest.fixture(scope="module")
def data():
    X, y, relevant = nf.simulate.survival(200, 40, 3, 2.5, 0.3, seed=2)
    names = [f"gene {i}" for i in range(40)]
    return pd.DataFrame(X, columns=names), Surv.from_arrays(y["event"], y["time"]), relevant


def test_the_selector_is_part_of_a_survival_pipeline(data):
    X, y, relevant = data
    selector = nf.ForestSelector(error="fwer", max_trees=500)
    pipeline = make_pipeline(StandardScaler(), selector, CoxPHSurvivalAnalysis())
    assert cross_val_score(pipeline, X, y, cv=KFold(2), error_score="raise").min() > 0.6
    pipeline.fit(X, y)
    assert selector.get_support()[relevant].sum() >= 2
    direct = nf.select(nf.grow(X, y, max_trees=500), error="fwer")
    np.testing.assert_array_equal(selector.get_support(), direct.support)


def test_the_selector_takes_a_frame_and_refuses_what_grow_refuses(data):
    X, y, _ = data
    frame = pd.DataFrame({"time": y["time"], "event": y["event"]})
    fitted = nf.ForestSelector(trees=50).fit(X, frame)
    assert fitted.tally_ == nf.ForestSelector(trees=50).fit(X, y).tally_
    assert fitted.feature_names_in_[0] == "gene 0"
    with pytest.raises(nf.InputError, match="negative"):
        nf.ForestSelector(trees=50).fit(X, frame.assign(time=-1.0))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        nf.ForestSelector(trees=50).fit(X, y[:-1])


@pytest.mark.parametrize(
    "wrapper",
    [
        nf.wrappers.BackwardElimination,
        nf.wrappers.ForwardSelection,
        nf.wrappers.KnockOut,
        nf.wrappers.StabilitySelection,
    ],
)
def test_wrappers_take_survival_times(wrapper, data, tmp_path):
    X, y, relevant = data
    selector = nf.ForestSelector(trees=200, error="fwer")
    options = {"pairs": 5} if wrapper is nf.wrappers.StabilitySelection else {}
    fitted = wrapper(selector, resume=tmp_path / "run", progress=False, **options).fit(X, y)
    assert fitted.support_[relevant].any()


def test_published_tests_take_survival_times(data):
    X, y, relevant = data
    few = {"trees": 200, "permutations": 20, "rounds": 10}
    methods = ["paper", "bagged", "probes", "altmann", "janitza", "boruta"]
    methods += ["altmann_permutation"]
    found = nf.compare(X.to_numpy(), y, methods, relevant=relevant, error="fpr", **few)
    assert (found.table["power"] > 0.5).all()
    frame = pd.DataFrame({"event": y["event"], "time": y["time"]})
    audit = nf.audit(
        X, frame, nulls=["bagged"], permutations=3, trees=50, blocks=np.arange(200) % 4
    )
    assert audit.table["alpha"].tolist() == [0.05, 0.01, 0.001]


@pytest.mark.skipif(bool(PACKAGES["ranger_janitza"].missing()), reason="ranger is not installed")
def test_rangers_survival_forest_finds_the_same_features(data):
    X, y, relevant = data
    wide = np.hstack([X.to_numpy(), np.random.default_rng(0).normal(size=(200, 200))])
    known = np.append(relevant, np.zeros(200, bool))
    methods = {"probes": METHODS["probes"], "ranger": compared(PACKAGES["ranger_janitza"])}
    found = nf.compare(wide, y, methods, relevant=known, error="fpr", alpha=0.01, trees=100)
    assert (found.table["power"] > 0.6).all()
    assert (found.table["fpr"] < 0.05).all()
