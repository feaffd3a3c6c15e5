"""Runs resume after a kill or a full disk, with nothing lost, counted twice or mixed up."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import nullforest as nf
from nullforest.forest.settings import ForestSettings
from nullforest.run.checkpoints import HEADER
from nullforest.run.forest_checkpoint import ForestCheckpoint
from studies import kills

TREES = 400


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An undisturbed run: its data, its folder and how long it took."""
    folder = tmp_path_factory.mktemp("whole")
    data = folder / "data.npz"
    kills.write_table(data)
    seconds = kills.finished(kills.command(data, folder, TREES), folder)
    return data, folder, seconds


# Shares of the run's life: while it grows, and while it writes its results.
@pytest.mark.parametrize(
    ("how", "shares"),
    [("SIGKILL", (0.6, 0.8)), ("SIGTERM", (0.95,)), ("full disk", (0.7,))],
)
def test_a_disturbed_run_ends_with_the_same_bytes(whole, tmp_path, how, shares):
    data, undisturbed, seconds = whole
    with kills.disk(tmp_path):
        kills.trial(data, tmp_path, TREES, how, [share * seconds for share in shares])
        assert kills.results(tmp_path) == kills.results(undisturbed)
        assert [p.name for p in tmp_path.rglob("*.part")] == []


@pytest.fixture
def begun(run, data, tmp_path, quick):
    """A finished run of the command, by its arguments; its results are kept in a folder."""
    common = ["select", data, "--target", "ill", "--drop", "person", *quick]
    where = ["--resume", tmp_path / "run", "--set", "save_every=0"]
    result = run(*common, *where, "--table", tmp_path / "a.csv", "--json", tmp_path / "a.json")
    assert result.exit_code == 0, result.output
    return [*common, *where]


def settled(answer):
    answer = json.loads(answer.read_text())
    answer.pop("seconds")
    return answer


def test_a_run_is_the_same_as_without_a_folder(run, data, tmp_path, quick):
    common = ["select", data, "--target", "ill", "--drop", "person", *quick]
    assert run(*common, "--json", tmp_path / "a.json").exit_code == 0
    folder = ["--resume", tmp_path / "run", "--set", "save_every=0"]
    result = run(*common, *folder, "--json", tmp_path / "b.json", "--report", tmp_path / "b.html")
    assert result.exit_code == 0, result.output
    assert settled(tmp_path / "a.json") == settled(tmp_path / "b.json")
    # The points of the trajectory are kept, one file each, and every one is a tally.
    kept = sorted((tmp_path / "run").glob("trees-*.tally"))
    assert len(kept) == 16
    assert [nf.Tally.load(p).n_trees for p in kept][-1] == 200


def test_a_lost_end_is_grown_again_and_the_report_is_the_same(run, data, tmp_path, quick):
    common = ["select", data, "--target", "ill", "--drop", "person", *quick]
    where = ["--resume", tmp_path / "run", "--set", "save_every=0", "--json", tmp_path / "a.json"]
    assert run(*common, *where, "--report", tmp_path / "a.html").exit_code == 0
    first = settled(tmp_path / "a.json")
    kept = sorted((tmp_path / "run").glob("trees-*.tally"))
    for path in kept[9:]:
        path.unlink()
    shutil.copy(kept[3], kept[3].with_name("trees-000000031 (copy).tally"))
    shutil.copy(kept[3], kept[3].with_name("trees-x.tally"))
    assert run("select", "--resume", tmp_path / "run").exit_code == 2  # results are there already
    result = run("select", "--resume", tmp_path / "run", "--force")
    assert result.exit_code == 0, result.output
    assert settled(tmp_path / "a.json") == first


def test_more_trees_may_be_given_but_not_fewer(run, data, tmp_path):
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
    assert "holds 120 trees, more than trees = 60" in result.output


