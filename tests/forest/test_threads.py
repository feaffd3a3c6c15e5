"""Threads that cannot be created, that are too many, and work that is interrupted."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nullforest as nf
from nullforest import _native

#: Everything that runs on threads, many of them; prints numbers that must not depend on them.
WORK = """
import json, sys
import numpy as np, nullforest as nf
from nullforest.run.permutation import permuted_errors
X = np.random.default_rng(0).normal(size=(80, 300))
jobs = int(sys.argv[1])
forest = nf.grow(nf.RankTable(X, n_jobs=jobs), X[:, 3] > 0, trees=40, n_jobs=jobs)
mean, _ = permuted_errors(forest, X, n_jobs=jobs)
print(json.dumps([forest.tally.counts.tolist(), forest.predict_proba(X, n_jobs=jobs).tolist(),
                  forest.apply(X, n_jobs=jobs).tolist(), mean.tolist()]))
"""


def run(code, *words, stack=None, address_space=None):
    """A Python process with a limit; stacks that do not fit make every new thread fail."""

    def limit():
        if stack is not None:
            resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.RLIM_INFINITY))
        if address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        # Other libraries start threads when imported; pandas imports numexpr where it is there.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "NUMEXPR_MAX_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    return run(WORK, "1")


def test_no_thread_can_be_created(expected):
    # A stack of 2⁴⁷ bytes, the whole address space, can never be mapped.
    assert run(WORK, "8", stack=2**47) == expected


def test_address_space_for_few_threads(expected):
    # Stacks of 1 GiB in 4 GiB: one or two threads can be created, more cannot.
    assert run(WORK, "8", stack=2**30, address_space=2**32) == expected


def test_address_space_for_many_trees_is_taken_as_they_grow():
    # Eight bytes for each of 2³¹ trees would be 16 GiB.
    code = """
import numpy as np, nullforest as nf
X = np.random.default_rng(0).normal(size=(80, 300))
print(nf.grow(X, X[:, 3] > 0, trees=2**31 - 1, max_seconds=0.2, probes=0, n_jobs=2).n_trees)
"""
    assert int(run(code, address_space=2**32)) >= 1


def n_threads():
    """Threads of this process."""
    return len(list(Path("/proc/self/task").iterdir()))


def test_more_jobs_than_any_machine_has():
    X = np.random.default_rng(0).normal(size=(40, 30))
    most = []

    def count(*_):
        most.append(n_threads())

    few = nf.grow(X, X[:, 3] > 0, trees=20_000, n_jobs=1, probes=0)
    before = n_threads()  # libraries that are imported late start threads of their own
    many = nf.grow(X, X[:, 3] > 0, trees=20_000, n_jobs=100_000, probes=0, progress=count)
    assert many.tally == few.tally
    assert max(most) - before <= max(16, 4 * os.cpu_count())


def test_an_error_in_the_calling_thread_ends_the_work():
    X = np.random.default_rng(0).normal(size=(40, 30))

    def fail(done, total):
        raise ZeroDivisionError

    for jobs in (1, 4):
        with pytest.raises(ZeroDivisionError):
            nf.grow(X, X[:, 3] > 0, trees=2**31 - 1, probes=0, n_jobs=jobs, progress=fail)


@pytest.mark.parametrize("seconds", [1e10, 1e300])
def test_a_limit_of_time_beyond_the_clock_is_none(seconds):
    X = np.random.default_rng(0).normal(size=(40, 30))
    told = []
    forest = nf.grow(
        *(X, X[:, 3] > 0),
        trees=2000,
        max_seconds=seconds,
        progress=lambda *now: told.append(now),
    )
    assert not forest.stopped_early
    assert len(told) < 1000  # a deadline that overflowed was a busy loop of 10⁶ reports a second


# ---- Ctrl-C


class HeardError(Exception):
    """Raised by the handler of a signal."""


@pytest.fixture
def interrupting():
    """Signals every 20 ms; the third that Python hears of interrupts.

    A call that does not look for signals hears of one, after its end.
    """
    heard = []

    def handler(*_):
        heard.append(None)
        if len(heard) == 3:
            raise HeardError

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def chain(n_nodes):
    """One tree that is a chain: every walk goes down all of it."""
    inner = np.arange(n_nodes, dtype=np.int32)  # nodes 0, 2, 4, … split; the others are leaves
    split = inner % 2 == 0
    split[-1] = False
    return {
        "feature": np.where(split, 0, -1).astype(np.int32),
        "threshold": np.full(n_nodes, -1e9),
        "left": np.where(split, inner + 1, -1).astype(np.int32),
        "right": np.where(split, inner + 2, -1).astype(np.int32),
        "missing_left": np.zeros(n_nodes, np.uint8),
        "value": np.ones((n_nodes, 1)),
        "offsets": np.array([0, n_nodes]),
    }


#: Walks of milliseconds down a chain: some seconds each.
CALLS = {
    "predict": lambda jobs: _native.predict(chain(100_001), np.zeros((20_000, 1)), 20_000, jobs),
    "apply": lambda jobs: _native.apply(chain(100_001), np.zeros((20_000, 1)), 20_000, jobs),
    "permuted errors": lambda jobs: _native.permuted_errors(
        chain(100_001),
        np.zeros((20_000, 1)),
        20_000,
        np.zeros((20_000, 1)),
        False,
        {"seed": 1, "first_tree": 0, "samples": 5000, "replace": False},
        jobs,
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("interrupting")
def test_signals_interrupt(name, jobs):
    with pytest.raises(HeardError):
        CALLS[name](jobs)


def test_signals_interrupt_the_making_of_probes(request):
    # Long columns with missing values are the dearest: some milliseconds each.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    table = _native.RankTable(X, 2)
    request.getfixturevalue("interrupting")
    n = 300
    with pytest.raises(HeardError):
        _native.Probes(
            table,
            np.zeros(20, np.int64),
            [n],
            [True],
            1,
            2**16,
            2**16,
            [0],
            np.zeros(n, np.uint32),
            np.ones(n),
        )


def test_signals_interrupt_associations(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    table = _native.RankTable(X, 2)
    request.getfixturevalue("interrupting")
    with pytest.raises(HeardError):
        _native.association_of_rankings(
            table,
            np.zeros(5, np.int64),
            [False],
            "variance",
            rng.normal(size=(2000, 1)),
            0,
            None,
            1,
            0,
            2000,
            1,
        )


def test_one_thread_finds_the_relevant_feature(expected):
    counts, shares, leaves, increases = json.loads(expected)
    assert sum(counts) > 0
    assert np.allclose(np.sum(shares, axis=1), 1.0)
    assert np.min(leaves) >= 1
    assert int(np.argmax(increases)) == 3
