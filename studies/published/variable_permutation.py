"""The permutation test of Hapfelmeier and Ulm, which permutes one feature at a time.

One feature is permuted across the samples, all else stays, another forest is grown, and the
feature's importance is compared with the one observed. Unlike permuted labels this keeps the other
features' relation to the label, so relevant features do not make the test conservative.

Guarantee: each feature's false positive rate, also where other features are related to the label
(but a feature that is correlated with a relevant one is not exchangeable with its permutation,
and is selected for that). Cost: up to B forests *per feature*, which is why it stops early (see
`stopping`) and can be limited to some features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar, step_of
from nullforest._util.randomness import COLUMNS, forest_seed, stream
from nullforest.data.column_blocks import feature_numbers
from nullforest.data.dataset import Dataset
from nullforest.data.targets import Target
from nullforest.evaluation.baselines import BaselineResult
from nullforest.evaluation.baselines.importances import MEASURES, MeasuredForests, Statistic
from nullforest.evaluation.relabelling import dataset_of
from nullforest.run import backends as compute
from nullforest.selection.error_rates import ErrorRate
from studies.published.stopping import Stop, Stopping


def variable_permutation(
    X: Any,
    y: Any,
    *,
    statistic: Statistic = "permutation",
    features: Sequence[int] | NDArray[Any] | None = None,
    permutations: int = 500,
    stop: Stop = "certain",
    exceedances: int = 8,
    alpha: float = 0.05,
    error: ErrorRate = "fpr",
    seed: int = 0,
    n_jobs: int = -1,
    max_seconds: float | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> BaselineResult:
    """Select the features whose importance falls when they alone are permuted.

    Parameters
    ----------
    X, y, alpha, error, n_jobs, progress, **settings
        As in :func:`nullforest.baselines.label_permutation`.
    statistic : {"permutation", "gini", "frequency", "corrected_gini"}
        The importance that is tested.
    features : sequence of int or mask, optional
        Features to test; all of them where not given. The others get a p-value of 1.
    permutations : int
        Most permutations of a feature.
    stop : {"certain", "sprt", "besag_clifford", "none"}
        When to stop before that: see `stopping.py`. "certain" and "sprt"
        stop for a decision at `alpha` and so go with error="fpr" only.
    exceedances : int
        Exceedances after which "besag_clifford" stops.
    seed : int
        Seed. Permutation b of feature f and its forest depend on (seed, f, b) alone.
    max_seconds : float, optional
        Answer with the features tested by then; the others get a p-value of 1.

    Returns
    -------
    BaselineResult

    References
    ----------
    A. Hapfelmeier, K. Ulm, A new variable selection approach using random forests, Computational
    Statistics and Data Analysis 60 (2013). A. Hapfelmeier, R. Hornung, B. Haller, Efficient
    permutation testing of variable importance measures by the example of random forests,
    Computational Statistics and Data Analysis 181 (2023).

    Examples
    --------
    >>> import numpy as np
    >>> from studies.published.variable_permutation import variable_permutation
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> s = variable_permutation(X, X[:, 5] > 0, trees=50, permutations=59)
    >>> bool(s.support[5]), s.forests < 1 + 8 * 59
    (True, True)
    """
    start = monotonic()
    rule = Stopping(stop, permutations, alpha, exceedances)
    if error != "fpr" and stop in ("certain", "sprt"):
        raise InputError(
            f"stop={stop!r} decides at alpha for each feature on its own; for error={error!r} use "
            "stop='besag_clifford' or 'none'."
        )
    data = dataset_of(X, y, settings, n_jobs=n_jobs)
    measured = MeasuredForests(data, statistic, seed=seed, n_jobs=n_jobs, **settings)
    settings = dict(measured.settings)
    F = measured.n_features
    tested = (np.arange(F) if features is None else feature_numbers(features, F)).tolist()
    observed = measured.grown(seed)
    values = measured.values(observed)
    pvalues, expected = np.ones(F), np.full(F, np.nan)
    used = np.zeros(F, np.int64)
    task = _FeatureTest(data.table.matrix, data.target, values, statistic, rule, seed, settings)
    backend = compute.find(settings.pop("backend", None))
    deadline = None if max_seconds is None else start + max_seconds
    with progress_bar("Permuting features", progress) as tell:
        if backend is None:
            answers = task.in_turn(tested, tell, deadline)
        else:
            settings["n_jobs"] = 1
            answers = compute.each(_FeatureTest.test, (task,), tested, backend, deadline=deadline)
        for i, (f, (d, m, total)) in enumerate(zip(tested, answers, strict=False)):
            pvalues[f], expected[f], used[f] = rule.pvalue(d, m), total / m, m
            tell(i + 1, len(tested))
    done = int(np.sum(used > 0))
    notes: list[str] = []
    if done < len(tested):
        notes.append(f"Stopped by max_seconds after {done} of {len(tested)} features.")
    if done < F:
        notes.append(f"{F - done} features were not tested; their p-value is set to 1.")
    return BaselineResult.of(
        pvalues,
        alpha=alpha,
        error=error,
        test="variable permutation",
        statistic=MEASURES[statistic],
        values=values,
        expected=np.where(used > 0, expected, values),
        tally=measured.tally(observed),
        forests=1 + int(used.sum()),
        seconds=monotonic() - start,
        notes=tuple(notes),
        details={"stop": stop, "permutations": used.tolist()},
    )


@dataclass(eq=False)
class _FeatureTest:
    """The test of one feature: how often its importance is as large when it is permuted."""

    matrix: Any
    target: Target
    observed: NDArray[np.float64]
    statistic: Statistic
    rule: Stopping
    seed: int
    settings: dict[str, Any]

    def in_turn(
        self, features: list[int], tell: Report, deadline: float | None
    ) -> Iterator[tuple[int, int, float]]:
        """Test one feature after the other until the deadline; the first in any case."""
        for i, f in enumerate(features):
            if deadline is not None and i and monotonic() > deadline:
                return
            yield self.test(f, step_of(tell, i, len(features)))

    def test(self, f: int, tell: Report | None = None) -> tuple[int, int, float]:
        """Exceedances, permutations, and the sum of the importances under them."""
        work = np.array(self.matrix, order="F")  # one column is permuted here
        d = m = 0
        total, column = 0.0, work[:, f].copy()
        while m == 0 or not self.rule.done(d, m):
            work[:, f] = column[stream(self.seed, COLUMNS, f, m).permutation(len(column))]
            data = Dataset(work, self.target)
            again = MeasuredForests(data, self.statistic, seed=self.seed, **self.settings)
            seed = forest_seed(self.seed, COLUMNS, f, m)
            forest = again.grown(seed, backend="threads")
            value = float(again.values(forest)[f])
            total, d, m = total + value, d + (value >= self.observed[f]), m + 1
            if tell is not None:
                tell(m, self.rule.permutations)
        return d, m, total
