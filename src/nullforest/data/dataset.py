"""The data set: columns and target, made once at the door, by one rule for all doors.

Whatever the user has (arrays, a DataFrame, sparse or on disk, a table that was read from files)
becomes one object that says what is asked: the columns with their names and kinds, the target with
its criterion, the weights, and what rows may be exchanged under the null. What depends on the data
alone is computed here, once: ranks, strata, correlation, shadows, effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nullforest._util.column_store import ColumnStore
from nullforest._util.errors import InputError
from nullforest._util.progress import Report
from nullforest.data.rank_table import RankTable
from nullforest.data.targets import Target, Task, as_target

if TYPE_CHECKING:
    import pandas as pd

    from nullforest.data.effects import Effects
    from nullforest.data.readers.images.geometry import Geometry
    from nullforest.data.shadowed_table import ShadowedTable


@dataclass(frozen=True, eq=False)
class Dataset:
    """Columns and target of a data set, ready for a forest; made by :meth:`of` or read from files.

    Attributes
    ----------
    X : array, DataFrame, sparse matrix, matrix on disk or RankTable, (S, F)
        The features; missing values are NaN.
    target : Target
        What is predicted, with its criterion, weights and blocks.
    feature_names : (F,) str or None
        Names, where X has none.
    categories : (F,) bool or None
        Features that are codes of categories without an order, where X does not tell.
    sample_ids : (S,) str or None
        Names of the samples.
    block_name, covariate_names : str or None, tuple of str
        Columns that held the blocks and the covariates.
    columns : (F,) int or None
        Position of each feature among the columns of the user's data; None where it has none.
    annotations : DataFrame or None
        What is said of each feature beside its name: symbol, position, coordinates.
    geometry : Geometry or None
        Where the features lie in an image; see :func:`nullforest.write_maps`.
    bins, n_jobs, keep_values
        How the columns are ranked; see :class:`~nullforest.RankTable`.
    remarks : tuple of str
        What the reader of a file assumed and left out.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 100))
    >>> data = nf.Dataset.of(X, X[:, 3] > 0)
    >>> data.target.criterion, data.table.shape
    ('gini', (60, 100))
    >>> nf.grow(data, trees=50).tally == nf.grow(X, X[:, 3] > 0, trees=50).tally
    True
    """

    X: Any
    target: Target
    feature_names: NDArray[np.str_] | None = None
    categories: NDArray[np.bool_] | None = None
    sample_ids: NDArray[np.str_] | None = None
    block_name: str | None = None
    covariate_names: tuple[str, ...] = ()
    columns: NDArray[np.int64] | None = None
    annotations: pd.DataFrame | None = None
    geometry: Geometry | None = None
    bins: int | Literal["auto"] | None = "auto"
    n_jobs: int = -1
    keep_values: bool = True
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        *,
        task: Task = "auto",
        criterion: str = "auto",
        sample_weight: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        distance: Callable[[Any], Any] | None = None,
        blocks: Any = None,
        adjust: Any = None,
        feature_names: Iterable[str] | None = None,
        bins: int | Literal["auto"] | None = "auto",
        n_jobs: int = -1,
        annotations: Any = None,
        name: str = "y",
    ) -> Dataset:
        """Make a data set from arrays or a DataFrame.

        Parameters
        ----------
        X, y, sample_weight, class_weight, distance, blocks, adjust, feature_names, n_jobs
            See :func:`nullforest.grow`. A data set is returned as it is.
        task : {"auto", "classification", "regression"}
            What y is: text, booleans, any two values and up to six distinct whole numbers are
            classes, everything else is numbers, unless it is given.
        criterion : str
            See :func:`nullforest.grow`.
        bins : int, "auto" or None
            See :class:`~nullforest.RankTable`.
        annotations : DataFrame, optional
            Text about each feature, one row each: columns of the table and the report.
        name : str
            Name of the target.

        Returns
        -------
        Dataset
        """
        if isinstance(X, Dataset):
            further = (y, sample_weight, class_weight, distance, blocks, adjust, feature_names)
            if any(one is not None for one in further) or (task, criterion) != ("auto", "auto"):
                raise InputError(
                    "A data set has its target, weights, blocks and covariates; give these to "
                    "Dataset.of or read_table."
                )
            return X
        names: tuple[str, ...] = ()
        columns = None
        if blocks is not None or adjust is not None:
            X, blocks, adjust, names, columns = named_columns(X, blocks, adjust)
        table = (
            X
            if isinstance(X, RankTable)
            else RankTable(X, n_jobs=n_jobs, feature_names=feature_names, bins=bins)
        )
        target = as_target(
            y,
            table.shape[0],
            task=task,
            criterion=criterion,
            values=lambda: table.matrix,
            distance=distance,
            sample_weight=sample_weight,
            class_weight=class_weight,
            blocks=blocks,
            adjust=adjust,
            name=name,
        )
        return cls(
            table,
            target,
            columns=np.arange(table.shape[1]) if columns is None else columns,
            covariate_names=names,
            annotations=annotations,
            bins=bins,
            n_jobs=n_jobs,
        )

    @cached_property
    def table(self) -> RankTable:
        """The ranks of the columns, and their values."""
        if isinstance(self.X, RankTable):
            return self.X
        return RankTable(
            self.X,
            n_jobs=self.n_jobs,
            feature_names=self.feature_names,
            categories=self.categories,
            bins=self.bins,
            # Values on disk are copied by columns only where they are asked for.
            keep_values=self.keep_values or not isinstance(self.X, ColumnStore),
        )

    @property
    def values(self) -> Any:
        """The table where it holds its values, else the matrix that it was made from."""
        return self.X if self.table.values is None else self.table

    @property
    def names(self) -> NDArray[np.str_]:
        """Names of the features."""
        return self.table.names if self.feature_names is None else self.feature_names

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.target.values)

    @cached_property
    def mean_r2(self) -> float:
        """Mean squared rank correlation between features, conditional on the target."""
        from nullforest.data.ranks import mean_r2

        return mean_r2(self.table, self.target)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was assumed and what was left out, one sentence each."""
        return (*self.remarks, *self.target.notes, *self.table.notes)

    def with_shadows(self, copies: int, seed: int) -> ShadowedTable:
        """The table beside permuted copies of it; rows change places within blocks."""
        from nullforest.data.shadowed_table import shadowed

        return shadowed(self.table, copies, seed, self.target, self.n_jobs)

    def effects(self, progress: Report | None = None) -> Effects | None:
        """Direction and size of each feature's association with the target."""
        from nullforest.data.effect_sizes import effect_sizes

        return effect_sizes(self.values, self.target, progress=progress)

    def with_target(self, y: Any, **how: Any) -> Dataset:
        """Another target on the same columns, which are not ranked again.

        Parameters
        ----------
        y, **how
            As in :meth:`of`.

        Examples
        --------
        >>> import numpy as np, nullforest as nf
        >>> X = np.random.default_rng(0).normal(size=(60, 100))
        >>> data = nf.Dataset.of(X, X[:, 3] > 0)
        >>> data.with_target(X[:, 4]).table is data.table
        True
        """
        target = as_target(y, self.n_samples, values=lambda: self.table.matrix, **how)
        return replace(self, X=self.table, target=target)


