"""Scores of a run that predicts numbers: errors by size, far targets, and intervals from block means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import HistoryPoints
from thalweg.evaluate.layout import finite
from thalweg.evaluate.metrics import NUMBERS, Rows
from thalweg.run.scoreboard import LowestCoverage, Scoreboard
from thalweg.saved import Saved

Floats = NDArray[np.float64]

#: Rows of the course that is kept of the whole run, and rows at its end that are kept one by one.
_MOST_SAMPLES, _LAST_ROWS = 500, 200
#: Rows of the blocks of which the lowest coverage is kept.
_BLOCK = 1000
_BINS_PER_SPREAD = 20.0
#: Distances from the centre that are distinguished, in spreads: beyond it a number would overflow.
_FARTHEST = 1e200
#: Groups that are reported, at the most.
_MOST_GROUPS = 10
#: Targets that are kept: one more than may be named.
_MOST_FAR = 9
#: Rows before any target is called far.
_BEFORE_FAR = 20
#: How much farther than the next one, and than the others are on average.
_SEPARATED, _FAR = 10.0, 50.0


class ErrorBySize(Saved):
    """Rows, errors of each predictor, residuals and misses by bin of the target, in constant memory.

    Targets are counted in narrow bins, even in asinh((y - centre) / spread): a twentieth of the spread of the first
    targets near their median, five percent of the distance far from it. However far targets drift, there are at most
    some 10,000 bins. Neighbouring bins are joined into groups of about as many rows when the result is asked for.

    Examples
    --------
    >>> by_size = ErrorBySize(("model",))
    >>> by_size.settle(np.array([1.0, 2.0, 3.0]))
    >>> by_size.add(np.array([1.0, 9.0]), np.array([[0.5], [2.0]]), np.array([0.5, -2.0]), np.array([1.0, np.nan]))
    >>> groups = by_size.groups()
    >>> groups["rows"], groups["mae"], groups["bias"]
    ([1, 1], {'model': [0.5, 2.0]}, [0.5, -2.0])
    """

    _saved = ("_centre", "_spread", "_bins")

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._centre, self._spread = 0.0, 1.0
        #: By bin: rows, the sums of the absolute errors and of the residuals, rows with an interval, and those inside.
        self._bins: dict[int, Floats] = {}

    def settle(self, targets: Floats) -> None:
        """Choose the bins by the first targets."""
        if len(targets):
            self._centre = float(np.median(targets))
            spread = float(np.abs(targets - self._centre).mean())
            self._spread = spread or abs(self._centre) or 1.0

    def add(self, truth: Floats, errors: Floats, residual: Floats, covered: Floats) -> None:
        """Take in rows: absolute errors in a column for each predictor, and 1, 0 or NaN for the interval."""
        known = ~np.isnan(covered)
        lines = np.column_stack([np.ones(len(truth)), errors, residual, known, np.where(known, covered, 0.0)])
        with np.errstate(over="ignore"):
            away = np.clip((truth - self._centre) / self._spread, -_FARTHEST, _FARTHEST)
        bins = np.floor(_BINS_PER_SPREAD * np.arcsinh(away)).astype(np.int64)
        different, places = np.unique(bins, return_inverse=True)
        nothing = np.zeros(lines.shape[1])
        sums = np.array([self._bins.get(at, nothing) for at in different.tolist()]).reshape(-1, lines.shape[1])
        np.add.at(sums, places, lines)  # one by one: the sums do not depend on where the rows are cut
        self._bins |= dict(zip(different.tolist(), sums, strict=True))

    def groups(self) -> dict[str, Any]:
        """Neighbouring bins joined: where each group ends, and the means over its rows."""
        places = sorted(self._bins)
        rows = sum(self._bins[at][0] for at in places)
        ends: list[int] = []
        joined: list[Floats] = []
        done = 0.0
        for at in places:
            # A bin opens a group where the one before has its share of the rows.
            if not joined or done >= len(joined) * rows / _MOST_GROUPS:
                joined.append(np.zeros(len(self._bins[at])))
                ends.append(at)
            joined[-1] = joined[-1] + self._bins[at]
            ends[-1] = at
            done += self._bins[at][0]
        starts = [places[0], *(end + 1 for end in ends[:-1])] if places else []
        errors = [[float(sums[1 + i] / sums[0]) for sums in joined] for i in range(len(self._names))]
        return {
            "from": [self._edge(at) for at in starts],
            "to": [self._edge(at + 1) for at in ends],
            "rows": [int(sums[0]) for sums in joined],
            "mae": dict(zip(self._names, errors, strict=True)),
            "bias": [float(sums[-3] / sums[0]) for sums in joined],
            "coverage": [float(sums[-1] / sums[-2]) if sums[-2] else None for sums in joined],
        }

    def _edge(self, at: int) -> float:
        return self._centre + self._spread * math.sinh(at / _BINS_PER_SPREAD)


class FarTargets(Saved):
    """Targets far beyond all others, which pull a model that learns squared errors: found for a warning.

    Of all targets the sum of their distances from a centre is kept, and the few that are farthest, with their rows.
    Those are named that are separated from the rest by a factor of ten, and fifty times the mean distance of the
    others away.

    Examples
    --------
    >>> targets = FarTargets()
    >>> targets.settle(np.ones(3))
    >>> targets.add(np.array([1.5, 67781.0, *np.ones(20)]), np.arange(1, 23))
    >>> targets.sentence("y")
    "row 2: the target 'y' is 67781, far beyond all others, which are within 0.5 of 1"
    """

    _saved = ("_centre", "_sum", "_rows", "_farthest")

    def __init__(self) -> None:
        self._centre = self._sum = 0.0
        self._rows = 0
        #: Distance, target and row of each, the farthest first.
        self._farthest: list[list[float]] = []

    def settle(self, targets: NDArray[np.float64]) -> None:
        """Choose the centre by the first targets."""
        self._centre = float(np.median(targets)) if len(targets) else 0.0

    def add(self, targets: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
        """Take in targets, with the numbers of their rows."""
        away = np.abs(targets - self._centre)
        # One after the other, so that the sum does not depend on how rows are cut into chunks.
        self._sum = float(np.cumsum(np.append(self._sum, away))[-1])
        self._rows += len(away)
        places = np.argsort(-away, kind="stable")[:_MOST_FAR]
        farthest = [[float(away[at]), float(targets[at]), int(numbers[at])] for at in places]
        self._farthest = sorted([*self._farthest, *farthest], key=lambda far: -far[0])[:_MOST_FAR]

    def sentence(self, name: str) -> str | None:
        """The row and the target that is farthest, where it and at most some others are far beyond the rest."""
        if self._rows < _BEFORE_FAR:
            return None
        for count in range(1, len(self._farthest)):
            last, following = self._farthest[count - 1][0], self._farthest[count][0]
            others = self._sum - sum(far[0] for far in self._farthest[:count])
            if last > max(_SEPARATED * following, _FAR * max(others, 0.0) / (self._rows - count)):
                _, value, row = self._farthest[0]
                more = "" if count == 1 else f", and so are those of {count - 1} further row{'s' * (count > 2)}"
                within = (
                    f"are {self._centre:g}" if following == 0.0 else f"are within {following:.3g} of {self._centre:g}"
                )
                return f"row {row:,}: the target {name!r} is {value:g}, far beyond all others, which {within}{more}"
        return None


class RegressionScoreboard(Scoreboard):
    """Of the model and its baselines, with a sample of the rows, the errors by size and the coverage of intervals."""

    _saved = (*Scoreboard._saved, "course", "last", "by_size", "_lowest")

    def __init__(self, baselines: tuple[str, ...], coverage: float) -> None:
        super().__init__(NUMBERS, ("model", *baselines), {"mae": "absolute", "mse": "squared"})
        self.coverage = coverage
        #: Scored row, target, prediction and interval: some of the whole course, and the last ones.
        self.course = HistoryPoints[list[float | None]](_MOST_SAMPLES)
        self.last = np.empty((0, 5))
        self.by_size = ErrorBySize(self.predictors)
        self._lowest = LowestCoverage(_BLOCK)

    def add_numbers(
        self, truth: Floats, predictions: dict[str, Floats], lower: Floats, upper: Floats
    ) -> tuple[Floats, Rows]:
        """Take in rows whose targets have come, in that order; absolute errors of the predicted ones, and those."""
        predicted = ~np.isnan(predictions["model"])
        unpredicted = int((~predicted).sum())
        if unpredicted:
            truth, lower, upper = truth[predicted], lower[predicted], upper[predicted]
            predictions = {name: given[predicted] for name, given in predictions.items()}
        if len(truth):
            self._keep_course(np.column_stack([truth, predictions["model"], lower, upper]), unpredicted)
            with_interval = ~np.isnan(lower)
            covered = (lower <= truth) & (truth <= upper)
            self._lowest.add(covered[with_interval])
            residuals = np.column_stack([truth - predictions[name] for name in self.predictors])
            held = np.where(with_interval, covered, np.nan)
            self.by_size.add(truth, np.abs(residuals), residuals[:, 0], held)
        own = Rows(truth, predictions, lower=lower, upper=upper, coverage=self.coverage)
        return self.add(own, unpredicted)[:, 0], own

    def _keep_course(self, lines: Floats, unpredicted: int) -> None:
        number = np.arange(len(lines)) + self.unpredicted + unpredicted + self.rows + 1.0
        lines = np.column_stack([number, lines])
        for at in self.course.due_among(self.rows, len(lines)):
            self.course.add([finite(value) for value in lines[at].tolist()])
        self.last = np.concatenate([self.last, lines[-_LAST_ROWS:]])[-_LAST_ROWS:]

    def intervals(self) -> dict[str, Any]:
        """How often intervals held the target, over rows that had one, and over the worst block of them."""
        scores = self.scores({"intervals"})["model"]
        means = self.layout.means(self._all.mean())["model"] if self.rows else None
        shares = {
            side: finite(means.per(side, "with_interval")) if means is not None else None for side in ("below", "above")
        }
        return {
            "asked": self.coverage,
            "rows": 0 if means is None else round(means.mean("with_interval") * self.rows),
            **{metric.name: scores[metric.name] for metric in NUMBERS if "intervals" in metric.needs},
            **shares,
            "lowest": self._lowest.metrics(),
            "block_rows": _BLOCK,
        }

    def predictions(self) -> dict[str, Any]:
        """Targets beside predictions and intervals: rows of the whole course, and the last ones."""
        keys = ("rows", "target", "prediction", "lower", "upper")
        last = [[finite(value) for value in line] for line in self.last.tolist()]

        def columns(lines: list[list[float | None]]) -> dict[str, list[Any]]:
            columns = dict(zip(keys, map(list, zip(*lines, strict=True)), strict=True)) if lines else {}
            columns = columns or {key: [] for key in keys}
            return columns | {"rows": [int(row or 0) for row in columns["rows"]]}

        return {"every": self.course.every, "course": columns(self.course.points), "last": columns(last)}
