"""Which features does a random forest really use?

The path of the data: forest → Tally → Null → Decision → Selection.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nullforest import baselines, datasets, importances, simulate, wrappers
    from nullforest.auditing import Audit, audit
    from nullforest.clusters import parallel
    from nullforest.companions import find_companions
    from nullforest.comparing import Comparison, compare, compare_runs
    from nullforest.engine import Forest, ParquetColumns, RankTable, grow, grow_many
    from nullforest.errors import InputError
    from nullforest.estimators import ForestClassifier, ForestRegressor
    from nullforest.forests import tally
    from nullforest.groups import GroupSelection, select_groups
    from nullforest.growth import watch
    from nullforest.interactions import find_interactions
    from nullforest.nulls import null
    from nullforest.outlook import Outlook, more_trees
    from nullforest.planning import PowerPlan, plan
    from nullforest.runs import resume
    from nullforest.selection import Selection, select
    from nullforest.selector import ForestSelector
    from nullforest.spatial_groups import groups_from_coordinates, groups_from_mesh
    from nullforest.tallies import Tally
    from nullforest.wrappers import (
        BackwardElimination,
        ForwardSelection,
        GroupSelector,
        KnockOut,
        StabilitySelection,
    )

__all__ = [
    "Audit",
    "BackwardElimination",
    "Comparison",
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "ForestSelector",
    "ForwardSelection",
    "GroupSelection",
    "GroupSelector",
    "InputError",
    "KnockOut",
    "Outlook",
    "ParquetColumns",
    "PowerPlan",
    "RankTable",
    "Selection",
    "StabilitySelection",
    "Tally",
    "audit",
    "baselines",
    "compare",
    "compare_runs",
    "datasets",
    "find_companions",
    "find_interactions",
    "groups_from_coordinates",
    "groups_from_mesh",
    "grow",
    "grow_many",
    "importances",
    "more_trees",
    "null",
    "parallel",
    "plan",
    "resume",
    "select",
    "select_groups",
    "simulate",
    "tally",
    "watch",
    "wrappers",
]
__version__ = "0.1.0"

#: Where each public name lives. It is imported when first used: pandas and scikit-learn alone
#: take a second, which `nullforest --help` and a script that loads a tally need not wait for.
_HOMES = {
    "Audit": "auditing",
    "Comparison": "comparing",
    "BackwardElimination": "wrappers",
    "Forest": "engine",
    "ForestClassifier": "estimators",
    "ForestRegressor": "estimators",
    "ForestSelector": "selector",
    "ForwardSelection": "wrappers",
    "GroupSelection": "groups",
    "GroupSelector": "wrappers",
    "InputError": "errors",
    "KnockOut": "wrappers",
    "Outlook": "outlook",
    "ParquetColumns": "engine",
    "PowerPlan": "planning",
    "RankTable": "engine",
    "Selection": "selection",
    "StabilitySelection": "wrappers",
    "Tally": "tallies",
    "audit": "auditing",
    "compare": "comparing",
    "compare_runs": "comparing",
    "find_companions": "companions",
    "find_interactions": "interactions",
    "groups_from_coordinates": "spatial_groups",
    "groups_from_mesh": "spatial_groups",
    "grow": "engine",
    "grow_many": "engine",
    "more_trees": "outlook",
    "null": "nulls",
    "parallel": "clusters",
    "plan": "planning",
    "resume": "runs",
    "select": "selection",
    "select_groups": "groups",
    "tally": "forests",
    "watch": "growth",
}
_FOLDERS = ("baselines", "datasets", "importances", "simulate", "wrappers")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"nullforest.{_HOMES[name]}"), name)
    elif name in _FOLDERS:
        value = import_module(f"nullforest.{name}")
    else:
        raise AttributeError(f"module 'nullforest' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_FOLDERS})
