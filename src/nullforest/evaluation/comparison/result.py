"""Results of several methods side by side, as tables and files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nullforest._util.files import writing
from nullforest.evaluation.comparison.adapters import Answer
from nullforest.selection.error_rates import ErrorRate
from nullforest.tallies.tally import Names


@dataclass(frozen=True, repr=False)
class Comparison:
    """Results of several methods on the same data.

    Attributes
    ----------
    answers : dict
        Result of each method, in the order given.
    names : (F,) str
        Names of the features.
    relevant : (F,) bool or None
        Relevant features, where known.
    skipped : dict
        Methods that could not be run here, and why.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X = np.random.default_rng(0).normal(size=(60, 50))
    >>> found = nf.compare(X, X[:, 5] > 0, ["paper", "bagged"], trees=100, error="fwer")
    >>> {name: np.flatnonzero(answer.support).tolist() for name, answer in found.answers.items()}
    {'paper': [5], 'bagged': [5]}
    """

    answers: dict[str, Answer]
    names: Names
    alpha: float
    error: ErrorRate
    relevant: NDArray[np.bool_] | None = None
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> pd.DataFrame:
        """One row per method: selected, seconds, forests; FPR, FNR, FDR, power if known.

        The rates of one data set come with the standard error of a share of independent features,
        √(p (1 - p) / n), in columns that end in `_se`; :func:`compare_runs` has better ones.
        """
        rows = {}
        for method, answer in self.answers.items():
            row: dict[str, Any] = {"selected": int(answer.support.sum())}
            if self.relevant is not None:
                for rate, (value, n) in rates(answer.support, self.relevant).items():
                    row[rate] = value
                    row[f"{rate}_se"] = float(np.sqrt(value * (1 - value) / n)) if n else np.nan
            rows[method] = row | {"seconds": answer.seconds, "forests": answer.forests}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    @property
    def shared(self) -> pd.DataFrame:
        """Features selected by both of two methods; on the diagonal, by the one."""
        masks = np.array([a.support for a in self.answers.values()], dtype=np.int64)
        methods = list(self.answers)
        return pd.DataFrame(masks @ masks.T, index=methods, columns=methods)

    @property
    def pvalues(self) -> pd.DataFrame:
        """p-values side by side: one row per feature, one column per method."""
        return self._frame("pvalues")

    @property
    def support(self) -> pd.DataFrame:
        """Selected features: one row per feature, one column per method."""
        return self._frame("support")

    def _frame(self, what: str) -> pd.DataFrame:
        columns = {method: getattr(answer, what) for method, answer in self.answers.items()}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="feature"))

    def features(self) -> pd.DataFrame:
        """p-values and selections of all features, those that most methods select first."""
        chosen = self.support
        frame = self.pvalues.add_prefix("p_").join(chosen.add_prefix("selected_"))
        frame.insert(0, "methods", chosen.sum(axis=1))
        best = self.pvalues.min(axis=1).fillna(1.0)
        order = np.lexsort((best.to_numpy(), -frame["methods"].to_numpy()))
        return frame.iloc[order]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain numbers and strings, ready for JSON."""
        table = self.table
        return {
            "alpha": self.alpha,
            "error": self.error,
            "n_features": len(self.names),
            "methods": [
                {
                    "method": method,
                    **{
                        key: None if pd.isna(value) else float(value)
                        for key, value in table.loc[method].items()
                    },
                    "features": self.names[answer.support].tolist(),
                    "notes": list(answer.notes),
                }
                for method, answer in self.answers.items()
            ],
            "shared": self.shared.to_dict(),
            "skipped": self.skipped,
        }

    def to_csv(self, path: Any) -> None:
        """Write p-values and selections of all features; the file appears whole or not at all."""
        with writing(path) as file:
            self.features().to_csv(file)

    def to_json(self, path: Any) -> None:
        """Write `to_dict()` as JSON; the file appears whole or not at all."""
        with writing(path) as file:
            json.dump(self.to_dict(), file, indent=2)
            file.write("\n")

    def __repr__(self) -> str:
        lines = [f"<Comparison of {len(self.answers)} methods at {self.error} {self.alpha:g}>"]
        lines.append(self.table.round(4).to_string())
        lines += ["features selected by both:", self.shared.to_string()]
        lines += [f"left out: {method}: {why}" for method, why in self.skipped.items()]
        return "\n".join(lines)


def rates(support: NDArray[np.bool_], relevant: NDArray[np.bool_]) -> dict[str, tuple[float, int]]:
    """FPR, FNR, FDR and power of a selection, and the number of features each is a share of.

    A rate over no features at all is NaN; the FDR of an empty selection is 0.

    Examples
    --------
    >>> import numpy as np
    >>> found = rates(np.array([True, True, False, False]), np.array([True, False, False, False]))
    >>> found["fdr"], found["power"]
    ((0.5, 2), (1.0, 1))
    """
    hits, selected = int((support & relevant).sum()), int(support.sum())
    true, null = int(relevant.sum()), int((~relevant).sum())
    power = hits / true if true else float("nan")
    return {
        "fpr": ((selected - hits) / null if null else float("nan"), null),
        "fnr": (1 - power, true),
        "fdr": ((selected - hits) / selected if selected else 0.0, selected),
        "power": (power, true),
    }
