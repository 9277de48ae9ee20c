"""What one would run otherwise: gradient boosting that is fitted once, or again and again; and prompt labels.

``prompt`` is the model itself, had each label come with its row. The other two are scikit-learn's
`HistGradientBoostingClassifier` or `HistGradientBoostingRegressor`. They get the features of the model, and each label
when the model does. ``frozen`` is fitted once, to the first labelled rows. ``retrained`` is fitted every so many
labelled rows, to the last ones. A fit is in force from the next row on, as if it took no time. All work on a thread of
their own, and what they predict depends on the rows alone. A checkpoint keeps the rows of the last fit, which is then
repeated.

Cost: a fit takes O(window · features · trees), a prediction O(trees · depth), memory O(window · features).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidParameter
from thalweg.evaluate.averages import HistoryPoints, WindowedMean
from thalweg.evaluate.task import Asked, Task
from thalweg.option_names import option
from thalweg.run.scoreboard import MOST_POINTS, WINDOW, BlockMeans, add_in_order
from thalweg.saved import Saved
from thalweg.store import dumps, loads
from thalweg.tables import Plan
from thalweg.tables.late_labels import Batch

Floats = NDArray[np.float64]

#: Last rows that a later fit sees, as a multiple of the rows between fits.
_WINDOW_FITS = 5
#: Categories of a wide column that a fit distinguishes, and how many the trees can hold.
_MOST_CATEGORIES = 254


def boosting(task: str, wide: tuple[int, ...], seed: int) -> Any:
    """The model that is fitted; columns with the numbers of hashed categories are categories to it."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    if not wide:
        return kind(early_stopping=False, random_state=seed)
    known = OrdinalEncoder(max_categories=_MOST_CATEGORIES, handle_unknown="use_encoded_value", unknown_value=np.nan)
    first = make_column_transformer((known, list(wide)), remainder="passthrough")
    return make_pipeline(first, kind(early_stopping=False, random_state=seed, categorical_features=range(len(wide))))


class Reference:
    """A model that is fitted to rows whose labels have come, once or every so many of them.

    Examples
    --------
    >>> from thalweg.tables.late_labels import LateLabels
    >>> frozen = Reference("frozen", task="regression", every=40, wide=(), seed=0)
    >>> X, y = np.arange(50.0).reshape(-1, 1), np.arange(50.0)
    >>> batch = LateLabels().plan(X, y, np.ones(50, dtype=bool), np.arange(1, 51))
    >>> predictions = frozen.follow(batch, y)
    >>> int(np.isnan(predictions).sum()), frozen.fits
    (40, 1)
    """

    def __init__(self, name: str, *, task: str, every: int, wide: tuple[int, ...], seed: int) -> None:
        self.name = name
        self.every = every
        #: Labels that have come, and fits so far.
        self.labelled = self.fits = 0
        self._task, self._wide, self._seed = task, wide, seed
        self._most = every * (1 if name == "frozen" else _WINDOW_FITS)
        self._model: Any = None
        self._kept: list[tuple[Floats, NDArray[Any]]] = []

    def follow(self, batch: Batch, targets: NDArray[Any]) -> NDArray[Any]:
        """Take the steps of a batch; what is predicted for each row, 0 or NaN for those that are not."""
        X, labels, order = batch.X, batch.labels, batch.order
        numbers = self._task == "regression"
        predictions: NDArray[Any] = np.full(len(X), np.nan) if numbers else np.zeros(len(X), dtype=np.int64)
        came = self.labelled + np.cumsum(order < 0)
        begin = 0
        while begin < len(order):
            ends = np.flatnonzero(came[begin:] == (self._next_fit or -1))
            end = begin + int(ends[0]) + 1 if len(ends) else len(order)
            steps = order[begin:end]
            asked = steps[steps >= 0]
            if self._model is not None and len(asked):
                predictions[asked] = self._model.predict(X[asked])
            self._keep(X[~steps[steps < 0]], labels[~steps[steps < 0]])
            if len(ends):
                self.fits += 1
                self._fit(len(self._kept))
            begin = end
        return predictions

    @property
    def _next_fit(self) -> int | None:
        """After how many labels the next fit is due; None where there is none to come."""
        return None if self.name == "frozen" and self.fits else self.every * (self.fits + 1)

    def _keep(self, X: Floats, labels: NDArray[Any]) -> None:
        self.labelled += len(labels)
        if len(labels) and self._next_fit is not None:
            self._kept.append((X, labels))

    def _fit(self, parts: int) -> None:
        """To the last rows of so many parts that are kept; those before them are given up."""
        X = np.concatenate([rows for rows, _ in self._kept[:parts]])[-self._most :]
        labels = np.concatenate([codes for _, codes in self._kept[:parts]])[-self._most :]
        self._kept = [(X, labels), *self._kept[parts:]]
        if self._task != "regression" and (labels == labels[0]).all():
            self._model = _Constant(labels[0])
        else:
            self._model = boosting(self._task, self._wide, self._seed).fit(X, labels)

    def state(self) -> dict[str, Any]:
        """Counts, and the rows: those of the last fit, then those that came after it."""
        fitted = len(self._kept[0][1]) if self.fits else 0
        X, labels = map(np.concatenate, zip(*self._kept, strict=True)) if self._kept else (None, None)
        return {"labelled": self.labelled, "fits": self.fits, "fitted": fitted, "X": X, "labels": labels}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.labelled, self.fits, fitted = state["labelled"], state["fits"], state["fitted"]
        X, labels = state["X"], state["labels"]
        parts = [] if labels is None else [slice(0, fitted), slice(fitted, None)]
        self._kept = [(X[part], labels[part]) for part in parts if len(labels[part])]
        if self.fits:
            self._fit(1)


