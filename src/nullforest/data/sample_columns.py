"""Columns of a DataFrame that say something about the samples: blocks and covariates."""

from __future__ import annotations

from typing import Any

from nullforest._util.errors import InputError


def columns_about_samples(X: Any, blocks: Any, adjust: Any) -> tuple[Any, Any, Any]:
    """X without the columns that blocks and covariates name, and these columns.

    Parameters
    ----------
    X : DataFrame or any other data
    blocks : str or anything else
        Name of a column of X; anything else stays as it is.
    adjust : str, list of str, or anything else
        Likewise.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"gene": [1.0, 2.0], "site": ["a", "b"], "age": [40, 50]})
    >>> X, site, age = columns_about_samples(frame, "site", ["age"])
    >>> list(X), list(site), list(age)
    (['gene'], ['a', 'b'], ['age'])
    """
    names = [blocks] if isinstance(blocks, str) else []
    if isinstance(adjust, str):
        adjust = [adjust]
    named = isinstance(adjust, list | tuple) and all(isinstance(name, str) for name in adjust)
    names += list(adjust) if named else []
    if not names:
        return X, blocks, adjust
    columns = getattr(X, "columns", None)
    if columns is None:
        raise InputError(
            f"{names[0]!r} names a column, but X has no names; give blocks= and adjust= as arrays, "
            "or X as a DataFrame."
        )
    for name in names:
        if name not in columns:
            raise InputError(f"X has no column {name!r} for blocks= or adjust=; check its name.")
    found = X[blocks] if isinstance(blocks, str) else blocks
    covariates = X[list(adjust)] if named else adjust
    rest = X[[name for name in columns if name not in names]]
    return rest, found, covariates
