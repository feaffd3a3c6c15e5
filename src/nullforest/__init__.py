"""Which features does a random forest really use?

The path of the data: forest → Tally → Null → Decision → Selection.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nullforest import datasets
    from nullforest._util.errors import InputError
    from nullforest.compute import parallel
    from nullforest.datasets import simulate
    from nullforest.engine import Forest, ParquetColumns, RankTable, grow, grow_many
    from nullforest.engine.resuming import resume
    from nullforest.engine.watching import watch
    from nullforest.estimators import wrappers
    from nullforest.estimators.forests import ForestClassifier, ForestRegressor
    from nullforest.estimators.selector import ForestSelector
    from nullforest.estimators.wrappers import (
        BackwardElimination,
        ForwardSelection,
        GroupSelector,
        KnockOut,
        StabilitySelection,
    )
    from nullforest.evaluation import baselines, importances
    from nullforest.evaluation.audit import Audit, audit
    from nullforest.evaluation.comparison import Comparison, compare, compare_runs
    from nullforest.evaluation.planning import PowerPlan, plan
    from nullforest.features.correlated import find_correlated
    from nullforest.features.groups import GroupSelection, select_groups
    from nullforest.features.interactions import find_interactions
    from nullforest.features.spatial import groups_from_coordinates, groups_from_mesh
    from nullforest.nulls import null
    from nullforest.report import plots
    from nullforest.selection.forecast import Forecast, more_trees
    from nullforest.selection.selection import Selection, select
    from nullforest.tallies.readers import tally
    from nullforest.tallies.tally import Tally

__all__ = [
    "Audit",
    "BackwardElimination",
    "Comparison",
    "Forecast",
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "ForestSelector",
    "ForwardSelection",
    "GroupSelection",
    "GroupSelector",
    "InputError",
    "KnockOut",
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
    "find_correlated",
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
    "plots",
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
    "Audit": "evaluation.audit",
    "BackwardElimination": "estimators.wrappers",
    "Comparison": "evaluation.comparison",
    "Forest": "engine",
    "ForestClassifier": "estimators.forests",
    "ForestRegressor": "estimators.forests",
    "ForestSelector": "estimators.selector",
    "ForwardSelection": "estimators.wrappers",
    "GroupSelection": "features.groups",
    "GroupSelector": "estimators.wrappers",
    "InputError": "_util.errors",
    "KnockOut": "estimators.wrappers",
    "Forecast": "selection.forecast",
    "ParquetColumns": "engine",
    "PowerPlan": "evaluation.planning",
    "RankTable": "engine",
    "Selection": "selection.selection",
    "StabilitySelection": "estimators.wrappers",
    "Tally": "tallies.tally",
    "audit": "evaluation.audit",
    "compare": "evaluation.comparison",
    "compare_runs": "evaluation.comparison",
    "find_correlated": "features.correlated",
    "find_interactions": "features.interactions",
    "groups_from_coordinates": "features.spatial",
    "groups_from_mesh": "features.spatial",
    "grow": "engine",
    "grow_many": "engine",
    "more_trees": "selection.forecast",
    "null": "nulls",
    "parallel": "compute",
    "plan": "evaluation.planning",
    "resume": "engine.resuming",
    "select": "selection.selection",
    "select_groups": "features.groups",
    "tally": "tallies.readers",
    "watch": "engine.watching",
}
_FOLDERS = {
    "baselines": "evaluation.baselines",
    "datasets": "datasets",
    "importances": "evaluation.importances",
    "plots": "report.plots",
    "simulate": "datasets.simulate",
    "wrappers": "estimators.wrappers",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"nullforest.{_HOMES[name]}"), name)
    elif name in _FOLDERS:
        value = import_module(f"nullforest.{_FOLDERS[name]}")
    else:
        raise AttributeError(f"module 'nullforest' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_FOLDERS})
