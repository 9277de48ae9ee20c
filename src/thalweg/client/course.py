"""How a model is doing, over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from thalweg.client.reading import read


@dataclass(frozen=True, slots=True)
class Point:
    """How a model stood at one moment.

    Parameters
    ----------
    time : float
        Seconds since 1970.
    labels : int
        Learned by then.
    error, no_change : float or None
        The share of wrong answers of late; of the model, and of repeating the last label.
    rate : float or None
        How eager the model was, where it has a rate.
    memory, half_life : mapping
        By class: the rows it remembers, and after how many rows half of one is forgotten.
    waiting : int
        Rows whose label had not come.
    delay : float or None
        Seconds from a row to its label, of late.
    means : mapping or None
        By class, then by column: where the class's mean stood.

    Examples
    --------
    >>> Point(1.8e9, 20, 0.1, 0.4).error
    0.1
    """

    time: float
    labels: int
    error: float | None
    no_change: float | None
    rate: float | None = None
    memory: Mapping[str, float | None] | None = None
    half_life: Mapping[str, float | None] | None = None
    waiting: int | None = None
    delay: float | None = None
    means: Mapping[str, Mapping[str, float | None]] | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """Some hundred points as columns: each field of `Point` as a list.

    Examples
    --------
    >>> Points(time=[1.8e9, 1.8e9 + 60], labels=[20, 40], error=[0.1, 0.2], no_change=[0.4, 0.4]).error[-1]
    0.2
    """

    time: Sequence[float]
    labels: Sequence[int]
    error: Sequence[float | None]
    no_change: Sequence[float | None]
    rate: Sequence[float | None] | None = None
    memory: Mapping[str, Sequence[float | None]] | None = None
    half_life: Mapping[str, Sequence[float | None]] | None = None
    waiting: Sequence[int] | None = None
    delay: Sequence[float | None] | None = None
    means: Mapping[str, Mapping[str, Sequence[float | None]]] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A moment at which the error changed.

    Examples
    --------
    >>> Change(time=1.8e9, labels=400).labels
    400
    """

    time: float
    labels: int


@dataclass(frozen=True, slots=True)
class Course:
    """How a model has been doing since it was made.

    Parameters
    ----------
    name : str
        The model's.
    rows, labels, waiting : int
        Rows answered, labels learned, rows whose label has not come.
    version : int
        Of the model.
    throughput : float or None
        Rows a second, of late.
    points : Points
        Some hundred moments, as columns.
    changes : tuple of Change
        When the error changed.

    Examples
    --------
    >>> points = {"time": [1.8e9], "labels": [20], "error": [0.1], "no_change": [0.4]}
    >>> course = Course.from_json({"name": "rain", "rows": 30, "labels": 20, "waiting": 10, "version": 20,
    ...                            "throughput": 2.5, "points": points, "changes": []})
    >>> course.points.error
    [0.1]
    """

    name: str
    rows: int
    labels: int
    waiting: int
    version: int
    throughput: float | None
    points: Points
    changes: tuple[Change, ...]

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """As it stands in a reply."""
        changes = tuple(read(Change, change) for change in given["changes"])
        return read(cls, {**given, "points": read(Points, given["points"]), "changes": changes})
