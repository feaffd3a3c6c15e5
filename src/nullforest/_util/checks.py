"""Numbers that a caller gave: whole or real, within bounds, or refused by name."""

from __future__ import annotations

from operator import index
from typing import Any

from nullforest._util.errors import refused

#: The kernel keeps sizes in 32 bits.
MOST_SIZE = 2**32 - 1
#: A longer limit of time, about three years, is none; clocks count 10¹⁸ nanoseconds.
NO_LIMIT = 1e8
#: More threads than any machine has.
MOST_THREADS = 2**31 - 1


def whole_number(name: str, value: Any, least: int, most: int, alternative: str = "") -> int:
    """A setting as a whole number between two bounds."""
    try:
        number = index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise refused(name, value, f"must be a whole number{alternative}.")
    if not least <= number <= most:
        raise refused(name, number, f"must lie between {least} and {most}.")
    return number


def real_number(name: str, value: Any, most: float) -> float:
    """A setting as a number from 0 to `most`."""
    try:
        number = float("a" if isinstance(value, bool | str) else value)
    except (TypeError, ValueError, OverflowError):
        raise refused(name, value, "must be a number.") from None
    if not 0.0 <= number <= most:  # NaN neither
        raise refused(name, number, f"must lie between 0 and {most:g}.")
    return number


def n_threads(n_jobs: int | None) -> int:
    """Threads meant by `n_jobs`: -1 is all cores that this process may use, None is one."""
    if n_jobs is None:
        return 1
    number = whole_number("n_jobs", n_jobs, -MOST_THREADS, MOST_THREADS)
    if number == 0:
        raise refused("n_jobs", 0, "must be a number of threads, or -1 for all cores.")
    if number > 0:
        return number
    from joblib import cpu_count  # it respects affinity and cgroup quotas; slow to import

    return max(1, int(cpu_count()) + 1 + number)
