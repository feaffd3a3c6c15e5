"""The workers of Dask, Ray and joblib give the same answers, whichever of them dies.

A Dask scheduler with two worker processes, a Ray instance and joblib's processes are started for
real, once for all tests.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
import psutil
import pytest

import nullforest as nf
import reproduction
from nullforest.run import backends as compute
from nullforest.run.workers import blocks_of
from studies.published.variable_permutation import variable_permutation

BACKENDS = ("dask", "ray", "joblib")


@pytest.fixture(scope="module")
def dask_client(tmp_path_factory):
    """A client of a scheduler and two workers, each a process of its own."""
    from distributed import Client

    folder = tmp_path_factory.mktemp("dask")
    where = ["--scheduler-file", str(folder / "scheduler.json"), "--no-dashboard"]
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}  # of reproduction and studies
    quiet = {
        "cwd": folder,
        "env": os.environ | path,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    dask = [sys.executable, "-m", "dask"]
    one_thread = ["--nthreads", "1", "--memory-limit", "0"]
    started = [subprocess.Popen([*dask, "scheduler", *where, "--port", "0"], **quiet)]
    started += [subprocess.Popen([*dask, "worker", *where, *one_thread], **quiet) for _ in range(2)]
    try:
        with Client(scheduler_file=str(folder / "scheduler.json"), timeout=120) as client:
            client.wait_for_workers(2, timeout=120)
            yield client
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(30)


@pytest.fixture(scope="module")
def ray_instance():
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # says itself that this will be so
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own start-up, which is not ours to mend
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield ray
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nor is its end: old releases drop processes unwaited for
        ray.shutdown()
        gc.collect()


@pytest.fixture
def around(request):
    """Gives for the name of a backend the context in which it does the work."""

    def enter(name):
        if name == "dask":
            return nf.parallel(request.getfixturevalue("dask_client"))
        if name == "ray":
            return nf.parallel(request.getfixturevalue("ray_instance"))
        return joblib.parallel_config("loky", n_jobs=2)

    return enter


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 300)).astype(np.float32)
    return X, X[:, 3] + X[:, 7] + rng.normal(size=80)


def assert_same(a, b):
    """Two forests are the same to the last bit: tallies, sums of doubles, trees."""
    assert a.tally == b.tally
    assert a.sums.keys() == b.sums.keys()
    for name in a.sums:
        np.testing.assert_array_equal(a.sums[name], b.sums[name], err_msg=name)
    assert (a.trees is None) == (b.trees is None)
    if a.trees is not None:
        for name, values in a.trees.arrays.items():
            np.testing.assert_array_equal(values, b.trees.arrays[name], err_msg=name)


SETTINGS = {
    "numbers": {},
    "classes": {"criterion": "gini"},
    "bootstrap": {"replace": True, "keep_trees": False},
    "tally alone": {"keep_trees": False, "oob": False, "draw": "tree"},
    "no probes": {"probes": 0, "keep_trees": False},
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_forests_are_the_same_to_the_last_bit(around, backend, data, tmp_path):
    X, y = data
    told = []
    with around(backend):
        assert compute.find() is not None
        table = nf.RankTable(X)
        for settings in SETTINGS.values():
            label = y > 0 if "criterion" in settings else y
            settings = settings | {"trees": 90, "candidates": 20, "seed": 5}
            here = nf.grow(X, label, backend="threads", **settings)
            there = nf.grow(table, label, progress=lambda *n: told.append(n), **settings)
            assert_same(here, there)
            here.tally.save(tmp_path / "here")
            there.tally.save(tmp_path / "there")
            assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()
    assert told[0] == (0, 90)
    assert told[-1] == (90, 90)


@pytest.mark.parametrize("backend", BACKENDS)
def test_going_on_is_the_same(around, backend, data, tmp_path):
    X, y = data
    whole = nf.grow(X, y, trees=70)
    start = nf.grow(X, y, trees=31)
    with around(backend):
        assert_same(nf.grow(X, y, trees=39, more=start), whole)
        kept = nf.resume(X, y, tmp_path, trees=70, save_every=0.01)
    assert kept.tally == whole.tally
    np.testing.assert_array_equal(kept.sums["oob_sum"], whole.sums["oob_sum"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_number_of_trees_is_the_same(around, backend, data, tmp_path):
    X, y = data
    here = nf.grow(X, y, n_jobs=1)
    assert here.n_trees > 500  # found in several tests of the selection
    with around(backend):
        assert_same(nf.grow(X, y), here)
        nf.resume(X, y, tmp_path, max_trees=150)
        assert nf.resume(X, y, tmp_path, save_every=0.01).tally == here.tally


def worker_of(backend, client):
    """A process that is at work for this backend."""
    if backend == "dask":
        return next(iter(client.run(os.getpid).values()))
    for process in psutil.process_iter(["pid", "cmdline"]):
        if "ray::call" in " ".join(process.info["cmdline"] or []):
            return process.info["pid"]
    return None


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_a_killed_worker_changes_nothing_but_time(around, backend, data, request):
    X, y = data
    settings = {"trees": 3000, "candidates": 100, "keep_trees": False}
    whole = nf.grow(X, y, **settings)
    client = request.getfixturevalue("dask_client") if backend == "dask" else None
    killed = []

    def kill(done, total):
        if 0 < done < total and not killed and (victim := worker_of(backend, client)) is not None:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    with around(backend):
        forest = nf.grow(X, y, progress=kill, **settings)
    assert killed
    assert_same(forest, whole)
    if client is not None:
        client.wait_for_workers(2, timeout=120)  # the nanny starts another one


def test_a_process_of_joblib_that_dies_at_work_is_replaced(around, tmp_path):
    # At work, not in the middle of an answer: there joblib's own pipe would wait for the rest.
    died = tmp_path / "died"

    def double(task):
        if task == 5 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * task

    with around("joblib"):
        results = dict(compute.find().run(double, (), range(12)))
    assert died.exists()
    assert results == {task: 2 * task for task in range(12)}


@contextmanager
def counted(monkeypatch):
    """Collects the names of the work that a backend is given."""
    given = []
    for name in BACKENDS:
        module = __import__(f"nullforest.run.backends.{name}", fromlist=["x"])
        kind = getattr(module, f"{name.title()}Backend")

        def run(self, work, *rest, _run=kind.run, **more):
            given.append(work.__name__)
            return _run(self, work, *rest, **more)

        monkeypatch.setattr(kind, "run", run)
    yield given


@pytest.mark.parametrize("backend", BACKENDS)
def test_everything_goes_through_the_same_door(around, backend, data, monkeypatch, tmp_path):
    X, y = data[0][:, :40], data[1] > 0
    tiny = {"trees": 20, "candidates": 6}
    selector = nf.ForestSelector(**tiny, null="paper")

    def answers(place):
        permuted = nf.baselines.label_permutation(X, y, permutations=6, **tiny)
        shuffled = variable_permutation(X, y, permutations=5, features=[0, 3, 7], **tiny)
        audited = nf.audit(X, y, nulls=["paper"], permutations=3, **tiny)
        stable = nf.wrappers.StabilitySelection(selector, pairs=2, progress=False).fit(X, y)
        planned = nf.plan(40, 30, 3, trees=[10], candidates=[5], runs=2, progress=False)
        many = nf.grow_many(X, [y, ~y], seeds=[1, 2], **tiny)
        reproduction.reproduce(("low_dimensional",), out=place, size="tiny", runs=2, jobs=1)
        table = (place / "low_dimensional.csv").read_bytes()
        power = planned.table.drop(columns="seconds").to_numpy()
        arrays = [permuted.pvalues, shuffled.pvalues, audited.shares, stable.probabilities_, power]
        return [*arrays, *(forest.tally.counts for forest in many)], table

    here = answers(tmp_path / "here")
    with counted(monkeypatch) as given, around(backend):
        there = answers(tmp_path / "there")
    works = {
        "_permuted_forest",
        "test",
        "_test_half",
        "_rows_of_run",
        "_one_forest",
        "_computed_run",
        "grow_listed",
    }
    assert works <= set(given)
    for a, b in zip(here[0], there[0], strict=True):
        np.testing.assert_array_equal(a, b)
    assert here[1] == there[1]


def test_data_are_sent_once(dask_client, data, monkeypatch):
    X, y = data
    sent = []
    scatter = dask_client.scatter
    monkeypatch.setattr(
        dask_client, "scatter", lambda things, **k: sent.extend(things) or scatter(things, **k)
    )
    table = nf.RankTable(X)
    for seed in range(3):
        nf.grow(table, y, trees=20, seed=seed, backend="dask")
    assert sum(isinstance(thing, nf.RankTable) for thing in sent) == 1


def test_a_limit_of_time_gives_the_first_trees(dask_client, data):
    X, y = data
    settings = {"candidates": 100, "keep_trees": False}
    forest = nf.grow(X, y, trees=10**6, max_seconds=0.5, backend=dask_client, **settings)
    assert forest.stopped_early
    assert 1 <= forest.n_trees < 10**6
    assert_same(forest, nf.grow(X, y, trees=forest.n_trees, **settings))


def test_joblib_names_dask_and_ray_too(dask_client, ray_instance, data):
    from ray.util.joblib import register_ray

    from nullforest.run.backends.dask import DaskBackend
    from nullforest.run.backends.ray import RayBackend

    register_ray()
    with joblib.parallel_config("dask"):
        assert isinstance(compute.find(), DaskBackend)
    with joblib.parallel_config("ray"):
        assert isinstance(compute.find(), RayBackend)
    for backend in ("threading", "loky"):  # one process is no cluster
        with joblib.parallel_config(backend, n_jobs=1):
            assert compute.find() is None
    assert compute.find() is None
    with joblib.parallel_config("loky", n_jobs=2), nf.parallel("threads"):
        assert compute.find() is None


def test_errors_of_the_user_come_back_as_sentences(dask_client, data):
    X, y = data
    with nf.parallel("dask"), pytest.raises(nf.InputError, match="candidates = 999"):
        nf.grow_many(X, [y, y], trees=5, candidates=999)
    for wrong in ("spark", 7):
        with pytest.raises(nf.InputError, match="is no backend"):
            nf.grow(X, y, backend=wrong)


def test_the_command_reaches_a_cluster(dask_client, ray_instance, data, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from nullforest.cli.app import app

    X, y = data
    np.savez(tmp_path / "data.npz", X=X, y=y > 0)

    def select(name, *more):
        words = ["select", tmp_path / "data.npz", "--target", "y", "--trees", 60, "--null", "paper"]
        words += ["--tally", tmp_path / name, *more]
        return CliRunner().invoke(app, [str(word) for word in words])

    address = dask_client.scheduler.address
    assert select("here").exit_code == 0
    with counted(monkeypatch) as given:
        for name, more in [
            ("dask", ("--cluster", address)),
            ("ray", ("--cluster", "ray")),
            ("kept", ("--cluster", address, "--resume", tmp_path / "run")),
        ]:
            result = select(name, *more)
            assert result.exit_code == 0, result.output
            assert (tmp_path / name).read_bytes() == (tmp_path / "here").read_bytes()
    assert given.count("grow_listed") >= 3
    monkeypatch.setattr("nullforest.run.backends.dask.PATIENCE", 0.2)
    result = select("none", "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "The Dask scheduler at tcp://127.0.0.1:1 cannot be reached" in result.output


def test_an_address_that_leads_nowhere_gets_a_sentence(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("nullforest.run.backends.dask.PATIENCE", 0.2)
    files = {
        "text": b"nonsense",
        "empty": b"{}",
        "list": b"[1]",
        "bytes": b"\xff",
        "odd": b'{"address": 3}',
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    addresses = ["tls://127.0.0.1:1", "foo://x", "tcp://[", "x" * 300, ""]
    for address in [*(str(tmp_path / name) for name in files), *addresses]:
        with pytest.raises(nf.InputError, match="cannot be reached"), compute.connected(address):
            pass
    gc.collect()  # what Dask leaves behind must not complain later
    assert "Traceback" not in capfd.readouterr().err


def test_without_a_client_the_remedy_is_named():
    code = """
import numpy as np, nullforest as nf
X = np.random.default_rng(0).normal(size=(30, 10))
for backend in ("dask", "ray"):
    try:
        nf.grow(X, X[:, 0] > 0, trees=3, backend=backend)
    except nf.InputError as error:
        print(error)
import sys
sys.modules["distributed"] = sys.modules["ray"] = None  # as if not installed
for backend in ("dask", "ray"):
    try:
        nf.grow(X, X[:, 0] > 0, trees=3, backend=backend)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for words in ["no Dask client", "call ray.init()", "nullforest[dask]", "nullforest[ray]"]:
        assert words in done.stdout


@pytest.mark.parametrize(("trees", "workers"), [(1, 1), (7, 3), (1000, 2), (100_000, 100)])
def test_blocks_cover_every_tree_once(trees, workers):
    blocks = blocks_of(trees, workers)
    ends = np.cumsum([n for _, n in blocks])
    assert ends[-1] == trees
    assert [first for first, _ in blocks] == [0, *ends[:-1]]
    assert all(n >= 1 for _, n in blocks)
