"""Work that is stopped after a time, since some tests need hours."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from multiprocessing import get_context
from queue import Empty
from time import perf_counter
from typing import Any


def _answer(queue: Any, work: Callable[[], Any]) -> None:
    queue.put(None)  # libraries are loaded
    queue.put(work())


def stopped_after(limit: float, work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work returns, or None where it takes more than `limit` seconds; and the seconds.

    A process of its own, which shares no pool of threads with this one: some libraries wait for
    ever in a fork. The work must be importable.
    """
    context = get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_answer, args=(queue, work))
    process.start()
    queue.get()
    start = perf_counter()
    try:
        found = queue.get(timeout=None if limit == inf else limit)
        return found, perf_counter() - start
    except Empty:
        if not process.is_alive():
            raise SystemExit("A test ended without an answer.") from None
        return None, perf_counter() - start
    finally:
        process.terminate()
        process.join()
