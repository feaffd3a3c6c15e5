"""Does a run go on after a kill, with nothing lost, nothing counted twice, nothing mixed up?"""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from studies import kills

import nullforest as nf

TREES = 1500


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody disturbs: its data, its folder and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    data = folder / "data.npz"
    kills.write_table(data)
    seconds = kills.finished(kills.command(data, folder, TREES))
    return data, folder, seconds


# Shares of the run's life: while Python starts, in the middle of growing, and towards the end.
@pytest.mark.parametrize("shares", [(0.3,), (0.75, 0.6), (0.95,)])
def test_a_killed_run_ends_with_the_same_answer(whole, tmp_path, shares):
    data, undisturbed, seconds = whole
    kills.trial(data, tmp_path, TREES, [share * seconds for share in shares])
    assert kills.results(tmp_path) == kills.results(undisturbed)
    leftovers = [p.name for p in tmp_path.rglob("*.part")]
    assert leftovers == []


def settled(answer):
    answer = json.loads(answer.read_text())
    answer.pop("seconds")
    return answer


def test_a_run_is_the_same_as_without_a_folder(run, data, tmp_path, quick):
    common = ["select", data, "--target", "ill", "--drop", "person", *quick]
    assert run(*common, "--json", tmp_path / "a.json").exit_code == 0
    folder = ["--resume", tmp_path / "run", "--save-every", 0]
    result = run(*common, *folder, "--json", tmp_path / "b.json", "--report", tmp_path / "b.html")
    assert result.exit_code == 0, result.output
    assert settled(tmp_path / "a.json") == settled(tmp_path / "b.json")
    # Looks at the forest are kept, one file each, and every one is a tally.
    looks = sorted((tmp_path / "run").glob("look-*.tally"))
    assert len(looks) == 16
    assert [nf.Tally.load(p).n_trees for p in looks][-1] == 200


def test_a_lost_end_is_grown_again_and_the_report_is_the_same(run, data, tmp_path, quick):
    common = ["select", data, "--target", "ill", "--drop", "person", *quick]
    where = ["--resume", tmp_path / "run", "--save-every", 0, "--json", tmp_path / "a.json"]
    assert run(*common, *where, "--report", tmp_path / "a.html").exit_code == 0
    first = settled(tmp_path / "a.json")
    for path in sorted((tmp_path / "run").glob("look-*.tally"))[9:]:
        path.unlink()
    assert run("select", "--resume", tmp_path / "run").exit_code == 2  # results are there already
    result = run("select", "--resume", tmp_path / "run", "--force")
    assert result.exit_code == 0, result.output
    assert settled(tmp_path / "a.json") == first


def test_more_trees_may_be_asked_for_but_not_fewer(run, data, tmp_path):
    def select(trees, name, *more):
        common = ["select", data, "--target", "ill", "--drop", "person", "--candidates", 8]
        return run(*common, "--trees", trees, "--tally", tmp_path / name, *more)

    folder = ("--resume", tmp_path / "run")
    assert select(50, "a", *folder).exit_code == 0
    assert select(120, "b", *folder).exit_code == 0
    assert select(120, "c").exit_code == 0
    assert nf.Tally.load(tmp_path / "b") == nf.Tally.load(tmp_path / "c")
    result = select(60, "d", *folder)
    assert result.exit_code == 2
    assert "holds 120 trees, more than the 60 asked for" in result.output


def test_another_run_is_refused_with_a_reason(run, data, frame, tmp_path, quick):
    folder = tmp_path / "run"
    common = ["--drop", "person", *quick, "--resume", folder]
    assert run("select", data, "--target", "ill", *common).exit_code == 0
    other = tmp_path / "other.csv"
    frame.assign(**{"gene 5": frame["gene 5"].to_numpy()[::-1]}).to_csv(other, index=False)
    turned = tmp_path / "turned.csv"
    frame.assign(ill=frame["ill"].to_numpy()[::-1]).to_csv(turned, index=False)
    for path, more, words in [
        (other, [], "is on other features"),
        (turned, [], "is on other labels"),
        (data, ["--seed", 5], "another seed (0, not 5)"),
        (data, ["--min-leaf", 3], "another min_leaf (1, not 3)"),
        (data, ["--first-tree", 3], "another first_tree"),
    ]:
        result = run("select", path, "--target", "ill", *common, *more)
        assert result.exit_code == 2
        assert words in result.output


def test_what_is_no_run_is_refused(run, data, tmp_path):
    result = run("select", "--resume", tmp_path / "none")
    assert result.exit_code == 2
    assert "There is no run" in result.output
    result = run("select", "--target", "ill")
    assert result.exit_code == 2
    assert "Missing the table" in result.output
    (tmp_path / "file").write_text("")
    common = ["select", data, "--target", "ill", "--drop", "person", "--resume"]
    assert "cannot be used as the folder" in run(*common, tmp_path / "file").output
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "run.json").write_text("[1]")
    assert "does not describe a run" in run(*common, tmp_path / "odd").output


def test_a_folder_serves_one_process_at_a_time(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 20))
    table, y = nf.RankTable(X), X[:, 0] > 0
    from nullforest.engine.resuming import Run

    with Run(tmp_path, table, y, {}), pytest.raises(nf.InputError, match="Another process"):
        nf.resume(X, y, tmp_path, trees=10)
    assert nf.resume(X, y, tmp_path, trees=10).n_trees == 10


def test_sums_go_on_to_the_last_bit(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 40))
    y = X[:, 0] + X[:, 1]
    whole = nf.grow(X, y, trees=90, keep_trees=False)
    for trees in (13, 50, 90):
        forest = nf.resume(X, y, tmp_path, trees=trees, save_every=0)
    assert forest.tally == whole.tally
    for name, values in whole.sums.items():
        np.testing.assert_array_equal(forest.sums[name], values)
    assert forest.oob_score == whole.oob_score


def test_a_damaged_state_is_grown_again_and_said(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 20))
    y = X[:, 0] > 0
    nf.resume(X, y, tmp_path, trees=30)
    latest = tmp_path / "latest.tally"
    latest.write_bytes(latest.read_bytes()[:-100])
    forest = nf.resume(X, y, tmp_path, trees=40)
    assert forest.tally == nf.grow(X, y, trees=40).tally
    shutil.rmtree(tmp_path)
