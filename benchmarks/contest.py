"""Contestants and how they are timed: one after the other, round after round, each on as many rows as it can take."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

#: What is timed.
Run: TypeAlias = Callable[[], object]


class Unavailable(Exception):
    """A contestant cannot be had here; the message names it and says why. The others go on."""


@dataclass(frozen=True)
class Contestant:
    """One way to get through rows.

    Parameters
    ----------
    operation, model : str
        What is done with a row, and by whom.
    prepare : callable
        Gets a number of rows, sets up a model that has not seen them, and gives the run to be timed.
    most : int
        Rows there are.
    river : bool
        Whether it is one of River's, against which all are measured.
    """

    operation: str
    model: str
    prepare: Callable[[int], Run]
    most: int
    river: bool = False


@dataclass(frozen=True)
class Timing:
    """The seconds that some rows took, once a round."""

    rows: int
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """Rows a second in the best round: other work on the machine only ever slows a round down."""
        return self.rows / min(self.seconds)

    @property
    def spread(self) -> float:
        """How much longer the median round took than the best one, as a share of the best."""
        return statistics.median(self.seconds) / min(self.seconds) - 1


@dataclass(frozen=True)
class Effort:
    """How long to look: the rounds, and about how many seconds a contestant may take in each."""

    rounds: int
    seconds: float


def contest(contestants: Sequence[Contestant], effort: Effort, after_round: Callable[[], None]) -> Iterator[Timing]:
    """The timing of each contestant. Rounds are interleaved, so that a slow spell of the machine hits all alike."""
    rows = [_affordable_rows(contestant, effort.seconds) for contestant in contestants]
    seconds: list[list[float]] = [[] for _ in contestants]
    for _ in range(effort.rounds):
        gc.collect()
        for contestant, count, taken in zip(contestants, rows, seconds, strict=True):
            taken.append(_time(contestant.prepare(count)))
        after_round()
    return (Timing(count, tuple(taken)) for count, taken in zip(rows, seconds, strict=True))


def _affordable_rows(contestant: Contestant, seconds: float) -> int:
    rows = min(64, contestant.most)
    while True:
        taken = _time(contestant.prepare(rows))
        if rows == contestant.most or taken >= seconds / 2:
            return rows
        rows = min(contestant.most, rows * max(2, min(16, int(seconds / taken))))


def _time(run: Run) -> float:
    gc.disable()
    try:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    finally:
        gc.enable()
