"""Permuted labels: p-values from slow loops, interruptions, blocks, and the rate that is held."""

import numpy as np
import pytest
from scipy import stats

import nullforest as nf
from naive import baselines as naive
from nullforest._util.randomness import LABELS, forest_seed
from nullforest.evaluation.baselines.importances import STATISTICS, MeasuredForests
from nullforest.evaluation.baselines.label_permutation import TEST, Exceedances
from nullforest.evaluation.relabelling import label_order, permuted
from nullforest.run.checkpoints import Checkpoint

RNG = np.random.default_rng(8)
X = RNG.normal(size=(40, 12))
Y = (X[:, 0] + 0.7 * RNG.normal(size=40) > 0).astype(int)
HOW = {"trees": 20, "candidates": 4}
B = 19


def permuted_statistics(statistic, seed, blocks=None):
    """Grow the same forests one by one, and keep all of their statistics."""
    measured = MeasuredForests(nf.Dataset.of(X, Y), statistic, seed=seed, n_jobs=1, **HOW)
    assert measured.settings["max_depth"] is None  # published tests grow full trees
    table = measured.data.table
    observed = measured.values(nf.grow(table, Y, seed=seed, **measured.settings))
    permuted = [
        measured.values(
            nf.grow(
                table,
                Y[label_order(40, blocks, seed, b)],
                seed=forest_seed(seed, LABELS, b),
                **measured.settings,
            )
        )
        for b in range(B)
    ]
    return observed, permuted


@pytest.mark.parametrize("statistic", STATISTICS)
def test_pvalues_equal_a_slow_count_over_the_same_forests(statistic):
    observed, permuted = permuted_statistics(statistic, seed=4)
    for strict in (False, True):
        for pooled in (False, True):
            s = nf.baselines.label_permutation(
                X,
                Y,
                statistic=statistic,
                permutations=B,
                seed=4,
                pooled=pooled,
                alpha=0.06,
                rule="strict" if strict else "plain",
                **HOW,
            )
            np.testing.assert_array_equal(s.values, observed)
            expected = naive.permutation_pvalues(observed, permuted, strict, pooled)
            np.testing.assert_allclose(s.pvalues, expected, rtol=1e-14)
            np.testing.assert_array_equal(s.support, expected <= 0.06)
            assert s.forests == 1 + B
    np.testing.assert_allclose(s.expected, np.mean(permuted, axis=0))


class CutOffError(Exception):
    """Stands for Ctrl-C at a chosen moment."""


def test_an_interrupted_run_ends_like_one_that_never_was(tmp_path):
    how = HOW | {"statistic": "gini", "permutations": B, "seed": 9}
    whole = nf.baselines.label_permutation(X, Y, **how)

    def interrupt_at(limit):
        def progress(done, total):
            if done >= limit:
                raise CutOffError

        return progress

    path = tmp_path / "state"
    for limit in (3.5, 4, 11.2):  # in the middle of a forest, and between two
        with pytest.raises(CutOffError):
            nf.baselines.label_permutation(
                X, Y, resume=path, progress=interrupt_at(limit), n_jobs=1, **how
            )
    ended = nf.baselines.label_permutation(X, Y, resume=path, **how)
    np.testing.assert_array_equal(ended.pvalues, whole.pvalues)
    np.testing.assert_array_equal(ended.expected, whole.expected)
    state = Exceedances.resumed(whole.values, Checkpoint.open(path, TEST))
    assert state.permutations == B
    with Checkpoint(None, TEST, {}) as no_checkpoint:
        empty = Exceedances.resumed(whole.values, no_checkpoint)
    assert empty.permutations == 0
    np.testing.assert_array_equal(empty.plus(whole.values).equal, 1)
    assert not empty.equal.any()  # adding changes nothing behind one's back


