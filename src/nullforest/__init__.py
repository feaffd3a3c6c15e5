"""Which features does a random forest really use?

The path of the data: forest → Tally → Null → Decision → Selection.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nullforest import datasets
    from nullforest.engine import Forest, grow, grow_many
    from nullforest.errors import InputError
    from nullforest.forests import tally
    from nullforest.nulls import null
    from nullforest.selection import Selection, select
    from nullforest.tallies import Tally

__all__ = [
    "Forest",
    "InputError",
    "Selection",
    "Tally",
    "datasets",
    "grow",
    "grow_many",
    "null",
    "select",
    "tally",
]
__version__ = "0.1.0"

#: Public name → the module it lives in, imported when first asked for: the command line shows its
#: help without waiting for scipy and pandas.
_HOMES = {
    "Forest": "nullforest.engine",
    "InputError": "nullforest.errors",
    "Selection": "nullforest.selection",
    "Tally": "nullforest.tallies",
    "grow": "nullforest.engine",
    "grow_many": "nullforest.engine",
    "null": "nullforest.nulls",
    "select": "nullforest.selection",
    "tally": "nullforest.forests",
}
_MODULES = ("datasets",)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"nullforest.{name}")
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'nullforest' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
