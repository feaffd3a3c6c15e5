"""No kernel reads memory that was never written: valgrind looks on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nullforest import _native

VALGRIND = ("valgrind", "--error-limit=no")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_valgrind_finds_nothing(tmp_path):
    log = tmp_path / "valgrind.log"
    script = Path(__file__).with_name("memcheck.py")
    done = subprocess.run(
        [*VALGRIND, f"--log-file={log}", sys.executable, script, _native.__file__],
        env=os.environ | {"PYTHONMALLOC": "malloc"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "done", done.stderr
    # Other libraries raise errors of their own; those of the kernel name it.
    library = f"{Path(_native.__file__).name})"
    lines = log.read_text("utf-8").splitlines()
    assert [line for line in lines if library in line or "nullforest::" in line] == []
