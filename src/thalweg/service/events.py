"""Records ready to be applied to a model, and subscribers who want to know when a model has learned."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from thalweg.service.journal.records import Asked


class Listeners:
    """Those who wait for news of a model, on the event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}
        self.closed = False

    def tell(self, name: str) -> None:
        """There is something new to see of a model."""
        event = self._waiting.pop(name, None)
        if event is not None:
            event.set()

    async def wait(self, name: str, seconds: float) -> bool:
        """Whether there was news within so many seconds."""
        if self.closed:
            return False
        event = self._waiting.setdefault(name, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def pause(self, seconds: float) -> None:
        """Wait, but not longer than until `close`."""
        if seconds > 0 and not self.closed:
            await asyncio.sleep(seconds)

    def close(self) -> None:
        """Nobody is to wait any longer."""
        self.closed = True
        for name in list(self._waiting):
            self.tell(name)


@dataclass(slots=True)
class AskedRows:
    """A predict record."""

    seq: int
    model: str
    time: int
    asked: Asked
    #: By row, its label as it is now, and the record in which the first one came.
    labels: dict[int, tuple[str, int]]

    def __len__(self) -> int:
        return len(self.asked.X)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One label of one row."""

    rows: AskedRows
    row: int
    label: str


@dataclass(frozen=True, slots=True)
class LabelsArrived:
    """A label record: what is to be learned, in order."""

    seq: int
    time: int
    lessons: list[Lesson]
    #: Whether it also changes labels that were learned before.
    revises: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Any other record, with its body as JSON."""

    seq: int
    kind: str
    time: int
    body: dict[str, Any]


Event = AskedRows | LabelsArrived | Decision
