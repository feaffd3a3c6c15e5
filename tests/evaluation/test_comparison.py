"""Methods side by side: the same answers as alone, counts that add up, rates with their errors."""

import json

import numpy as np
import pytest

import nullforest as nf
from nullforest.evaluation.baselines.comparison import METHODS, Answer, rates

X, Y, RELEVANT = nf.simulate.independent(60, 80, 4, relevance=0.7, seed=1)
HOW = {"trees": 60, "candidates": 10, "seed": 3}


def test_every_method_answers_as_it_does_alone():
    c = nf.compare(
        X, Y, list(METHODS), error="fpr", permutations=19, rounds=12, relevant=RELEVANT, **HOW
    )
    assert list(c.answers) == list(METHODS)
    tally = nf.grow(X, Y, max_depth=None, **HOW).tally  # published tests grow full trees
    for kind in ("paper", "bagged", "probes"):
        alone = nf.select(tally, 0.05, null=kind)
        np.testing.assert_array_equal(c.answers[kind].pvalues, alone.pvalues)
    alone = nf.baselines.label_permutation(X, Y, permutations=19, alpha=0.05, **HOW)
    np.testing.assert_array_equal(c.answers["altmann"].pvalues, alone.pvalues)
    alone = nf.baselines.janitza(X, Y, **HOW)
    np.testing.assert_array_equal(c.answers["janitza"].support, alone.support)
    assert c.table.loc["altmann", "forests"] == 20
    assert c.table.loc["paper", "forests"] == 1
    assert (c.table["power"] + c.table["fnr"] == 1).all()
    shared = c.shared
    for a in METHODS:
        for b in METHODS:
            both = c.answers[a].support & c.answers[b].support
            assert shared.loc[a, b] == both.sum()
    features = c.features()
    assert (features["methods"].to_numpy()[:-1] >= features["methods"].to_numpy()[1:]).all()
    assert features["methods"].sum() == c.table["selected"].sum()


def test_a_data_set_is_compared_and_audited_as_arrays_are():
    data, methods = nf.Dataset.of(X, Y), ["paper", "janitza", "boruta"]
    how = HOW | {"rounds": 5}
    one, two = nf.compare(data, methods=methods, **how), nf.compare(X, Y, methods, **how)
    np.testing.assert_array_equal(one.pvalues.to_numpy(), two.pvalues.to_numpy())
    audits = [nf.audit(*given, permutations=2, **HOW) for given in ((data,), (X, Y))]
    np.testing.assert_array_equal(audits[0].shares, audits[1].shares)


def test_rates_count_right_and_wrong_choices():
    support = np.array([1, 1, 0, 0, 1, 0], bool)
    relevant = np.array([1, 0, 1, 0, 0, 0], bool)
    assert rates(support, relevant) == {
        "fpr": (0.5, 4),
        "fnr": (0.5, 2),
        "fdr": (2 / 3, 3),
        "power": (0.5, 2),
    }
    nothing = rates(np.zeros(6, bool), np.zeros(6, bool))
    assert nothing["fdr"] == (0.0, 0)
    assert np.isnan(nothing["power"][0])


def test_files_and_words_hold_the_comparison(tmp_path):
    c = nf.compare(X, Y, ["paper", "janitza"], error="fdr", **HOW)
    c.to_csv(tmp_path / "c.csv")
    c.to_json(tmp_path / "c.json")
    stored = json.loads((tmp_path / "c.json").read_text())
    assert [row["method"] for row in stored["methods"]] == ["paper", "janitza"]
    assert stored["methods"][0]["selected"] == c.table.loc["paper", "selected"]
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 81
    assert "janitza" in repr(c)


def test_a_test_of_the_users_own_stands_beside_ours():
    def first_five(problem):
        support = np.arange(80) < 5
        return Answer(support, np.where(support, 0.0, 1.0), problem.forest().n_trees, 0.5)

    c = nf.compare(X, Y, {"paper": METHODS["paper"], "first": first_five}, **HOW)
    alone = nf.compare(X, Y, ["paper"], **HOW)
    np.testing.assert_array_equal(c.answers["paper"].pvalues, alone.answers["paper"].pvalues)
    assert c.table.loc["first", "selected"] == 5
    assert c.table.loc["first", "forests"] == 60
    assert c.support["first"].sum() == 5


def test_means_over_simulated_data_come_with_standard_errors():
    def make(seed):
        return nf.simulate.independent(50, 40, 4, relevance=0.7, seed=seed)

    how = {"trees": 40, "candidates": 8, "alpha": 0.05}
    table = nf.baselines.compare_runs(make, ["paper"], repeats=5, **how)
    full = {"trees": 40, "candidates": 8, "max_depth": None}
    powers = [
        rates(
            nf.select(nf.grow(*make(r)[:2], seed=r, **full).tally, 0.05, null="paper").support,
            make(r)[2],
        )["power"][0]
        for r in range(5)
    ]
    assert table.loc["paper", "power"] == pytest.approx(np.mean(powers))
    assert table.loc["paper", "power_se"] == pytest.approx(np.std(powers, ddof=1) / np.sqrt(5))
    with pytest.raises(nf.InputError, match="at least 2"):
        nf.baselines.compare_runs(make, ["paper"], repeats=1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ["magic"]}, "no method 'magic'"),
        ({"relevant": [99]}, "no feature 99"),
        ({"alpha": 2.0}, "not an error rate"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(change, words):
    with pytest.raises(nf.InputError, match=words):
        nf.compare(X, Y, **({"methods": ["paper"]} | HOW | change))