class _Constant:
    """Of a window with one label."""

    def __init__(self, label: Any) -> None:
        self._label = label

    def predict(self, X: Floats) -> NDArray[Any]:
        return np.full(len(X), self._label)


class ReferenceBoard(Saved):
    """The losses of a reference beside the model's, over the rows that both predicted, in constant memory."""

    _saved = ("scored", "rows", "first", "sums", "blocks", "history", "_recent")

    def __init__(self) -> None:
        #: Rows that the model predicted, those among them that the reference did too, and the first of these.
        self.scored = self.rows = 0
        self.first: int | None = None
        #: Sums of the losses of the reference and of the model.
        self.sums = [0.0, 0.0]
        self.blocks = BlockMeans()
        self.history = HistoryPoints[list[float]](MOST_POINTS)
        self._recent = WindowedMean(WINDOW, 2)

    def add(self, own: Floats, model: Floats) -> None:
        """Take in the losses of rows whose label has come; NaN where the reference made no prediction."""
        has = ~np.isnan(own)
        at = self.history.due_among(self.scored, len(own))
        for point in self._recent.push_and_average(np.column_stack([np.nan_to_num(own), has]), at).tolist():
            self.history.add(point)
        if self.first is None and has.any():
            self.first = self.scored + int(has.argmax()) + 1
        self.scored += len(own)
        self.rows += int(has.sum())
        self.sums = [add_in_order(total, values[has]) for total, values in zip(self.sums, (own, model), strict=True)]
        self.blocks.add(model[has] - own[has])

    def metrics(self) -> dict[str, Any]:
        """Mean losses, and the model's less the reference's with an interval; None where nothing is known."""
        own, model = (total / self.rows if self.rows else None for total in self.sums)
        return {
            "rows": self.rows,
            "first": self.first,
            "loss": own,
            "model": model,
            "difference": self.blocks.interval(least=-(own or 0.0)),
        }

    def curve(self) -> list[float | None]:
        """The windowed loss at the points of the model's own curve; None before the first prediction."""
        return [loss / share if share else None for loss, share in self.history.points]


