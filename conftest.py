"""What do tests and doctests share? Figures are closed after each, and need no screen."""

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("MPLBACKEND", "agg")


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