def test_another_run_is_refused_with_a_reason(run, data, frame, tmp_path, quick):
    folder = tmp_path / "run"
    common = ["--drop", "person", *quick, "--resume", folder]
    assert run("select", data, "--target", "ill", *common).exit_code == 0
    changes = {
        "values": frame.assign(**{"gene 5": frame["gene 5"].to_numpy()[::-1]}),
        "labels": frame.assign(ill=frame["ill"].to_numpy()[::-1]),
        "names": frame.rename(columns={"gene 5": "gene 500"}),
    }
    for name, changed in changes.items():
        changed.to_csv(tmp_path / f"{name}.csv", index=False)
    for path, more, words in [
        (tmp_path / "values.csv", [], "differs in its features;"),
        (tmp_path / "labels.csv", [], "differs in its target;"),
        (tmp_path / "names.csv", [], "differs in its feature names;"),
        (data, ["--seed", 5], "differs in its seed (0, not 5)"),
        (data, ["--set", "min_leaf=3"], "differs in its min_leaf (1, not 3)"),
        (data, ["--set", "first_tree=3"], "differs in its first_tree (0, not 3)"),
    ]:
        result = run("select", path, "--target", "ill", *common, *more)
        assert result.exit_code == 2
        assert words in result.output


def test_missing_values_weights_and_distances_are_part_of_the_identity(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    missing, tied = X.copy(), X.copy()
    missing[:5, 3], tied[:5, 3] = np.nan, X[:, 3].max() + 1  # the same order, the same ties
    y = X[:, 0]

    def one(values):
        return np.abs(np.subtract.outer(values, values))

    def other(values):
        return one(values) ** 2

    one.__qualname__ = other.__qualname__ = "distance"
    weight = rng.random(40)
    runs = [
        (X, {}),
        (missing, {}),
        (tied, {}),
        (X, {"sample_weight": weight}),
        (X, {"sample_weight": weight[::-1]}),
        (X, {"distance": one}),
        (X, {"distance": other}),
        (X, {"criterion": "gini"}),
    ]
    for number, (values, settings) in enumerate(runs):
        target = y > 0 if "criterion" in settings else y
        nf.resume(values, target, tmp_path / str(number), trees=5, **settings)
        for before in range(number):
            with pytest.raises(nf.InputError, match="differs in its"):
                nf.resume(values, target, tmp_path / str(before), trees=5, **settings)
    # The default, spelled out, is the same run.
    nf.resume(X, y, tmp_path / "0", trees=5, seed=0, candidates=None, criterion="variance")
    a, b = (nf.grow(values, y, trees=5).tally for values in (missing, tied))
    with pytest.raises(nf.InputError):
        a + b


def test_a_state_of_another_run_is_refused(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 20))
    y = X[:, 0] > 0
    nf.resume(X, y, tmp_path / "a", trees=30, seed=1)
    nf.resume(X, y, tmp_path / "b", trees=30, seed=2)
    shutil.copy(tmp_path / "a" / "latest.tally", tmp_path / "b" / "latest.tally")
    with pytest.raises(nf.InputError, match=r"latest\.tally does not belong to this forest"):
        nf.resume(X, y, tmp_path / "b", trees=40, seed=2)
    (tmp_path / "c").mkdir()
    nf.grow(X, y, trees=5).tally.save(tmp_path / "c" / "latest.tally")
    before = (tmp_path / "c" / "latest.tally").read_bytes()
    with pytest.raises(nf.InputError, match="does not belong to this forest"):
        nf.resume(X, y, tmp_path / "c", trees=40)
    assert (tmp_path / "c" / "latest.tally").read_bytes() == before


def test_what_is_no_run_is_refused(run, data, tmp_path):
    result = run("select", "--resume", tmp_path / "none")
    assert result.exit_code == 2
    assert "There is no run" in result.output
    result = run("select", "--target", "ill")
    assert result.exit_code == 2
    assert "Missing the table" in result.output
    (tmp_path / "file").write_text("")
    common = ["select", data, "--target", "ill", "--drop", "person", "--resume"]
    assert "cannot be used for a forest" in run(*common, tmp_path / "file").output
    assert "File name too long" in run(*common, tmp_path / ("n" * 300)).output
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / HEADER).write_text("[1]")
    assert "does not describe a forest" in run(*common, tmp_path / "odd").output
    assert run(*common, tmp_path / "a", "--set", "save_every=nan").exit_code == 2


