"""What does the paper print? The numbers of its two comparison tables."""

from __future__ import annotations

from importlib import resources

import pandas as pd

#: Half a unit of the last printed digit, spread evenly: its standard deviation.
ROUNDING = 0.001 / 12**0.5
#: The row that is the same in both printed tables, a copying slip.
COPIED = (250, 2000)


def printed_tables() -> pd.DataFrame:
    """The printed rates, one number per row.

    Columns: strategy (1 or 2, as the caption says), method, n_samples, n_features,
    relevant_share, alpha, rate ("fpr" or "fnr"), printed.

    Examples
    --------
    >>> table = printed_tables()
    >>> len(table), table["rate"].value_counts().to_dict()
    (144, {'fpr': 96, 'fnr': 48})
    """
    path = resources.files("nullforest.evaluation.paper") / "printed_tables.csv"
    with path.open("r", encoding="utf-8") as file:
        wide = pd.read_csv(file).rename(columns={"printed_strategy": "strategy"})
    keys = ["strategy", "method", "n_samples", "n_features", "relevant_share", "alpha"]
    long = wide.melt(keys, ["fpr", "fnr"], var_name="rate", value_name="printed")
    return long.dropna().reset_index(drop=True)
