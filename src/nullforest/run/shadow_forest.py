"""Forests with shadows: how many copies of the features, and the tally of their counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.data.rank_table import RankTable
from nullforest.data.shadowed_table import LEAST_COPIES, ShadowedTable, default_copies
from nullforest.data.targets import Target
from nullforest.forest.settings import ForestSettings, resolved_number
from nullforest.run.settling import Settling
from nullforest.tallies.null_columns import NullColumns

#: Null models for which a forest may have shadows.
_WITH_SHADOWS = ("auto", "shadows")


def given_copies(
    settings: ForestSettings, table: RankTable, target: Target, keep_trees: bool | None
) -> int:
    """Number of shadows of each feature."""
    needed = target.blocks is not None or table.categories is not None
    if settings.shadows == "auto":
        copies = 0
        if needed:
            few = default_copies(table, blocks=target.blocks is not None)
            copies = max(few, LEAST_COPIES)
    else:
        copies = resolved_number(settings.shadows)
        if needed and copies == 0:
            what = "blocks" if target.blocks is not None else "categories"
            raise InputError(f"{what} need shadows; omit shadows = 0, or the {what}.")
    if copies and keep_trees and table.categories is not None:
        table.numeric()
    if copies and keep_trees:
        raise InputError(
            "The trees of a forest with shadows cannot predict new samples, which have no shadows; "
            "omit keep_trees, or grow with shadows=0."
        )
    if copies and not isinstance(settings.probes, str) and settings.probes > 0:
        raise InputError("A forest has probes or shadows; omit one of the two.")
    return copies


def settling_copies(table: RankTable, rule: Settling, settings: Mapping[str, Any]) -> Any:
    """Shadows of each feature in a forest that grows until its selection has settled.

    Where they are not given: by the number of features, unless trees are kept, features are drawn
    in another way, or the null model is another.
    """
    given = settings.get("shadows", "auto")
    usual = ForestSettings()
    same = (settings.get(name, getattr(usual, name)) for name in ("draw", "pool", "probes"))
    if table.categories is not None and rule.null not in _WITH_SHADOWS:
        raise InputError(
            f"Categories are tested against shadows, not with null = {rule.null!r}; omit null, or "
            "encode them as numbers."
        )
    needed = table.categories is not None
    needed |= any(settings.get(name) is not None for name in ("blocks", "adjust"))
    if given != "auto" or needed or settings.get("keep_trees") or rule.null not in _WITH_SHADOWS:
        return given
    if tuple(same) != (usual.draw, usual.pool, usual.probes):
        return 0
    candidates, F = settings.get("candidates"), table.shape[1]
    if candidates is not None and candidates > F:
        raise InputError(f"candidates = {candidates} must lie between 1 and the {F} features of X.")
    return default_copies(table, blocks=False) or (LEAST_COPIES if rule.null == "shadows" else 0)


def shadow_tally(
    raw: dict[str, Any], table: ShadowedTable
) -> tuple[NDArray[np.int64], NDArray[np.int32], NullColumns]:
    """Counts and couplings of the features, and the tally of their shadows."""
    F, k = table.plain.shape[1], table.copies
    counts = raw["counts"].reshape(k + 1, F)
    couplings = raw["couplings"].reshape(k + 1, F, -1)
    strata = table.plain.strata.features
    if table.plain.categories is not None:
        # Ordered by the target, a category is selected more often than numbers of as many levels.
        strata = np.unique(2 * strata + table.plain.categories, return_inverse=True)[1]
    shadows = NullColumns.of_shadows(counts, couplings, strata, table.rows)
    return counts[0], couplings[0], shadows
