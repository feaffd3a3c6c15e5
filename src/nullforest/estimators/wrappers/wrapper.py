"""The base of all wrappers: a selector that is cloned, seeded and fitted on parts of the data."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_random_state

from nullforest import __version__
from nullforest._util.checks import whole_number
from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar, silent
from nullforest.data.dense import checked_columns
from nullforest.data.targets import refuse_masked
from nullforest.estimators.arguments import checked_data
from nullforest.estimators.min_features import MinFeaturesMixin
from nullforest.estimators.selector import ForestSelector
from nullforest.forest.settings import MOST_TREES
from nullforest.run.checkpoints import Checkpoint, digest, plain
from nullforest.selection.selection import Selection

Ints = NDArray[np.int64]
#: Settings that cannot change the result, so that a run may resume with others.
_IDLE = ("resume", "progress", "n_jobs", "random_state")
#: Settings of the wrappers that are whole numbers from 1, and that are numbers.
_WHOLE = ("max_steps", "max_layers", "max_features", "patience", "pairs")
_REAL = ("standard_errors", "threshold", "max_false")


@dataclass(frozen=True)
class Fitted:
    """A Selection, and the fitted selector that gave it (None for a function)."""

    selection: Selection
    selector: Any


class Steps:
    """The finished steps of a run, each a dictionary of plain numbers, lists and strings.

    The seed that the checkpoint holds wins, so that a run that drew it at random can be resumed.
    """

    def __init__(self, checkpoint: Checkpoint, seed: int) -> None:
        self._checkpoint = checkpoint
        known = checkpoint.read("steps")
        self.seed: int = seed if known is None else known.content["seed"]
        self.steps: list[dict[str, Any]] = [] if known is None else known.content["steps"]

    def add(self, step: dict[str, Any]) -> None:
        """Keep one more finished step."""
        self.steps.append(step)
        self._checkpoint.write("steps", {"seed": self.seed, "steps": self.steps})


@dataclass(frozen=True)
class Run:
    """The data of one call of `fit`, and what its steps need."""

    X: Any
    y: NDArray[Any]
    names: NDArray[Any] | None
    selector: Any
    checkpoint: Steps
    report: Report

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def seed(self, step: int) -> int:
        """Seed of a step; the first one has the run's own, so that it equals a plain selector."""
        if step == 0:
            return self.checkpoint.seed
        state = np.random.SeedSequence([self.checkpoint.seed, step]).generate_state(1)
        return int(state[0]) >> 1  # scikit-learn takes seeds of 31 bits

    def columns(self, chosen: Ints | None = None, rows: Ints | None = None) -> Any:
        """Some columns and rows of X, with their names where it has any."""
        X = self.X if rows is None else self.X[rows]
        X = X if chosen is None else X[:, chosen]
        if self.names is None or not isinstance(X, np.ndarray):
            return X
        return pd.DataFrame(X, columns=self.names if chosen is None else self.names[chosen])

    def for_workers(self) -> Run:
        """The same without what stays here: checkpoint, progress, more than one thread each."""
        selector = self.selector
        if hasattr(selector, "get_params") and "n_jobs" in selector.get_params():
            selector = clone(selector).set_params(n_jobs=1)
        steps = Steps(Checkpoint(None, "", {}), self.checkpoint.seed)
        return replace(self, selector=selector, checkpoint=steps, report=silent)

    def select(self, X: Any, y: Any, step: int, **changes: Any) -> Fitted:
        """Fit the selector on a table with the seed of a step."""
        return fit_selector(self.selector, X, y, self.seed(step), **changes)


def fit_selector(selector: Any, X: Any, y: Any, seed: int, **changes: Any) -> Fitted:
    """Fit a copy of a selector, or call a function `f(X, y, seed=...)`, and take its Selection."""
    if not hasattr(selector, "fit"):
        answer = selector(X, y, seed=seed, **changes)
        if not isinstance(answer, Selection):
            raise InputError(
                f"The function given as selector returned {type(answer).__name__}; it must return "
                "a nullforest Selection."
            )
        return Fitted(answer, None)
    inner = clone(selector)
    known = inner.get_params(deep=True)
    seeds = [name for name in known if name.split("__")[-1] == "random_state"]
    most = known.get("candidates")
    if isinstance(most, int | np.integer) and most > X.shape[1]:
        changes["candidates"] = int(X.shape[1])  # fewer features are left than were compared
    inner.set_params(**dict.fromkeys(seeds, seed), **changes).fit(X, y)
    answer = getattr(inner, "selection_", None)
    if not isinstance(answer, Selection):
        raise InputError(
            f"{type(inner).__name__} leaves no Selection in selection_ after fit; give a selector "
            "such as ForestSelector."
        )
    return Fitted(answer, inner)


