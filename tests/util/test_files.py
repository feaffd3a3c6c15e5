"""Files appear whole with the right mode; devices, links and files of others are left alone."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nullforest import InputError
from nullforest._util.files import locked, remove_partial, writing


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_replaced_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("secret")
    old.chmod(0o600)
    (tmp_path / "usual").touch()
    for path in (old, new):
        with writing(path) as file:
            file.write("x")
    assert mode(old) == 0o600
    assert mode(new) == mode(tmp_path / "usual")


def test_the_umask_of_the_process_is_never_changed(tmp_path, monkeypatch):
    """Not for a moment: files that another thread makes then would be readable for all."""

    def refuse(mask):
        raise AssertionError(mask)

    monkeypatch.setattr(os, "umask", refuse)
    with writing(tmp_path / "file") as file:
        file.write("x")


def test_a_device_is_written_into_and_stays_one():
    with writing("/dev/null", binary=True) as file:
        file.write(b"x")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with writing(pipe) as file:
        file.write("through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()


def test_a_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/file")
    with writing(link) as file:
        file.write("x")
    assert link.is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "x"


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines(["new", 3])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_only_partial_files_of_ours_are_removed(tmp_path):
    path = tmp_path / "table.csv"
    foreign = [".table.csv.backup.part", ".nullforest-mine.part", ".other.part", "x.part"]
    for name in foreign:
        (tmp_path / name).touch()
    killed = f"""
import os
from nullforest._util.files import writing
with writing({str(path)!r}) as file:
    file.write("half")
    os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", killed], check=False)
    assert len(list(tmp_path.iterdir())) == len(foreign) + 1
    remove_partial(tmp_path / "another.csv")
    assert len(list(tmp_path.iterdir())) == len(foreign) + 1
    remove_partial(path)
    assert {p.name for p in tmp_path.iterdir()} == set(foreign)


def test_names_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * 255)
    with writing(path) as file:
        file.write("x")
    assert path.read_text() == "x"


def test_a_lock_follows_no_link_and_keeps_what_is_there(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("content")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".lock").symlink_to(precious)
    with (
        pytest.raises(InputError, match="cannot be used for a test"),
        locked(tmp_path / "a", "a test"),
    ):
        pass
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".lock").write_text("content")
    again = pytest.raises(InputError, match="Another process")
    with locked(tmp_path / "b", "a test"), again, locked(tmp_path / "b", "a test"):
        pass
    assert precious.read_text() == (tmp_path / "b" / ".lock").read_text() == "content"


#: Makes a temporary folder, and ends in the way that its argument names.
TEMPORARY = """
import os, sys, time
from nullforest._util.files import temporary_folder
class Owner: pass
owner = Owner()
print(temporary_folder(owner), flush=True)
if sys.argv[1] == "fork":
    if os.fork() == 0:
        sys.exit()
    os.wait()
if sys.argv[1] == "release":
    del owner
if sys.argv[1] != "end":
    print("waiting", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", ["kill", "end", "fork", "release"])
def test_a_temporary_folder_is_always_removed(how):
    command = [sys.executable, "-c", TEMPORARY, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        folder = Path(child.stdout.readline().strip())
        if how != "end":
            assert child.stdout.readline() == "waiting\n"
            assert folder.exists() == (how != "release")
            child.send_signal(signal.SIGTERM)
        assert child.wait(60) == (0 if how == "end" else 143)
    assert not folder.exists()
