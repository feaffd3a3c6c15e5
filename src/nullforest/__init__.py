"""Which features does a random forest really use?

The path of the data: forest → Tally → Null → Decision → Selection.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nullforest import datasets, simulate
    from nullforest.engine import Forest, RankTable, grow, grow_many
    from nullforest.errors import InputError
    from nullforest.estimators import ForestClassifier, ForestRegressor
    from nullforest.forests import tally
    from nullforest.growth import watch
    from nullforest.nulls import null
    from nullforest.selection import Selection, select
    from nullforest.selector import ForestSelector
    from nullforest.tallies import Tally

__all__ = [
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "ForestSelector",
    "InputError",
    "RankTable",
    "Selection",
    "Tally",
    "datasets",
    "grow",
    "grow_many",
    "null",
    "select",
    "simulate",
    "tally",
    "watch",
]
__version__ = "0.1.0"

#: Where each public name lives. It is imported when first used: pandas and scikit-learn alone
#: take a second, which `nullforest --help` and a script that loads a tally need not wait for.
_HOMES = {
    "Forest": "engine",
    "ForestClassifier": "estimators",
    "ForestRegressor": "estimators",
    "ForestSelector": "selector",
    "InputError": "errors",
    "RankTable": "engine",
    "Selection": "selection",
    "Tally": "tallies",
    "grow": "engine",
    "grow_many": "engine",
    "null": "nulls",
    "select": "selection",
    "tally": "forests",
    "watch": "growth",
}
_FOLDERS = ("datasets", "simulate")


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
