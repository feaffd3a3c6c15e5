"""The label permutation test of Altmann et al. and Rodenburg et al.

The labels are permuted, a forest is grown on them, and each feature's importance is compared with
the one observed:

p_f = (1 + #{b: I_b(f) ≥ I(f)}) / (1 + B).

The paper (and Rodenburg et al. 2008) use the share of permutations with a strictly larger
importance, #{b: I_b(f) > I(f)} / B.

Controls the false positive rate of each feature if *no* feature is related to the target. Where
some are, they take nodes from the null features in the observed forest but not in the permuted
ones, so that the test is conservative. Cost: 1 + B forests.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest import __version__
from nullforest._util.checks import whole_number
from nullforest._util.errors import InputError, check_known
from nullforest._util.progress import Report, progress_bar
from nullforest.data.dataset import Dataset
from nullforest.evaluation.baselines.importances import MEASURES, MeasuredForests, Statistic
from nullforest.evaluation.baselines.results import BaselineResult
from nullforest.evaluation.relabelling import grow_permuted, permutable
from nullforest.forest.settings import MOST_TREES
from nullforest.nulls.distribution import Floats, check_alpha
from nullforest.run.checkpoints import Checkpoint, digest
from nullforest.run.forest import Forest
from nullforest.selection.error_rates import ErrorRate

Rule = Literal["plain", "strict"]
TEST = "label permutation"
#: Seconds between two savings.
SAVE_EVERY = 5.0
#: Name of the exceedances in a checkpoint, and their arrays.
_PART, _ARRAYS = "exceedances", ("larger", "equal", "pooled_larger", "pooled_equal", "total")


def label_permutation(
    X: Any,
    y: Any = None,
    *,
    statistic: Statistic = "frequency",
    permutations: int = 250,
    alpha: float = 0.01,
    error: ErrorRate = "fpr",
    rule: Rule = "plain",
    pooled: bool = False,
    blocks: Any = None,
    seed: int = 0,
    n_jobs: int = -1,
    resume: Any = None,
    max_seconds: float | None = None,
    progress: Report | None = None,
    **settings: Any,
) -> BaselineResult:
    """Select the features whose importance exceeds that on permuted labels.

    Parameters
    ----------
    X, y
        As :func:`nullforest.grow` takes them; X is sorted once for all forests.
    statistic : {"frequency", "gini", "corrected_gini", "permutation"}
        The importance that is tested.
    permutations : int
        Number of permutations B; no p-value is smaller than 1 / (1 + B).
    alpha : float
        The error rate to hold.
    error : {"fpr", "fdr", "fdr_by", "fwer"}
        Which error rate.
    rule : {"plain", "strict"}
        "plain": (1 + #{permuted ≥ observed}) / (1 + B). "strict", the paper's: the share of
        permutations with a larger importance; can be zero.
    pooled : bool
        Compare with the permuted importances of all features together, assuming that they have
        one null distribution; p-values then go down to 1 / (1 + B F).
    blocks : array-like, (S,), optional
        Permute within blocks of samples only: visits of a person, patients of a site.
    seed : int
        Seed. Permutation b and its forest depend on (seed, b) alone.
    n_jobs : int
        Threads; no effect on the answer.
    resume : path, optional
        Folder to keep the state in every few seconds. If it holds one, the run resumes from
        there, and ends with exactly the answer of a run that was never interrupted. More
        permutations may be given than the first time.
    max_seconds : float, optional
        Use the permutations finished by then (at least one).
    progress : callable, optional
        Told (permutations done, in all); a bar on the terminal where not given.
    **settings
        All other settings of :func:`nullforest.grow`: trees, candidates, draw, samples, …

    Returns
    -------
    BaselineResult

    References
    ----------
    A. Altmann, L. Toloşi, O. Sander, T. Lengauer, Permutation importance: a corrected feature
    importance measure, Bioinformatics 26 (2010). W. Rodenburg et al., A framework to identify
    physiological responses in microarray-based gene expression studies, Physiological Genomics
    33 (2008).

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> s = nf.baselines.label_permutation(X, X[:, 5] > 0, trees=50, permutations=99, alpha=0.01)
    >>> s.selected.tolist(), float(s.pvalues[5])
    (['x5'], 0.01)
    """
    start = monotonic()
    check_alpha(alpha)
    whole_number("permutations", permutations, 1, MOST_TREES)
    check_known("rule", rule, ("plain", "strict"))
    data = permutable(X, y, blocks, settings, n_jobs)
    measured = MeasuredForests(data, statistic, seed=seed, n_jobs=n_jobs, **settings)
    forest = measured.grown(seed)
    values = measured.values(forest)
    deadline = None if max_seconds is None else start + max_seconds
    with (
        Checkpoint(
            resume, TEST, _identity(forest, data, statistic, values), every=SAVE_EVERY
        ) as checkpoint,
        progress_bar("Permuting labels", progress) as report,
    ):
        state = Exceedances.resumed(values, checkpoint)
        if state.permutations > permutations:
            raise InputError(
                f"{resume} holds {state.permutations} permutations, more than permutations = "
                f"{permutations}; give at least {state.permutations}, or another folder."
            )
        limits: dict[str, Any] = {
            "first": state.permutations,
            "deadline": deadline,
            "progress": report,
        }
        forests = grow_permuted(
            measured.data, permutations, seed=seed, **limits, **measured.settings
        )
        try:
            for permuted in forests:
                state = state.plus(measured.values(permuted))
                if checkpoint.due:
                    state.save(checkpoint)
        finally:  # an interruption loses no permutation that was finished
            state.save(checkpoint)
    notes = _too_few(state, pooled, rule, alpha, error)
    if state.permutations < permutations:
        number = f"{state.permutations} of {permutations}"
        notes = [f"Stopped by max_seconds after {number} permutations.", *notes]
    return BaselineResult.of(
        state.pvalues(strict=rule == "strict", pooled=pooled),
        alpha=alpha,
        error=error,
        test=TEST,
        statistic=MEASURES[statistic],
        values=values,
        expected=state.total / state.permutations,
        tally=measured.tally(forest),
        forests=1 + state.permutations,
        seconds=monotonic() - start,
        notes=tuple(notes),
        details={"permutations": state.permutations, "rule": rule, "pooled": pooled},
    )


def _identity(forest: Forest, data: Dataset, statistic: str, values: Floats) -> dict[str, Any]:
    """What a run's answer depends on, apart from the number of permutations."""
    return {
        "version of nullforest": __version__,
        "seed": forest.settings.seed,  # named first where it differs, since others follow from it
        **asdict(forest.settings),
        "data": digest(forest.tally.fingerprint),
        "statistic": statistic,
        "observed values": digest(values),
        "feature names": digest(forest.tally.names),
        "blocks": digest(data.target.blocks),
    }


def _too_few(
    state: Exceedances, pooled: bool, rule: str, alpha: float, error: ErrorRate
) -> list[str]:
    """A note where no feature can be selected, however strong."""
    F = len(state.observed)
    smallest = 1 / (1 + state.permutations * (F if pooled else 1))
    if rule == "strict":
        return ["A p-value of 0 means below one over the number of permutations, not impossible."]
    least = f"With {state.permutations} permutations no p-value can be below {smallest:.2g}"
    if smallest > alpha:
        return [
            f"{least}; alpha = {alpha:g} needs at least {int(np.ceil(1 / alpha)) - 1} permutations."
        ]
    if error != "fpr" and smallest > alpha / F:
        return [
            f"{least}, but a single feature among {F} needs {alpha / F:.2g}; use pooled=True or "
            "more permutations."
        ]
    return []


@dataclass(frozen=True, eq=False)
class Exceedances:
    """How often the statistics of permutations 0 to `permutations` - 1 reach the observed ones.

    Only what the p-values need is held, not the permuted statistics themselves.

    Attributes
    ----------
    observed : (F,) float
    larger, equal : (F,) int
        Permutations in which the feature's own statistic was larger than observed, or equal.
    pooled_larger, pooled_equal : (F,) int
        The same over the permuted statistics of all features.
    total : (F,) float
        Sum of the permuted statistics.
    """

    observed: Floats
    larger: NDArray[np.int64]
    equal: NDArray[np.int64]
    pooled_larger: NDArray[np.int64]
    pooled_equal: NDArray[np.int64]
    total: Floats
    permutations: int

    @classmethod
    def resumed(cls, observed: Floats, checkpoint: Checkpoint) -> Exceedances:
        """Those of the permutations in a checkpoint, if any."""
        part = checkpoint.read(_PART)
        if part is None:
            zeros = np.zeros(len(observed), np.int64)
            return cls(observed, zeros, zeros, zeros, zeros, np.zeros(len(observed)), 0)
        arrays = {name: part.arrays[name] for name in _ARRAYS}
        return cls(observed, **arrays, permutations=part.content)

    def plus(self, values: Floats) -> Exceedances:
        """One permutation more; this one stays as it is, so that Ctrl-C leaves no half of it."""
        ordered = np.sort(values)
        not_larger = np.searchsorted(ordered, self.observed, "right")
        smaller = np.searchsorted(ordered, self.observed, "left")
        return replace(
            self,
            larger=self.larger + (values > self.observed),
            equal=self.equal + (values == self.observed),
            pooled_larger=self.pooled_larger + (len(values) - not_larger),
            pooled_equal=self.pooled_equal + (not_larger - smaller),
            total=self.total + values,
            permutations=self.permutations + 1,
        )

    def pvalues(self, *, strict: bool, pooled: bool) -> Floats:
        """(1 + #{permuted ≥ observed}) / (1 + number), or strictly #{permuted > observed} / number.

        The first is a valid p-value; the second is what the paper used, and can be zero.
        """
        n = self.permutations * (len(self.observed) if pooled else 1)
        larger = self.pooled_larger if pooled else self.larger
        equal = self.pooled_equal if pooled else self.equal
        return np.asarray(larger / n if strict else (1 + larger + equal) / (1 + n))

    def save(self, checkpoint: Checkpoint) -> None:
        """Keep the state."""
        checkpoint.write(_PART, self.permutations, {name: getattr(self, name) for name in _ARRAYS})
