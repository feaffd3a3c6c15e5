"""The label permutation test of Altmann et al. and Rodenburg et al.

The labels are permuted, a forest is grown on them, and each feature's importance is compared with
the one observed:

p_f = (1 + #{b: I_b(f) ≥ I(f)}) / (1 + B).

The paper (and Rodenburg et al. 2008) use the share of permutations with a strictly larger
importance, #{b: I_b(f) > I(f)} / B. Altmann et al. (2010) also fit a distribution to the permuted
importances, see `fits`.

Controls the false positive rate of each feature if *no* feature is related to the target. Where
some are, they take nodes from the null features in the observed forest but not in the permuted
ones, so that the test is conservative. Cost: 1 + B forests.
"""

from __future__ import annotations

from dataclasses import asdict
from time import monotonic
from typing import Any, Literal

import numpy as np

from nullforest import __version__
from nullforest._util.errors import InputError, check_known
from nullforest._util.progress import Report, progress_bar
from nullforest.evaluation.baselines.exceedances import Exceedances
from nullforest.evaluation.baselines.fits import FAMILIES, fitted_pvalues
from nullforest.evaluation.baselines.relabelling import Labels, grow_permuted
from nullforest.evaluation.baselines.results import Reference, selection_from
from nullforest.evaluation.baselines.statistics import Statistic, instrument
from nullforest.forest.settings import paper_settings
from nullforest.nulls.distribution import Floats, check_alpha
from nullforest.run.checkpoints import Checkpoint, digest
from nullforest.run.forest import Forest
from nullforest.run.growing import grow
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection

Rule = Literal["plain", "strict", "fitted"]
RULES: tuple[Rule, ...] = ("plain", "strict", "fitted")
KIND = "label permutation"
#: Seconds between two savings.
SAVE_EVERY = 5.0


def label_permutation(
    X: Any,
    y: Any,
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
) -> Selection:
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
    rule : {"plain", "strict", "fitted"}
        "plain": (1 + #{permuted ≥ observed}) / (1 + B). "strict", the paper's: the share of
        permutations with a larger importance; can be zero. "fitted": the tail of the normal,
        log-normal or gamma distribution that fits the feature's permuted importances best, plain
        where none does.
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
    Selection

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
    _check(permutations, alpha, rule, pooled)
    tool = instrument(X, statistic, seed=seed, n_jobs=n_jobs)
    labels = Labels.for_forest(y, blocks, settings)
    usual = paper_settings(tool.table.shape[1])
    settings = usual | settings | {"n_jobs": n_jobs} | tool.settings
    observed = grow(tool.table, y, seed=seed, sample_weight=labels.weight, **settings)
    values = tool.read(observed)
    keep = rule == "fitted"
    identity = _identity(observed, labels, statistic, values, keep)
    deadline = None if max_seconds is None else start + max_seconds
    with (
        Checkpoint(resume, KIND, identity, every=SAVE_EVERY) as checkpoint,
        progress_bar("Permuting labels", progress) as tell,
    ):
        state = Exceedances.none_yet(values, keep=keep).restored(checkpoint)
        if state.done > permutations:
            raise InputError(
                f"{resume} holds {state.done} permutations, more than permutations = "
                f"{permutations}; give at least {state.done}, or another folder."
            )
        forests = grow_permuted(
            tool.table,
            labels,
            permutations,
            seed=seed,
            first=state.done,
            deadline=deadline,
            progress=tell,
            **settings,
        )
        try:
            for forest in forests:
                state = state.plus(tool.read(forest))
                if checkpoint.due:
                    state.save(checkpoint)
        finally:  # an interruption loses no permutation that was finished
            state.save(checkpoint)
    notes: list[str] = []
    details: dict[str, Any] = {"permutations": state.done, "rule": rule, "pooled": pooled}
    if state.done < permutations:
        notes.append(f"Stopped by max_seconds after {state.done} of {permutations} permutations.")
    if rule == "fitted":
        pvalues, families = _fitted(state)
        details["families"] = families
    else:
        pvalues = state.pvalues(strict=rule == "strict", pooled=pooled)
        notes += _too_few(state, pooled, rule, alpha, error)
    return selection_from(
        pvalues,
        values,
        Reference(KIND, state.total / state.done, details),
        statistic=tool.name,
        tally=tool.tally(observed),
        alpha=alpha,
        error=error,
        forests=1 + state.done,
        seconds=monotonic() - start,
        one_threshold=pooled,
        notes=tuple(notes),
    )


def _check(permutations: int, alpha: float, rule: str, pooled: bool) -> None:
    check_alpha(alpha)
    if isinstance(permutations, bool) or not hasattr(permutations, "__index__"):
        raise InputError(f"permutations = {permutations!r} must be a whole number.")
    if permutations < 1:
        raise InputError(f"permutations = {permutations} must be at least 1.")
    check_known("rule", rule, RULES)
    if rule == "fitted" and pooled:
        raise InputError("rule='fitted' fits each feature on its own; omit pooled.")


def _identity(
    forest: Forest, labels: Labels, statistic: str, values: Floats, keep: bool
) -> dict[str, Any]:
    """What a run's answer depends on, apart from the number of permutations."""
    return {
        "version of nullforest": __version__,
        "seed": forest.settings.seed,  # named first where it differs, since others follow from it
        **asdict(forest.settings),
        "data": digest(forest.tally.fingerprint),
        "statistic": statistic,
        "observed values": digest(values),
        "feature names": digest(forest.tally.names),
        "blocks": digest(labels.blocks),
        "fitted": keep,
    }


def _fitted(state: Exceedances) -> tuple[Floats, dict[str, int]]:
    fit = fitted_pvalues(state.matrix(), state.observed)
    plain = state.pvalues(strict=False, pooled=False)
    families = {name: int(np.sum(fit.family == i)) for i, name in enumerate(FAMILIES)}
    families["none"] = int(np.sum(fit.family < 0))
    return np.where(np.isnan(fit.pvalues), plain, fit.pvalues), families


def _too_few(
    state: Exceedances, pooled: bool, rule: str, alpha: float, error: ErrorRate
) -> list[str]:
    """A note where no feature can be selected, however strong."""
    F = len(state.observed)
    smallest = 1 / (1 + state.done * (F if pooled else 1))
    if rule == "strict":
        return ["A p-value of 0 means below one over the number of permutations, not impossible."]
    if smallest > alpha:
        return [
            f"With {state.done} permutations no p-value can be below {smallest:.2g}; alpha = "
            f"{alpha:g} needs at least {int(np.ceil(1 / alpha)) - 1}."
        ]
    if error != "fpr" and smallest > alpha / F:
        return [
            f"With {state.done} permutations no p-value can be below {smallest:.2g}, but a single "
            f"feature among {F} needs {alpha / F:.2g}; use rule='fitted', pooled=True or more "
            "permutations."
        ]
    return []
