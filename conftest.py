"""What do tests and doctests share? Figures are closed after each, and need no screen."""

import os
import sys
from collections.abc import Iterator

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
