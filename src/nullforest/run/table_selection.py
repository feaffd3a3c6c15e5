"""Selection of the features of a table that was read from files."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from nullforest.data.effect_sizes import effect_sizes
from nullforest.data.rank_table import RankTable
from nullforest.data.readers.tables import Table
from nullforest.nulls import Kind
from nullforest.run.growing import grow, grow_settling
from nullforest.run.settling import Settling, last
from nullforest.selection.error_rates import ErrorRate
from nullforest.selection.selection import Selection, select

_CRITERIA = {"classification": "gini", "regression": "variance", "survival": "logrank"}


def select_table(
    table: Table,
    *,
    alpha: float = 0.05,
    error: ErrorRate = "fdr",
    null: Kind = "auto",
    trees: Any = "auto",
    max_trees: int | None = None,
    **settings: Any,
) -> Selection:
    r"""Select the features of a table that a forest uses to predict its target.

    The selection knows what the files say of each feature (`annotations`), where it lies in them
    (`columns`), and the direction and size of its effect, as that of `nullforest select` does.

    Parameters
    ----------
    table : Table
        From :func:`nullforest.read_table`; its blocks and covariates are taken into account.
    alpha, error, null
        As in :func:`nullforest.select`.
    trees, max_trees, **settings
        Of the forest; see :func:`nullforest.grow`.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np, nullforest as nf, pandas as pd, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> X = np.random.default_rng(0).normal(size=(80, 600))
    >>> frame = pd.DataFrame(X).add_prefix("gene ").assign(ill=np.where(X[:, 4] > 0, "yes", "no"))
    >>> frame.to_csv(path, index=False)
    >>> nf.select_table(nf.read_table(path, "ill"), trees=300).selected.tolist()
    ['gene 4']
    """
    start = perf_counter()
    given = {"criterion": _CRITERIA[table.task], "keep_trees": False, "oob": False, **settings}
    given |= {} if table.blocks is None else {"blocks": table.blocks}
    given |= {} if table.adjust is None else {"adjust": table.adjust}
    ranked = RankTable(
        table.X,
        feature_names=table.feature_names,
        categories=table.categories,
        n_jobs=settings.get("n_jobs", -1),
        keep_values=False,  # on disk they would be a copy; the table itself has them
    )
    if trees == "auto":
        rule = Settling(alpha, error, null, max_trees)
        selection = last(grow_settling(ranked, table.y, rule, **given))[1]
    else:
        forest = grow(ranked, table.y, trees=trees, max_trees=max_trees, **given)
        selection = select(forest.tally, alpha, error, null)
    values = table.X if ranked.values is None else ranked
    return replace(
        selection,
        notes=(*table.notes, *selection.notes),
        columns=table.columns,
        annotations=table.annotations,
        effects=effect_sizes(values, table.y, given["criterion"]),
        seconds=perf_counter() - start,
    )
