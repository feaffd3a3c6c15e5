"""Forests grown apart add to one; what does not belong together is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import nullforest as nf


@pytest.fixture
def grown(run, data, tmp_path):
    def grow(name, *more):
        common = ["select", data, "--target", "ill", "--drop", "person", "--candidates", 8]
        result = run(*common, "--trees", 60, "--tally", tmp_path / name, *more, "--quiet")
        assert result.exit_code == 0, result.output
        return tmp_path / name

    return grow


def test_parts_of_a_forest_add_to_the_whole_in_any_order(run, grown, tmp_path):
    parts = [grown(f"{first}.tally", "--set", f"first_tree={first}") for first in (120, 0, 60)]
    whole = grown("whole.tally", "--trees", 180)
    result = run("merge", *parts, "--tally", tmp_path / "sum.tally", "--json", tmp_path / "s.json")
    assert result.exit_code == 0, result.output
    assert "3 tallies add to 180 trees" in result.output
    assert nf.Tally.load(tmp_path / "sum.tally") == nf.Tally.load(whole)
    assert (tmp_path / "sum.tally").read_bytes() == whole.read_bytes()
    assert (tmp_path / "s.json").exists()


def test_the_sum_has_a_report_and_no_columns_of_a_file(run, grown, tmp_path):
    parts = [grown(f"{seed}.tally", "--seed", seed) for seed in (1, 2)]
    page, table = tmp_path / "sum.html", tmp_path / "sum.csv"
    result = run("merge", *parts, "--report", page, "--table", table)
    assert result.exit_code == 0, result.output
    assert f"wrote {page}" in result.output
    text = page.read_text()
    assert "1.tally, 2.tally" in text
    assert "nullforest merge" in text
    assert "column" not in pd.read_csv(table)


def test_what_is_no_tally_is_told_how_to_make_one(run, tmp_path):
    (tmp_path / "a").write_text("nothing of the kind")
    np.savez(tmp_path / "b.npz", X=np.eye(3))
    for name in ("a", "b.npz"):
        result = run("merge", tmp_path / name)
        assert "make one with nullforest select --tally FILE" in result.output
        assert "Tally.save" not in result.output


def test_forests_of_different_seeds_add(run, grown):
    result = run("merge", grown("a.tally", "--seed", 1), grown("b.tally", "--seed", 2))
    assert result.exit_code == 0, result.output
    assert "2 tallies add to 120 trees" in result.output


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ((), "trees 0 to 59 of seed 0"),
        (("--set", "first_tree=59"), "trees 59 to 59 of seed 0"),
        (("--seed", 1, "--set", "min_leaf=4"), "different settings (min_leaf: 1 and 4)"),
        (("--seed", 1, "--set", "samples=0.7"), "different settings (samples: 30 and 42)"),
        (("--seed", 1, "--draw", "tree"), "different settings (pool: 30 and 8)"),
        (("--seed", 1, "--set", "max_depth=2"), "different settings (max_depth: 3 and 2)"),
        (("--seed", 1, "--set", "max_depth=none"), "different settings (max_depth: 3 and None)"),
        (("--seed", 1, "--candidates", 9), "different numbers of candidates"),
        (("--seed", 1, "--drop", "gene 4"), "different numbers of features"),
    ],
)
def test_what_does_not_belong_together_is_refused(run, grown, more, words):
    a, b = grown("a.tally"), grown("b.tally", *more)
    result = run("merge", a, b)
    assert result.exit_code == 2
    assert words in result.output
    assert "a.tally" in result.output
    assert "b.tally" in result.output


def test_other_data_are_refused(run, grown, frame, tmp_path):
    a = grown("a.tally")
    for column in ("gene 7", "ill"):
        changed = frame.assign(**{column: frame[column].to_numpy()[::-1]})
        changed.to_csv(tmp_path / "people.csv", index=False)
        result = run("merge", a, grown(f"{column}.tally", "--seed", 1))
        assert result.exit_code == 2
        assert "different data" in result.output


def test_the_same_file_twice_is_refused_whatever_it_knows(run, tmp_path):
    tally = nf.Tally.from_counts([4, 0, 1], nodes_per_tree=[2, 3], n_samples=20)
    tally.save(tmp_path / "a")
    result = run("merge", tmp_path / "a", tmp_path / "a")
    assert result.exit_code == 2
    assert "hold the same" in result.output


def test_broken_files_end_in_a_sentence(run, grown, tmp_path):
    a = grown("a.tally")
    (tmp_path / "cut").write_bytes(a.read_bytes()[:-30])
    for name, words in [("cut", "is damaged, truncated"), ("none", "There is no file")]:
        result = run("merge", a, tmp_path / name)
        assert result.exit_code == 2
        assert words in result.output
        assert "Traceback" not in result.output


def test_nothing_is_overwritten(run, grown):
    a, b = grown("a.tally"), grown("b.tally", "--seed", 1)
    result = run("merge", a, b, "--tally", b, "--force")
    assert result.exit_code == 2
    assert "would overwrite the data" in result.output


def test_any_bytes_give_a_tally_or_a_sentence(tmp_path):
    # A byte changed or the end cut off anywhere: the file is refused in a sentence, or the change
    # lies in one of the few bytes without meaning (dates, attributes) and the tally is the same.
    X = np.random.default_rng(0).normal(size=(30, 12))
    tally = nf.grow(X, X[:, 0] > 0, trees=5, probes=200).tally
    path = tmp_path / "a.tally"
    tally.save(path)
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for position in rng.choice(len(good), 300, replace=False):
        bad = bytearray(good)
        if position % 5:
            bad[position] ^= int(rng.integers(1, 256))
        else:
            del bad[position:]
        path.write_bytes(bytes(bad))
        said = ""
        try:
            loaded = nf.Tally.load(path)
        except nf.InputError as error:
            said, loaded = str(error), tally
        refused += bool(said)
        assert not said or str(path) in said
        assert loaded == tally
    assert refused > 200


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return exec, (f"open({str(self.mark)!r}, 'w').close()",)


def test_loading_executes_nothing_from_the_file(run, grown, tmp_path):
    mark = tmp_path / "mark"
    with np.load(grown("a.tally")) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name in ("counts", "header", "feature_names"):
        trapped = arrays | {name: np.array([Trap(mark)], object)}
        np.savez(tmp_path / "trap.npz", allow_pickle=True, **trapped)
        with pytest.raises(nf.InputError):
            nf.Tally.load(tmp_path / "trap.npz")
        assert run("merge", tmp_path / "trap.npz").exit_code == 2
    (tmp_path / "pickle").write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(nf.InputError):
        nf.Tally.load(tmp_path / "pickle")
    assert not mark.exists()
    pickle.loads((tmp_path / "pickle").read_bytes())
    assert mark.exists()  # the trap works
