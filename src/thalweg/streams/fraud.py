"""Card payments of which few are fraud: a rare class, columns that carry nothing, and a fraud that changes its ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thalweg.parameters import NOT_NEGATIVE, POSITIVE, Real, Rules, at_least
from thalweg.streams.stream import ConceptStream, Floats, Labels, Rows, Times, standard_normals

_NUMBERS = ("amount", "distance", "account_age", "payments_today", "declined_today", "device_risk")
MERCHANTS = 300


@dataclass(frozen=True)
class Fraud(ConceptStream):
    """A rare class, late labels in practice, and a sudden change of concept.

    The six numbers of a payment are standard normal and independent. Those of a fraud, label 1, are shifted: along the
    first three numbers up to row ``change``, along the last three from there on. ``time`` counts minutes, one to a row,
    and ``merchant`` is one of 300, both whatever the class.

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
    label_delay : float >= 0
        Minutes after which it is known that a payment was honest: between half and one and a half times as many. With
        more than 0, a last column, ``known_at``, has the minute at which the label of the row comes. It is no feature.
    fraud_delay : positive float
        The label of a fraud takes so many times as long.

    Examples
    --------
    >>> X, y = Fraud(seed=1).take(10_000)
    >>> X.shape, int(y.sum())
    ((10000, 8), 105)
    >>> X, y = Fraud(seed=1, label_delay=60).take(10_000)
    >>> delays = X[:, -1] - X[:, -3]
    >>> float(np.median(delays[y == 0])), float(np.median(delays[y == 1]))
    (60.0, 193.0)
    """

    share: float = 0.01
    shift: float = 2.6
    change: int = 30_000
    length: int = 60_000
    label_delay: float = 0.0
    fraud_delay: float = 3.0

    _rules = Rules(
        **ConceptStream._rules,
        share=Real(0, 1, "neither"),
        shift=POSITIVE,
        change=at_least(0),
        length=at_least(1),
        label_delay=NOT_NEGATIVE,
        fraud_delay=POSITIVE,
    )

    @property
    def uniforms_per_row(self) -> int:
        """The numbers, the merchant and the label."""
        return len(_NUMBERS) + 2

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The numbers that matter, then the clock and the merchant, which do not, and when the label comes."""
        return (*_NUMBERS, "time", "merchant", *(["known_at"] if self.label_delay else []))

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        y: Labels = (uniforms[..., -1] < self.share).astype(np.int64)
        moved = np.arange(len(_NUMBERS)) // 3 == (np.asarray(times)[..., None] >= self.change)
        numbers = standard_normals(uniforms[..., : len(_NUMBERS)]) + self.shift / np.sqrt(3) * moved * y[..., None]
        minute = np.broadcast_to(times, y.shape).astype(np.float64)
        among = uniforms[..., -2] * MERCHANTS
        columns = [minute, np.floor(among)]
        if self.label_delay:  # what the merchant leaves of its number is another one
            delay = self.label_delay * np.where(y == 1, self.fraud_delay, 1.0)
            columns.append(minute + np.round(delay * (0.5 + among - columns[1])))
        return np.concatenate([numbers, np.stack(columns, axis=-1)], axis=-1), y
