"""Scores of a run in constant memory: every metric of its task, over time, with intervals from block means."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thalweg.evaluate.averages import CumulativeMean, FadingMean, HistoryPoints, WindowedMean
from thalweg.evaluate.layout import Layout, finite, known
from thalweg.evaluate.metrics import TERMS, Metric, Rows
from thalweg.saved import Saved

_MOST_BLOCKS = 64
_LEAST_BLOCKS = 10
LEVEL = 0.95


Floats = NDArray[np.float64]


class BlockMeans(Saved):
    """Sums of consecutive blocks of equal length; when there are too many, neighbours are joined."""

    _saved = ("length", "sums", "_open", "_all", "_open_rows", "_rows")

    def __init__(self) -> None:
        self.length = 1
        self.sums: list[float] = []
        #: Whole while all values are.
        self._open: float = 0
        self._all: float = 0
        self._open_rows = self._rows = 0

    def add(self, values: NDArray[Any]) -> None:
        self._all = add_in_order(self._all, values)
        self._rows += len(values)
        while len(values):
            take = min(self.length - self._open_rows, len(values))
            self._open = add_in_order(self._open, values[:take])
            self._open_rows += take
            values = values[take:]
            if self._open_rows == self.length:
                self.sums.append(self._open)
                self._open, self._open_rows = 0, 0
                if len(self.sums) == _MOST_BLOCKS:
                    self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                    self.length *= 2

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def mean(self) -> float | None:
        return self._all / self._rows if self._rows else None

    def interval(self, least: float = -math.inf) -> dict[str, Any]:
        """The mean with Student's interval over the blocks; None while there are too few of them."""
        return student_interval(self.mean, np.array(self.sums) / self.length, self.length, least)


def student_interval(
    difference: float | None, means: Floats, block_rows: int, least: float = -math.inf
) -> dict[str, Any]:
    """A difference with Student's interval from the means of blocks; no ends while there are too few of them.

    ``least`` is the lowest difference there can be: less a baseline's error, as no error is below 0.
    """
    interval: dict[str, Any] = {
        "difference": difference,
        "low": None,
        "high": None,
        "level": LEVEL,
        "blocks": len(means),
        "block_rows": block_rows,
    }
    if difference is not None and len(means) >= _LEAST_BLOCKS:
        half = float(stdtrit(len(means) - 1, (1 + LEVEL) / 2) * means.std(ddof=1)) / math.sqrt(len(means))
        interval |= {"low": max(difference - half, least), "high": difference + half}
    return interval


WINDOW = 1000
FADE = 0.999
#: Points of the curve, at the most.
MOST_POINTS = 600


