"""The compiled forest over the last rows, as `WindowForest` and `AutoClassifier` hold it.

A forest has one or two groves, whose trees learn and forget alike: short ones, which are grown anew when the stream
changes, and lasting ones, which keep what they know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from thalweg.kernels import compiled

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: Rows that a forest holds, and how many numbers they may have in all.
ROWS, MOST_NUMBERS = 8192, 1 << 21
#: The prior weight of a forest in a mixture is that of a linear member with this rate.
FOREST_RATE = 0.008


class Grove(NamedTuple):
    """Trees that learn and forget alike, as the kernels take them."""

    trees: int
    feature_share: float = 0.6
    leaf_rows: int = 32
    least_gain: float = 4.0
    bagging: float = 3.0
    fading: float = 0.95
    change_level: float = 0.001
    regrow_every: int = 200
    regrow_share: float = 0.0
    shortest: int = 256
    longest: int = 2048
    max_leaves: int = 1024
    step: float = 3.0

    def lasting(self, trees: int, rows: int) -> Grove:
        """Trees with a long memory: of fewer features each, grown from all rows that are held."""
        return self._replace(
            trees=trees,
            feature_share=self.feature_share * 5 / 6,
            fading=1 - (1 - self.fading) / 50,
            change_level=0.0,
            regrow_share=0.1,
            shortest=rows,
            longest=rows,
        )


def said_by_trees(trees: int, lasting_trees: int) -> list[str]:
    """What each kind of tree says, by name, in the order of a forest's probabilities.

    Examples
    --------
    >>> said_by_trees(10, 0)
    ['trees that follow, votes', 'trees that follow, refined']
    """
    kinds = {"follow": trees, "last": lasting_trees}
    return [f"trees that {do}, {what}" for do, count in kinds.items() if count for what in ("votes", "refined")]


def rows_held(features: int, rows: int | None = None) -> int:
    """How many rows a forest holds: a power of two, and at most two million numbers.

    Examples
    --------
    >>> rows_held(10), rows_held(1000), rows_held(10, 3000)
    (8192, 2048, 2048)
    """
    most = min(ROWS if rows is None else rows, max(64, MOST_NUMBERS // features))
    return 1 << (most.bit_length() - 1)


def forest_core(features: int, trees: int, lasting_trees: int, *, rows: int, seed: int, grove: Grove) -> Core:
    """A forest with as many trees of each kind; votes and refinement of each are two sets of probabilities."""
    short = grove._replace(trees=trees, longest=min(grove.longest, rows), shortest=min(grove.shortest, rows))
    groves: Sequence[Grove] = [short, grove.lasting(lasting_trees, rows)]
    return compiled.forest(features, [list(map(float, each)) for each in groves if each.trees], rows, seed)
