"""The methods that `compare` runs: one function per name, on one data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.progress import Report
from nullforest.data.rank_table import RankTable
from nullforest.evaluation import baselines
from nullforest.evaluation.packages import PACKAGES, PackageTask
from nullforest.forest.settings import resolved_number
from nullforest.nulls import Kind
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.selection.error_rates import ErrorRate, decide
from nullforest.selection.selection import Selection, select

#: Settings of a problem that the permutation tests take.
_PERMUTATION = ("permutations", "error", "progress")


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


def _tested(null: Kind) -> Callable[[Problem], Answer]:
    def run(problem: Problem) -> Answer:
        forest, start = problem.forest(probed=null == "probes"), monotonic()
        selection = select(forest.tally, problem.alpha, problem.error, null)
        return _answer(replace(selection, seconds=forest.seconds + monotonic() - start))

    return run


def _answer(s: Selection) -> Answer:
    return Answer(s.support, s.pvalues, s.forests, s.seconds or 0.0, s.notes)


def _published(
    test: Callable[..., Selection], *names: str, **options: Any
) -> Callable[[Problem], Answer]:
    """A published test that takes these settings of the problem beside those that all take."""

    def run(p: Problem) -> Answer:
        given = {name: getattr(p, name) for name in names}
        return _answer(test(p.table, p.y, **given, **options, **p.common()))

    return run


def _hapfelmeier(p: Problem) -> Answer:
    stop = "certain" if p.error == "fpr" else "besag_clifford"
    return _published(baselines.variable_permutation, *_PERMUTATION, stop=stop)(p)


def _boruta(p: Problem) -> Answer:
    settings = {k: v for k, v in p.settings.items() if k != "candidates"}  # twice the features
    return _published(baselines.boruta, "rounds", "progress")(replace(p, settings=settings))


def _other_package(name: str) -> Callable[[Problem], Answer]:
    def run(p: Problem) -> Answer:
        forest, start = p.forest(), monotonic()
        result = PACKAGES[name].run(
            PackageTask(
                X=p.table.matrix,
                y=np.asarray(p.y) if (survival := forest.target.survival) is None else survival,
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
    **{
        name: _published(baselines.label_permutation, *_PERMUTATION, statistic=statistic)
        for name, statistic in [
            ("altmann", "frequency"),
            ("altmann_gini", "gini"),
            ("altmann_permutation", "permutation"),
        ]
    },
    "hapfelmeier": _hapfelmeier,
    "breiman_cutler": _published(baselines.breiman_cutler, "error"),
    "janitza": _published(baselines.janitza, "error"),
    "boruta": _boruta,
    **{name: _other_package(name) for name in PACKAGES},
}
