"""Card payments of which few are fraud: a rare class, columns that carry nothing, and a fraud that changes its ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.parameters import POSITIVE, Real, Rules, at_least
from thalweg.streams.concept import ConceptStream, Times
from thalweg.streams.stream import Floats, Labels, Rows, standard_normals

_NUMBERS = ("amount", "distance", "account_age", "payments_today", "declined_today", "device_risk")
MERCHANTS = 300


@dataclass(frozen=True)
class Fraud(ConceptStream):
    """A rare class, late labels in practice, and a sudden change of concept.

    The six numbers of a payment are standard normal and independent. Those of a fraud are shifted: along the first
    three numbers up to row ``change``, along the last three from there on. ``time`` counts minutes, one to a row, and
    ``merchant`` is one of 300, both whatever the class.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    share : float in (0, 1)
        Share of the payments that are fraud.
    shift : positive float
        Distance between the means of the classes, in standard deviations.
    change : int >= 0
        Row at which the concept changes.
    length : int >= 1
        Rows of the protocol. The stream itself is endless.

    Examples
    --------
    >>> X, y = Fraud(seed=1).take(10_000)
    >>> X.shape, int(y.sum())
    ((10000, 8), 105)
    """

    share: float = 0.01
    shift: float = 2.6
    change: int = 30_000
    length: int = 60_000

    _rules = Rules(
        **ConceptStream._rules,
        share=Real(0, 1, "neither"),
        shift=POSITIVE,
        change=at_least(0),
        length=at_least(1),
    )

    @property
    def uniforms_per_row(self) -> int:
        """The numbers, the merchant and the label."""
        return len(_NUMBERS) + 2

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The numbers that matter, then the clock and the merchant, which do not."""
        return (*_NUMBERS, "time", "merchant")

    @property
    def classes(self) -> Labels:
        """0 (honest) and 1 (fraud)."""
        return np.array([0, 1])

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        y: Labels = (uniforms[..., -1] < self.share).astype(np.int64)
        moved = np.arange(len(_NUMBERS)) // 3 == (np.asarray(times)[..., None] >= self.change)
        numbers = standard_normals(uniforms[..., : len(_NUMBERS)]) + self.shift / np.sqrt(3) * moved * y[..., None]
        minute = np.broadcast_to(times, y.shape).astype(np.float64)
        merchant = np.floor(uniforms[..., -2] * MERCHANTS)
        return np.concatenate([numbers, minute[..., None], merchant[..., None]], axis=-1), y
