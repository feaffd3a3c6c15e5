"""A selection as plain numbers, as CSV and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from nullforest._util.files import writing
from nullforest.data.effects import plain_rows
from nullforest.selection.by_stratum import strata_of

if TYPE_CHECKING:
    from nullforest.selection.selection import Selection


def to_dict(self: Selection) -> dict[str, Any]:
    """The answer as plain numbers and strings, ready for JSON."""
    rows = self.table[self.table["selected"]]
    rows["threshold"] = self.thresholds[rows.index]
    beside = [] if self.annotations is None else list(self.annotations)
    shown = ["feature", *beside, "count", "threshold", "p_value", "q_value"]
    shown += [] if self.effects is None else self.effects.columns
    return {
        "n_samples": self.tally.n_samples,
        "n_features": self.tally.n_features,
        "trees": self.tally.n_trees,
        "nodes": self.tally.n_nodes,
        "candidates": self.tally.candidates,
        "draw": self.tally.draw,
        "null": self.null.kind,
        "error": self.error,
        "alpha": self.alpha,
        "threshold": _plain(self.threshold),
        "level": _plain(self.level),
        "expected_false_positives": _plain(self.expected_false_positives),
        "expected_agreement": None if self.agreement is None else self.agreement.expected,
        "seconds": self.seconds,
        "selected": plain_rows(rows[shown].to_dict("records")),
        "effects": None if self.effects is None else self.effects.to_dict(),
        "diagnostics": {
            name: _plain(value) if isinstance(value, float) else value
            for name, value in self.null.describe().items()
        },
        "notes": list(self.notes),
        "expected_false_discoveries": self.expected_false_discoveries,
        "strata": strata_of(self),
    }


def to_csv(self: Selection, path: Any) -> None:
    """Write the table of all features; the file appears whole or not at all.

    Its first column is the feature's position in the data (`columns`), where that is known.
    """
    table = self.table
    if self.columns is not None:
        table.insert(0, "column", self.columns[table.index])
    with writing(path) as file:
        table.to_csv(file, index=False)


def to_json(self: Selection, path: Any) -> None:
    """Write `to_dict()` as JSON; the file appears whole or not at all."""
    with writing(path) as file:
        json.dump(self.to_dict(), file, indent=2)
        file.write("\n")


def _plain(number: float) -> float | None:
    """A number that JSON knows."""
    return None if np.isnan(number) else number