@pytest.mark.parametrize("name", [HEADER, "command"])
def test_a_damaged_description_gets_a_sentence(run, begun, tmp_path, name):
    path = tmp_path / "run" / name
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        result = run("select", "--resume", tmp_path / "run")
        assert result.exit_code == 2
        assert str(path) in result.output or "exists already" in result.output


def test_savings_may_be_as_rare_as_one_likes(run, begun, tmp_path):
    result = run(*begun, "--set", "save_every=inf", "--json", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    assert settled(tmp_path / "a.json") == settled(tmp_path / "b.json")


def interrupted_while_writing(begun, tmp_path, run, monkeypatch):
    """Leave a run behind that was killed when its table was written, but not its JSON."""
    from nullforest.selection.selection import Selection

    def killed(self, path):
        raise KeyboardInterrupt

    for name in ("a.csv", "a.json"):
        (tmp_path / name).unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Selection, "to_json", killed)
        outputs = ["--table", tmp_path / "a.csv", "--json", tmp_path / "a.json"]
        assert run(*begun, *outputs).exit_code == 130
    assert (tmp_path / "a.csv").exists()
    assert not (tmp_path / "a.json").exists()


def test_only_files_that_the_run_wrote_are_replaced(run, begun, tmp_path, monkeypatch):
    interrupted_while_writing(begun, tmp_path, run, monkeypatch)
    # A file that somebody else made meanwhile is not the run's, whatever the command says now.
    (tmp_path / "b.csv").write_text("precious")
    other = ["--table", tmp_path / "b.csv", "--json", tmp_path / "a.json"]
    result = run(*begun, *other)
    assert result.exit_code == 2
    assert "b.csv exists already" in result.output
    assert (tmp_path / "b.csv").read_text() == "precious"
    written = (tmp_path / "a.csv").read_bytes()
    result = run("select", "--resume", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.csv").read_bytes() == written
    assert run("select", "--resume", tmp_path / "run").exit_code == 2  # now they are the user's


def test_a_command_that_was_changed_overwrites_nothing(run, begun, tmp_path, monkeypatch):
    interrupted_while_writing(begun, tmp_path, run, monkeypatch)
    (tmp_path / "precious.csv").write_text("precious")
    path = tmp_path / "run" / "command"
    with np.load(path) as archive:
        about = json.loads(archive["part"].tobytes())
    about["content"]["options"]["table"] = str(tmp_path / "precious.csv")
    with path.open("wb") as file:
        np.savez(file, part=np.frombuffer(json.dumps(about).encode(), np.uint8))
    result = run("select", "--resume", tmp_path / "run")
    assert result.exit_code == 2
    assert "precious.csv exists already" in result.output
    assert (tmp_path / "precious.csv").read_text() == "precious"


def test_a_folder_serves_one_process_at_a_time(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 20))
    y = X[:, 0] > 0
    held = ForestCheckpoint(tmp_path, nf.Dataset.of(X, y), ForestSettings())
    with held, pytest.raises(nf.InputError, match="Another process"):
        nf.resume(X, y, tmp_path, trees=10)
    assert nf.resume(X, y, tmp_path, trees=10).n_trees == 10


def test_sums_are_the_same_to_the_last_bit(tmp_path):
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


def test_links_and_files_of_others_in_the_folder_are_left_alone(run, begun, tmp_path):
    folder = tmp_path / "run"
    (folder / ".mine.part").write_text("mine")
    result = run(*begun, "--json", tmp_path / "b.json")
    assert result.exit_code == 0, result.output
    assert (folder / ".mine.part").read_text() == "mine"
    (folder / "latest.tally").rename(tmp_path / "moved")
    (folder / "latest.tally").symlink_to(tmp_path / "moved")
    result = run(*begun, "--json", tmp_path / "c.json")
    assert result.exit_code == 2
    assert "does not belong" in result.output
