"""`python -m fuzz`: thousands of hostile calls, or one of them again."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from fuzz.running import LIMIT, SHARES, Ending, calls, run, summary


def main() -> None:
    """Make the calls, print each failure as it happens, and end with the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("call", nargs="*", help="calls to repeat, as grow:17")
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--area", choices=SHARES, action="append", help="these areas alone")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a call")
    given = parser.parse_args()
    if given.call:
        wanted = [(area, int(seed)) for area, seed in (one.split(":") for one in given.call)]
    else:
        wanted = list(calls(given.calls, given.seed))
    wanted = [one for one in wanted if not given.area or one[0] in given.area]
    start, done = time.monotonic(), []

    def seen(ending: Ending) -> None:
        done.append(ending)
        if ending.failed or given.call:
            print(ending if ending.failed else f"{ending.outcome}: {ending.about}", flush=True)
        elif len(done) % 500 == 0:
            print(
                f"{len(done)} of {len(wanted)} calls, {time.monotonic() - start:.0f} s", flush=True
            )

    with ThreadPoolExecutor(given.workers) as pool:
        shares = [wanted[i :: given.workers] for i in range(given.workers)]
        list(pool.map(lambda share: run(share, limit=given.limit, seen=seen), shares))
    slowest = max(done, key=lambda ending: ending.seconds)
    print(summary(done))
    print(
        f"{time.monotonic() - start:.0f} s; the slowest call took {slowest.seconds:.1f} s "
        f"({slowest.area}:{slowest.seed}: {slowest.about[:100]})"
    )
    sys.exit(any(ending.failed for ending in done))


if __name__ == "__main__":
    main()
