"""SEA concepts: a threshold on the sum of two features that jumps, under noisy labels (Street & Kim 2001)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.parameters import Real, Rule, Rules, at_least, real_number
from thalweg.streams.concept import NoisyRuleStream, Times
from thalweg.streams.stream import Floats, Labels, Rows


@dataclass(frozen=True)
class SEA(NoisyRuleStream):
    """Abrupt drift under noise, as in Karnick, Muhlbaier & Polikar 2008, section 3.

    Rows are uniform in [0, 10]³. Class 1 is where x1 + x2 >= θ; the third feature says nothing. θ takes the values of
    ``thresholds`` in turn, each for ``rows_per_concept`` rows; then the first returns. A share ``noise`` of the labels
    is turned round. `clean` is the same stream without that, for test sets. `load_sea_concepts` reads the rows that
    the authors published, with the two classes' names exchanged.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.
    thresholds : tuple of float
        The θ of each concept. The paper's are 8, 9, 7 and 9.5.
    noise : float in [0, 1/2]
        The chance of a label to be turned round, which is also the Bayes error.
    rows_per_concept : int >= 1
        How long a concept lasts. The paper's protocol is 4 × 12,500 rows, in blocks of 250.

    Examples
    --------
    >>> stream = SEA(seed=1)
    >>> stream.concept(0).label([[4.0, 4.5, 0.0]]), stream.concept(12_500).label([[4.0, 4.5, 0.0]])
    (array([1]), array([0]))
    >>> stream.length, stream.concept(0).bayes_error, stream.clean.concept(0).bayes_error
    (50000, 0.1, 0.0)
    """

    uniforms_per_row: ClassVar[int] = 4

    thresholds: tuple[float, ...] = (8.0, 9.0, 7.0, 9.5)
    noise: float = 0.1
    rows_per_concept: int = 12_500

    _rules = Rules(
        **NoisyRuleStream._rules,
        thresholds=Rule("be a tuple of at least one number", lambda value: isinstance(value, tuple) and len(value) > 0),
        noise=Real(),
        rows_per_concept=at_least(1),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for threshold in self.thresholds:
            real_number("SEA", "thresholds", threshold)
        if not 0.0 <= self.noise <= 0.5:
            raise InvalidParameter.of("SEA", "noise", "lie in [0, 1/2]", self.noise)

    @property
    def length(self) -> int:
        """Rows in which every concept occurs once."""
        return len(self.thresholds) * self.rows_per_concept

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The two that are summed, and one that says nothing."""
        return "x1", "x2", "x3"

    @property
    def classes(self) -> Labels:
        """0 and 1 (the sum reaches the threshold)."""
        return np.array([0, 1])

    def bayes_error_at(self, time: int) -> float:
        """The share of labels turned round, at every time."""
        return float(self.noise)

    def features_from(self, uniforms: Floats) -> Floats:
        """Points of [0, 10]³."""
        return 10.0 * uniforms[..., :3]

    def label_at(self, times: Times, X: Floats) -> Labels:
        """1 where the sum reaches the threshold in force."""
        threshold = np.asarray(self.thresholds)[times // self.rows_per_concept % len(self.thresholds)]
        y: Labels = (X[..., 0] + X[..., 1] >= threshold).astype(np.int64)
        return y

    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """Some labels turned round."""
        return X, np.where(uniforms[..., 3] < self.noise, 1 - y, y)
