"""Contestants and how they are timed: one after the other, round after round, each on as many rows as it can take.

A run costs the lesser of two times: that on the wall, which the machine's other work makes longer, and that of the
processor, in this process and in those that the run starts, which a contestant's own helping threads make longer.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: What is timed.
Run: TypeAlias = Callable[[], object]
Side: TypeAlias = Literal["ours", "peer", "limit"]


class Unavailable(Exception):
    """A contestant cannot be had here; the message names it and says why. The others go on."""


@dataclass(frozen=True)
class Contestant:
    """One way to get through rows.

    Parameters
    ----------
    work, model : str
        What is done with a row, and by whom.
    prepare : callable
        Gets a number of rows, sets up a model that has not seen them, and gives the run to be timed.
    most : int
        Rows there are.
    side : {"ours", "peer", "limit"}
        Whose it is; a limit is arithmetic that no learner can beat.
    least : int
        Rows it takes at least, so that what comes before the first one hardly counts.
    """

    work: str
    model: str
    prepare: Callable[[int], Run]
    most: int
    side: Side = "peer"
    least: int = 64


@dataclass(frozen=True)
class Timing:
    """The seconds that some rows took, once a round."""

    rows: int
    seconds: tuple[float, ...]

    @property
    def costs(self) -> tuple[float, ...]:
        """Seconds a row in each round."""
        return tuple(taken / self.rows for taken in self.seconds)


@dataclass(frozen=True)
class Effort:
    """How long to look.

    Parameters
    ----------
    rounds : int
        How often each contestant runs.
    seconds : float
        About how long it may take in each round.
    size : int
        The suite's own measure of size, where it has one: rows of a file, keys of a fleet.
    """

    rounds: int
    seconds: float = 0.0
    size: int = 0


def contest(
    contestants: Sequence[Contestant],
    effort: Effort,
    after_round: Callable[[], None] = lambda: None,
) -> list[Timing]:
    """The timing of each contestant. Rounds are interleaved, so that a slow spell of the machine hits all alike."""
    rows = [_affordable_rows(contestant, effort.seconds) for contestant in contestants]
    seconds: list[list[float]] = [[] for _ in contestants]
    for _ in range(effort.rounds):
        gc.collect()
        for contestant, count, taken in zip(contestants, rows, seconds, strict=True):
            taken.append(_time(contestant.prepare(count)))
        after_round()
    return [Timing(count, tuple(taken)) for count, taken in zip(rows, seconds, strict=True)]


def _affordable_rows(contestant: Contestant, seconds: float) -> int:
    rows = min(contestant.least, contestant.most)
    if rows < contestant.most:
        contestant.prepare(rows)()  # the first call may import, compile or fill caches
    while rows < contestant.most:
        taken = _time(contestant.prepare(rows))
        if taken >= seconds / 2:
            break
        rows = min(contestant.most, rows * max(2, min(16, int(seconds / taken))))
    return rows


def _time(run: Run) -> float:
    gc.disable()
    try:
        wall, processor = time.perf_counter(), _processor_time()
        run()
        return min(time.perf_counter() - wall, _processor_time() - processor)
    finally:
        gc.enable()


def _processor_time() -> float:
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system
