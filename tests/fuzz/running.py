"""Many calls in worker processes that are replaced when they die or hang."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fuzz.outcomes import REFUSED, RESULT

#: Seconds that a call may take; the slowest sound ones take 3 on an idle core.
LIMIT = 60.0
#: Seconds that a worker may take to import everything.
START = 120.0
#: Calls of each area in a round. Those of one area follow each other.
SHARES = {
    "grow": 10,
    "select": 6,
    "tally": 3,
    "selector": 4,
    "pickles": 5,
    "readers": 8,
    "tallies": 6,
    "resuming": 4,
    "rank_tables": 5,
    "surfaces": 1,
    "paths": 2,
    "command_line": 7,
}


@dataclass(frozen=True)
class Ending:
    """The ending of one call."""

    area: str
    seed: int
    outcome: str
    about: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is neither a result nor a refusal."""
        return self.outcome not in (RESULT, REFUSED)

    def __str__(self) -> str:
        call = f"PYTHONPATH=tests python -m fuzz {self.area}:{self.seed}"
        return f"FAILED {self.area}:{self.seed}: {self.outcome}\n  {self.about}\n  {call}"


class Worker:
    """A process that makes calls; a new one takes its place when it dies or hangs."""

    def __init__(
        self, limit: float = LIMIT, program: Sequence[str] = ("-m", "fuzz.worker")
    ) -> None:
        self.limit, self._program = limit, program
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: Any = None
        self._buffer = b""
        #: Temporary files of the processes, which need not live to remove them.
        self._scratch = tempfile.mkdtemp(prefix="nullforest-fuzz-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def call(self, area: str, seed: int) -> Ending:
        """Make one call and wait for its ending."""
        start, about = time.monotonic(), ""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(f"{area} {seed}\n".encode())
        self._process.stdin.flush()
        until = time.monotonic() + self.limit
        while True:
            line = self._line(until)
            if isinstance(line, str):
                self._end()
                return Ending(area, seed, line, about, time.monotonic() - start)
            about = "; ".join(filter(None, [about, line.get("about")]))
            if "outcome" in line:
                return Ending(area, seed, line["outcome"], about, time.monotonic() - start)

    def _start(self) -> None:
        self._errors, self._buffer = tempfile.TemporaryFile(), b""  # noqa: SIM115  # closed by _end
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        here = str(Path(__file__).parents[1])
        path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, *self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **threads, "PYTHONPATH": path, "TMPDIR": self._scratch},
            start_new_session=True,  # what it starts ends with it
        )
        ready = self._line(time.monotonic() + START)
        if isinstance(ready, str):
            raise RuntimeError(f"The worker did not start: {ready}")

    def _line(self, until: float) -> dict[str, str] | str:
        """The next answer; a text that says what is wrong where there is none."""
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return f"hang: no end after {self.limit:g} s"
            more = os.read(pipe, 65536)
            if not more:
                status = self._process.wait()
                name = signal.Signals(-status).name if status < 0 else f"exit {status}"
                return f"crash: {name}; {self._last_words()}"
            self._buffer += more
        line, self._buffer = self._buffer.split(b"\n", 1)
        found: dict[str, str] = json.loads(line)
        return found

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").splitlines()
        return " | ".join(line.strip() for line in lines[-40:] if line.strip())[:500]

    def _end(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._errors):
                with suppress(BrokenPipeError):
                    stream.close()  # type: ignore[union-attr]  # pipes are there
            self._process = None


def calls(number: int, seed: int) -> Iterator[tuple[str, int]]:
    """Areas and seeds of so many calls, in rounds over all areas."""
    made = Counter[str]()
    while True:
        for area, share in SHARES.items():
            for _ in range(share):
                if made.total() == number:
                    return
                yield area, seed * 10**6 + made[area]
                made[area] += 1


def run(
    wanted: Iterable[tuple[str, int]],
    *,
    limit: float = LIMIT,
    seen: Callable[[Ending], object] = lambda ending: None,
) -> list[Ending]:
    """Make the calls in one worker."""
    endings = []
    with Worker(limit) as worker:
        for area, seed in wanted:
            endings.append(worker.call(area, seed))
            seen(endings[-1])
    return endings


def summary(endings: Iterable[Ending]) -> str:
    """Counts of outcomes by area."""
    table: dict[str, Counter[str]] = {}
    for ending in endings:
        kind = "failed" if ending.failed else ending.outcome
        table.setdefault(ending.area, Counter())[kind] += 1
    rows = [f"{'area':14s}{'calls':>7s}{'result':>8s}{'refused':>9s}{'failed':>8s}"]
    for area, found in [*table.items(), ("all", sum(table.values(), Counter()))]:
        counts = (found.total(), found[RESULT], found[REFUSED], found["failed"])
        rows.append("{:14s}{:7d}{:8d}{:9d}{:8d}".format(area, *counts))
    return "\n".join(rows)
