"""Records of the journal in hand, ready to be taken in by the state of their model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from thalweg.serve.journal.bodies import Asked


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
class LabelsCame:
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


Happening = AskedRows | LabelsCame | Decision