def test_a_run_out_of_time_can_be_continued(tmp_path):
    path = tmp_path / "state"
    how = HOW | {"permutations": 60, "seed": 1}
    cut = nf.baselines.label_permutation(X, Y, resume=path, max_seconds=0.0, **how)
    assert 1 <= cut.forests - 1 < 60
    assert "Stopped by max_seconds" in cut.notes[0]
    ended = nf.baselines.label_permutation(X, Y, resume=path, **how)
    whole = nf.baselines.label_permutation(X, Y, **how)
    np.testing.assert_array_equal(ended.pvalues, whole.pvalues)
    more = nf.baselines.label_permutation(X, Y, resume=path, **(how | {"permutations": 80}))
    longer = nf.baselines.label_permutation(X, Y, **(how | {"permutations": 80}))
    np.testing.assert_array_equal(more.pvalues, longer.pvalues)
    with pytest.raises(nf.InputError, match="holds 80 permutations"):
        nf.baselines.label_permutation(X, Y, resume=path, **how)
    with pytest.raises(nf.InputError, match=r"differs in its seed \(1, not 2\)"):
        nf.baselines.label_permutation(X, Y, resume=path, **(how | {"seed": 2}))
    with pytest.raises(nf.InputError, match="differs in its data"):
        nf.baselines.label_permutation(X, 1 - Y, resume=path, **how)
    (tmp_path / "file").write_bytes(b"nothing of the kind")
    with pytest.raises(nf.InputError, match="cannot be used for a label permutation"):
        nf.baselines.label_permutation(X, Y, resume=tmp_path / "file", **how)
    assert (tmp_path / "file").read_bytes() == b"nothing of the kind"


def test_labels_stay_within_their_blocks():
    blocks = np.repeat(np.arange(8), 5)
    for b in range(50):
        order = label_order(40, blocks, 0, b)
        assert sorted(order) == list(range(40))
        assert (blocks[order] == blocks).all()
    assert any((label_order(40, blocks, 0, b) != np.arange(40)).any() for b in range(5))
    observed, permuted = permuted_statistics("frequency", seed=4, blocks=blocks)
    s = nf.baselines.label_permutation(
        X, Y, permutations=B, seed=4, blocks=np.repeat([*"abcdefgh"], 5), **HOW
    )
    np.testing.assert_allclose(s.pvalues, naive.permutation_pvalues(observed, permuted))


def test_a_data_set_with_blocks_is_taken_as_arrays_are():
    sites = np.repeat(list("abcd"), 10)
    how = HOW | {"permutations": 5, "seed": 2}
    arrays = nf.baselines.label_permutation(X, Y, blocks=sites, **how)
    data = nf.Dataset.of(X, Y, blocks=sites)
    np.testing.assert_array_equal(
        nf.baselines.label_permutation(data, **how).pvalues, arrays.pvalues
    )
    with pytest.raises(nf.InputError, match="A data set has its target"):
        nf.baselines.label_permutation(data, Y, **how)
    with pytest.raises(nf.InputError, match="no labels to permute"):
        nf.baselines.label_permutation(X, **how)


def test_times_events_weights_and_distances_move_together():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3))
    survival = np.empty(40, [("event", "?"), ("time", "<f8")])
    survival["event"], survival["time"] = rng.random(40) < 0.7, rng.integers(1, 15, 40)
    weight = rng.random(40) + 0.5
    order = label_order(40, None, 3, 1)
    moved = permuted(nf.Dataset.of(table, survival, sample_weight=weight).target, 3, 1)
    again = nf.Dataset.of(table, survival[order], sample_weight=weight[order]).target
    np.testing.assert_allclose(moved.values, again.values, atol=1e-12)
    np.testing.assert_array_equal(moved.survival, again.survival)
    np.testing.assert_array_equal(moved.weight, again.weight)
    distances = np.abs(table[:, :1] - table[:, 0])
    moved = permuted(nf.Dataset.of(table, distances, criterion="neighbourhood").target, 3, 1)
    np.testing.assert_array_equal(moved.values, distances[np.ix_(order, order)])


