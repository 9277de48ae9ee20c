"""The two data sets of Karnick, Muhlbaier & Polikar (2008), as blocks to learn and points to test on.

The test points of a run are fixed; only their right labels change with time. So a classifier of the ensemble, once
trained, predicts them only once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.streams import SEA, RotatingCheckerboard
from thalweg.streams.stream import Rows

#: Rows drawn for each row of a balanced block: the rarer colour covers more than a third of the square.
_DRAWN_PER_ROW = 10


class Blocks(NamedTuple):
    """A run's rows in blocks, and its test points with their right labels at the time of each block."""

    #: Shape (blocks, rows, features).
    X: NDArray[np.float64]
    #: Shape (blocks, rows).
    y: NDArray[np.int64]
    #: Shape (tests, features).
    points: NDArray[np.float64]
    #: Shape (blocks, tests).
    truth: NDArray[np.int64]


@dataclass(frozen=True)
class Checkerboard:
    """A board that makes one turn in ``blocks`` blocks of ``per_class`` rows of each colour, tested on a grid."""

    name: ClassVar[str] = "Rotating checkerboard"
    changes: ClassVar[tuple[int, ...]] = ()

    blocks: int = 700
    per_class: int = 50

    def stream(self, seed: int) -> RotatingCheckerboard:
        """The stream in which a time is a block."""
        return RotatingCheckerboard(seed, length=self.blocks)

    def block(self, seed: int, time: int) -> Rows:
        """As many rows of either colour."""
        stream = self.stream(seed)
        X, y = stream.sampler("block", time).rows_at(np.full(2 * self.per_class * _DRAWN_PER_ROW, time))
        kept = np.sort(np.concatenate([np.flatnonzero(y == colour)[: self.per_class] for colour in stream.classes]))
        return X[kept], y[kept]

    def draw(self, seed: int) -> Blocks:
        stream = self.stream(seed)
        X, y = zip(*(self.block(seed, time) for time in range(self.blocks)), strict=True)
        points, _ = stream.grid_at(0)
        truth = np.stack([stream.grid_at(time)[1] for time in range(self.blocks)])
        return Blocks(np.stack(X), np.stack(y), points, truth)


@dataclass(frozen=True)
class SeaConcepts:
    """Four thresholds of SEA, a quarter of ``blocks`` blocks each; features scaled to [0, 1] for the SVM's kernel.

    In every block exactly a tenth of the labels is turned round. With each label turned by chance some blocks would
    have more wrong labels than the network's error goal allows, and it would learn those by heart.
    """

    name: ClassVar[str] = "SEA concepts"

    blocks: int = 200
    rows: int = 250
    test_rows: int = 2500

    def stream(self, seed: int) -> SEA:
        """The stream, of which ``rows`` rows make a block."""
        return SEA(seed, rows_per_concept=self.blocks // len(SEA().thresholds) * self.rows)

    @property
    def changes(self) -> tuple[int, ...]:
        """The first blocks of the second concept and of those after it."""
        concepts = len(SEA().thresholds)
        return tuple(self.blocks // concepts * number for number in range(1, concepts))

    def draw(self, seed: int) -> Blocks:
        """The blocks of one run; the test labels are right."""
        stream = self.stream(seed)
        X, y = stream.clean.take()
        blocks_X, blocks_y = X.reshape(self.blocks, self.rows, -1), y.reshape(self.blocks, self.rows)
        order = np.random.default_rng(seed).random(blocks_y.shape).argsort(axis=1)
        wrong = order[:, : round(stream.noise * self.rows)]
        np.put_along_axis(blocks_y, wrong, 1 - np.take_along_axis(blocks_y, wrong, axis=1), axis=1)
        points, _ = stream.clean.concept(0).draw(self.test_rows)
        truth = np.stack([stream.concept(block * self.rows).label(points) for block in range(self.blocks)])
        return Blocks(blocks_X / 10.0, blocks_y, points / 10.0, truth)


#: One of the two data sets.
Data: TypeAlias = Checkerboard | SeaConcepts