def named_columns(
    X: Any, blocks: Any, adjust: Any
) -> tuple[Any, Any, Any, tuple[str, ...], NDArray[np.int64] | None]:
    """X without the columns that blocks and covariates name, and these columns.

    Parameters
    ----------
    X : DataFrame or any other data
    blocks : str or anything else
        Name of a column of X; anything else stays as it is.
    adjust : str, list of str, or anything else
        Likewise.

    Returns
    -------
    X, blocks, adjust, names of the covariates, positions of the columns that are left
    """
    covariates = [adjust] if isinstance(adjust, str) else adjust
    named = isinstance(covariates, list | tuple) and all(isinstance(n, str) for n in covariates)
    names = [*([blocks] if isinstance(blocks, str) else []), *(covariates if named else [])]
    if not names:
        return X, blocks, adjust, (), None
    heads = getattr(X, "columns", None)
    if heads is None:
        raise InputError(
            f"{names[0]!r} names a column, but X has no names; give blocks= and adjust= as arrays, "
            "or X as a DataFrame."
        )
    if missing := [name for name in names if name not in heads]:
        raise InputError(f"X has no column {missing[0]!r} for blocks= or adjust=; check its name.")
    left = [(place, name) for place, name in enumerate(heads) if name not in names]
    return (
        X[[name for _, name in left]],
        X[blocks] if isinstance(blocks, str) else blocks,
        X[list(covariates)] if named else adjust,
        tuple(covariates) if named else (),
        np.array([place for place, _ in left], np.int64),
    )
