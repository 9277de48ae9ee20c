"""Scores over time in constant memory: over all rows, over the last rows, or fading, and the curves they give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate.averages import CumulativeMean, FadingMean, RunningMean, WindowedMean, push_in_pieces
from thalweg.evaluate.metrics import (
    Means,
    brier,
    error,
    kappa,
    kappa_temporal,
    log_loss,
    means_of,
    row_statistics,
)
from thalweg.evaluate.record import Codes, Floats, Record
from thalweg.parameters import whole_number


@dataclass(frozen=True)
class Cumulative:
    """All rows so far, each with the same weight.

    Examples
    --------
    >>> running = Cumulative().begin()
    >>> running.push(np.array([[5.0], [1.0], [3.0]]))
    >>> running.mean()
    array([3.])
    """

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return CumulativeMean()


@dataclass(frozen=True)
class Windowed:
    """The last ``rows`` rows (all, while there are fewer).

    Examples
    --------
    >>> running = Windowed(2).begin()
    >>> running.push(np.array([[5.0], [1.0], [2.0]]))
    >>> running.mean()
    array([1.5])
    """

    rows: int = 1000

    def __post_init__(self) -> None:
        whole_number("Windowed", "rows", self.rows, least=1)

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return WindowedMean(self.rows)


@dataclass(frozen=True)
class Fading:
    """Weights that fade by ``factor`` with every further row; memory is about 1 / (1 - factor) rows.

    Examples
    --------
    >>> running = Fading(0.5).begin()
    >>> running.push(np.array([[0.0], [3.0]]))
    >>> running.mean()
    array([2.])
    """

    factor: float = 0.999

    def __post_init__(self) -> None:
        factor: object = self.factor
        if isinstance(factor, bool) or not isinstance(factor, Real) or not 0.0 < float(factor) < 1.0:
            raise InvalidParameter.of("Fading", "factor", "lie in (0, 1)", factor)

    def begin(self) -> RunningMean:
        """An empty running mean."""
        return FadingMean(self.factor)


Average: TypeAlias = Cumulative | Windowed | Fading


Value = TypeVar("Value")


class Scores(NamedTuple, Generic[Value]):
    """Every metric of one model: numbers in a summary, arrays over time in a curve.

    The last two are None for a predictor without probabilities.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.streams import Table
    >>> summary = summarise(prequential(NoChange(), Table([[0.0]] * 4, ["a", "a", "b", "b"])))
    >>> round(summary.model.error, 2), summary.no_change.log_loss
    (0.33, None)
    """

    error: Value
    kappa: Value
    kappa_temporal: Value
    log_loss: Value | None
    brier: Value | None


class Summary(NamedTuple):
    """Scores at the end of a stream, the baselines alongside.

    Of the ``rows``, the first ``unpredicted`` came before any label was known: they have no prediction, and no score
    counts them.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.streams import Stagger
    >>> summary = summarise(prequential(OnlineLDC(0.9), Stagger(seed=1)))
    >>> summary.rows, summary.unpredicted, summary.rate, summary.model.error < summary.majority.error
    (120, 1, 0.9, True)
    """

    rows: int
    model: Scores[float]
    no_change: Scores[float]
    majority: Scores[float]
    rate: float | None
    unpredicted: int


class Curve(NamedTuple):
    """Scores over time, the baselines alongside; ``rows`` is how many rows had been seen at each point.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import curve, prequential
    >>> from thalweg.streams import Stagger
    >>> over_time = curve(prequential(OnlineLDC(0.9), Stagger(seed=1)), every=40)
    >>> over_time.rows.tolist(), over_time.model.error.shape
    ([40, 80, 120], (3,))
    """

    rows: Codes
    model: Scores[Floats]
    no_change: Scores[Floats]
    majority: Scores[Floats]
    rate: Floats | None


def no_rows(what: str) -> InvalidInput:
    """The error for records without a row: most likely an iterator that was read before."""
    return InvalidInput(
        f"A {what} must be of at least one row, got none: records can be read once, list(records) as often as you like."
    )


class Meter:
    """Keeps the scores of a stream of records up to date, in constant memory.

    Parameters
    ----------
    average : Cumulative, Windowed or Fading
        Over which rows, and with which weights.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> meter = Meter()
    >>> for record in prequential(NoChange(), Table([[0.0]] * 4, ["a", "a", "b", "b"]), chunk=2):
    ...     meter.update(record)
    >>> round(meter.summary().model.error, 2)  # of three rows: nothing was known before the first
    0.33
    """

    def __init__(self, average: Average | None = None) -> None:
        self._running = (Cumulative() if average is None else average).begin()
        self._with_proba = False
        self._rate: float | None = None
        self._rows = self._unpredicted = 0

    def update(self, record: Record) -> None:
        """Take in a record."""
        for _ in self._update_in_pieces(record, len(record)):
            pass

    def summary(self) -> Summary:
        """The scores now."""
        if self._rows == 0:
            raise no_rows("summary")
        if self._rows == self._unpredicted:
            raise InvalidInput(
                f"All {self._rows:,} rows came before the first label was known: there is nothing to score."
            )
        model, no_change, majority = means_of(self._running.mean(), with_proba=self._with_proba)
        return Summary(self._rows, _scores(model), _scores(no_change), _scores(majority), self._rate, self._unpredicted)

    def update_every(self, record: Record, every: int) -> Iterator[Summary]:
        """Take in a record, with a summary whenever the rows seen reach a multiple of ``every``."""
        for seen in self._update_in_pieces(record, every):
            if seen % every == 0:
                yield self.summary()

    def _update_in_pieces(self, record: Record, every: int) -> Iterator[int]:
        self._with_proba = record.proba is not None
        self._unpredicted += record.unpredicted
        self._rows += record.unpredicted  # they come first
        record, before = record.predicted(), self._rows
        for seen in push_in_pieces(self._running, row_statistics(record), before, every):
            self._rows = seen
            if record.rate is not None:
                self._rate = float(record.rate[seen - before - 1])
            yield seen


def summarise(records: Iterable[Record], average: Average | None = None) -> Summary:
    """Final scores of the model and of both baselines, over all rows unless an average says otherwise.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import Windowed, prequential
    >>> from thalweg.streams import Table
    >>> stream = Table([[0.0]] * 4, ["a", "a", "b", "b"])
    >>> round(summarise(prequential(NoChange(), stream)).model.error, 2)
    0.33
    >>> summarise(prequential(NoChange(), stream), Windowed(1)).model.error
    0.0
    """
    meter = Meter(average)
    for record in records:
        meter.update(record)
    return meter.summary()


def curve(records: Iterable[Record], *, every: int = 100, average: Average | None = None) -> Curve:
    """Scores after every ``every`` rows and at the end, by default of the last 1,000 rows each.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> stream = Table([[0.0]] * 5, ["a", "a", "b", "b", "b"])
    >>> over_time = curve(prequential(NoChange(), stream), every=2)
    >>> over_time.rows.tolist(), over_time.model.error.tolist()
    ([2, 4, 5], [0.0, 0.3333333333333333, 0.25])
    """
    every = whole_number("curve", "every", every, least=1)
    meter = Meter(Windowed(1000) if average is None else average)
    points = [point for record in records for point in meter.update_every(record, every)]
    last = meter.summary()
    if last.rows % every:
        points.append(last)
    rates = None if last.rate is None else np.array([point.rate for point in points], dtype=np.float64)
    return Curve(
        np.array([point.rows for point in points]),
        _over_time([point.model for point in points]),
        _over_time([point.no_change for point in points]),
        _over_time([point.majority for point in points]),
        rates,
    )


def cumulative_accuracy(records: Iterable[Record]) -> Floats:
    """The share of rows predicted correctly so far, after each row.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.evaluate import prequential
    >>> from thalweg.streams import Table
    >>> cumulative_accuracy(prequential(NoChange(), Table([[0.0]] * 4, ["a", "a", "b", "b"]))).tolist()
    [0.0, 0.5, 0.3333333333333333, 0.5]
    """
    mistakes = np.concatenate([np.zeros(0, dtype=bool), *(record.mistakes for record in records)])
    return np.asarray(np.cumsum(~mistakes) / np.arange(1, len(mistakes) + 1))


def _scores(means: Means) -> Scores[float]:
    return Scores(error(means), kappa(means), kappa_temporal(means), log_loss(means), brier(means))


def _over_time(points: list[Scores[float]]) -> Scores[Floats]:
    columns: list[Any] = [None if None in column else np.array(column) for column in zip(*points, strict=True)]
    return Scores(*columns)
