"""The Dask backend: data scattered once, tasks as futures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from nullforest._util.errors import InputError, optional
from nullforest.run.backends import ATTEMPTS, IN_LINE, Deadline, Items, Results, Work, unchanging

#: Seconds that a scheduler has to answer.
PATIENCE = 10

#: Under this name a client keeps its backend.
_KEPT = "_nullforest_backend"


class DaskBackend:
    """The workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._threads = 0  # not known yet; the scheduler takes a few milliseconds to answer
        self._sent: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @staticmethod
    def of(client: Any = None) -> DaskBackend:
        """The backend of a client, or of the one that is there already; data sent stay sent."""
        distributed = optional("distributed", "dask", "Growing on Dask")
        if client is None:
            try:
                client = distributed.get_client()
            except ValueError:
                raise InputError(
                    "There is no Dask client; connect to a cluster first, with "
                    "dask.distributed.Client(address), or start one here with Client()."
                ) from None
        if not isinstance(client, distributed.Client):
            raise InputError(f"{client!r} is no Dask client; give a dask.distributed.Client.")
        known: DaskBackend | None = client.__dict__.get(_KEPT)
        if known is None:
            known = client.__dict__[_KEPT] = DaskBackend(client)  # lives as long as the client
        return known

    def workers(self) -> int:
        """Threads of all workers."""
        threads = sum(self.client.nthreads().values())
        if not threads:
            raise InputError("The Dask cluster has no workers; start some, or wait for them.")
        self._threads = int(threads)
        return self._threads

    def run(self, work: Work, shared: Items, tasks: Items, deadline: Deadline = None) -> Results:
        """See :class:`nullforest.run.backends.Backend`."""
        import distributed
        from distributed.client import FutureCancelledError

        # A worker is lost, or data that only it had.
        lost = (distributed.scheduler.KilledWorker, CancelledError, FutureCancelledError)
        data = self._scattered(shared)
        numbers: dict[Any, int] = {}
        attempts = [0] * len(tasks)

        def submit(number: int) -> Any:
            attempts[number] += 1
            future = self.client.submit(_done, work, tasks[number], *data, pure=False)
            numbers[future] = number
            return future

        # A few tasks for each worker at a time: those in line cost the scheduler, and the end.
        todo = iter(range(len(tasks)))
        first = [
            submit(number) for number in islice(todo, IN_LINE * (self._threads or self.workers()))
        ]
        timeout = None if deadline is None else max(0.0, deadline - monotonic())
        queue: Any = distributed.as_completed(first, timeout=timeout)  # type: ignore[no-untyped-call]  # Dask is untyped
        try:
            for future in queue:
                number = numbers.pop(future)
                try:
                    result = future.result()
                    for following in islice(todo, 1):
                        queue.add(submit(following))
                    yield number, result
                except lost as error:
                    if attempts[number] >= ATTEMPTS:
                        raise InputError(
                            f"Workers of the Dask cluster died {ATTEMPTS} times over the same "
                            f"task ({type(error).__name__}); look at their memory and their logs."
                        ) from error
                    data = self._scattered(shared)  # it may have gone with the worker
                    queue.add(submit(number))
                except ModuleNotFoundError as error:
                    raise InputError(
                        f"A worker of the Dask cluster cannot import {error.name}; install "
                        "nullforest on the workers."
                    ) from None
        except TimeoutError:
            return
        finally:
            if numbers:
                self.client.cancel(list(numbers), force=True)

    def _scattered(self, shared: Items) -> list[Any]:
        """Futures of the shared data on all workers; what was sent before is not sent again."""
        found = [self._sent.get(one) if unchanging(one) else None for one in shared]
        new = [i for i, known in enumerate(found) if known is None or known.status != "finished"]
        if new:
            sent = self.client.scatter([shared[i] for i in new], broadcast=True, hash=False)
            for i, future in zip(new, sent, strict=True):
                found[i] = future
                if unchanging(shared[i]):
                    self._sent[shared[i]] = future
        return found


@contextmanager
def client_of(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or of the one that a scheduler file names."""
    distributed = optional("distributed", "dask", "Growing on Dask")
    try:
        where = address
        if Path(address).is_file():
            where = json.loads(Path(address).read_text("utf-8"))["address"]
        known = distributed.Security().get_connection_args("client")
        if where.startswith("tls://") and not known.get("ssl_context"):
            raise ValueError("no certificates in the configuration of Dask")
        # Refused here: a client that was half made can block the start of the next one.
        distributed.comm.resolve_address(where)
        client = distributed.Client(where, timeout=PATIENCE)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"The Dask scheduler at {address:.100} cannot be reached ({type(error).__name__}: "
            f"{error!s:.100}); give an address such as tcp://host:8786, a scheduler file, or 'ray'."
        ) from None
    with client:
        yield client


def _done(work: Work, task: Any, *shared: Any) -> Any:
    return work(*shared, task)
