"""The joblib backend: whatever `joblib.parallel_config` names.

Of the backends for Dask and Ray only the client is taken: they would send the data with each task.
"""

from __future__ import annotations

import uuid
from concurrent.futures.process import BrokenProcessPool
from time import monotonic
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from nullforest._util.errors import InputError
from nullforest.run.backends import (
    ATTEMPTS,
    JOBLIB_THREADS,
    Backend,
    Deadline,
    Items,
    Results,
    Work,
    call,
)


def configured() -> Backend | None:
    """The backend that `joblib.parallel_config` names; None for threads, and where it names none.

    One process is no cluster either.
    """
    backend, n_jobs = get_active_backend(prefer="threads")
    kind = type(backend).__name__
    if kind in JOBLIB_THREADS:
        return None
    if kind == "DaskDistributedBackend":
        from nullforest.run.backends.dask import DaskBackend

        return DaskBackend.of(backend.client)
    if kind == "RayBackend":
        from nullforest.run.backends.ray import RayBackend

        return RayBackend.of()
    return None if n_jobs == 1 else JoblibBackend()


class JoblibBackend:
    """The processes of a joblib backend."""

    def __init__(self, n_jobs: int | None = None) -> None:
        n_jobs = n_jobs or get_active_backend(prefer="threads")[1]
        self._n_jobs = -1 if n_jobs == 1 else n_jobs

    def workers(self) -> int:
        """Processes."""
        from joblib import effective_n_jobs

        return max(1, int(effective_n_jobs(self._n_jobs)))

    def run(self, work: Work, shared: Items, tasks: Items, deadline: Deadline = None) -> Results:
        """See :class:`nullforest.run.backends.Backend`."""
        key = uuid.uuid4().hex
        left = dict(enumerate(tasks))
        for attempt in range(ATTEMPTS):
            pool = Parallel(self._n_jobs, return_as="generator_unordered")
            try:
                jobs = [delayed(_numbered)(work, key, i, task, *shared) for i, task in left.items()]
                for number, result in pool(jobs):
                    del left[number]
                    yield number, result
                    if deadline is not None and monotonic() > deadline:
                        return
                return
            except BrokenProcessPool as error:  # a process died; joblib starts new ones
                if attempt == ATTEMPTS - 1:
                    raise InputError(
                        f"Processes died {ATTEMPTS} times over the same work; look at their memory."
                    ) from error


def _numbered(work: Work, key: str, number: int, task: Any, *shared: Any) -> tuple[int, Any]:
    return number, call(work, key, task, *shared)
