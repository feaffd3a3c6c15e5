"""The methods that `compare` runs: one function per name, on one data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.progress import Report
from nullforest.engine import Forest, RankTable, grow
from nullforest.engine.settings import resolved_number
from nullforest.evaluation import baselines
from nullforest.evaluation.packages import PACKAGES, PackageTask
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select


@dataclass(frozen=True)
class Answer:
    """Result of one method on one data set."""

    support: NDArray[np.bool_]
    pvalues: NDArray[np.float64]
    forests: int
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass
class Problem:
    """One data set, and the settings that the methods share."""

    table: RankTable
    y: Any
    alpha: float
    error: ErrorRate
    permutations: int
    rounds: int
    seed: int
    n_jobs: int
    settings: dict[str, Any]
    progress: Report = lambda done, total: None
    _forests: dict[bool, Forest] = field(default_factory=dict, init=False)

    def forest(self, *, probed: bool = False) -> Forest:
        """The forest whose counts are tested; its trees are the same with probes or without.

        The time of the probes is charged to the null model that needs them alone.
        """
        if probed not in self._forests:
            plain = {"keep_trees": False, "oob": False} | self.settings
            if not probed:
                plain["probes"] = 0
            self._forests[probed] = grow(
                self.table, self.y, seed=self.seed, n_jobs=self.n_jobs, **plain
            )
        return self._forests[probed]

    def common(self) -> dict[str, Any]:
        """Arguments that all tests take."""
        return self.settings | {"alpha": self.alpha, "seed": self.seed, "n_jobs": self.n_jobs}


def _tested(null: str) -> Callable[[Problem], Answer]:
    def run(problem: Problem) -> Answer:
        forest, start = problem.forest(probed=null == "probes"), monotonic()
        selection = select(forest.tally, problem.alpha, problem.error, null)  # type: ignore[arg-type]  # a Kind, by METHODS
        seconds = forest.seconds + monotonic() - start
        return Answer(selection.support, selection.pvalues, 1, seconds, selection.notes)

    return run


def _answer(selection: Selection) -> Answer:
    return Answer(
        selection.support,
        selection.pvalues,
        selection.forests,
        selection.seconds or 0.0,
        selection.notes,
    )


def _altmann(statistic: Any) -> Callable[[Problem], Answer]:
    return lambda p: _answer(
        baselines.label_permutation(
            p.table,
            p.y,
            statistic=statistic,
            permutations=p.permutations,
            error=p.error,
            progress=p.progress,
            **p.common(),
        )
    )


def _hapfelmeier(p: Problem) -> Answer:
    return _answer(
        baselines.variable_permutation(
            p.table,
            p.y,
            permutations=p.permutations,
            stop="certain" if p.error == "fpr" else "besag_clifford",
            error=p.error,
            progress=p.progress,
            **p.common(),
        )
    )


def _boruta(p: Problem) -> Answer:
    given = {k: v for k, v in p.common().items() if k != "candidates"}  # it has twice the features
    return _answer(baselines.boruta(p.table, p.y, rounds=p.rounds, progress=p.progress, **given))


def _other_package(name: str) -> Callable[[Problem], Answer]:
    def run(p: Problem) -> Answer:
        forest, start = p.forest(), monotonic()
        result = PACKAGES[name].run(
            PackageTask(
                X=p.table.matrix,
                y=np.asarray(p.y),
                classes=forest.classes is not None,
                trees=forest.n_trees,
                candidates=resolved_number(forest.settings.candidates),
                samples=int(forest.settings.samples),
                replace=forest.settings.replace,
                permutations=p.permutations,
                rounds=p.rounds,
                alpha=p.alpha,
                seed=p.seed,
                n_jobs=p.n_jobs,
            )
        )
        support = result.support
        if support is None:
            support = decide(result.pvalues, p.alpha, p.error).support
        return Answer(support, result.pvalues, result.forests, monotonic() - start)

    return run


#: Every method by its name.
METHODS: dict[str, Callable[[Problem], Answer]] = {
    "paper": _tested("paper"),
    "bagged": _tested("bagged"),
    "probes": _tested("probes"),
    "altmann": _altmann("frequency"),
    "altmann_gini": _altmann("gini"),
    "altmann_permutation": _altmann("permutation"),
    "hapfelmeier": _hapfelmeier,
    "breiman_cutler": lambda p: _answer(
        baselines.breiman_cutler(p.table, p.y, error=p.error, **p.common())
    ),
    "janitza": lambda p: _answer(baselines.janitza(p.table, p.y, error=p.error, **p.common())),
    "boruta": _boruta,
    **{name: _other_package(name) for name in PACKAGES},
}