class SelectorWrapper(MinFeaturesMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A selector that fits another one several times; subclasses say how in `_run`.

    After `fit`, `selection_` is the Selection of the first forest, on all samples and features:
    the one whose p-values carry an error claim. `support_` is the wrapper's own answer.
    """

    selector: Any
    random_state: Any
    resume: Any
    progress: bool
    support_: NDArray[np.bool_]
    selection_: Selection
    table_: pd.DataFrame

    #: What the bar on the terminal counts.
    _counted = "Growing forests"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : (n_samples, n_features) array, sparse matrix or DataFrame
            The data; NaN means missing.
        y : (n_samples,) array
            Labels or numbers to predict, or events and times; see :func:`nullforest.grow`.
        """
        selector = ForestSelector() if self.selector is None else self.selector
        self._check(selector)
        self._min_features()  # checked before the forests are grown
        X, names = checked_columns(X)
        refuse_masked(y)
        X, y = checked_data(
            self,
            X,
            y,
            accept_sparse=["csc"],
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=4,
        )
        own = self.get_params(deep=False) | {"selector": ""}
        inner = selector.get_params(deep=True) if hasattr(selector, "get_params") else {}
        settings = {k: v for k, v in own.items() if k not in _IDLE} | {
            f"selector__{k}": v for k, v in inner.items() if k.split("__")[-1] not in _IDLE
        }
        settings |= {"wrapper": type(self).__name__, "inner": f"{type(selector).__name__}"}
        if not inner:
            settings["function"] = selector
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31 - 1))
        else:
            settings["seed"] = int(seed)
        data = {"features": X, "feature names": names, "target": y}
        identity = {} if self.resume is None else _identity(data, settings)
        with (
            Checkpoint(self.resume, "series of forests", identity) as checkpoint,
            progress_bar(self._counted, None if self.progress else silent) as report,
        ):
            self._run(Run(X, y, names, selector, Steps(checkpoint, int(seed)), report))
        return self

    def _check(self, selector: Any) -> None:
        if isinstance(selector, type) or not (hasattr(selector, "fit") or callable(selector)):
            raise InputError(
                f"selector = {selector!r} can neither be fitted nor called; give a selector such "
                "as ForestSelector(), or a function of (X, y, seed) that returns a Selection."
            )
        if getattr(selector, "prefit", False):
            raise InputError(
                "A wrapper grows new forests on parts of the data, so its selector cannot be "
                "prefit=True."
            )
        for name in _WHOLE:
            if (value := getattr(self, name, None)) is not None:
                whole_number(name, value, 1, MOST_TREES)
        for name in _REAL:
            if not isinstance(value := getattr(self, name, None), Real | None):
                raise InputError(f"{name} = {value!r:.60} must be a number.")

    @abstractmethod
    def _run(self, run: Run) -> None:
        """Do the work: set `selection_`, `support_` and `table_`."""

    def _keep(self, selection: Selection, support: NDArray[np.bool_], **columns: Any) -> None:
        """Set the attributes that all wrappers have; `columns` go into the table."""
        selection, support = self._with_smallest(selection, support)
        self.selection_ = selection
        self.support_ = support
        frame = pd.DataFrame(
            {
                "feature": selection.tally.names,
                "count": selection.counts,
                "p_value": selection.pvalues,
                **columns,
                "selected": support,
            }
        )
        order = np.lexsort((np.arange(len(frame)), selection.pvalues, ~support))
        self.table_ = frame.iloc[order]

    @property
    def tally_(self) -> Any:
        """Tally of the first forest, on all samples and features."""
        check_is_fitted(self, "selection_")
        return self.selection_.tally

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        inner = get_tags(self.selector).input_tags if hasattr(self.selector, "fit") else None
        tags.input_tags.sparse = inner is None or inner.sparse
        tags.input_tags.allow_nan = inner is None or inner.allow_nan
        return tags


def _identity(data: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """What the result of a run depends on."""
    return {
        "version of nullforest": __version__,
        **{name: digest(value) for name, value in data.items()},
        **{name: plain(value) for name, value in settings.items()},
    }