class Scoreboard(Saved):
    """The metrics of the model and of its baselines, over rows whose label or target has come.

    ``losses`` are the terms of which the model's less each baseline's is taken, row by row, by the names that the
    verdict has for them. Terms ``besides`` are added up elsewhere.
    """

    _saved: ClassVar[tuple[str, ...]] = ("rows", "unpredicted", "blocks", "history", "_all", "_recent", "_fading")

    def __init__(
        self,
        metrics: Sequence[Metric],
        predictors: Sequence[str],
        losses: Mapping[str, str],
        besides: Collection[str] = (),
    ) -> None:
        self.predictors, self._losses = tuple(predictors), losses
        #: Rows that are scored, and those before them that came before any label: they have no prediction.
        self.rows = self.unpredicted = 0
        self.layout = Layout(metrics, predictors, besides)
        followed = (
            metric for metric in metrics if metric.over_time and metric.of_rows and not set(besides) & set(metric.adds)
        )
        self.over_time = Layout(followed, predictors)
        self.blocks = {name: {loss: BlockMeans() for loss in losses} for name in self.predictors[1:]}
        #: After so many rows, the windowed and then the fading averages of the terms that are followed over time.
        self.history = HistoryPoints[list[float]](MOST_POINTS)
        self._all = CumulativeMean(len(self.layout.columns))
        self._recent = WindowedMean(WINDOW, len(self.over_time.columns))
        self._fading = FadingMean(FADE, len(self.over_time.columns))

    def add(self, rows: Rows, unpredicted: int = 0) -> NDArray[Any]:
        """Take in rows that were predicted, behind so many that were not; the losses of the model, one column each."""
        self.unpredicted += unpredicted
        block = self.layout.block(rows)
        of_model = block[:, [self.layout.columns.index(("model", term)) for term in self._losses.values()]]
        if len(block) == 0:
            return of_model
        self._add_points(self.over_time.block(rows))
        self._all.push(block)
        for loss, term in self._losses.items():
            own = TERMS[term].of(rows, "model")
            for name, blocks in self.blocks.items():
                # Whole numbers where rows are right or wrong.
                blocks[loss].add(np.subtract(own, TERMS[term].of(rows, name), dtype=np.result_type(own, np.int64)))
        self.rows += len(block)
        return of_model

    def _add_points(self, block: NDArray[Any]) -> None:
        """Points of the curve that fall among these rows."""
        at = self.history.due_among(self.rows, len(block))
        points = (at + self.unpredicted + self.rows + 1)[:, np.newaxis].astype(np.float64)
        means = self._recent.push_and_average(block, at), self._fading.push_and_average(block, at)
        for point in np.concatenate([points, *means], axis=1).tolist():
            self.history.add(point)

    def scores(
        self, has: Collection[str], terms: Mapping[str, Mapping[str, Any]] | None = None, **of_means: Any
    ) -> dict[str, dict[str, float | None]]:
        """By predictor, every metric over all rows and ``recent_`` ones over the last; None where it is not known.

        ``terms`` are those that are no columns, by predictor; ``of_means`` are further fields of `Means`.
        """
        over_time = [metric.name for metric in self.over_time.metrics if metric.applies(has)]
        if self.rows == 0:
            names = [*(metric.name for metric in self.layout.metrics if metric.applies(has))]
            names += [f"recent_{name}" for name in over_time]
            return {predictor: dict.fromkeys(names) for predictor in self.predictors}
        means = self.layout.means(self._all.mean(), **of_means)
        for predictor, own in (terms or {}).items():
            means[predictor].terms.update(own)
        by_predictor = self.layout.scores(means, has)
        recent = self.over_time.scores(self.over_time.means(self._recent.mean()), has)
        return {
            predictor: known(scores) | {f"recent_{name}": value for name, value in known(recent[predictor]).items()}
            for predictor, scores in by_predictor.items()
        }

    def verdict(self) -> dict[str, Any]:
        """By baseline and loss, the model's less the baseline's, with an interval; skill is it as a share of that."""
        verdict: dict[str, Any] = {}
        means = self.layout.means(self._all.mean()) if self.rows else {}
        for name, blocks in self.blocks.items():
            verdict[name] = {}
            for loss, term in self._losses.items():
                reference = means[name].mean(term) if means else 0.0
                difference = blocks[loss].interval(least=-reference)
                skill = {
                    key: -difference[end] / reference if reference > 0.0 and difference[end] is not None else None
                    for key, end in (("skill", "difference"), ("skill_low", "high"), ("skill_high", "low"))
                }
                verdict[name][loss] = difference | skill
        return verdict

    def curve(self) -> dict[str, Any]:
        """By metric and predictor, the scores of the last rows at each point, and fading ones."""
        wide = len(self.over_time.columns)
        points = np.array(self.history.points).reshape(-1, 1 + 2 * wide)
        return {
            "rows": points[:, 0].astype(np.int64).tolist(),
            "window": WINDOW,
            **self._series(points[:, 1 : 1 + wide]),
            "fade": FADE,
            "fading": self._series(points[:, 1 + wide :]),
        }

    def _series(self, points: Floats) -> dict[str, dict[str, list[float | None]]]:
        has = {"probabilities", "intervals", "positive", *self.predictors}
        lines = [self.over_time.scores(self.over_time.means(point), has) for point in points]
        return {
            metric.name: {
                name: [finite(line[name][metric.name]) for line in lines]
                for name in self.predictors
                if name == "model" or not metric.of_model
            }
            for metric in self.over_time.metrics
        }


class LowestCoverage(Saved):
    """Of sets or intervals, over blocks of so many rows.

    Examples
    --------
    >>> lowest = LowestCoverage(2)
    >>> lowest.add(np.array([True, True, True]))
    >>> lowest.add(np.array([False, False]))
    >>> lowest.metrics()
    {'coverage': 0.5, 'row': 3}
    """

    _saved = ("_seen", "block", "lowest")
    _made = (("lowest", lambda: (0.0, 0)),)

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._seen = 0
        #: Rows and those held, of the block under way.
        self.block = [0, 0]
        #: The coverage and the first row of the worst block.
        self.lowest: tuple[float, int] | None = None

    def add(self, held: NDArray[Any]) -> None:
        """Take in whether each row was held."""
        while len(held):
            some = held[: self._rows - self.block[0]]
            self.block = [self.block[0] + len(some), self.block[1] + int(some.sum())]
            self._seen += len(some)
            held = held[len(some) :]
            if self.block[0] == self._rows:
                coverage = (self.block[1] / self._rows, self._seen - self._rows + 1)
                self.lowest = coverage if self.lowest is None else min(coverage, self.lowest)
                self.block = [0, 0]

    def metrics(self) -> dict[str, Any] | None:
        return None if self.lowest is None else {"coverage": self.lowest[0], "row": self.lowest[1]}


def add_in_order(total: float, values: NDArray[Any]) -> float:
    """One by one: numpy's own sum adds in pairs, which depends on where the rows are cut. Whole numbers stay whole."""
    if values.dtype.kind in "iu" and isinstance(total, int):
        return total + int(values.sum())
    total_after: float = np.cumsum(np.concatenate([[total], values]))[-1].item()
    return total_after
