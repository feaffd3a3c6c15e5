"""Boruta of the package boruta_py, on scikit-learn's forest."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from studies.packages.package import PackageResult, PackageTask


class BorutaPy:
    """Boruta of the package boruta_py (`Boruta` on PyPI)."""

    title = "Boruta, by boruta_py on scikit-learn's forest"
    survival = False

    def missing(self) -> str:
        """Why it cannot be run here; empty if it can."""
        if find_spec("boruta") is None:
            return "boruta_py is not installed; pip install Boruta"
        return ""

    def run(self, task: PackageTask) -> PackageResult:
        """Run its rounds; it gives no p-values."""
        from boruta import BorutaPy as Boruta
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        kind = RandomForestClassifier if task.classes else RandomForestRegressor
        # scikit-learn draws with replacement only where it draws at all.
        forest = kind(n_jobs=task.n_jobs, max_samples=task.samples, bootstrap=True)
        selector = Boruta(
            forest,
            n_estimators=task.trees,
            alpha=task.alpha,
            two_step=False,
            max_iter=task.rounds + 1,  # it runs one round less
            random_state=task.seed % 2**32,
        )
        codes = np.unique(task.y, return_inverse=True)[1] if task.classes else task.y
        selector.fit(np.asarray(task.X, float), codes)
        rounds = len(selector.importance_history_) - 1
        return PackageResult(
            np.full(task.X.shape[1], np.nan), np.asarray(selector.support_), rounds
        )
