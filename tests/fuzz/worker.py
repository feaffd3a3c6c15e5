"""A process that makes one call after the other, as it is told on standard input.

It answers each line `area seed` with a line of JSON that says what is about to be called, and one
with the outcome. It may die or hang at any call: `running.py` replaces it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzz import command_line, files, library, tables
from fuzz.outcomes import REFUSED, Say, UnsoundError, check_sentence, place_of
from nullforest import InputError
from nullforest._util.errors import MissingExtraError

Area = Callable[[np.random.Generator, Path, Say], str]

AREAS: dict[str, Area] = {
    "grow": library.grow,
    "select": library.select,
    "tally": library.tally,
    "selector": library.selector,
    "pickles": library.pickles,
    "readers": tables.readers,
    "tallies": files.tallies,
    "resuming": files.resuming,
    "rank_tables": files.rank_tables,
    "surfaces": files.surfaces,
    "paths": files.hostile_paths,
    "command_line": command_line.command_line,
}
#: Bytes that a call may take beyond what the process has: a table of ten million numbers and more.
MEMORY = 3 * 2**30


def outcome(area: str, seed: int, say: Say) -> str:
    """Make one call: "result", "refused", or what is wrong with its ending."""
    rng = np.random.default_rng([zlib.crc32(area.encode()), seed])
    folder = Path(tempfile.mkdtemp())
    try:
        return AREAS[area](rng, folder, say)
    except UnsoundError as error:
        return f"unsound: {error}"
    except (InputError, MissingExtraError) as error:
        try:
            check_sentence(str(error))
        except UnsoundError as odd:
            return f"unsound: {odd}"
        say(f"refused: {error}")
        return REFUSED
    except (Exception, SystemExit) as error:
        return place_of(error)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _limit_memory() -> None:
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        return  # the sanitizers reserve terabytes of addresses
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))


def main() -> None:
    """Answer lines until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a call prints is no answer
    faulthandler.enable()
    warnings.simplefilter("ignore")
    _limit_memory()

    def answer(kind: str, text: str) -> None:
        answers.write(json.dumps({kind: text}) + "\n")
        answers.flush()

    answer("ready", "")
    for line in sys.stdin:
        area, seed = line.split()
        answer("outcome", outcome(area, int(seed), lambda text: answer("about", text)))


if __name__ == "__main__":
    main()
