"""The bank of forgetting rates that `OnlineLDC` and `AutoClassifier` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats

#: Memories of about 3,333, 1,000, 333, 100, 33, 10 and 3 rows.
BANK_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
#: Share of a feature's variance that is added to the covariance, so that no memory is too short for it.
BANK_RIDGE = 1e-3
#: How losses of the rates fade, and how strongly they count: weights exp(-sharpness L), L <- discount L + [mistake].
BANK_DISCOUNT, BANK_SHARPNESS = 0.995, 0.5
#: A member with at least this rate starts without a loss.
_EAGER = 0.1


def prior_losses(rates: Sequence[float], sharpness: float) -> list[float]:
    """The loss that members with these rates start with, in mistakes; it fades like all others.

    The prior weight of a member is proportional to its rate. All slow members predict the same at first, and
    without this they would outvote the quick ones for as long after the first drift as a young stream has lasted.

    Examples
    --------
    >>> [round(each, 1) for each in prior_losses([0.001, 0.01, 0.1, 0.3], sharpness=0.5)]
    [9.2, 4.6, 0.0, 0.0]
    """
    return [float(np.log(max(1.0, _EAGER / rate)) / sharpness) for rate in rates]


def remembered_rows(state: Mapping[str, NDArray[Any]], shares: Floats, name: str = "") -> Floats:
    """How many rows of each class a bank remembers, by the shares of its rates; ``name`` is the bank's in the state."""
    rates = np.maximum(BANK_RATES, 1.0 / (state[f"{name}rows"][0] + 1.0))
    return np.asarray(state[f"{name}counts"][:, : len(rates)] / rates @ (shares / shares.sum()))


def remembered_means(state: Mapping[str, NDArray[Any]], shares: Floats, name: str = "") -> Floats:
    """The mean of each class by the shares of a bank's rates, in the units of the rows before they were scaled."""
    shares = shares[: len(BANK_RATES)]
    means = state[f"{name}means"]
    by_rate = means.reshape(len(means), -1, 8)[:, :, : len(BANK_RATES)]  # lanes of eight, of which one is idle
    deviations = np.sqrt(state["scaler_variance"])
    return np.asarray(by_rate @ (shares / shares.sum()) * deviations + state["scaler_mean"])
