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

import math
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from nullforest._util.errors import InputError, check_known
from nullforest.estimators.wrappers.out_of_bag import gain, of_guessing, of_selector
from nullforest.estimators.wrappers.wrapper import SelectorWrapper, SeriesOfFits
from nullforest.nulls.distribution import Ints
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


@dataclass(eq=False, repr=False)
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

    selector: Any = None
    _: KW_ONLY
    stop: Literal["either", "pvalue"] = "either"
    standard_errors: float = 1.0
    spending: Literal["same", "halving"] = "same"
    max_layers: int = 20

    _counted: ClassVar[str] = "Growing layers"

    def _run(self, run: SeriesOfFits) -> None:
        check_known("stop", self.stop, ("either", "pvalue"))
        check_known("spending", self.spending, ("same", "halving"))
        features = np.arange(run.n_features)
        first, fitted = run.select(run.columns(), run.y, 0, **self._changes(run, 0))
        layers = [self._layer(run, features, 0, first, fitted)]
        layer_of = np.zeros(run.n_features, np.int64)
        layer_p = np.full(run.n_features, np.nan)
        while layers[-1].accepted:
            number = len(layers)
            layer_of[layers[-1].features] = number
            layer_p[layers[-1].features] = layers[-1].pvalues
            features = np.flatnonzero(layer_of == 0)
            if number >= self.max_layers or len(features) < 2:
                break
            run.report(number, number + 1)  # one more at least
            layers.append(Layer(**run.step(number, self._step, features)))
        self.layers_ = [layer for layer in layers if layer.accepted]
        self.accounting_ = accounting(layers)
        self._keep(first, layer_of > 0, layer=layer_of, layer_p_value=layer_p)

    def _step(self, run: SeriesOfFits, number: int, features: Ints) -> dict[str, Any]:
        """Another forest on the features that no layer has."""
        answer = run.select(run.columns(features), run.y, number, **self._changes(run, number))
        return asdict(self._layer(run, features, number, *answer))

    def _changes(self, run: SeriesOfFits, number: int) -> dict[str, float]:
        """Settings of the selector that differ in layer `number`."""
        if self.spending == "same":
            return {}
        alpha = getattr(run.selector, "alpha", None)
        if alpha is None:
            raise InputError("spending='halving' needs a selector with a setting alpha.")
        return {"alpha": alpha / 2 ** (number + 1)}

    def _layer(
        self, run: SeriesOfFits, tested: Ints, number: int, selection: Selection, fitted: Any
    ) -> Layer:
        """Test one forest by its p-values and its out-of-bag loss."""
        selected = np.flatnonzero(selection.support)
        selected = selected[np.argsort(selection.pvalues[selected], kind="stable")]
        # Where nothing is selected the loss decides nothing, and no forest is grown for it.
        needed = len(selected) > 0
        oob = of_selector(fitted, run.columns(tested), run.y, run.seed(number), needed=needed)
        better, error = gain(of_guessing(run.y), oob)
        predicts = math.isnan(better) or better > self.standard_errors * error
        alpha = float(selection.alpha)
        # What the error rate bounds: false features among those tested, among those selected, any.
        among = {"fpr": len(tested), "fwer": 1}.get(selection.error, len(selected))
        return Layer(
            features=tested[selected].tolist(),
            counts=selection.counts[selected].tolist(),
            pvalues=selection.pvalues[selected].tolist(),
            n_tested=len(tested),
            alpha=alpha,
            expected_false=alpha * among,
            oob_error=oob.error,
            gain=better,
            gain_se=error,
            accepted=needed and (number == 0 or self.stop == "pvalue" or predicts),
        )


def accounting(layers: list[Layer]) -> pd.DataFrame:
    """Selected features and error rate of each layer, with running sums."""
    frame = pd.DataFrame([asdict(layer) for layer in layers])
    # Every layer that was tested spends its alpha, whether it was accepted or not.
    return pd.DataFrame(
        {
            "layer": np.arange(1, len(layers) + 1),
            "tested": frame["n_tested"],
            "found": [len(layer.features) for layer in layers],
            "alpha": frame["alpha"],
            "alpha_sum": frame["alpha"].cumsum(),
            "expected_false": frame["expected_false"],
            "expected_false_sum": frame["expected_false"].where(frame["accepted"], 0.0).cumsum(),
            **frame[["oob_error", "gain", "gain_se", "accepted"]],
        }
    )
