"""Direction and size of each feature's association with the target; descriptive, not tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Comparison = Literal["two classes", "several classes", "numbers", "survival"]

#: What each column says; {first} and {second} are the two classes.
_WORDS: dict[Comparison, dict[str, str]] = {
    "two classes": {
        "higher_in": "class with the larger median; where medians are equal, with the larger ranks",
        "difference": "difference of the means, {second} − {first}, in pooled standard deviations",
        "auc": "probability that a sample of {second} has a larger value than one of {first}, "
        "ties counted half",
    },
    "several classes": {
        "stands_out": "class whose AUC against all others is farthest from one half",
        "difference": "difference of the means, that class − all others, in pooled standard "
        "deviations",
        "auc": "probability that a sample of that class has a larger value than one of the others, "
        "ties counted half",
    },
    "numbers": {"correlation": "Spearman's rank correlation with the target"},
    "survival": {
        "hazard": "hazard of samples with larger values: higher or lower",
        "correlation": "correlation of the ranks with the log-rank scores of the samples",
    },
}
#: Columns that fit beside the p-values of a terminal, and their heads.
_SHORT = {
    "higher_in": "higher in",
    "stands_out": "stands out",
    "auc": "AUC",
    "hazard": "hazard",
    "correlation": "ρ",
}


@dataclass(frozen=True, eq=False)
class Effects:
    """Direction and size of each feature's association with the target.

    Computed from the data, each feature by itself, over the samples with a value. It describes the
    features and plays no part in their selection.

    Attributes
    ----------
    comparison : {"two classes", "several classes", "numbers", "survival"}
        What the target is.
    columns : dict of str to (F,) array
        "two classes": higher_in, difference, auc. "several classes": stands_out, difference, auc.
        "numbers": correlation. "survival": hazard, correlation. Text is empty and numbers are NaN
        where they are not defined, as for a constant feature.
    classes : tuple of str
        The classes in their order, where the target has any.

    Examples
    --------
    >>> import nullforest as nf, numpy as np
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]])
    >>> tally = nf.Tally.from_counts([3, 1], nodes_per_tree=[4], n_samples=4)
    >>> selection = nf.select(tally, null="paper").with_effects(X, ["ill", "ill", "well", "well"])
    >>> selection.effects.columns["higher_in"].tolist(), selection.effects.columns["auc"].tolist()
    (['well', ''], [1.0, 0.5])
    """

    comparison: Comparison
    columns: dict[str, NDArray[Any]]
    classes: tuple[str, ...] = ()

    @property
    def words(self) -> dict[str, str]:
        """What each column says, in a phrase."""
        first, second = self.classes if self.comparison == "two classes" else ("", "")
        return {
            name: text.replace("{first}", first).replace("{second}", second)
            for name, text in _WORDS[self.comparison].items()
        }

    @property
    def heads(self) -> dict[str, str]:
        """The columns that a narrow table shows, and their heads."""
        return {name: _SHORT[name] for name in self.columns if name in _SHORT}

    def to_dict(self) -> dict[str, Any]:
        """The target and the meaning of the columns, as plain text."""
        return {
            "comparison": self.comparison,
            "classes": list(self.classes),
            "columns": self.words,
            "descriptive": True,
        }


def decimals(number: float | None) -> str:
    """A correlation, a difference or an AUC with two decimals; a dash where there is none."""
    return "–" if number is None or np.isnan(number) else f"{number:.2f}"


def plain_rows(rows: list[dict[Any, Any]]) -> list[dict[Any, Any]]:
    """Rows of the table with None in the place of NaN, which JSON does not know."""
    return [
        {key: None if isinstance(v, float) and np.isnan(v) else v for key, v in row.items()}
        for row in rows
    ]
