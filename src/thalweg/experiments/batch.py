"""Candidates and what was measured of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from thalweg.experiments.candidates import Candidate, Model
from thalweg.experiments.trial import Measured
from thalweg.rates import Rate

Measurement = TypeVar("Measurement", bound=Measured, covariant=True)


@dataclass(frozen=True)
class Batch(Generic[Measurement]):
    """Candidates and what was measured of them, place by place."""

    candidates: tuple[Candidate, ...]
    measured: Measurement

    def place(self, model: Model, rate: float | Rate | None = None) -> int:
        """Where a model stands, at a rate if it was tried at several."""
        return next(
            place
            for place, candidate in enumerate(self.candidates)
            if candidate.model is model and rate in (None, candidate.rate)
        )

    def errors(self, model: Model) -> dict[float, float]:
        """A model's error at each fixed rate it was tried at."""
        return {
            candidate.rate: self.measured.error(place)
            for place, candidate in enumerate(self.candidates)
            if candidate.model is model and isinstance(candidate.rate, float)
        }