class Against(Saved):
    """The references of a run, one batch behind it on a thread of their own."""

    _saved = ("references", "boards", "_waiting")

    def __init__(self, names: tuple[str, ...], every: int, task: Task, model: Any, plan: Plan, seed: int) -> None:
        if plan.sparse_columns and names != ("prompt",):
            # Wide categories are sparse only beside such columns.
            names_of_sparse = [column.name for column in plan.sparse_columns if column.declared_as != "categories"]
            listed = ", ".join(map(repr, names_of_sparse))
            where = f"column {listed}" if len(names_of_sparse) == 1 else f"columns {listed}"
            rule = f"be left out for sparse rows and text, as in {where} (see {option('drop')})"
            raise InvalidParameter.of_option("against", rule, ",".join(names))
        self.every = every
        self._task = task
        wide = tuple(plan.nominal)
        self.references = {
            name: PromptReference(model, task)
            if name == "prompt"
            else Reference(name, task=task.name, every=every, wide=wide, seed=seed)
            for name in names
        }
        self.boards = {name: ReferenceBoard() for name in names}
        self._seconds = dict.fromkeys(names, 0.0)
        #: Predictions for rows whose label has not come yet, in the order of `LateLabels`.
        self._waiting = {name: np.empty(0) for name in names}
        self._worker = ThreadPoolExecutor(1)
        self._under_way: Future[None] | None = None
        self._threads: Any = None

    def take(self, batch: Batch, targets: NDArray[Any], model: NDArray[Any]) -> None:
        """Follow a batch with targets as the model learns them, and what it predicted; an error is raised later."""
        self.finish()
        self._under_way = self._worker.submit(self._follow, batch, targets, model)

    def finish(self) -> None:
        """Wait for the batch in hand."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def _follow(self, batch: Batch, targets: NDArray[Any], model: NDArray[Any]) -> None:
        with self._one_thread():
            for name, reference in self.references.items():
                began = time.thread_time()
                given = reference.follow(batch, targets)
                self._seconds[name] += time.thread_time() - began
                given[: batch.carried] = self._waiting[name]
                self._score(self.boards[name], batch, given, model)
                self._waiting[name] = given[batch.waiting]

    def _one_thread(self) -> Any:
        """So that the time of the worker is all that the references take, and the model keeps the other cores."""
        if self._threads is None:
            import sklearn.ensemble  # noqa: F401  # whose libraries are to be found
            from threadpoolctl import ThreadpoolController

            self._threads = ThreadpoolController()
        return self._threads.limit(limits=1, user_api="openmp")

    def _score(self, board: ReferenceBoard, batch: Batch, given: NDArray[Any], model: NDArray[Any]) -> None:
        truth, own, others = (values[batch.learned] for values in (batch.labels, given, model))
        scored = self._task.has_prediction(others)
        truth, own, others = truth[scored], own[scored], others[scored]
        if truth.dtype.kind == "f":
            board.add(np.abs(truth - own), np.abs(truth - others))
        else:
            board.add(np.where(own != 0, own != truth, np.nan), (others != truth).astype(np.float64))

    def metrics(self) -> dict[str, Any]:
        """What ``metrics.json`` holds of the references; nothing in it depends on the clock."""
        self.finish()
        return {
            "every": self.every,
            "window": self.every * _WINDOW_FITS,
            "references": {
                name: {"fits": self.references[name].fits, **board.metrics()} for name, board in self.boards.items()
            },
            "curve": {name: board.curve() for name, board in self.boards.items()},
        }

    def seconds(self) -> dict[str, float]:
        """Processor time of each reference, since this process began."""
        self.finish()
        return dict(self._seconds)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        self.finish()
        return super().state()

    def restore(self, state: Mapping[str, Any]) -> None:
        with self._one_thread():
            super().restore(state)


class PromptReference:
    """A twin of the model, which learns the label of each row right after it predicted the row.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.tables.late_labels import LateLabels
    >>> from thalweg.evaluate.task import LabelTask
    >>> labels = np.array([1, 1, 2, 2])
    >>> batch = LateLabels(delay=3).plan(np.zeros((4, 1)), labels, labels > 0, np.arange(1, 5))
    >>> PromptReference(NoChange(), LabelTask()).follow(batch, np.array(["", "a", "b"])[labels]).tolist()
    [0, 1, -1, 2]
    """

    #: It is never fitted anew.
    fits = 0

    def __init__(self, model: Any, task: Task) -> None:
        self._model, self._task = deepcopy(model), task
        self._labelled = 0

    def follow(self, batch: Batch, targets: NDArray[Any]) -> NDArray[Any]:
        """Predict the fresh rows: numbers, or labels by number, -1 for any wrong one; NaN or 0 for no prediction."""
        has_target = np.zeros(len(targets), dtype=np.bool_)
        has_target[batch.learned] = has_target[batch.waiting] = True
        rows = np.arange(batch.carried, len(targets))
        learned, numbers = has_target[rows], targets.dtype.kind == "f"
        steps = np.stack([rows, ~rows], axis=1)[np.stack([np.ones_like(learned), learned], axis=1)]
        predictions: NDArray[Any] = np.full(len(targets), np.nan) if numbers else np.zeros(len(targets), dtype=np.int64)
        for part, (given, *_) in self._task.prompt(self._model, batch.X, targets, steps, Asked()):
            at = part[part >= 0]
            predictions[at] = given if numbers else np.where(given == targets[at], batch.labels[at], -1)
        unknown = rows[self._labelled + np.cumsum(learned) - learned == 0]
        predictions[unknown] = np.nan if numbers else 0
        self._labelled += int(learned.sum())
        return predictions

    def state(self) -> dict[str, Any]:
        """The rows it learned, and the model as bytes of its file."""
        return {"labelled": self._labelled, "model": dumps(self._model)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._labelled, self._model = state["labelled"], loads(state["model"])
