"""Ctrl-C and SIGTERM leave nothing behind, and end with status 130 and 143."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_and_leaves_nothing(data, tmp_path, number):
    before = set(tmp_path.iterdir())
    terminal, end = pty.openpty()  # the progress bar appears on terminals alone
    process = subprocess.Popen(
        [
            *[sys.executable, "-m", "nullforest", "select", str(data), "--target", "ill"],
            *["--drop", "person", "--trees", "20000000"],
            *["--table", str(tmp_path / "t.csv"), "--report", str(tmp_path / "r.html")],
        ],
        stdout=subprocess.DEVNULL,
        stderr=end,
    )
    os.close(end)
    shown = b""
    try:
        while b"/20000000" not in shown:
            shown += os.read(terminal, 4096)
        process.send_signal(number)
        try:
            while more := os.read(terminal, 4096):
                shown += more
        except OSError:  # how Linux says that the other end is closed
            pass
        assert process.wait() == 128 + number
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert b"Growing trees" in shown
    assert (b"Interrupted" in shown) == (number == signal.SIGINT)
    assert b"Traceback" not in shown
    assert set(tmp_path.iterdir()) == before
