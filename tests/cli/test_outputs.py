"""Result files: what may be replaced, and what is left alone."""

from __future__ import annotations

import os
import stat

import pytest


@pytest.fixture
def select(run, data, quick):
    """Run `select` with more options."""
    return lambda *more: run("select", data, "--target", "ill", "--drop", "person", *quick, *more)


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_device_is_written_into_and_stays_one(select, tmp_path, force):
    # Another null device, so that a defect would not cost the system its own.
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.open("wb").close()
    except PermissionError:  # only root makes devices, and not on every disk
        device = tmp_path / "link"
        device.symlink_to("/dev/null")
    result = select("--table", device, *force)
    assert result.exit_code == 0, result.output
    assert device.is_char_device()


def test_a_dangling_link_is_refused_without_force(select, tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "target.csv")
    result = select("--table", link)
    assert result.exit_code == 2
    assert "link.csv exists already" in result.output
    assert not (tmp_path / "target.csv").exists()
    assert select("--table", link, "--force").exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "target.csv").exists()


def test_a_link_to_a_missing_folder_or_to_itself_gets_a_sentence(select, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "none" / "target.csv")
    result = select("--table", tmp_path / "link.csv", "--force")
    assert result.exit_code == 2
    assert "There is no folder" in result.output
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    assert select("--table", tmp_path / "loop.csv").exit_code == 2


def test_a_replaced_file_keeps_its_mode(select, tmp_path):
    table = tmp_path / "secret.csv"
    table.touch(mode=0o600)
    assert select("--table", table, "--force").exit_code == 0
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert table.stat().st_size > 0


def test_a_name_that_is_too_long_gets_a_sentence(select, tmp_path):
    result = select("--table", tmp_path / ("n" * 300))
    assert result.exit_code == 2
    assert "cannot be written (File name too long)" in result.output
    assert select("--table", tmp_path / ("n" * 255)).exit_code == 0


def test_a_picture_of_no_kind_is_refused_before_the_work(run, data, tmp_path):
    result = run("audit", data, "--target", "ill", "--plot", tmp_path / "x.foo")
    assert result.exit_code == 2
    assert "ends in .png, .svg, .pdf" in result.output


def test_a_report_that_fails_is_an_error(select, tmp_path, monkeypatch):
    import nullforest.report

    def fails(summary):
        raise ValueError("no ink")

    monkeypatch.setattr(nullforest.report, "render", fails)
    result = select("--report", tmp_path / "a.html", "--table", tmp_path / "a.csv")
    assert result.exit_code == 2
    assert (tmp_path / "a.csv").exists()
