r"""Survival targets: events and times, and the log-rank scores that a forest is grown on.

The score of sample i is a_i = δ_i − Λ̂(t_i): its event indicator less the Nelson–Aalen estimate of
the cumulative hazard at its time, Λ̂(t) = Σ d_k / n_k over the event times up to t, with d_k events
among the n_k samples still at risk (`docs/logrank.md`). The sum of the scores of a group of samples
is its observed less its expected number of events, the numerator of the log-rank test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest._util.errors import InputError
from nullforest.data.dense import is_missing

Floats = NDArray[np.float64]
#: A checked survival target.
SURVIVAL = np.dtype([("event", "?"), ("time", "<f8")])

#: Words for an event and for a censored time, as programs write booleans.
_WORDS = {"true": 1.0, "t": 1.0, "1": 1.0, "1.0": 1.0} | dict.fromkeys(
    ("false", "f", "0", "0.0"), 0.0
)
_HOW = (
    "give a structured array of a boolean event and a time, as sksurv.util.Surv makes it, or a "
    "DataFrame with the columns event and time"
)


def survival_of(y: Any, name: str = "y") -> NDArray[Any] | None:
    """Events and times as one structured array; None where y is another kind of target.

    A structured array has two fields, of which one is boolean or which are named event and time;
    so has a DataFrame two columns. `name` stands in the sentences that refuse it.
    """
    columns = _columns(y)
    if columns is None:
        return None
    event, time = columns
    survival = np.empty(np.shape(event), SURVIVAL)
    if survival.ndim != 1:
        raise InputError(f"y must have one axis of samples, not {survival.ndim}; {_HOW}.")
    name = "y" if name == "y" else repr(name)
    survival["event"], survival["time"] = _events(event, name), _times(time, name)
    _check_informative(survival, name)
    return survival


def log_rank_scores(event: Any, time: Any, weight: Floats | None = None) -> Floats:
    """Log-rank score of each sample: event indicator less cumulative hazard, δ − Λ̂(t).

    Tied samples leave the risk set together, after their time, so that tied events have equal
    scores, and a censored sample is at risk in all events at its time. With weights, a sample
    counts as often as its weight says.

    Parameters
    ----------
    event : (S,) bool
        Whether the time is that of an event; otherwise the sample was censored then.
    time : (S,) float
    weight : (S,) float, optional

    Returns
    -------
    (S,) float
        High where the event came early. The scores add to zero, weighted where weights are given.

    Examples
    --------
    >>> log_rank_scores([True, False, True, True], [1.0, 2.0, 3.0, 3.0]).tolist()
    [0.75, -0.25, -0.25, -0.25]
    """
    event, time = np.asarray(event, bool), np.asarray(time, np.float64)
    weight = np.ones(len(time)) if weight is None else weight
    place = np.unique(time, return_inverse=True)[1]
    events = np.bincount(place, weight * event)
    at_risk = np.bincount(place, weight)[::-1].cumsum()[::-1]
    # Where all weights are zero from a time on, nobody is at risk and nothing happens.
    hazard = np.divide(events, at_risk, out=np.zeros(len(events)), where=events > 0)
    return np.asarray(event - hazard.cumsum()[place])


def median_follow_up(survival: NDArray[Any]) -> float:
    """Median follow-up by the reverse Kaplan–Meier estimate: censoring is taken as the event.

    NaN where fewer than half of the samples would have been censored by the last time.
    """
    times, left = kaplan_meier(~survival["event"], survival["time"], event_first=False)
    reached = np.flatnonzero(left <= 0.5 + 1e-12)
    return float(times[reached[0]]) if len(reached) else float("nan")


def kaplan_meier(event: Any, time: Any, *, event_first: bool = True) -> tuple[Floats, Floats]:
    """Kaplan–Meier estimate: the distinct times, and the share that survives each of them.

    Parameters
    ----------
    event : (S,) bool
    time : (S,) float
    event_first : bool
        Samples censored at the time of an event are still at risk then. Otherwise they have left.
    """
    event = np.asarray(event, bool)
    times, place = np.unique(np.asarray(time, np.float64), return_inverse=True)
    events, all_here = np.bincount(place, event), np.bincount(place)
    at_risk = all_here[::-1].cumsum()[::-1] - (0 if event_first else all_here - events)
    share = np.divide(events, at_risk, out=np.zeros(len(times)), where=events > 0)
    return times, np.cumprod(1.0 - share)


def _columns(y: Any) -> tuple[Any, Any] | None:
    """Events and times as y holds them; None where it is no survival target."""
    if (fields := getattr(getattr(y, "dtype", None), "names", None)) is not None:
        chosen = _event_and_time(list(fields), [y.dtype[name].kind == "b" for name in fields])
        if chosen is None:
            raise InputError(
                f"y has the fields {', '.join(fields)}, of which none is known as the event and "
                f"the time; {_HOW}."
            )
        array = np.asarray(y)
        array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
        return array[chosen[0]], array[chosen[1]]
    if not (hasattr(y, "columns") and hasattr(y, "to_numpy")):
        return None
    names = list(y.columns)
    if len(names) != 2 or names[0] == names[1]:
        return None
    boolean = [str(y[name].dtype).casefold() in ("bool", "boolean") for name in names]
    chosen = _event_and_time(names, boolean)
    return None if chosen is None else (y[chosen[0]].to_numpy(), y[chosen[1]].to_numpy())


def _event_and_time(names: list[Any], boolean: list[bool]) -> tuple[Any, Any] | None:
    """Which of two names is the event and which the time, by their names or by their types."""
    if len(names) != 2:
        return None
    folded = [str(name).casefold() for name in names]
    if sorted(folded) == ["event", "time"]:
        return (names[0], names[1]) if folded[0] == "event" else (names[1], names[0])
    if sum(boolean) == 1:
        return (names[0], names[1]) if boolean[0] else (names[1], names[0])
    return None


def _events(event: Any, name: str) -> NDArray[np.bool_]:
    array = np.asarray(event)
    _refuse(is_missing(array), f"The events of {name} have missing values", array)
    if array.dtype.kind in "OUS":
        words = [str(value).strip().casefold() for value in array]
        numbers = np.array([_WORDS.get(word, np.nan) for word in words])
    else:
        numbers = array.astype(np.float64)
    what = f"The events of {name} hold values other than 1 and 0 (event and censored)"
    _refuse(~np.isin(numbers, (0.0, 1.0)), what, array, "recode them")
    return numbers.astype(bool)


def _times(time: Any, name: str) -> Floats:
    array = np.asarray(time)
    _refuse(is_missing(array), f"The times of {name} have missing values", array)
    try:
        if array.dtype.kind in "bcmM":
            raise TypeError
        times = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The times of {name} are no numbers (such as {array[0]!s:.60}); give them in days or "
            "years."
        ) from None
    remedy = "give the last time of observation"
    _refuse(np.isinf(times), f"The times of {name} hold infinite values", array, remedy)
    remedy = "count time from the beginning of the observation"
    _refuse(times < 0, f"The times of {name} hold negative values", array, remedy)
    return times


def _refuse(
    samples: NDArray[np.bool_],
    what: str,
    array: NDArray[Any],
    remedy: str = "fill them in, or drop those samples",
) -> None:
    """Refuse a target for some of its samples, of which the first is named."""
    if samples.any():
        first = int(np.flatnonzero(samples)[0])
        raise InputError(
            f"{what} in {samples.sum()} of {len(samples)} samples (the first is number "
            f"{first + 1}: {array[first]!s:.60}); {remedy}."
        )


def _check_informative(survival: NDArray[Any], name: str) -> None:
    """Refuse a target by which no two samples differ."""
    event, time = survival["event"], survival["time"]
    itself = "so that times tell no order; predict the event itself as classes."
    if len(event) and not event.any():
        raise InputError(
            f"{name} has no event: all samples are censored, so that there is nothing to predict; "
            "give samples with events, or make 1 an event."
        )
    if len(time) > 1 and (time == time[0]).all():
        raise InputError(f"All times of {name} are equal, {itself}")
    if len(time) > 1 and not np.ptp(log_rank_scores(event, time)):
        raise InputError(f"No sample of {name} survives the first event, {itself}")
