"""The audit: shares counted by hand, intervals with their coverage, a picture, a sentence."""

import json

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from nullforest._util.randomness import LABELS, forest_seed
from nullforest.evaluation.auditing import interval, qq_points
from nullforest.evaluation.relabelling import label_order

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 200))
Y = np.arange(40) % 2
HOW = {"trees": 60, "candidates": 14}


def test_shares_are_those_of_forests_on_permuted_labels():
    a = nf.audit(X, Y, nulls=["paper", "bagged"], alphas=[0.1, 0.01], permutations=4, seed=5, **HOW)
    for b in range(4):
        y = Y[label_order(40, None, 5, b)]
        tally = nf.grow(X, y, seed=forest_seed(5, LABELS, b), **HOW).tally
        for i, kind in enumerate(("paper", "bagged")):
            p = nf.null(tally, kind).pvalues(tally.counts)
            for j, alpha in enumerate((0.1, 0.01)):
                assert a.shares[i, j, b] == np.mean(p <= alpha)
            assert a.discoveries[i, b] == nf.select(tally, 0.05, "fdr", null=kind).n_selected
    assert a.histogram.sum() == 2 * 4 * 200
    table = a.table
    assert len(table) == 4
    assert (table["low"] <= table["reached"]).all()
    assert (table["reached"] <= table["high"]).all()


def test_more_trees_break_the_papers_null_and_the_audit_says_so():
    a = nf.audit(X, Y, nulls=["paper"], permutations=6, trees=2000, candidates=14)
    row = a.table.set_index("alpha").loc[0.01]
    assert row["low"] > 0.01
    assert row["runs_with_discovery"] == 6
    assert a.verdict().startswith("At α = 0.01 the paper's null model selects ")
    assert f"{100 * row['reached']:.3g} %" in a.verdict()
    with pytest.raises(nf.InputError, match="was not audited"):
        a.verdict(0.5)


def test_intervals_cover_what_they_should():
    # Shares of 50 features with a beta-binomial distribution over forests, 10 forests each: 95 % of
    # 800 intervals cover the mean, within 4 binomial standard errors (skewness costs a little more,
    # bounded by the Edgeworth term of order 1/R; 0.03 covers it at R = 10).
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(800):
        rate = rng.beta(20, 180, size=10)
        low, high = interval(rng.binomial(50, rate) / 50)[1:]
        covered += low <= 0.1 <= high
    assert abs(covered / 800 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 800) + 0.03


def test_uniform_pvalues_lie_on_the_diagonal_of_the_picture():
    p = stats.uniform.rvs(size=100_000, random_state=0)
    counts = np.bincount(np.floor(-np.log10(p) * 20).astype(int))
    expected, observed = qq_points(counts, len(p))
    # The share below 10^-x has relative error 1 / sqrt(n 10^-x); compare where it is below 2 %,
    # with 4 of them, in units of log10.
    well = observed < np.log10(len(p) * 0.02**2)
    assert np.abs(expected - observed)[well].max() < 4 * 0.02 / np.log(10)


def test_files_and_picture(tmp_path):
    a = nf.audit(X, Y, permutations=2, blocks=np.arange(40) // 4, **HOW)
    assert a.nulls == ("paper", "bagged", "probes")
    a.to_csv(tmp_path / "a.csv")
    a.to_json(tmp_path / "a.json")
    a.plot(tmp_path / "qq.png")
    a.plot(tmp_path / "qq.svg")
    assert (tmp_path / "qq.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "qq.svg").read_text()
    assert json.loads((tmp_path / "a.json").read_text())["verdict"] == a.verdict()
    assert "permuted labels" in repr(a)


def test_time_that_runs_out_is_said():
    a = nf.audit(X, Y, nulls=["paper"], permutations=500, max_seconds=0.0, **HOW)
    assert 2 <= a.n_forests < 500
    assert "Stopped by max_seconds" in a.notes[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nulls": ["auto"]}, "no null model to audit 'auto'"),
        ({"alphas": []}, "at least one level"),
        ({"alphas": [2]}, "not an error rate"),
        ({"permutations": 1}, "at least 2"),
        ({"shadows": 3}, "omit shadows"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(change, words):
    with pytest.raises(nf.InputError, match=words):
        nf.audit(X, Y, **(HOW | change))
