"""The base of all wrappers: a selector that is cloned, seeded and fitted on parts of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from nullforest import __version__
from nullforest._util.checks import whole_number
from nullforest._util.errors import InputError
from nullforest._util.progress import Report, progress_bar, silent
from nullforest.data.dense import checked_columns
from nullforest.data.targets import refuse_masked
from nullforest.estimators.arguments import X_RULES, MinFeaturesMixin, checked_data, whole_seed
from nullforest.estimators.selector import ForestSelector
from nullforest.forest.settings import MOST_TREES
from nullforest.nulls.distribution import Ints
from nullforest.run.checkpoints import Checkpoint, digest, plain
from nullforest.selection.selection import Selection

#: Settings that cannot change the result, so that a run may resume with others.
_IDLE = ("resume", "progress", "n_jobs", "random_state")
#: Settings of the wrappers that are whole numbers from 1, and that are numbers.
_WHOLE = ("max_steps", "max_layers", "max_features", "patience", "pairs")
_REAL = ("standard_errors", "threshold", "max_false")


@dataclass(frozen=True)
class SeriesOfFits:
    """The data of one call of `fit`, its finished steps, and what the next ones need.

    A step is a dictionary of plain numbers, lists and strings.
    """

    X: Any
    y: NDArray[Any]
    names: NDArray[Any] | None
    selector: Any
    first_seed: int
    steps: list[dict[str, Any]]
    checkpoint: Checkpoint | None
    report: Report

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def seed(self, step: int) -> int:
        """Seed of a step; that of step 0 is the run's, so that it equals a plain selector."""
        if step == 0:
            return self.first_seed
        state = np.random.SeedSequence([self.first_seed, step]).generate_state(1)
        return int(state[0]) >> 1  # scikit-learn takes seeds of 31 bits

    def columns(self, features: Ints | None = None, rows: Ints | None = None) -> Any:
        """Some columns and rows of X, with their names where it has any."""
        X = self.X if rows is None else self.X[rows]
        X = X if features is None else X[:, features]
        if self.names is None or not isinstance(X, np.ndarray):
            return X
        return pd.DataFrame(X, columns=self.names if features is None else self.names[features])

    def add(self, step: dict[str, Any]) -> None:
        """Keep one more finished step."""
        self.steps.append(step)
        if self.checkpoint is not None:
            self.checkpoint.write("steps", {"seed": self.first_seed, "steps": self.steps})

    def step(
        self, number: int, work: Callable[..., dict[str, Any]], *arguments: Any
    ) -> dict[str, Any]:
        """Step `number`, from 1 on: the one that was kept, or `work(run, number, *arguments)`."""
        if number > len(self.steps):
            self.add(work(self, number, *arguments))
        return self.steps[number - 1]

    def for_workers(self) -> SeriesOfFits:
        """The same without what stays here: checkpoint, progress, more than one thread each."""
        selector = self.selector
        if hasattr(selector, "get_params") and "n_jobs" in selector.get_params():
            selector = clone(selector).set_params(n_jobs=1)
        return replace(self, selector=selector, steps=[], checkpoint=None, report=silent)

    def select(self, X: Any, y: Any, step: int, **changes: Any) -> tuple[Selection, Any]:
        """Fit the selector on a table with the seed of a step; see :func:`fit_selector`."""
        return fit_selector(self.selector, X, y, self.seed(step), **changes)


