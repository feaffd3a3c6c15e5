"""A few hostile calls of every area; `make fuzz` makes thousands. The harness is tested first."""

from __future__ import annotations

import pytest

import nullforest as nf
from fuzz import worker
from fuzz.outcomes import REFUSED, RESULT, check
from fuzz.running import SHARES, Ending, Worker, calls, summary

#: Calls of each area here: a few seconds in all.
CALLS = 12
#: Seed of these calls; `make fuzz` begins with 0.
SEED = 1


@pytest.fixture(scope="module")
def process():
    with Worker() as started:
        yield started


@pytest.mark.parametrize("area", SHARES)
def test_every_call_ends_in_a_result_or_a_sentence(process, area):
    endings = [process.call(area, SEED * 10**6 + number) for number in range(CALLS)]
    assert not [str(ending) for ending in endings if ending.failed]


def test_a_call_is_repeated_by_its_seed(process):
    first, again = process.call("grow", 3), process.call("grow", 3)
    assert (first.outcome, first.about) == (again.outcome, again.about)


@pytest.mark.parametrize(
    ("act", "found"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crash: SIGSEGV"),
        ("os._exit(3)", "crash: exit 3; last words"),
        ("time.sleep(60)", "hang: no end after 0.5 s"),
    ],
    ids=["crash", "exit", "hang"],
)
def test_a_process_that_dies_or_hangs_is_recorded_and_replaced(act, found):
    program = f"""if True:
        import os, signal, sys, time
        print('{{"ready": ""}}', flush=True)
        for line in sys.stdin:
            if line.split()[1] == "7":
                print("last words", file=sys.stderr, flush=True)
                {act}
            print('{{"about": "a call"}}', flush=True)
            print('{{"outcome": "result"}}', flush=True)
    """
    with Worker(limit=0.5, program=["-c", program]) as one:
        endings = [one.call("grow", seed) for seed in (6, 7, 8)]
    assert [ending.failed for ending in endings] == [False, True, False]
    assert endings[0].about == "a call"
    assert endings[1].outcome.startswith(found)
    assert "python -m fuzz grow:7" in str(endings[1])


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (lambda *_: RESULT, RESULT),
        (lambda *_: _raise(nf.InputError("X is empty; give some.")), REFUSED),
        (lambda *_: _raise(nf.InputError("X is\nempty.")), "unsound: the refusal has several"),
        (lambda *_: check(1 > 2, "another forest"), "unsound: another forest"),
        (lambda *_: 1 / 0, "ZeroDivisionError: division by zero [test_fuzz.py"),
        (lambda *_: _raise(SystemExit(1)), "SystemExit"),
    ],
)
def test_outcomes_are_told_apart(act, found, monkeypatch):
    monkeypatch.setitem(worker.AREAS, "grow", act)
    assert worker.outcome("grow", 0, lambda text: None).startswith(found)


def test_calls_go_round_all_areas_with_seeds_of_their_own():
    wanted = list(calls(200, seed=3))
    assert len(set(wanted)) == 200
    assert {area for area, _ in wanted} == set(SHARES) == set(worker.AREAS)
    assert all(3 * 10**6 <= seed < 4 * 10**6 for _, seed in wanted)
    counts = summary(
        [Ending("grow", 1, RESULT), Ending("grow", 2, "hang"), Ending("x", 1, REFUSED)]
    )
    assert counts.splitlines()[-1].split() == ["all", "3", "1", "1", "1"]
