"""The bar: on a terminal, after two seconds, and nowhere else."""

import os
import select
import sys
from pathlib import Path

from nullforest._util import progress


def shown_on_a_terminal(monkeypatch, patience):
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(progress, "PATIENCE", patience)
        with progress.progress_bar("Permuting labels") as tell:
            for i in range(4):
                tell(i + 0.5, 4)
        terminal.flush()
        # A terminal hands on what was written in pieces, and a little later.
        shown = b""
        while select.select([master], [], [], 0.5)[0]:
            shown += os.read(master, 100_000)
        os.close(master)
        return shown.decode()


def test_a_bar_is_drawn_when_it_takes_long(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert "Permuting labels" in shown_on_a_terminal(monkeypatch, patience=-1.0)


def test_short_work_and_pipes_see_none(monkeypatch, capsys):
    assert shown_on_a_terminal(monkeypatch, patience=60.0) == ""
    monkeypatch.undo()
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress.progress_bar("Permuting labels") as tell:
        tell(1, 4)
    assert capsys.readouterr().err == ""


def test_a_report_of_ones_own_is_told_everything():
    told = []
    with progress.progress_bar("Permuting labels", lambda *what: told.append(what)) as tell:
        tell(0.5, 2)
        tell(2, 2)
    assert told == [(0.5, 2), (2, 2)]


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(monkeypatch, capsys):
    with progress.progress_bar("Permuting labels", log=True) as tell:
        tell(1, 4)
        tell(4, 4)
    assert capsys.readouterr().err == "Permuting labels: 100%\n"
    monkeypatch.setattr(progress, "LOG_EVERY", 0.0)
    with progress.progress_bar("Permuting labels", log=True) as tell:
        tell(1, 4)
        tell(2, 4)
    assert capsys.readouterr().err == (
        "Permuting labels: 25%\nPermuting labels: 50%, about 0 min left\n"
    )


def test_there_is_one_bar():
    """Whatever shows progress uses this one."""
    root = Path(progress.__file__).parents[1]
    users = [p for p in root.rglob("*.py") if "rich.progress" in p.read_text("utf-8")]
    assert users == [Path(progress.__file__)]
