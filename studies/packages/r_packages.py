"""Tests of R packages, ranger and randomForestExplainer, run through Rscript."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from nullforest._util.errors import InputError
from studies.packages.package import PackageResult, PackageTask

SCRIPT = Path(__file__).with_suffix(".R")


@cache
def has_r_package(package: str) -> bool:
    """Whether Rscript can load a package."""
    command = ["Rscript", "-e", f"quit(status = !requireNamespace('{package}', quietly = TRUE))"]
    return (
        shutil.which("Rscript") is not None
        and not subprocess.run(command, capture_output=True, check=False).returncode
    )


@dataclass(frozen=True)
class InR:
    """A test in `r_packages.R`, by its name there; `permuted` if it grows more than one forest.

    `survival`: it takes events and times, a structured array of both as y of the task.
    """

    title: str
    test: str
    packages: tuple[str, ...] = ("ranger",)
    permuted: bool = False
    survival: bool = False

    def missing(self) -> str:
        """Why it cannot be run here; empty if it can."""
        if shutil.which("Rscript") is None:
            return "R is not installed: there is no Rscript"
        lacking = [p for p in self.packages if not has_r_package(p)]
        return f"R has no package {lacking[0]}" if lacking else ""

    def run(self, task: PackageTask) -> PackageResult:
        """Pass the data to R as plain files and read the p-values back."""
        with tempfile.TemporaryDirectory() as folder:
            np.asarray(task.X, "<f8").T.tofile(Path(folder) / "X.bin")  # R is column-major
            y = task.y
            if task.classes:
                y = np.unique(task.y, return_inverse=True)[1]
            if survival := task.y.dtype.names is not None:
                y = np.concatenate([task.y["time"], task.y["event"]])
            np.asarray(y, "<f8").tofile(Path(folder) / "y.bin")
            arguments = {
                "folder": folder,
                "test": self.test,
                "samples": task.X.shape[0],
                "features": task.X.shape[1],
                "classes": int(task.classes),
                "survival": int(survival),
                "trees": task.trees,
                "candidates": task.candidates,
                "fraction": task.samples / task.X.shape[0],
                "replace": int(task.replace),
                "permutations": task.permutations,
                "seed": task.seed % 2**31,
                "threads": max(task.n_jobs, 0),  # 0: R's default, all of them
            }
            command = ["Rscript", "--vanilla", str(SCRIPT)]
            command += [f"{key}={value}" for key, value in arguments.items()]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise InputError(f"{self.title} failed in R: {done.stderr.strip()[-300:]}")
            *pvalues, seconds = np.fromfile(Path(folder) / "p.bin", "<f8")
            values = Path(folder) / "values.bin"
            importance = np.fromfile(values, "<f8") if values.exists() else None
        forests = 1 + task.permutations * self.permuted
        return PackageResult(np.array(pvalues), None, forests, float(seconds), importance)
