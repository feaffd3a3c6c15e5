"""The Ray backend: data in the object store once, tasks as remote calls."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from nullforest._util.errors import InputError, optional
from nullforest.run.backends import (
    ATTEMPTS,
    IN_LINE,
    Deadline,
    Items,
    Results,
    Work,
    call,
    unchanging,
)

#: The backend of the connected instance, by the name of the connection; data sent stay sent.
_backends: dict[str, RayBackend] = {}


@contextmanager
def instance(address: str) -> Iterator[None]:
    """A connection to the Ray instance at an address."""
    ray = optional("ray", "ray", "Growing on Ray")
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        raise InputError(
            f"There is no Ray instance at {address!r}; start one with: ray start --head."
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


class RayBackend:
    """The workers of the Ray instance that this process is connected to."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._call = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(call)
        self._sent: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    @staticmethod
    def of() -> RayBackend:
        """The backend of the instance that is there already."""
        ray = optional("ray", "ray", "Growing on Ray")
        if not ray.is_initialized():
            raise InputError("Ray is not connected; call ray.init() first.")
        job = ray.get_runtime_context().get_job_id()
        if job not in _backends:
            _backends.clear()  # what was put into another instance is gone with it
            _backends[job] = RayBackend(ray)
        return _backends[job]

    def workers(self) -> int:
        """Processors of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(self, work: Work, shared: Items, tasks: Items, deadline: Deadline = None) -> Results:
        """See :class:`nullforest.run.backends.Backend`."""
        ray = self._ray
        data = [self._put(one) for one in shared]
        key = uuid.uuid4().hex
        todo = iter(enumerate(tasks))
        pending: dict[Any, int] = {}

        def submit(how_many: int) -> None:
            for number, task in islice(todo, how_many):
                pending[self._call.remote(work, key, task, *data)] = number

        submit(IN_LINE * self.workers())
        try:
            while pending:
                timeout = None if deadline is None else max(0.0, deadline - monotonic())
                ready, _ = ray.wait(list(pending), num_returns=1, timeout=timeout)
                if not ready:
                    return
                number = pending.pop(ready[0])
                submit(1)
                try:
                    yield number, ray.get(ready[0])
                except ray.exceptions.WorkerCrashedError as error:
                    raise InputError(
                        f"Workers of Ray died {ATTEMPTS} times over the same task; look at their "
                        "memory and their logs."
                    ) from error
        finally:
            for reference in pending:
                ray.cancel(reference)

    def _put(self, one: Any) -> Any:
        """A reference to the data in the object store; what was put there before is used again."""
        if not unchanging(one):
            return self._ray.put(one)
        if one not in self._sent:
            self._sent[one] = self._ray.put(one)
        return self._sent[one]