def fit_selector(selector: Any, X: Any, y: Any, seed: int, **changes: Any) -> tuple[Selection, Any]:
    """Fit a copy of a selector, or call a function `f(X, y, seed=...)`.

    Returns
    -------
    selection : Selection
    fitted : selector, or None for a function
    """
    if not hasattr(selector, "fit"):
        selection = selector(X, y, seed=seed, **changes)
        if not isinstance(selection, Selection):
            raise InputError(
                f"The function given as selector returned {type(selection).__name__}; it must "
                "return a nullforest Selection."
            )
        return selection, None
    fitted = clone(selector)
    settings = fitted.get_params(deep=True)
    seeds = [name for name in settings if name.split("__")[-1] == "random_state"]
    candidates = settings.get("candidates")
    if isinstance(candidates, int | np.integer) and candidates > X.shape[1]:
        changes["candidates"] = int(X.shape[1])  # fewer features are left than were compared
    fitted.set_params(**dict.fromkeys(seeds, seed), **changes).fit(X, y)
    selection = getattr(fitted, "selection_", None)
    if not isinstance(selection, Selection):
        raise InputError(
            f"{type(fitted).__name__} leaves no Selection in selection_ after fit; give a selector "
            "such as ForestSelector."
        )
    return selection, fitted


@dataclass(eq=False, repr=False, kw_only=True)
class SelectorWrapper(MinFeaturesMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A selector that fits another one several times; subclasses say how in `_run`.

    The fields are the arguments of `__init__`; those of all subclasses include `selector`. After
    `fit`, `selection_` is the Selection of the first forest, on all samples and features: the one
    whose p-values carry an error claim. `support_` is the wrapper's own answer.
    """

    min_features: int | None = None
    random_state: Any = 0
    resume: Any = None
    progress: bool = True

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
        X, names = checked_columns(X)
        refuse_masked(y)
        rules = X_RULES | {"accept_sparse": ["csc"], "ensure_min_samples": 4}
        X, y = checked_data(self, X, y, **rules)
        seed, steps = whole_seed(self.random_state), list[dict[str, Any]]()
        identity = {} if self.resume is None else self._identity(selector, X, names, y)
        with (
            Checkpoint(self.resume, "series of forests", identity) as checkpoint,
            progress_bar(self._counted, None if self.progress else silent) as report,
        ):
            part = checkpoint.read("steps")
            if part is not None:  # a run that drew its seed at random resumes with the same one
                seed, steps = part.content["seed"], part.content["steps"]
            self._run(SeriesOfFits(X, y, names, selector, seed, steps, checkpoint, report))
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
        self._min_features()
        for name in _WHOLE:
            if (value := getattr(self, name, None)) is not None:
                whole_number(name, value, 1, MOST_TREES)
        for name in _REAL:
            if not isinstance(value := getattr(self, name, None), Real | None):
                raise InputError(f"{name} = {value!r:.60} must be a number.")

    def _identity(self, selector: Any, X: Any, names: Any, y: Any) -> dict[str, Any]:
        """What the result depends on."""
        settings = self.get_params(deep=False) | {"selector": selector}
        if hasattr(selector, "get_params"):
            inner = selector.get_params(deep=True)
            settings |= {f"selector__{name}": value for name, value in inner.items()}
            settings["selector"] = type(selector).__name__
        settings = {k: v for k, v in settings.items() if k.split("__")[-1] not in _IDLE}
        if isinstance(self.random_state, int | np.integer):
            settings["seed"] = self.random_state
        data = {"features": X, "feature names": names, "target": y}
        return {
            "version of nullforest": __version__,
            "wrapper": type(self).__name__,
            **{name: digest(value) for name, value in data.items()},
            **{name: plain(value) for name, value in settings.items()},
        }

    #: What the bar on the terminal counts.
    _counted: ClassVar[str] = "Growing forests"

    @abstractmethod
    def _run(self, run: SeriesOfFits) -> None:
        """Do the work: set `selection_`, `support_` and `table_`."""

    def _keep(self, selection: Selection, support: NDArray[np.bool_], **columns: Any) -> None:
        """Set the attributes that all wrappers have; `columns` go into the table."""
        self.selection_, self.support_ = self._with_smallest(selection, support)
        frame = pd.DataFrame(
            {
                "feature": selection.tally.names,
                "count": selection.counts,
                "p_value": selection.pvalues,
                **columns,
                "selected": self.support_,
            }
        )
        order = np.lexsort((np.arange(len(frame)), selection.pvalues, ~self.support_))
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
