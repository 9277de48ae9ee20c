"""How far a reproduction has come, as one share of all its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

#: Told the share of the work done, from 0 to 1, and what is being done.
Progress: TypeAlias = Callable[[float, str], None]


class Meter:
    """Turns the shares of named stages, weighed by their work, into a share of the whole.

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

    def stage(self, label: str) -> Callable[[float], None]:
        """Begin a stage: a function to call with the share of the stage that is done."""
        tell = self.part(label)
        return lambda share: tell(share, label)

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
