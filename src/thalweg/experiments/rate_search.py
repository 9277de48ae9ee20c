"""The best fixed rate, as the paper finds it: a coarse grid, then every hundredth around the best."""

from __future__ import annotations

from collections.abc import Collection, Mapping

COARSE = (0.01, *(round(0.05 * step, 2) for step in range(1, 20)), 0.99)


def refined(errors: Mapping[float, float]) -> list[float]:
    """The hundredths between the neighbours of the best rate that have not been tried.

    Examples
    --------
    >>> refined({0.90: 0.20, 0.95: 0.10, 0.99: 0.30})
    [0.91, 0.92, 0.93, 0.94, 0.96, 0.97, 0.98]
    """
    tried = sorted(errors)
    place = tried.index(best(errors))
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
    hundredths = (step / 100 for step in range(round(low * 100), round(high * 100) + 1))
    return [rate for rate in hundredths if not _holds(tried, rate)]


def best(errors: Mapping[float, float]) -> float:
    """The rate of least error; of equals the smallest.

    Examples
    --------
    >>> best({0.5: 0.2, 0.4: 0.2, 0.3: 0.25})
    0.4
    """
    return min(errors, key=lambda rate: (errors[rate], rate))


def _holds(rates: Collection[float], rate: float) -> bool:
    return any(abs(rate - other) < 1e-9 for other in rates)
