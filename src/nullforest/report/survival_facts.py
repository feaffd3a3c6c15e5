"""Facts about a survival target, and how the methods paragraph names what was analysed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nullforest.data.survival_times import median_follow_up

LOG_RANK_SCORES = (
    "Hothorn T, Lausen B. On the exact distribution of maximally selected rank statistics. "
    "Computational Statistics & Data Analysis 43, 121–137 (2003)."
)
EVENTS, FOLLOW_UP = "events", "median follow-up (reverse Kaplan–Meier)"


def survival_facts(survival: NDArray[Any]) -> dict[str, Any]:
    """Number of events and median follow-up, by their labels in the report.

    Examples
    --------
    >>> import nullforest as nf
    >>> survival_facts(nf.simulate.survival(100, 2, 0, censoring=0.7)[1])
    {'events': '24 of 100 samples', 'median follow-up (reverse Kaplan–Meier)': '0.3312'}
    """
    median = median_follow_up(survival)
    return {
        EVENTS: f"{int(survival['event'].sum())} of {len(survival)} samples",
        FOLLOW_UP: "not reached" if np.isnan(median) else f"{median:.4g}",
    }


def survival_sentence(run: Mapping[str, Any]) -> str:
    """What the forest was grown on, for the methods paragraph."""
    known = ""
    if EVENTS in run:
        known = f" ({run[EVENTS]} had an event; median follow-up: {run[FOLLOW_UP]})"
    return (
        f" The target was the time to an event or to censoring{known}; the forest was grown on "
        "its log-rank scores (Hothorn and Lausen, 2003), by the decrease of their variance."
    )
