"""Knock-out: the selected features are removed and another forest is grown, layer by layer.

Relevant features compete for nodes, and the strongest hide the others. So the features that a
forest selects are removed and another forest is grown on the rest, until one selects none, by its
p-values or by its out-of-bag loss (Konukoglu, Ganz et al. 2013). Each forest gives a layer.

**What is guaranteed.** Every layer is a test of its own forest, on features that no layer has
found, and each p-value is used once. Where nothing is relevant the first layer is empty with the
selector's own probability, and the search ends there: with error="fwer" anything is selected with
probability alpha at most. With some relevant features the errors of the layers add up at most:
after L layers the probability of any false feature ("fwer") is at most the sum of their alphas,
and the expected number of false ones ("fpr") the sum of alpha times the features tested; the
table `accounting_` keeps both sums. spending="halving" gives layer l only alpha/2^l, so that the
sum stays below alpha whatever the number of layers.

**What is not.** That sum takes each layer's rate to hold on the features that are left. They are
left because of the same samples: null features with a strong sample association are gone, which
makes the later tests stricter rather than laxer, but it is no theorem. A false discovery rate holds
for each layer, not for their union; the sum of the layers' expected false discoveries, alpha times
the number that each selects, is kept too. The out-of-bag loss ends the search and supports no
claim.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from nullforest._util.errors import InputError, check_known
from nullforest.estimators.arguments import keep_arguments
from nullforest.estimators.wrappers.out_of_bag import gain, of_guessing, of_selector
from nullforest.estimators.wrappers.wrapper import Fitted, Ints, Run, SelectorWrapper
from nullforest.selection.selection import Selection


@dataclass(frozen=True)
class Layer:
    """Selected features of one forest, and its share of the error rate.

    Attributes
    ----------
    features : list of int
        Selected columns of the data, the most significant first.
    counts, pvalues : list
        Their selection frequencies and p-values in this layer's forest.
    n_tested : int
        Features that the forest was grown on.
    alpha : float
        Error rate that the layer was held to.
    expected_false : float
        Bound on the expected number of false features that this layer adds: alpha times the
        features tested ("fpr"), alpha times the features found ("fdr"), or alpha, the bound on
        the probability of any ("fwer").
    oob_error : float
        Share of wrong labels, or mean squared error, of the layer's forest.
    gain, gain_se : float
        How much smaller its out-of-bag loss is than that of guessing, and the standard error.
    accepted : bool
        Whether the layer counts: it selected a feature, and predicts better than guessing.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=5, relevance=0.6)
    >>> first = nf.wrappers.KnockOut(nf.ForestSelector(trees=300)).fit(X, y).layers_[0]
    >>> first.n_tested, first.accepted
    (300, True)
    """

    features: list[int]
    counts: list[int]
    pvalues: list[float]
    n_tested: int
    alpha: float
    expected_false: float
    oob_error: float
    gain: float
    gain_se: float
    accepted: bool


class KnockOut(SelectorWrapper):
    """Select features layer by layer: remove the selected ones, grow again.

    The text of :mod:`nullforest.estimators.wrappers.knockout` states what is guaranteed.

    Parameters
    ----------
    stop : {"either", "pvalue"}, default "either"
        End when a forest finds nothing by p-value, or also when it predicts no better than
        guessing. The first layer needs p-values alone, so that it is the answer of one forest.
        With error="fpr" some null feature always passes: "pvalue" would never end.
    standard_errors : float, default 1
        A forest predicts better than guessing when its out-of-bag loss is smaller by more than
        this many standard errors.
    spending : {"same", "halving"}, default "same"
        Each layer at the selector's alpha, or at alpha/2, alpha/4, …, whose sum stays below
        alpha.
    max_layers : int, default 20
        Most layers.
    selector, min_features, random_state, resume, progress
        As in :class:`StabilitySelection`; the first forest is that of the selector alone with this
        seed (and the same alpha).

    Attributes
    ----------
    support_ : (F,) bool
        Features of all accepted layers.
    layers_ : list of Layer
        The accepted layers, in order.
    accounting_ : DataFrame
        One row per forest, the last one included: layer, tested, found, alpha, alpha_sum,
        expected_false, expected_false_sum, oob_error, gain, gain_se, accepted.
    selection_ : Selection
        Selection of the first forest.
    table_ : DataFrame
        All features: count and p_value of the first forest, layer (0 for those not found),
        layer_p_value (NaN for those), selected.

    Examples
    --------
    >>> import nullforest as nf
    >>> X, y, relevant = nf.simulate.independent(100, 300, n_relevant=10, relevance=0.5)
    >>> one = nf.ForestSelector(trees=300)
    >>> layers = nf.wrappers.KnockOut(one).fit(X, y)
    >>> bool(layers.support_.sum() >= one.fit(X, y).get_support().sum())
    True
    """

    _counted = "Growing layers"

    def __init__(
        self,
        selector: Any = None,
        *,
        stop: Literal["either", "pvalue"] = "either",
        standard_errors: float = 1.0,
        spending: Literal["same", "halving"] = "same",
        max_layers: int = 20,
        min_features: int | None = None,
        random_state: Any = 0,
        resume: Any = None,
        progress: bool = True,
    ) -> None:
        keep_arguments(self, locals())

    def _run(self, run: Run) -> None:
        check_known("stop", self.stop, ("either", "pvalue"))
        check_known("spending", self.spending, ("same", "halving"))
        changes = self._changes(run, 0)
        fitted = run.select(run.columns(), run.y, 0, **changes)
        layers = [self._layer(run, np.arange(run.n_features), 0, fitted)]
        found = np.zeros(run.n_features, bool)
        while layers[-1].accepted:
            found[layers[-1].features] = True
            number = len(layers)
            rest = np.flatnonzero(~found)
            if number >= self.max_layers or len(rest) < 2:
                break
            run.report(number, number + 1)  # one more at least
            if number > len(run.checkpoint.steps):
                again = run.select(run.columns(rest), run.y, number, **self._changes(run, number))
                run.checkpoint.add(asdict(self._layer(run, rest, number, again)))
            layers.append(Layer(**run.checkpoint.steps[number - 1]))
        self.layers_ = [layer for layer in layers if layer.accepted]
        self.accounting_ = accounting(layers)
        layer_of = np.zeros(run.n_features, np.int64)
        layer_p = np.full(run.n_features, np.nan)
        for number, layer in enumerate(self.layers_, start=1):
            layer_of[layer.features] = number
            layer_p[layer.features] = layer.pvalues
        self._keep(fitted.selection, found, layer=layer_of, layer_p_value=layer_p)

    def _changes(self, run: Run, number: int) -> dict[str, float]:
        """Settings of the selector that differ in layer `number`."""
        if self.spending == "same":
            return {}
        alpha = getattr(run.selector, "alpha", None)
        if alpha is None:
            raise InputError("spending='halving' needs a selector with a setting alpha.")
        return {"alpha": alpha / 2 ** (number + 1)}

    def _layer(self, run: Run, tested: Ints, number: int, fitted: Fitted) -> Layer:
        """Test one forest by its p-values and its out-of-bag loss."""
        selection = fitted.selection
        here = np.flatnonzero(selection.support)
        here = here[np.argsort(selection.pvalues[here], kind="stable")]
        # Where nothing was found the loss decides nothing, and no forest is grown for it.
        oob = of_selector(
            fitted.selector, run.columns(tested), run.y, run.seed(number), needed=len(here) > 0
        )
        better, error = (np.nan, np.nan) if oob is None else gain(of_guessing(run.y), oob)
        predicts = np.isnan(better) or better > self.standard_errors * error
        accepted = len(here) > 0 and (number == 0 or self.stop == "pvalue" or bool(predicts))
        return Layer(
            features=tested[here].tolist(),
            counts=selection.counts[here].tolist(),
            pvalues=selection.pvalues[here].tolist(),
            n_tested=len(tested),
            alpha=float(selection.alpha),
            expected_false=_expected_false(selection),
            oob_error=float("nan") if oob is None else oob.error,
            gain=float(better),
            gain_se=float(error),
            accepted=accepted,
        )


def _expected_false(selection: Selection) -> float:
    """Bound on the expected number of false features, from the error rate."""
    if selection.error == "fpr":
        return selection.alpha * len(selection.support)
    if selection.error == "fwer":
        return selection.alpha
    return selection.alpha * selection.n_selected


def accounting(layers: list[Layer]) -> pd.DataFrame:
    """Selected features and error rate of each layer, with running sums."""
    rows = []
    alpha = expected = 0.0
    for number, layer in enumerate(layers, start=1):
        # Every layer that was tested counts, whether it was accepted or not.
        alpha += layer.alpha
        expected += layer.expected_false if layer.accepted else 0.0
        rows.append(
            {
                "layer": number,
                "tested": layer.n_tested,
                "found": len(layer.features),
                "alpha": layer.alpha,
                "alpha_sum": alpha,
                "expected_false": layer.expected_false,
                "expected_false_sum": expected,
                "oob_error": layer.oob_error,
                "gain": layer.gain,
                "gain_se": layer.gain_se,
                "accepted": layer.accepted,
            }
        )
    return pd.DataFrame(rows)
