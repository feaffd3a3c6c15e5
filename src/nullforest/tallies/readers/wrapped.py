"""The model inside a pipeline or a finished search, and the names that reach it."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from nullforest.tallies.readers.sklearn_trees import text
from nullforest.tallies.tally import Names


def unwrapped(forest: Any) -> tuple[Any, Names | None]:
    """The model inside, and the names of its features where the steps before it know them.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> unwrapped(make_pipeline(RandomForestClassifier(7)))
    (RandomForestClassifier(n_estimators=7), None)
    """
    names = None
    while True:
        if hasattr(forest, "best_estimator_"):
            forest = forest.best_estimator_
        elif isinstance(forest, Pipeline):
            steps, forest = forest[:-1], forest[-1]
            if len(steps):
                try:
                    names = steps.get_feature_names_out()
                except (AttributeError, NotFittedError, ValueError):
                    names = None  # a step without output names: number the features
        else:
            return forest, text(names)
