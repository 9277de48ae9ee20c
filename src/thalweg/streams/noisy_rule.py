"""Generated streams that know the right label of every point but draw their rows with noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from thalweg.streams.concept import RuleStream, Times
from thalweg.streams.stream import Floats, Labels, Rows


@dataclass(frozen=True)
class NoisyRuleStream(RuleStream):
    """A rule stream with noise in what is drawn: in the features, or in the labels.

    Examples
    --------
    >>> from thalweg.streams import SEA
    >>> stream = SEA(seed=1, noise=0.1)
    >>> isinstance(stream, NoisyRuleStream), stream.clean.noise
    (True, 0.0)
    """

    @property
    @abstractmethod
    def noise(self) -> float:
        """How much of it; 0 is none at all."""

    @abstractmethod
    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """Points X with their right labels y, as they are drawn; made of the numbers that the features leave over."""

    @property
    def clean(self) -> Self:
        """The same points without noise, under their right labels: what test sets are drawn from."""
        twin: Self = replace(cast(Any, self), noise=0.0)  # a field of every subclass, of which the type is not told
        return twin

    def bayes_error_at(self, time: int) -> float | None:
        """Zero without noise; with it, none unless the stream has a formula."""
        return 0.0 if self.noise == 0 else None

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        X, y = super().rows_from(times, uniforms)
        return self.blurred(X, y, uniforms)
