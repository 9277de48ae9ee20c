"""A classifier behind categories of any number, each as how often its rows had each label: target encoding, on line.

For each cell of categories (`thalweg.pipeline.categories`) and label there is a count, and the features of a row are,
for every label k but the first,

    log((n_k + 1) / (e_k + 1)) - log((n_0 + 1) / (e_0 + 1))

with n_k the rows of label k in the cell and e_k those that the share of the label in all rows would give. It is 0 for a
category never seen, and near 0 where rows are few or labels are as everywhere. Counts of a cell are halved once it has
512 rows, so that they follow changes.

D. Micci-Barreca, "A Preprocessing Scheme for High-Cardinality Categorical Attributes", SIGKDD Explorations 3(1), 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from thalweg.labels import Labels
from thalweg.learners.base.classifier import StreamClassifier, StreamCore, WithProbabilities
from thalweg.learners.base.python_core import Codes
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import Floats, Row
from thalweg.learners.decisions.prediction_sets import Flags, PredictionSets
from thalweg.pipeline.categories import MOST_IN_ALL, MOST_IN_CELL, BehindCategories, CellColumn, Touched, learner_has
from thalweg.pipeline.cores import BeforeClassifier
from thalweg.pipeline.target_means import TargetEncodedRegressor


class _Counted(NamedTuple):
    """All columns and the places of the classes after some rows, to be kept once the learner has taken them."""

    columns: list[Touched]
    slots: list[int]


class _Column(CellColumn):
    """The counts of one column: by cell those of the first labels, of all other labels, and of all labels."""

    rows_at = -1
    never_negative = slice(None)

    def __init__(self, at: int, rates: int) -> None:
        super().__init__(at, rates + 3, np.int32)
        self.rates = rates

    def rates_of(self, touched: Touched, row: int) -> list[float]:
        place = touched.place[row]
        if place < 0:
            return [0.0] * self.rates
        own, whole = touched.sums[place], touched.whole
        share = own[-1] / max(whole[-1], 1)
        first = (share * whole[0] + 1.0) / (own[0] + 1.0)
        return [log((own[k] + 1.0) / (share * whole[k] + 1.0) * first) for k in range(1, self.rates + 1)]

    def count(self, touched: Touched, row: int, slot: int) -> None:
        slot = min(slot, self.rates + 1)
        for counts, most in zip(touched.of_row(row), (MOST_IN_CELL, MOST_IN_ALL), strict=False):
            counts[slot] += 1
            counts[-1] += 1
            if counts[-1] >= most:
                counts[:-1] = [count // 2 for count in counts[:-1]]
                counts[-1] = sum(counts[:-1])


class _Core(BeforeClassifier):
    """The counts, and the core of the learner behind them."""

    def __init__(self, features: int, columns: Sequence[tuple[int, int]], last: StreamCore) -> None:
        super().__init__(features)
        self.columns = [_Column(at, rates) for at, rates in columns]
        self.last = last
        #: For each class its place in the order of arrival; -1 for one that was never learned.
        self.slots: list[int] = []

    def _encoded(self, X: Floats, steps: Codes, y: Codes) -> tuple[Floats, _Counted]:
        """The row of each step, i or ~i, as it is then, and the counts after them; ~i counts the label of row i."""
        touched = [column.touched(X) for column in self.columns]
        slots = list(self.slots)
        rows = np.where(steps < 0, ~steps, steps)
        Z = X[rows]
        labels = y.tolist()
        spans = [
            (column, own, column.at, column.at + column.rates)
            for column, own in zip(self.columns, touched, strict=True)
        ]
        for i, (row, step) in enumerate(zip(rows.tolist(), steps.tolist(), strict=True)):
            for column, own, begin, end in spans:
                Z[i, begin:end] = column.rates_of(own, row)
            if step >= 0:
                continue
            label = labels[row]
            if slots[label] < 0:
                slots[label] = max(slots) + 1
            for column, own, _, _ in spans:
                column.count(own, row, slots[label])
        return Z, _Counted(touched, slots)

    def _as_counted(self, X: Floats) -> Floats:
        return self._encoded(X, np.arange(len(X)), np.empty(0, dtype=np.int64))[0]

    def _passed(self, X: Floats) -> Iterator[tuple[slice, Floats]]:
        yield slice(None), self._as_counted(X)

    def _passed_one(self, x: Row) -> Floats:
        row: Floats = self._as_counted(self._reader.read(x)[None])[0]
        return row

    def _keep(self, counted: _Counted) -> None:
        for column, own in zip(self.columns, counted.columns, strict=True):
            column.keep(own)
        self.slots = counted.slots

    def insert(self, at: int) -> None:
        self.slots.insert(at, -1)
        super().insert(at)

    def forget(self) -> None:
        for column in self.columns:
            column.forget()
        self.slots = [-1] * len(self.slots)

    def begin(self, X: Floats, y: Codes, /) -> None:
        self.forget()
        Z, counted = self._encoded(X, ~np.arange(len(X)), y)
        self.last.begin(Z, y)
        self._keep(counted)

    def run(self, X: Floats, y: Codes, *wanted: Any, **named: Any) -> None:
        Z, counted = self._encoded(X, ~np.arange(len(X)), y)
        self.last.run(Z, y, *wanted, **named)
        self._keep(counted)

    def follow(
        self,
        X: Floats,
        y: Codes,
        order: Codes,
        answers: Codes,
        scores: Floats | None = None,
        kept: NDArray[np.uint8] | None = None,
        sets: Flags | None = None,
    ) -> None:
        """Each step has a row of its own: labels that come between make it another one when it is learned."""
        Z, counted = self._encoded(X, order, y)
        rows, steps = np.where(order < 0, ~order, order), np.arange(len(order))
        options: dict[str, Any] = {} if kept is None else {"kept": kept, "places": rows}
        wanted: dict[str, Any] = {"answers": answers} | ({} if scores is None else {"scores": scores})
        if sets is not None:
            wanted["sets"] = sets
        given = {name: np.zeros((len(Z), *out.shape[1:]), dtype=out.dtype) for name, out in wanted.items()}
        self.last.follow(Z, y[rows], np.where(order < 0, ~steps, steps), **given, **options)
        self._keep(counted)
        for name, out in wanted.items():
            out[rows[order >= 0]] = given[name][order >= 0]

    def state(self) -> dict[str, NDArray[Any]]:
        """Of each column the cells that have rows."""
        state: dict[str, NDArray[Any]] = {"target_slots": np.array(self.slots, dtype=np.int64)}
        for i, column in enumerate(self.columns):
            state[f"target_cells_{i}"], state[f"target_counts_{i}"] = column.state()
        return {**self.last.state(), **state}

    def restore(self, state: dict[str, NDArray[Any]], /) -> None:
        self.last.restore({name: array for name, array in state.items() if not name.startswith("target_")})
        self.n_classes = self.last.n_classes
        slots = state["target_slots"]
        self.slots = slots.tolist()
        if slots.dtype != np.int64 or len(self.slots) != self.n_classes or not _are_places(self.slots):
            raise ValueError("the order of the labels cannot be as it is described")
        for i, column in enumerate(self.columns):
            column.restore(state[f"target_cells_{i}"], state[f"target_counts_{i}"])


def _are_places(slots: list[int]) -> bool:
    seen = sorted(slot for slot in slots if slot >= 0)
    return seen == list(range(len(seen))) and min(slots, default=-1) >= -1


class TargetEncodedClassifier(BehindCategories, StreamClassifier):
    """A learner for rows in which some features are numbers of categories, of which there may be very many.

    `thalweg run` puts one before the model where a column of text has more than 64 categories. Memory is bounded: for a
    column 65,536 cells of ``rates + 3`` counts of four bytes, 1 MiB where there are two labels; a file holds the cells
    that have rows. Categories that share a cell share their counts.

    Parameters
    ----------
    learner : classifier of thalweg
        A template, which is never learned itself. It sees each category as ``rates`` numbers in its place: how much
        more often its rows had a label than all rows have, as a logarithm, against the label that came first.
    columns : sequence of (place, rates)
        For each column its first feature, the number of a cell, negative where the category is missing; and for how
        many labels after the first, in the order of their arrival, it has a feature: at least 1, and as many features
        from this place on are replaced.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC
    >>> from thalweg.pipeline import TargetEncodedClassifier
    >>> rng = np.random.default_rng(0)
    >>> shop = rng.integers(0, 500, 5000)
    >>> fraud = rng.random(5000) < np.where(shop % 2, 0.9, 0.1)
    >>> model = TargetEncodedClassifier(OnlineLDC(), [(0, 1)])
    >>> round(float((model.predict_then_learn(shop[:, None] * 1.0, fraud) == fraud)[2500:].mean()), 2)
    0.89
    """

    learner: StreamClassifier
    _core: _Core

    def __init__(self, learner: StreamClassifier, columns: Sequence[tuple[int, int]]) -> None:
        self.learner = learner
        self.columns = columns

    def _make_core(self, features: int) -> _Core:
        self._check(StreamClassifier, "be a classifier of thalweg", features)
        return _Core(features, self.columns, self.learner._make_core(features))

    def _name_classes(self, core: _Core, known: Labels) -> None:
        self.learner._name_classes(core.last, known)

    def _known_targets(self) -> Labels:
        return self._labels

    def _class_means(self) -> Floats | None:
        means: Floats | None = self.learned._class_means()
        return means

    predict_proba = available_if(learner_has("predict_proba"))(WithProbabilities.predict_proba)

    @available_if(learner_has("predict_set"))  # type: ignore[untyped-decorator]
    def predict_set(self, X: Any) -> Any:
        """The set of labels of each row, of a learner that gives one."""
        return self.learned.predict_set(self._core._as_counted(self._rows_to_predict(X)))

    follow_sets = available_if(learner_has("follow_sets"))(PredictionSets.follow_sets)

    _has_rate: Any = property(lambda self: self.learner._has_rate)
    _needs_labels_at_once: Any = property(lambda self: self.learner._needs_labels_at_once)


def behind_rates(learner: Any, columns: Sequence[tuple[int, int]]) -> Any:
    """The learner, behind these columns of categories where there are any."""
    if not columns:
        return learner
    behind = TargetEncodedRegressor if isinstance(learner, StreamRegressor) else TargetEncodedClassifier
    return behind(learner, columns)
