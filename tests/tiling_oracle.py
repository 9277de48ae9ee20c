"""Random tilings, slowly: where their cells lie, and which of them are replaced by what."""

from __future__ import annotations

import math

import numpy as np

from thalweg import TilingClassifier, TilingRegressor

WORD = 2**64 - 1
MOST_CELLS = 729


def uniform(seed: int, arrival: int, position: int) -> float:
    """A number in [0, 1) by three keys: the finaliser of SplitMix64, twice."""
    h = (seed * 0x9E3779B97F4A7C15 + arrival * 0xD1B54A32D192ED03 + position * 0x8CB92BA72F3D8DD7) & WORD
    for _ in range(2):
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        h = (h ^ (h >> 27)) * 0x94D049BB133111EB & WORD
        h ^= h >> 31
    return (h >> 11) * 2.0**-53


class Grid:
    """One tiling: features, cuts and offsets; the weights of a cell by its coordinates."""

    def __init__(self, seed: int, serial: int, born: int, features: list[int], cuts: list[int]) -> None:
        while math.prod(cut + 1 for cut in cuts) > MOST_CELLS:
            finest = cuts.index(max(cuts))
            cuts[finest] //= 2
        self.serial, self.born, self.features, self.cuts = serial, born, features, cuts
        self.offsets = [int(uniform(seed, serial, 32 + d) * 1024) / 1024 for d in range(len(features))]
        self.weights: dict[tuple[int, ...], np.ndarray] = {}
        self.squares: dict[tuple[int, ...], np.ndarray] = {}  # the classifier's
        self.visits: dict[tuple[int, ...], float] = {}  # the regressor's
        self.use: np.ndarray | float = 0.0

    def cell(self, u: np.ndarray) -> tuple[int, ...]:
        return tuple(
            int(u[f] * cut + offset) for f, cut, offset in zip(self.features, self.cuts, self.offsets, strict=True)
        )


class SlowGrids:
    """The grids of a model of so many features, with a use of each in each of its step sizes (``lanes``)."""

    def __init__(self, p: int, model: TilingClassifier | TilingRegressor, lanes: int) -> None:
        self.p, self.model, self.seed, self.lanes = p, model, model.random_state, lanes
        self.rows = 0
        self.grids = [self.fresh(m, 0, 1 + m % model.depth) for m in range(model.tilings)]
        self.next_serial = model.tilings

    def cells_of(self, x: np.ndarray) -> list[tuple[Grid, tuple[int, ...]]]:
        u = 1 / (1 + np.exp(-1.702 * x))
        return [(grid, grid.cell(u)) for grid in self.grids]

    def row_learned(self) -> None:
        self.rows += 1
        if self.model.replace_every and self.rows % self.model.replace_every == 0:
            self.replace()

    def choice(self, serial: int, position: int, among: int) -> int:
        return int(uniform(self.seed, serial, position) * among)

    def fresh(self, serial: int, born: int, wanted: int) -> Grid:
        features: list[int] = []
        cuts = []
        for d in range(min(wanted, self.p)):
            left = [f for f in range(self.p) if f not in features]
            features.append(left[self.choice(serial, 16 + d, len(left))])
            cuts.append(2 ** (1 + self.choice(serial, 20 + d, 5)))
        if len(cuts) > 1:
            cuts = [min(cut, 8) for cut in cuts]
        return Grid(self.seed, serial, born, features, cuts)

    def variation(self, serial: int, born: int, good: Grid) -> Grid:
        features = list(good.features)
        cuts = [
            int(min(32, max(2, cut * 0.5 * 2 ** self.choice(serial, 24 + d, 3)))) for d, cut in enumerate(good.cuts)
        ]
        if len(features) < min(self.model.depth, self.p) and uniform(self.seed, serial, 28) < 0.3:
            another = self.choice(serial, 29, self.p)
            if another not in features:
                features.append(another)
                cuts.append(2 ** (1 + self.choice(serial, 30, 3)))
        return Grid(self.seed, serial, born, features, cuts)

    def replace(self) -> None:
        M = len(self.grids)
        use = np.array([grid.use + np.zeros(self.lanes) for grid in self.grids])
        worth = (use / (use.mean(axis=0) + 1e-30)).sum(axis=1)
        order = sorted(range(M), key=lambda m: (worth[m], m))
        typical = self.grids[order[M // 2]].use
        old = [m for m in order if self.rows - self.grids[m].born >= self.model.min_age]
        for m in old[: max(1, int(M * self.model.replace_share))]:
            serial, self.next_serial = self.next_serial, self.next_serial + 1
            if uniform(self.seed, serial, 0) < 0.5:
                good = self.grids[order[M - 1 - self.choice(serial, 1, max(1, M // 4))]]
                self.grids[m] = self.variation(serial, self.rows, good)
            else:
                self.grids[m] = self.fresh(serial, self.rows, 1 + self.choice(serial, 2, self.model.depth))
            self.grids[m].use = typical
