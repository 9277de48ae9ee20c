"""How long one operation of one model took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Duration:
    """Processor seconds that a model took for an operation on so many training rows."""

    paper: str
    item: str
    data: str
    model: str
    operation: str
    rows_learned: int
    #: Never the same twice, so it makes no difference between durations.
    seconds: float = field(compare=False)

    def rows(self) -> list[Mapping[str, Any]]:
        """The duration as one JSON object."""
        return [asdict(self)]


def readable(seconds: float) -> str:
    """Three digits and the unit that fits.

    Examples
    --------
    >>> readable(0.000321), readable(0.0456), readable(12.3)
    ('321 µs', '45.6 ms', '12.3 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
