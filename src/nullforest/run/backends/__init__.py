"""Backends: threads of this process, or the workers of Dask, Ray or joblib.

Work is cut into independent tasks: blocks of trees, whole forests, runs of a simulation. A backend
sends the data that all tasks share to its workers once, then the tasks, and returns the results; a
task whose worker dies is given to another. The result of a task does not depend on the worker, and
so neither does the answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from nullforest._util.errors import InputError

#: What is done for each task; the tasks, or the data that they share; and numbered results.
Work = Callable[..., Any]
Items = Sequence[Any]
Results = Generator[tuple[int, Any], None, None]
#: Time of `time.monotonic` at which to stop; None for none.
Deadline = float | None
#: How often a task is given to another worker before the work is given up.
ATTEMPTS = 5
#: Tasks that are given out at a time for each worker, so that none waits for the next.
IN_LINE = 4
#: Backends of joblib that are this process.
JOBLIB_THREADS = ("ThreadingBackend", "SequentialBackend")


class Backend(Protocol):
    """Workers outside of this process."""

    def workers(self) -> int:
        """Tasks that can be done at the same time."""

    def run(self, work: Work, shared: Items, tasks: Items, deadline: Deadline = None) -> Results:
        """Do `work(*shared, task)` for every task; numbers and results as they are finished.

        Ends early, and cancels what is left, at the deadline or when the iterator is closed.
        """


#: Backend of the `with parallel(...)` around the present call, as a tuple: None means threads.
_current: ContextVar[tuple[Backend | None, ...]] = ContextVar("backend", default=())


@contextmanager
def parallel(backend: Any) -> Iterator[None]:
    """Use a cluster for all that is called inside: forests, tests, simulations.

    The results are those of one machine to the last bit. Data are sent to the workers once, and a
    worker of Dask or Ray that dies costs time alone. nullforest must be installed on the workers.

    Parameters
    ----------
    backend : Dask client, ray, or {"dask", "ray", "joblib", "threads"}
        A `dask.distributed.Client`; the module `ray` after `ray.init()`; by name, the client or
        instance that is there already; "joblib": the backend that `joblib.parallel_config` names
        (which is used without `parallel`, too); "threads": none of them, inside another one.

    Examples
    --------
    >>> import joblib, numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(50, 40))
    >>> with joblib.parallel_config("loky", n_jobs=2), nf.parallel("joblib"):
    ...     forest = nf.grow(X, X[:, 3] > 0, trees=50)
    >>> forest.tally == nf.grow(X, X[:, 3] > 0, trees=50).tally
    True
    """
    token = _current.set((backend_of(backend),))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Use the cluster at an address: of a Dask scheduler, or "ray"; None for threads.

    A Dask scheduler is named by its address (tcp://host:8786) or its scheduler file, Ray by "ray"
    for the instance on this machine, or ray://host:10001.
    """
    if address is None:
        yield
    elif address == "ray" or address.startswith("ray://"):
        from nullforest.run.backends.ray import instance

        with instance("auto" if address == "ray" else address), parallel("ray"):
            yield
    else:
        from nullforest.run.backends.dask import client_of

        with client_of(address) as client, parallel(client):
            yield


def find(backend: Any = None) -> Backend | None:
    """The backend in use: the one given, else the one around this call; None for threads."""
    if backend is not None:
        return backend_of(backend)
    if _current.get():
        return _current.get()[0]
    if "joblib" not in sys.modules:  # nobody can have configured it, and it is slow to import
        return None
    from joblib.parallel import get_active_backend

    # Without a configuration joblib falls back to what its caller prefers, so that preferring
    # threads tells the two apart.
    if type(get_active_backend(prefer="threads")[0]).__name__ in JOBLIB_THREADS:
        return None
    from nullforest.run.backends.joblib import configured

    return configured()


def backend_of(given: Any) -> Backend | None:
    """The backend behind a name, a client or a module; None for threads."""
    if hasattr(given, "run") and hasattr(given, "workers"):
        return given  # type: ignore[no-any-return]  # one of ours already
    name = given if isinstance(given, str) else type(given).__module__.split(".")[0]
    if getattr(given, "__name__", "") == "ray":
        name = "ray"
    match name:
        case "threads":
            return None
        case "dask" | "distributed":
            from nullforest.run.backends.dask import DaskBackend

            return DaskBackend.of(None if isinstance(given, str) else given)
        case "ray":
            from nullforest.run.backends.ray import RayBackend

            return RayBackend.of()
        case "joblib":
            from nullforest.run.backends.joblib import JoblibBackend, configured

            return configured() or JoblibBackend()
    raise InputError(
        f"{given!r} is no backend; give a Dask client, the module ray, or one of 'dask', 'ray', "
        "'joblib', 'threads'."
    )


def each(
    work: Work, shared: Items, tasks: Items, backend: Backend | None, deadline: Deadline = None
) -> Iterator[Any]:
    """Results of `work(*shared, task)` in the order of the tasks, here if there is no backend."""
    if backend is None:
        for task in tasks:
            yield work(*shared, task)
        return
    waiting: dict[int, Any] = {}
    turn = 0
    with closing(backend.run(work, shared, tasks, deadline)) as finished:
        for number, result in finished:
            waiting[number] = result
            while turn in waiting:
                yield waiting.pop(turn)
                turn += 1


def unchanging(one: Any) -> bool:
    """Whether data that were sent once can be taken for the same as long as they live here."""
    return bool(getattr(type(one), "unchanging", False))


#: Shared data that this process, a worker, received last: unpacked once, not per task.
_held: dict[str, tuple[Any, ...]] = {}


def call(work: Work, key: str, task: Any, *shared: Any) -> Any:
    """Do one task on a worker. `key` stands for the shared data, of which the last are kept."""
    if key not in _held:
        _held.clear()
        _held[key] = shared
    return work(*_held[key], task)
