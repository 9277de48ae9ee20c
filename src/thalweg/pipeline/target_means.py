"""A regressor behind categories of any number, each as the mean target of its rows: target encoding for numbers.

The feature of a row is

    n / (n + 5) (mean target of the cell - mean target of all rows)

with n the rows of its cell of categories (`thalweg.pipeline.categories`). It is 0 for a category never seen. Sums of a
cell are halved once it has 512 rows, so that they follow changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.learners.base.intervals import WithIntervals
from thalweg.learners.base.rows import Floats, Row
from thalweg.pipeline.categories import MOST_IN_ALL, MOST_IN_CELL, BehindCategories, CellColumn, Touched
from thalweg.pipeline.cores import BeforeRegressor

if TYPE_CHECKING:
    from thalweg.kernels._base import Vocabulary

#: Rows that the mean of all counts for in the mean of a cell.
_PRIOR = 5.0


class _Column(CellColumn):
    """By cell, how many rows it has and the sum of their targets; the same of all cells."""

    rows_at = 0
    never_negative = 0

    def __init__(self, at: int) -> None:
        super().__init__(at, 2, np.float64)


def _feature(touched: Touched, row: int) -> float:
    place = touched.place[row]
    if place < 0:
        return 0.0
    rows, total = touched.sums[place]
    of_all, total_of_all = touched.whole
    return float((total - rows * total_of_all / of_all) / (rows + _PRIOR)) if of_all else 0.0


def _count(touched: Touched, row: int, target: float, weight: float) -> None:
    for sums, most in zip(touched.of_row(row), (MOST_IN_CELL, MOST_IN_ALL), strict=False) if weight > 0.0 else ():
        sums[0] += weight
        sums[1] += weight * target
        if sums[0] >= most:
            sums[0] /= 2.0
            sums[1] /= 2.0


class _Core(BeforeRegressor):
    """The sums, and the core of the regressor behind them."""

    def __init__(self, features: int, columns: Sequence[tuple[int, int]], last: Any) -> None:
        self.n_features = features
        self.last = last
        self._spans = [(at, at + width) for at, width in columns]
        self._reader = compiled.RowReader(features)
        self._forget()

    def _forget(self) -> None:
        self.columns = [_Column(at) for at, _ in self._spans]

    def __getattr__(self, name: str) -> Any:
        """What the regressor's core says of itself: its outputs, coverages, shares and the like."""
        if name == "last":
            raise AttributeError(name)
        return getattr(self.last, name)

    def _encoded(
        self,
        X: Floats,
        targets: Floats | None = None,
        masses: Floats | None = None,
        order: NDArray[np.int64] | None = None,
    ) -> Any:
        """The rows, each by the sums before it, and the sums after all of them where they are learned.

        With an order, as `follow` takes it, there is a row for each of its steps.
        """
        touched = [column.touched(X) for column in self.columns]
        rows = np.arange(len(X)) if order is None else np.where(order < 0, ~order, order)
        learned = np.full(len(rows), targets is not None) if order is None else order < 0
        Z = X.copy() if order is None else X[rows]
        for begin, end in self._spans:
            Z[:, begin:end] = 0.0
        weights = None if masses is None else masses.tolist()
        values = [] if targets is None else targets.tolist()
        for step, (row, counts) in enumerate(zip(rows.tolist(), learned.tolist(), strict=True)):
            for (begin, _), places in zip(self._spans, touched, strict=True):
                Z[step, begin] = _feature(places, row)
                if counts:
                    _count(places, row, values[row], 1.0 if weights is None else weights[row])
        return Z, touched

    def _passed(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        yield slice(None), self._encoded(X)[0]

    def _passed_one(self, x: Row) -> Any:
        return self._encoded(self._reader.read(x)[None])[0][0]

    def _keep(self, touched: list[Touched]) -> None:
        for column, places in zip(self.columns, touched, strict=True):
            column.keep(places)

    def name_features(self, names: tuple[str, ...] | Vocabulary, /) -> None:
        self._reader.name(names)

    def widen(self, outputs: int, /) -> None:
        if outputs != 1:
            raise InvalidInput(f"y must hold one target behind wide categories, got {outputs}")
        self.last.widen(outputs)

    def begin(self, X: Floats, Y: Floats, /, masses: Floats | None = None) -> None:
        self._forget()
        Z, touched = self._encoded(X, Y[:, 0], masses)
        self.last.begin(Z, Y, masses)
        self._keep(touched)

    def run(self, X: Floats, Y: Floats, *wanted: Any, masses: Floats | None = None, **named: Any) -> None:
        Z, touched = self._encoded(X, Y[:, 0], masses)
        self.last.run(Z, Y, *wanted, masses=masses, **named)
        self._keep(touched)

    def follow(
        self, X: Floats, Y: Floats, order: NDArray[np.int64], number: NDArray[np.int64], *given: Any, **named: Any
    ) -> int:
        """Each step has a row of its own: targets that come between make it another one when it is learned."""
        Z, touched = self._encoded(X, Y[:, 0], None, order)
        newest: int = self.last.follow(Z, Y, order, number, *given, **named, by_step=True)
        self._keep(touched)
        return newest

    def check_one(self, x: Row, /) -> None:
        self._reader.read(x)

    def learn_one(self, x: Row, y: float | Floats, /) -> bool:
        target = np.asarray(y, dtype=np.float64).reshape(-1)
        Z, touched = self._encoded(self._reader.read(x)[None], target)
        cut = self.last.learn_one(Z[0], target)
        self._keep(touched)
        return bool(cut)

    def state(self) -> dict[str, NDArray[Any]]:
        """Of each column the cells that have rows."""
        state: dict[str, NDArray[Any]] = dict(self.last.state())
        for i, column in enumerate(self.columns):
            state[f"mean_cells_{i}"], state[f"mean_sums_{i}"] = column.state()
        return state

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        self.last.restore({name: array for name, array in state.items() if not name.startswith("mean_")})
        for i, column in enumerate(self.columns):
            column.restore(state[f"mean_cells_{i}"], state[f"mean_sums_{i}"])


class TargetEncodedRegressor(BehindCategories, WithIntervals):
    """A regressor for rows in which some features are numbers of categories, of which there may be very many.

    `thalweg run` puts one before the model where a column of text has more than 64 categories. Memory is bounded: 1 MiB
    for a column; a file holds the cells that have rows. There is one target.

    Parameters
    ----------
    learner : regressor of thalweg with intervals
        A template, which is never learned itself. It sees each category as the mean target of its rows, less that of
        all.
    columns : sequence of (place, width)
        For each column its first feature, the number of a cell, negative where the category is missing; and how many
        features from this place on are replaced: those after the first by 0.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import AutoRegressor
    >>> from thalweg.pipeline import TargetEncodedRegressor
    >>> rng = np.random.default_rng(0)
    >>> shop = rng.integers(0, 500, 5000)
    >>> sales = (shop % 7) + rng.normal(size=5000)
    >>> model = TargetEncodedRegressor(AutoRegressor(curved=False), [(0, 1)])
    >>> predicted = model.predict_then_learn(shop[:, None] * 1.0, sales)
    >>> bool((predicted - sales)[2500:].std() < 0.6 * sales.std())
    True
    """

    learner: WithIntervals
    _core: _Core  # type: ignore[assignment]

    def __init__(self, learner: WithIntervals, columns: Sequence[tuple[int, int]]) -> None:
        self.learner = learner
        self.columns = columns

    def _make_core(self, features: int) -> _Core:  # type: ignore[override]
        self._check(WithIntervals, "be a regressor of thalweg with intervals", features)
        return _Core(features, self.columns, self.learner._make_core(features))

    @property
    def _usual_coverage(self) -> float:
        return self.learner._usual_coverage

    def _require_tracked(self, coverage: float | None) -> None:
        self.learner._require_tracked(coverage)

    def _known_targets(self) -> int | None:
        return self._columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
