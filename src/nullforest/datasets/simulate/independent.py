r"""Independent features, of which some are correlated with the label: the paper's generator.

Its Eq. "relevant": irrelevant features are N(0, σ²); relevant ones are
N(2yρσ/√(1-ρ²), σ²), so that Pearson's correlation with the label y ∈ {0, 1} is ρ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nullforest._util.checks import MOST_SIZE, whole_number
from nullforest._util.errors import InputError


def independent(
    n_samples: int,
    n_features: int,
    n_relevant: int,
    relevance: float = 0.5,
    sigma: float = 5.0,
    seed: int = 0,
    *,
    dtype: DTypeLike = np.float64,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    """Draw independent normal features of which some are correlated with the label.

    Parameters
    ----------
    n_samples : int
        Samples S, half of each class (an odd one out belongs to class 0).
    n_features : int
        Features F.
    n_relevant : int
        How many of them, the last ones, are related to the label.
    relevance : float
        Pearson's correlation ρ of a relevant feature with the label.
    sigma : float
        Standard deviation within a class.
    seed : int
        Seed; the same seed gives the same data.
    dtype : {float64, float32}
        Type of X; float32 halves memory and time.

    Returns
    -------
    X : (S, F) array
    y : (S,) array of 0 and 1
    relevant : (F,) array of bool
        Which features are related to the label.

    Examples
    --------
    >>> import numpy as np, nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(1000, 20, n_relevant=5, relevance=0.5)
    >>> X.shape, int(y.sum()), int(relevant.sum())
    ((1000, 20), 500, 5)
    >>> r = [np.corrcoef(column, y)[0, 1] for column in X[:, relevant].T]
    >>> bool(abs(np.mean(r) - 0.5) < 0.05)
    True
    """
    whole_number("n_features", n_features, 1, MOST_SIZE)
    whole_number("n_relevant", n_relevant, 0, n_features)
    if not sigma > 0:
        raise InputError(f"sigma = {sigma} must be positive.")
    kind = float_type(dtype)
    rng = np.random.default_rng(seed)
    y = balanced_labels(n_samples, rng)
    X = rng.standard_normal((n_samples, n_features), dtype=kind)
    X *= kind(sigma)
    relevant = np.arange(n_features) >= n_features - n_relevant
    X[:, relevant] += (mean_shift(relevance) * sigma * y[:, None]).astype(kind)
    return X, y, relevant


def float_type(dtype: DTypeLike) -> type[np.float32] | type[np.float64]:
    """float32 or float64; anything else is refused."""
    for kind in (np.float32, np.float64):
        if np.dtype(dtype) == kind:
            return kind
    raise InputError(f"dtype = {np.dtype(dtype)} is not offered; use float32 or float64.")


def balanced_labels(n_samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Labels 0 and 1, half of the samples each; an odd sample out has label 0."""
    if n_samples < 2:
        raise InputError(f"n_samples = {n_samples} must be at least 2, one of each class.")
    return rng.permutation(np.arange(n_samples) % 2)


def mean_shift(relevance: float) -> float:
    """Difference of the class means, in standard deviations within a class, that gives ρ.

    With equally likely classes a shift of 2ρ/√(1-ρ²) makes Pearson's correlation between the
    feature and the label ρ.
    """
    if not -1.0 < relevance < 1.0:
        raise InputError(
            f"relevance = {relevance} is a correlation with the label; it must lie between "
            "-1 and 1, both excluded."
        )
    return 2.0 * relevance / math.sqrt(1.0 - relevance**2)
