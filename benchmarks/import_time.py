"""Time of `import nullforest`, beyond that of Python's start.

Run: python benchmarks/import_time.py
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import parts


def start(code: str) -> float:
    """Seconds of the fastest of several runs of a new interpreter."""
    times = []
    for _ in range(15):
        begin = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(perf_counter() - begin)
    return min(times)


def main() -> None:
    seconds = start("import nullforest") - start("pass")
    print(f"import nullforest: {seconds:.3f} s")
    part = "`import nullforest`; most modules are loaded at first use"
    parts.keep("import_time.py", {part: seconds})


if __name__ == "__main__":
    main()
