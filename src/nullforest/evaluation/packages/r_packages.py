"""Tests of R packages, ranger and randomForestExplainer, run through Rscript."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from nullforest._util.errors import InputError
from nullforest.evaluation.packages.package import PackageResult, PackageTask

SCRIPT = Path(__file__).with_suffix(".R")


@cache
def has_r_package(package: str) -> bool:
    """Whether Rscript can load a package."""
    command = ["Rscript", "-e", f"quit(status = !requireNamespace('{package}', quietly = TRUE))"]
    return (
        shutil.which("Rscript") is not None
        and not subprocess.run(command, capture_output=True, check=False).returncode
    )


class _InR:
    """A test in `r_packages.R`, by its name there."""

    title: str
    test: str
    packages: tuple[str, ...] = ("ranger",)

    def missing(self) -> str:
        """Why it cannot be run here; empty if it can."""
        if shutil.which("Rscript") is None:
            return "R is not installed: there is no Rscript"
        lacking = [p for p in self.packages if not has_r_package(p)]
        return f"R has no package {lacking[0]}" if lacking else ""

    def forests(self, task: PackageTask) -> int:
        """Forests that the test grows."""
        return 1

    def run(self, task: PackageTask) -> PackageResult:
        """Pass the data to R as plain files and read the p-values back."""
        with tempfile.TemporaryDirectory() as folder:
            np.asarray(task.X, "<f8").T.tofile(Path(folder) / "X.bin")  # R is column-major
            y = np.unique(task.y, return_inverse=True)[1] if task.classes else task.y
            np.asarray(y, "<f8").tofile(Path(folder) / "y.bin")
            arguments = {
                "folder": folder,
                "test": self.test,
                "samples": task.X.shape[0],
                "features": task.X.shape[1],
                "classes": int(task.classes),
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
            pvalues = np.fromfile(Path(folder) / "p.bin", "<f8")
        return PackageResult(pvalues, None, self.forests(task))


class RangerAltmann(_InR):
    """ranger's `importance_pvalues(method = "altmann")` on Gini importance."""

    title = "Label permutation, by R's ranger on Gini importance"
    test = "altmann"

    def forests(self, task: PackageTask) -> int:
        """One, and one for each permutation."""
        return 1 + task.permutations


class RangerJanitza(_InR):
    """ranger's `importance_pvalues(method = "janitza")` on corrected Gini importance."""

    title = "Janitza's mirrored null, by R's ranger on corrected Gini importance"
    test = "janitza"


class Explainer(_InR):
    """The binomial p-value of randomForestExplainer, on a ranger forest."""

    title = "Binomial p-value of split counts, by R's randomForestExplainer on ranger's forest"
    test = "explainer"
    packages = ("ranger", "randomForestExplainer")
