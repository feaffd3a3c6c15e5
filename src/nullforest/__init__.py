"""p-values for the features of a random forest, from how often it selected each.

The path of the data: forest → Tally → null model → error rate → Selection.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nullforest import datasets as datasets
    from nullforest._util.errors import InputError as InputError
    from nullforest.data.matrices import ParquetColumns as ParquetColumns
    from nullforest.data.rank_table import RankTable as RankTable
    from nullforest.data.readers.omics.gene_sets import read_gmt as read_gmt
    from nullforest.data.readers.tables import read_table as read_table
    from nullforest.datasets import simulate as simulate
    from nullforest.estimators import wrappers as wrappers
    from nullforest.estimators.predictors import ForestClassifier as ForestClassifier
    from nullforest.estimators.predictors import ForestRegressor as ForestRegressor
    from nullforest.estimators.selector import ForestSelector as ForestSelector
    from nullforest.evaluation import baselines as baselines
    from nullforest.evaluation.auditing import audit as audit
    from nullforest.evaluation.baselines.comparison import compare as compare
    from nullforest.evaluation.planning import plan as plan
    from nullforest.features.correlated import find_correlated as find_correlated
    from nullforest.features.genes import select_genes as select_genes
    from nullforest.features.groups import select_groups as select_groups
    from nullforest.features.interactions import find_interactions as find_interactions
    from nullforest.features.spatial import find_clusters as find_clusters
    from nullforest.features.spatial import groups_from_coordinates as groups_from_coordinates
    from nullforest.features.spatial import groups_from_mesh as groups_from_mesh
    from nullforest.nulls import null as null
    from nullforest.report import plots as plots
    from nullforest.report.maps import brain_figure as brain_figure
    from nullforest.report.maps import write_maps as write_maps
    from nullforest.run.backends import parallel as parallel
    from nullforest.run.forest import Forest as Forest
    from nullforest.run.growing import grow as grow
    from nullforest.run.growing import grow_many as grow_many
    from nullforest.run.growing import resume as resume
    from nullforest.run.growing import select_table as select_table
    from nullforest.run.growing import watch as watch
    from nullforest.selection.selection import Selection as Selection
    from nullforest.selection.selection import select as select
    from nullforest.tallies.readers import tally as tally
    from nullforest.tallies.tally import Tally as Tally

__version__ = "0.2.0"

#: Where the public names live. They are imported when first used: pandas and scikit-learn alone
#: take a second, which `nullforest --help` and a script that loads a tally need not wait for.
_NAMES = {
    "_util.errors": "InputError",
    "run.backends": "parallel",
    "data.matrices": "ParquetColumns",
    "data.rank_table": "RankTable",
    "data.dataset": "Dataset",
    "run.forest": "Forest",
    "run.growing": "grow grow_many resume select_table watch",
    "estimators.predictors": "ForestClassifier ForestRegressor",
    "estimators.selector": "ForestSelector",
    "evaluation.auditing": "audit",
    "evaluation.baselines.comparison": "compare",
    "evaluation.planning": "plan",
    "features.correlated": "find_correlated",
    "features.genes": "select_genes",
    "features.groups": "select_groups",
    "features.interactions": "find_interactions",
    "features.spatial": "find_clusters",
    "data.readers.tables": "read_table",
    "data.readers.omics.gene_sets": "read_gmt",
    "nulls": "null",
    "report.maps": "brain_figure write_maps",
    "selection.selection": "Selection select",
    "tallies.readers": "tally",
    "tallies.tally": "Tally",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
_FOLDERS = {
    "baselines": "evaluation.baselines",
    "datasets": "datasets",
    "plots": "report.plots",
    "simulate": "datasets.simulate",
    "wrappers": "estimators.wrappers",
}
__all__ = sorted([*_HOMES, *_FOLDERS])


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
    return sorted({*globals(), *__all__})
