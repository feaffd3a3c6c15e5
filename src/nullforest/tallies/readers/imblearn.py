"""Tallies of imbalanced-learn's BalancedRandomForestClassifier.

Each tree is grown on a sample of every class, drawn with or without replacement; candidates are
drawn at each node. The trees hold repeated samples as separate rows, so that multiplicities follow
from the draw: a sample of a class of which n of N were drawn with replacement has (n−1)/N further
copies on average. The numbers N come from the rows that the samplers of all trees drew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.tallies.nodes import Floats, class_distances, needs_samples, repeated_squares
from nullforest.tallies.readers.sklearn import check_fitted, class_shares, tally_of_trees
from nullforest.tallies.tally import Tally

#: Share of the rows up to the last one that some tree must have drawn: then the last row drawn is
#: the last one of the data, or off by a few.
_ENOUGH = 0.95


def read(forest: Any, n_samples: int | None) -> Tally:
    """Take the tally of a fitted balanced random forest."""
    name = type(forest).__name__
    if not hasattr(forest, "n_estimators") or not hasattr(type(forest), "apply"):
        raise InputError(
            f"nullforest cannot take the tally of a {name}: of imbalanced-learn's models it reads "
            "BalancedRandomForestClassifier. Fit one, or use nf.grow(X, y)."
        )
    check_fitted(forest)
    if forest.n_outputs_ != 1:
        raise InputError(f"This {name} has {forest.n_outputs_} targets; fit one forest for each.")
    class_sizes, of_class = _drawn(forest)
    seen = len(of_class) / (max(of_class) + 1)
    n_samples = needs_samples(n_samples, max(of_class) + 1 if seen >= _ENOUGH else None)
    members = np.bincount(list(of_class.values()), minlength=len(class_sizes)).astype(float)
    # Most of the rows that no tree drew are of the class with the smallest share drawn.
    members[np.argmax(members / class_sizes)] += n_samples - members.sum()
    copies = np.where(forest.replacement, np.maximum(class_sizes - 1, 0) / members, 0.0)
    if forest.bootstrap:
        copies = copies + 1.0

    def squares(tree: Any, variance: Floats) -> Floats:
        share = class_shares(tree)
        weight = share * tree.tree_.weighted_n_node_samples[:, None, None]
        return np.asarray(
            (repeated_squares(weight, copies) * class_distances(share)).sum(axis=2)[:, 0]
        )

    return tally_of_trees(
        forest,
        n_samples,
        source=f"imbalanced-learn {name}",
        squares=squares,
        total=n_samples * float(1 - ((members / n_samples) ** 2).sum()),
    )


def _drawn(forest: Any) -> tuple[NDArray[np.float64], dict[int, int]]:
    """Rows drawn of each class for a tree, and the class of every row that was drawn.

    A sampler draws class by class, in their order; classes that it does not sample are whole.
    """
    of_class: dict[int, int] = {}
    roots = [class_shares(tree)[0, 0] for tree in forest.estimators_]
    length = len(forest.samplers_[0].sample_indices_)
    sizes = np.round(np.mean(roots, axis=0) * length).astype(int)
    for number, size in forest.samplers_[0].sampling_strategy_.items():
        sizes[int(number)] = size
    classes = np.repeat(np.arange(len(sizes)), sizes)[:length]
    for sampler in forest.samplers_:
        of_class.update(zip(sampler.sample_indices_.tolist(), classes.tolist(), strict=False))
    return sizes.astype(float), of_class
