"""Parts that the tests of the command share: a small table with a signal, and two ways to run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from nullforest.cli.app import app

Run = Callable[..., Result]


def people(n: int = 60, features: int = 30) -> pd.DataFrame:
    """Noise in float32, so that every format keeps it exactly, and two relevant columns."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, features)).astype(np.float32)
    ill = np.where(X[:, 3] + X[:, 11] + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(features)])
    frame.insert(0, "ill", ill)
    frame.insert(0, "person", [f"p{i}" for i in range(n)])
    return frame


@pytest.fixture
def quick() -> tuple[str, ...]:
    """Options of a forest that is soon grown and still finds the signal."""
    return ("--trees", "200", "--candidates", "8", "--null", "paper")


@pytest.fixture
def frame() -> pd.DataFrame:
    return people()


@pytest.fixture
def data(tmp_path: Path, frame: pd.DataFrame) -> Path:
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def run() -> Run:
    """Run the command inside this process."""

    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})

    return invoke


@pytest.fixture
def command() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a user does, in a process of its own."""

    def invoke(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nullforest", *[str(a) for a in arguments]],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
        )

    return invoke
