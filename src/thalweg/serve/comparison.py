r"""Champion against challenger: an interval for the difference of their errors that may be looked at after every label.

Let x_i, in [-1/2, 1/2], be half the difference of the two mistakes at label i, and x̂_i a guess made before it. For
every λ in [0, 1) the product of

    exp(λ (x_i − E_i) − (x_i − x̂_i)² (−log(1 − λ) − λ))                                   (1)

over the labels is at most 1 in expectation, whatever the labels do, E_i being the expected x_i given all before it
(Fan, Grama and Liu 2015; Howard, Ramdas, McAuliffe and Sekhon 2021, theorem 4). So is a weighted mean of such products
over many λ. By Ville's inequality it exceeds 2/α at any time with a chance of α/2 at most; the sums for which it does
not are an interval for the mean of the E_i so far, at every label at once. Errors may drift: the mean is of what was.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
#: A grid of λ, from the eager to the patient, with the same weight each.
_LAMBDAS = 0.9 * 2.0 ** (-np.arange(24) / 2)
_PRICES = -np.log1p(-_LAMBDAS) - _LAMBDAS
#: Fewer labels than this decide nothing, whatever the interval says.
LEAST_LABELS = 100


class Comparison:
    """The mistakes of two models on the same rows.

    Parameters
    ----------
    since : int
        Only rows that were asked after this record are compared: both models answered them in the roles they have now.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> compared = Comparison()
    >>> compared.add(rng.random(4000) < 0.30, rng.random(4000) < 0.20)
    >>> low, high = compared.interval()
    >>> print(f"{compared.difference:.2f}, between {low:.2f} and {high:.2f}")
    0.11, between 0.08 and 0.15
    """

    def __init__(self, since: int = 0) -> None:
        self.since = since
        self.labels = 0
        self._sum = 0  # of the differences, in whole mistakes
        self._spread = 0.0  # the sum of (x_i − x̂_i)²

    def add(self, champion: NDArray[np.bool_], challenger: NDArray[np.bool_]) -> None:
        """Take in whether each of the two was wrong, label by label."""
        if len(champion) == 0:
            return
        differences = champion.astype(np.int64) - challenger
        sums = self._sum + np.concatenate([[0], np.cumsum(differences)])
        # The guess is the mean so far, drawn towards 0 by one label.
        guesses = sums[:-1] / (2.0 * np.arange(self.labels + 1, self.labels + 1 + len(differences)))
        spreads = np.square(differences / 2.0 - guesses)
        # cumsum adds one by one, so that it does not matter how the labels came
        self._spread = float(np.cumsum(np.concatenate([[self._spread], spreads]))[-1])
        self._sum = int(sums[-1])
        self.labels += len(differences)

    @property
    def difference(self) -> float | None:
        """The champion's error less the challenger's."""
        return self._sum / self.labels if self.labels else None

    def interval(self) -> tuple[float, float] | None:
        """Where the mean difference is, at `LEVEL`, however often one looks."""
        if self.labels == 0:
            return None
        half = 2.0 * self._deviation() / self.labels
        centre = self._sum / self.labels
        return max(-1.0, centre - half), min(1.0, centre + half)

    def _deviation(self) -> float:
        """The largest s for which the mean of exp(λ s − ψ(λ) V) is at most 2/α: ours, by halving."""
        limit = math.log(2.0 / (1.0 - LEVEL))
        low, high = 0.0, float(self.labels) + limit / _LAMBDAS[0] + 1.0
        for _ in range(60):
            middle = (low + high) / 2
            exponents = _LAMBDAS * middle - _PRICES * self._spread
            top = float(exponents.max())
            mean = top + math.log(float(np.exp(exponents - top).mean()))
            low, high = (middle, high) if mean <= limit else (low, middle)
        return float(high)

    def winner(self) -> str | None:
        """Which of the two is better beyond doubt, "champion" or "challenger"; None while it is open."""
        found = self.interval()
        if found is None or self.labels < LEAST_LABELS or found[0] <= 0.0 <= found[1]:
            return None
        return "challenger" if found[0] > 0.0 else "champion"

    def state(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"since": self.since, "labels": self.labels, "sum": self._sum, "spread": self._spread}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Comparison:
        """Back from `state`."""
        compared = cls(state["since"])
        compared.labels, compared._sum, compared._spread = state["labels"], state["sum"], state["spread"]
        return compared
