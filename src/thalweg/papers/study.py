"""A study: the measurements behind a paper's items, each made once and with progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")

#: Called with the share of the work done, from 0 to 1, and what is being done.
Progress: TypeAlias = Callable[[float, str], None]
#: Called with the share of one stage that is done.
Finished: TypeAlias = Callable[[float], None]


class Meter:
    """Turns the shares of named stages, weighted by their work, into a share of the whole.

    Examples
    --------
    >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
    >>> meter.stage("draw")(1.0)
    0.250 draw
    >>> meter.stage("learn")(0.5)
    0.625 learn
    """

    def __init__(self, work: Mapping[str, float], progress: Progress) -> None:
        self._work = dict(work)
        self._total = sum(work.values())
        self._progress = progress
        self._before = 0.0

    def stage(self, label: str) -> Finished:
        """Begin a stage: a function to call with the share of the stage that is done."""
        report = self.part(label)
        return lambda share: report(share, label)

    def part(self, label: str) -> Progress:
        """Begin a stage that says itself what it is doing.

        Examples
        --------
        >>> meter = Meter({"draw": 1.0, "learn": 3.0}, lambda share, label: print(f"{share:.3f} {label}"))
        >>> meter.part("draw")(0.5, "pencils")
        0.125 pencils
        """
        before, work = self._before, self._work[label]
        self._before += work
        return lambda share, doing: self._progress((before + work * share) / self._total, doing)


class Study(Meter):
    """Measurements by key, each made when it is first asked for; ``work`` has the work of each stage, in any unit.

    What had to be left out, and why, is in ``notes``.

    Examples
    --------
    >>> study = Study({}, workers=1, progress=lambda share, label: None)
    >>> study.once("sum", lambda: 1 + 1), study.once("sum", lambda: 1 / 0)
    (2, 2)
    """

    def __init__(self, work: Mapping[str, float], *, workers: int, progress: Progress) -> None:
        super().__init__(work, progress)
        self.workers = workers
        self.notes: list[str] = []
        self._began = time.perf_counter()
        self._results: dict[Hashable, Any] = {}

    def once(self, key: Hashable, measure: Callable[[], Result]) -> Result:
        """The result of ``measure``, from now or from an earlier call with this key."""
        if key not in self._results:
            self._results[key] = measure()
        result: Result = self._results[key]
        return result

    def timing(self) -> str:
        return f"Measured in {time.perf_counter() - self._began:,.0f} s."
