"""What do tests and doctests share? Figures, which need no screen, and where examples write."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "agg")

# A deadline would be an assertion on the clock.
settings.register_profile("patient", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
