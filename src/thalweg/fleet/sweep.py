"""Many runs at once: settings of one learner over one stream or over many, test-then-train, on all processors.

Each run is the one that the model would have made by itself, to the last bit, on however many threads. Rows and labels
are checked once, runs are compiled calls without the interpreter's lock, and nothing is made of their answers before
they are asked for. Streams of up to four features that an `OnlineLDC` without ridge learns go side by side, one in each
lane of the processor's vectors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.contract import StreamClassifier
from thalweg.learners.labels import Labels, as_labels
from thalweg.learners.rows import Floats, as_rows

Settings: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | Sequence[int]


class Sweep:
    """What `sweep` found: one run for each setting and stream.

    Attributes
    ----------
    settings : list of dict
        The parameters of each setting, in the order of the first axis.
    mistakes : ndarray of shape (settings,) or (settings, streams)
        How many rows each run answered wrongly.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.fleet import sweep
    >>> two_streams = [[[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]]
    >>> found = sweep(NoChange(), None, two_streams, [["dry", "dry", "wet"], ["wet", "wet", "wet"]])
    >>> found.mistakes.tolist()
    [[2, 1]]
    >>> found.model_of(0, stream=1).predict_one([0.0])
    'wet'
    """

    def __init__(
        self, settings: list[dict[str, Any]], mistakes: NDArray[np.int64], runs: _Runs, answers: NDArray[np.int64]
    ) -> None:
        self.settings = settings
        self.mistakes = mistakes
        self._runs = runs
        self._answers = answers

    @property
    def answers(self) -> NDArray[Any]:
        """The answers of each run, of shape (settings, rows) or (settings, streams, rows)."""
        return self._runs.labels.decode(self._answers)

    @property
    def best(self) -> dict[str, Any]:
        """The setting with the fewest mistakes over all streams, the first of several."""
        return self.settings[int(self.mistakes.reshape(len(self.settings), -1).sum(axis=1).argmin())]

    def model_of(self, setting: int, stream: int = 0) -> StreamClassifier:
        """The model at the end of a run, as an estimator of its own; it knows the labels of all streams."""
        runs = self._runs
        model: StreamClassifier = clone(runs.models[setting])
        model._commit(runs.cores[setting * runs.streams + stream], runs.labels, None)
        return deepcopy(model)


class _Runs:
    """The cores of all runs, setting by setting."""

    def __init__(self, models: list[StreamClassifier], labels: Labels, features: int, streams: int) -> None:
        self.models, self.labels, self.features, self.streams = models, labels, features, streams
        self.cores: list[Any] = [core for model in models for core in _copies(model, features, labels, streams)]


def _copies(model: StreamClassifier, features: int, labels: Labels, count: int) -> list[Any]:
    core = model._new_core(features, labels)
    if isinstance(core, compiled.Core) and not core.may_fail:
        return [core, *core.copies(count - 1)]
    return [core, *(model._new_core(features, labels) for _ in range(count - 1))]


def sweep(
    model: StreamClassifier,
    settings: Settings | None,
    X: ArrayLike,
    y: ArrayLike,
    *,
    threads: int | None = None,
) -> Sweep:
    """Run a model in many settings over one stream, or over many: each row is answered, then learned.

    Parameters
    ----------
    model : classifier of thalweg
        What is run; it is not learned itself.
    settings : dict of lists, list of dicts, list of int, or None
        A grid of parameters, of which all combinations are run; the settings themselves; seeds, which stand for
        ``random_state``; or None for the model as it is.
    X, y : array of shape (rows, features) and (rows,), or (streams, rows, features) and (streams, rows)
        One stream, or as many as X has, each run in every setting.
    threads : int, optional
        How many runs go on at once; by default as many as there are processors. The results do not depend on it.

    Returns
    -------
    Sweep
        Mistakes and answers of each run, and the models they ended with.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.fleet import sweep
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(2000)
    >>> found = sweep(OnlineLDC(counts="soft"), {"rate": [0.001, 0.05, 0.5]}, X, y)
    >>> found.best, found.answers.shape
    ({'rate': 0.05}, (3, 2000))
    >>> bool((found.answers[1] == OnlineLDC(0.05, counts="soft").predict_then_learn(X, y)).all())
    True
    """
    if not isinstance(model, StreamClassifier):
        raise InvalidParameter.of("sweep", "model", "be a classifier of thalweg", model)
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise InvalidParameter.of("sweep", "threads", "be an integer >= 1 or None", threads)
    rows, labels, shape = _streams(model, X, y)
    streams = shape[0] if len(shape) == 2 else 1
    known, codes = Labels.none().with_labels(labels[: shape[-1]]).encode(labels)  # the first stream tells most of them
    chosen = _each(settings)
    models = [clone(model).set_params(**setting) for setting in chosen]
    runs = _Runs(models, known, rows.shape[-1], streams)
    answers = np.empty((len(chosen), streams, shape[-1]), dtype=np.int64)
    expected = codes.reshape(streams, -1)

    def run(setting: int, part: slice) -> None:
        cores = runs.cores[setting * streams :][part]
        X, y, given = rows[part], expected[part], answers[setting, part]
        if isinstance(cores[0], compiled.Core) and compiled.run_side_by_side(cores, X, y, given):
            return
        for number, core in enumerate(cores):
            core.run(X[number], y[number], given[number])

    workers = threads or _processors()
    step = -(-streams // workers)
    with ThreadPoolExecutor(workers) as pool:
        parts = [slice(start, start + step) for start in range(0, streams, step)]
        for done in [pool.submit(run, setting, part) for setting in range(len(chosen)) for part in parts]:
            done.result()
    mistakes = _mistakes(answers, expected, known)
    return Sweep(chosen, mistakes.reshape(len(chosen), *shape[:-1]), runs, answers.reshape(len(chosen), *shape))


def _streams(model: StreamClassifier, X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any], tuple[int, ...]]:
    """Rows as (streams, rows, features), labels one after the other, and the shape that y has."""
    if np.ndim(y) < 2:
        rows = as_rows(X, model, "X")
        labels = as_labels(y, len(rows), "sweep")
        return rows[None], labels, labels.shape
    many_X, many_y = np.asarray(X), np.asarray(y)
    if many_y.ndim != 2 or many_X.ndim != 3 or many_X.shape[:2] != many_y.shape or 0 in many_X.shape:
        raise InvalidInput(
            "X and y must have the shapes (streams, rows, features) and (streams, rows), "
            f"got {many_X.shape} and {many_y.shape}"
        )
    rows = as_rows(many_X.reshape(-1, many_X.shape[2]), model, "X")
    return rows.reshape(many_X.shape), as_labels(many_y.ravel(), len(rows), "sweep"), many_y.shape


def _each(settings: Settings | None) -> list[dict[str, Any]]:
    if settings is None:
        return [{}]
    if isinstance(settings, Mapping):
        from sklearn.model_selection import ParameterGrid  # which loads a good part of scikit-learn

        return [dict(setting) for setting in ParameterGrid(dict(settings))]
    chosen = [dict(each) if isinstance(each, Mapping) else {"random_state": each} for each in settings]
    if not chosen:
        raise InvalidParameter.of("sweep", "settings", "hold at least one setting", settings)
    return chosen


def _mistakes(answers: NDArray[np.int64], expected: NDArray[np.int64], known: Labels) -> NDArray[np.int64]:
    """Rows answered wrongly; one that came before any label has the zero of the labels' type for an answer."""
    zero = known.codes.get(known.ordinary[-1], -1)
    right = answers == expected
    right[..., 0] |= (answers[..., 0] < 0) & (expected[..., 0] == zero)
    runs = right.reshape(-1, right.shape[-1])
    return np.array([len(run) - np.count_nonzero(run) for run in runs]).reshape(right.shape[:-1])


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
