"""Amounts in the unit that people would say them in."""

from __future__ import annotations

SCALES = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def amount(value: float, unit: str) -> str:
    """A cost in words.

    >>> amount(3.2e-7, "seconds"), amount(1_500_000, "bytes")
    ('320 ns', '1.5 MB')
    """
    size, name = next((scale for scale in SCALES[unit] if value >= scale[0]), SCALES[unit][-1])
    scaled = value / size
    return f"{scaled:.3g} {name}" if scaled < 100 else f"{scaled:,.0f} {name}"
