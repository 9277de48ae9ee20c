"""What is kept for a key: its model as the bytes of a model file, what was counted, and what still waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: As Spark keeps it; one field for each of `KeyState`, in order.
SPARK_STATE = (
    "model binary, answered bigint, learned bigint, expired bigint, dropped bigint, newest bigint, wake bigint, "
    "waiting binary, early binary"
)
#: Where in Spark's state it is kept.
VARIABLE = "thalweg"


@dataclass(frozen=True)
class KeyState:
    """The state of a key between two batches.

    Attributes
    ----------
    model : bytes
        A model file.
    answered, learned : int
        Rows so far.
    expired, dropped : int
        Rows whose label did not come in time, and labels for which no row waited.
    newest : int
        The latest time of a row or a label, in microseconds.
    wake : int
        When the key is to be looked at even if nothing comes for it, in milliseconds; 0 for never.
    waiting, early : bytes
        Rows without a label and labels without a row, as record batches of Arrow; empty for none.
    """

    model: bytes
    answered: int = 0
    learned: int = 0
    expired: int = 0
    dropped: int = 0
    newest: int = 0
    wake: int = 0
    waiting: bytes = b""
    early: bytes = b""

    @classmethod
    def from_spark(cls, values: tuple[Any, ...]) -> KeyState:
        own: list[Any] = [value if isinstance(value, int) else bytes(value) for value in values]
        return cls(*own)

    def to_spark(self) -> tuple[Any, ...]:
        """The values of `SPARK_STATE`."""
        return tuple(vars(self).values())
