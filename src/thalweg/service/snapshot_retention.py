"""Which snapshots of a model are kept: many of the last hours, few of last year."""

from __future__ import annotations

from collections.abc import Sequence

#: Snapshots kept among those whose distance from now is within a factor of two.
EACH_OCTAVE = 4


def snapshots_to_drop(seqs: Sequence[int], now: int) -> list[int]:
    """The snapshots that are not needed: of each octave of age, cut into parts, the oldest of a part stays.

    Examples
    --------
    >>> kept: list[int] = []
    >>> for seq in range(10, 10_000, 10):
    ...     kept = sorted({*kept, seq} - set(snapshots_to_drop([*kept, seq], seq)))
    >>> len(kept), kept[-3:]
    (31, [9970, 9980, 9990])
    """
    kept: set[tuple[int, int]] = set()
    dropped = []
    for seq in seqs:
        age = now - seq
        octave = age.bit_length()
        part = 2 * age * EACH_OCTAVE >> octave
        if (octave, part) in kept:
            dropped.append(seq)
        kept.add((octave, part))
    return dropped