def test_blocks_protect_against_an_effect_of_site():
    # Sites differ in the label's frequency and in a feature that is unrelated to it within a site.
    # Permuting freely blames the feature; permuting within sites, each p-value is valid:
    # P(p <= .05) <= .05, so among 24 runs more than 5 have probability below 0.1 %.
    free = within = 0
    for r in range(24):
        rng = np.random.default_rng(r)
        site = np.repeat([0, 1], 30)
        y = (rng.random(60) < np.where(site == 1, 0.85, 0.15)).astype(int)
        data = rng.normal(size=(60, 5))
        data[:, 0] += 2.0 * site
        how = {"trees": 30, "candidates": 2, "permutations": 39, "alpha": 0.05, "seed": r}
        how["statistic"] = "gini"
        free += nf.baselines.label_permutation(data, y, **how).support[0]
        within += nf.baselines.label_permutation(data, y, blocks=site, **how).support[0]
    assert stats.binom.sf(5, 24, 0.05) < 1e-3
    assert within <= 5
    assert free >= 18


def test_pvalues_are_valid_when_nothing_is_related():
    # Exchangeable permutations make P(p <= a) <= a exactly, up to ties in favour of the null. Over
    # R runs of F features the mean share has standard error sd between runs / sqrt(R); 4 of them.
    shares = []
    for r in range(40):
        rng = np.random.default_rng(100 + r)
        s = nf.baselines.label_permutation(
            rng.normal(size=(30, 40)),
            np.arange(30) % 2,
            trees=15,
            candidates=6,
            seed=r,
            permutations=19,
            alpha=0.05,
            statistic="gini",
        )
        shares.append(s.support.mean())
    assert np.mean(shares) <= 0.05 + 4 * np.std(shares, ddof=1) / np.sqrt(40)
    assert np.mean(shares) >= 0.05 - 4 * np.std(shares, ddof=1) / np.sqrt(40)


def test_threads_do_not_change_the_answer_and_seeds_do():
    one = nf.baselines.label_permutation(X, Y, permutations=9, seed=3, n_jobs=1, **HOW)
    two = nf.baselines.label_permutation(X, Y, permutations=9, seed=3, n_jobs=2, **HOW)
    other = nf.baselines.label_permutation(X, Y, permutations=9, seed=4, n_jobs=2, **HOW)
    np.testing.assert_array_equal(one.pvalues, two.pvalues)
    assert (one.pvalues != other.pvalues).any()


def test_names_notes_and_files_come_with_the_answer(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(12)])
    s = nf.baselines.label_permutation(
        frame, pd.Series(Y), statistic="gini", permutations=B, error="fdr", **HOW
    )
    assert list(s.table.columns) == [
        "feature",
        "count",
        "value",
        "expected_value",
        "p_value",
        "q_value",
        "selected",
    ]
    assert s.table["feature"].iloc[0] == "gene 0"
    assert "no p-value can be below 0.05" in s.notes[0]
    s.to_csv(tmp_path / "s.csv")
    stored = pd.read_csv(tmp_path / "s.csv")
    pd.testing.assert_frame_equal(stored, s.table.reset_index(drop=True))
    assert s.headline() in repr(s)
    assert "Gini importance by label permutation" in s.headline()
    by_counts = nf.baselines.label_permutation(X, Y, permutations=B, **HOW)
    assert list(by_counts.table.columns[:3]) == ["feature", "count", "expected_count"]


def test_names_of_features_can_be_given():
    names = [f"gene {i}" for i in range(12)]
    for statistic in ("frequency", "corrected_gini"):
        s = nf.baselines.label_permutation(
            X, Y, statistic=statistic, feature_names=names, permutations=3, alpha=0.5, **HOW
        )
        assert s.tally.names.tolist() == names


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"permutations": 0}, "between 1 and"),
        ({"permutations": 2.5}, "whole number"),
        ({"rule": "loose"}, "no rule 'loose'"),
        ({"statistic": "minimal_depth"}, "no test of 'minimal_depth'"),
        ({"blocks": np.arange(40)}, "a block of its own"),
        ({"blocks": Y}, "constant within every block"),
        ({"blocks": [1, 2]}, "for 40 samples"),
        ({"alpha": 0.0}, "between 0 and 1"),
        ({"resume": "/dev/null/folder"}, "cannot be used"),
    ],
)
def test_bad_requests_are_refused_in_a_sentence(change, words):
    with pytest.raises(nf.InputError, match=words):
        nf.baselines.label_permutation(X, Y, **(HOW | {"permutations": 5} | change))
