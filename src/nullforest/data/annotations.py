"""Annotations: columns of text beside the features, such as the symbol of a gene."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.errors import InputError, reason_of
from nullforest._util.words import Setting, listed

#: Columns of a selection's table, which annotations must not repeat.
TAKEN = (
    *("column", "feature", "count", "value", "expected_count", "expected_value", "threshold"),
    *("p_value", "q_value", "selected", "higher_in", "stands_out", "difference", "auc"),
    *("hazard", "correlation"),
)


def read_annotations(path: Path) -> pd.DataFrame:
    r"""Read a table of text: CSV, or TSV by its ending (also compressed); every cell stays text."""
    separator = "\t" if ".tsv" in path.suffixes or ".txt" in path.suffixes else ","
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, sep=separator)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; check ", Setting("annotations"), ".") from None
    except (OSError, ValueError, EOFError) as error:  # also what pandas raises, and no text
        raise InputError(
            f"The annotations {path} cannot be read ({reason_of(error)}); give a CSV or TSV with "
            "the features' names in its first column."
        ) from None


def matched(table: Any, names: NDArray[np.str_], source: str = "The table") -> pd.DataFrame:
    """Columns of a table of annotations, in the order of the features.

    Parameters
    ----------
    table : DataFrame, or mapping of column to {feature: text}
        In a DataFrame the column `feature`, or else the first one, names the features.
    names : (F,) str
        Names of the features; those that the table does not name are annotated by empty text.
    source : str
        The table's name in messages.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"probe": ["a", "b"], "symbol": ["XIST", None]})
    >>> matched(table, np.array(["b", "c", "a"]))["symbol"].tolist()
    ['', '', 'XIST']
    """
    if hasattr(table, "columns") and hasattr(table, "to_dict"):
        heads = [str(name) for name in table.columns]
        if len(heads) < 2:
            raise InputError(
                f"{source} has {len(heads)} column; annotations need the features' names and one "
                "column more."
            )
        key = heads.index("feature") if "feature" in heads else 0
        keys = [_text(value) for value in table.iloc[:, key]]
        if len(set(keys)) < len(keys):
            again = sorted({name for name in keys if keys.count(name) > 1})
            raise InputError(
                f"{source} has several rows for the feature {listed(again)}; give each one row."
            )
        found = {
            head: dict(zip(keys, map(_text, table.iloc[:, i]), strict=True))
            for i, head in enumerate(heads)
            if i != key
        }
    elif isinstance(table, Mapping) and all(isinstance(v, Mapping) for v in table.values()):
        found = {
            str(head): {str(k): _text(v) for k, v in column.items()}
            for head, column in table.items()
        }
    else:
        raise InputError("Annotations are a DataFrame, or a dict of column to {feature: text}.")
    if taken := [head for head in found if head in TAKEN]:
        raise InputError(f"{source} has a column {taken[0]!r}, which results have too; rename it.")
    known = names.tolist()
    if not any(name in column for column in found.values() for name in known):
        raise InputError(
            f"{source} names none of the {len(known)} features (the first is {known[0]!r:.60}); "
            "its first column, or the column 'feature', must hold their names."
        )
    columns = {head: [column.get(name, "") for name in known] for head, column in found.items()}
    return pd.DataFrame(columns)


def joined(known: pd.DataFrame | None, further: pd.DataFrame) -> pd.DataFrame:
    """Annotations of a file beside those of another; later columns replace earlier ones."""
    return further if known is None else known.assign(**dict(further))


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value)
