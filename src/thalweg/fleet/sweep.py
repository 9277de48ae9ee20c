"""Many runs at once: settings of one learner over one stream or over many, test-then-train, on all processors.

Each run is the one that the model would have made by itself, to the last bit, on however many threads. Runs are
compiled calls without the interpreter's lock, rows are looked at while they are learned, and nothing is made of the
predictions, a byte each, before they are asked for. Of up to four features and an `OnlineLDC` without ridge eight runs
go side by side, one in each lane of the processor's vectors: many streams, or settings that differ in their rates
alone, from three on, where vectors hold four numbers or more. A row then costs O(p^2 + classes p) instructions of eight
lanes each, some 260 for eight rows of two features and two classes; memory, of which a row takes 25 bytes, is asked
ahead and hardly waited for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.kernels import compiled
from thalweg.labels import Labels, as_labels
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.rows import Floats, are_rows_already, as_rows
from thalweg.parameters import Whole, processors

#: So many runs go side by side; a thread takes as many times these that each has about four parts to do.
_LANES, _PARTS = 8, 4
#: Places of so many classes fit into a byte.
_FEW_CLASSES = 127
Settings: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | Sequence[int]


class Sweep:
    """Result of `sweep`: one run for each setting and stream.

    Attributes
    ----------
    settings : list of dict
        The parameters of each setting, in the order of the first axis.
    mistakes : ndarray of shape (settings,) or (settings, streams)
        How many rows each run predicted wrongly.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> from thalweg.fleet import sweep
    >>> two_streams = [[[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]]
    >>> swept = sweep(NoChange(), None, two_streams, [["dry", "dry", "wet"], ["wet", "wet", "wet"]])
    >>> swept.mistakes.tolist()
    [[2, 1]]
    >>> swept.model_of(0, stream=1).predict_one([0.0])
    'wet'
    """

    def __init__(
        self, settings: list[dict[str, Any]], mistakes: NDArray[np.int64], runs: _Runs, shape: tuple[int, ...]
    ) -> None:
        self.settings = settings
        self.mistakes = mistakes
        self._runs = runs
        self._shape = shape

    @property
    def predictions(self) -> NDArray[Any]:
        """The predictions of each run, of shape (settings, rows) or (settings, streams, rows)."""
        return self._runs.labels.decode(self._runs.predictions.astype(np.int64).reshape(self._shape))

    @property
    def best(self) -> dict[str, Any]:
        """The setting with the fewest mistakes over all streams, the first of several."""
        return self.settings[int(self.mistakes.reshape(len(self.settings), -1).sum(axis=1).argmin())]

    def model_of(self, setting: int, stream: int = 0) -> StreamClassifier:
        """The model at the end of a run, as an estimator of its own; it knows the labels of all streams.

        A sweep itself cannot be pickled, its models can.
        """
        setting = _place(setting, len(self.settings), "setting")
        stream = _place(stream, self._runs.streams, "stream")
        model: StreamClassifier = clone(self._runs.models[setting])
        model._commit(self._runs.core_of(setting, stream), self._runs.labels, None)
        return deepcopy(model)


def _place(number: int, count: int, name: str) -> int:
    """A place among so many, negative ones counted from the end."""
    Whole(-count, count - 1, text=f"be the number of one of {count}").check("model_of", name, number)
    return int(number) % count


class _Runs:
    """Every model over every stream, setting by setting."""

    def __init__(self, models: list[StreamClassifier], labels: Labels, shape: tuple[int, int, int]) -> None:
        self.models, self.labels = models, labels
        self.streams, rows, features = shape
        count, few = len(models) * self.streams, len(labels) <= _FEW_CLASSES
        firsts = [model._new_core(features, labels) for model in models]
        self.runner = compiled.SweepRunner(firsts, self.streams) if few and all(map(_is_compiled, firsts)) else None
        self._cores: list[Any] = []
        if not self.runner:
            self._cores = [model._new_core(features, labels) for model in models for _ in range(self.streams)]
        self.predictions = np.empty((count, rows), dtype=np.int8 if few else np.int64)
        self.mistakes = np.empty(count, dtype=np.int64)

    def core_of(self, setting: int, stream: int) -> Any:
        run = setting * self.streams + stream
        return self.runner.core(run) if self.runner else self._cores[run]

    def all_done(self, X: Floats, y: NDArray[np.int64], threads: int) -> bool:
        """Whether all runs came to their end: compiled ones do not where a value or a label is none."""
        run = partial(self._run, X, y)
        count = len(self.mistakes)
        step = -(-count // threads)
        if threads > 1 and step > _LANES:
            step = -(-step // (_PARTS * _LANES)) * _LANES
        parts = [slice(start, min(start + step, count)) for start in range(0, count, step)]
        if len(parts) == 1:
            done = run(parts[0])
        else:
            with ThreadPoolExecutor(threads) as pool:
                done = all(list(pool.map(run, parts)))
        zero = self.labels.codes.get(self.labels.ordinary[-1], -1)  # the prediction of a row that came before any label
        unpredicted = self.predictions[:, 0].reshape(-1, self.streams) < 0
        self.mistakes -= (unpredicted & (y[:, 0] == zero)).ravel()
        return done

    def _run(self, X: Floats, y: NDArray[np.int64], part: slice) -> bool:
        predictions, mistakes = self.predictions[part], self.mistakes[part]
        if self.runner:
            return self.runner.run(part.start, X, y, predictions, mistakes)
        given = np.empty(X.shape[1], dtype=np.int64)
        for number, core in enumerate(self._cores[part]):
            stream = (part.start + number) % self.streams
            core.run(X[stream], y[stream], given)
            predictions[number] = given
            mistakes[number] = np.count_nonzero(given != y[stream])
        return True


def _is_compiled(core: Any) -> bool:
    return isinstance(core, compiled.Core) and not core.may_fail


def sweep(
    model: StreamClassifier, settings: Settings | None, X: ArrayLike, y: ArrayLike, *, threads: int | None = None
) -> Sweep:
    """Run a model in many settings over one stream, or over many: each row is predicted, then learned.

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
        Number of threads; by default one per processor. The results do not depend on it.

    Returns
    -------
    Sweep
        Mistakes and predictions of each run, and the models they ended with.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.fleet import sweep
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(2000)
    >>> swept = sweep(OnlineLDC(counts="soft"), {"rate": [0.001, 0.05, 0.5]}, X, y)
    >>> swept.best, swept.predictions.shape
    ({'rate': 0.05}, (3, 2000))
    >>> bool((swept.predictions[1] == OnlineLDC(0.05, counts="soft").predict_then_learn(X, y)).all())
    True
    """
    if not isinstance(model, StreamClassifier):
        raise InvalidParameter.of("sweep", "model", "be a classifier of thalweg", model)
    Whole(1).or_else(None).check("sweep", "threads", threads)
    rows, labels, shape = _streams(model, X, y)
    chosen = _each(settings)
    try:
        models = [clone(model).set_params(**setting) for setting in chosen]
    except ValueError as error:  # scikit-learn's, of a parameter there is not
        raise InvalidParameter(f"sweep cannot make a setting of these parameters: {error}") from error
    runs = _learned(models, rows, labels, shape, int(threads or processors()))
    return Sweep(chosen, runs.mistakes.reshape(len(chosen), *shape[:-1]), runs, (len(chosen), *shape))


def _streams(model: StreamClassifier, X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any], tuple[int, ...]]:
    """Rows and labels, stream after stream, and the shape that y has; nobody may have looked at them yet."""
    if _dimensions(y, "y") < 2:
        rows = X if are_rows_already(X) else as_rows(X, model, "X")
        labels = as_labels(y, len(rows), "sweep")
        return rows, labels, labels.shape
    if _dimensions(X, "X") != 3 or np.ma.is_masked(X) or np.ma.is_masked(y):
        got = "masked arrays" if np.ma.is_masked(X) or np.ma.is_masked(y) else f"{np.ndim(X)} and {np.ndim(y)} axes"
        raise InvalidInput(f"many streams must come as plain arrays X of three and y of two axes, got {got}")
    many_X, many_y = np.asarray(X), np.asarray(y)
    if many_y.ndim != 2 or many_X.ndim != 3 or many_X.shape[:2] != many_y.shape or 0 in many_X.shape:
        raise InvalidInput(
            "X and y must have the shapes (streams, rows, features) and (streams, rows), "
            f"got {many_X.shape} and {many_y.shape}"
        )
    rows = many_X.reshape(-1, many_X.shape[2])
    rows = rows if are_rows_already(rows) else as_rows(rows, model, "X")
    return rows, as_labels(many_y.ravel(), len(rows), "sweep"), many_y.shape


def _dimensions(values: ArrayLike, name: str) -> int:
    try:
        return np.ndim(values)
    except ValueError as error:
        raise InvalidInput(f"{name} must be an array, with as many values in every row: {error}") from error


def _learned(
    models: list[StreamClassifier], rows: Floats, labels: NDArray[Any], shape: tuple[int, ...], threads: int
) -> _Runs:
    """The runs, over rows and labels as they came; looked at before only where they must be, or turned out bad."""
    cube = rows.reshape(-1, shape[-1], rows.shape[1])
    known = Labels.none().with_labels(labels[: shape[-1]])  # the first stream has most of them
    if known.are_places and labels.flags.c_contiguous:
        runs = _Runs(models, known, cube.shape)
        if runs.runner and runs.all_done(cube, labels.reshape(cube.shape[:2]), threads):
            return runs
    as_rows(rows, models[0], "X")
    known, codes = known.encode(labels)
    runs = _Runs(models, known, cube.shape)
    runs.all_done(cube, codes.reshape(cube.shape[:2]), threads)
    return runs


def _each(settings: Settings | None) -> list[dict[str, Any]]:
    if settings is None:
        return [{}]
    if isinstance(settings, (str, bytes)):
        raise InvalidParameter.of(
            "sweep", "settings", "be a dict of lists, a list of dicts or seeds, or None", settings
        )
    if isinstance(settings, Mapping):
        if any(np.size(values) == 0 for values in settings.values()):
            raise InvalidParameter.of("sweep", "settings", "hold at least one value of each parameter", settings)
        from sklearn.model_selection import ParameterGrid  # which loads a good part of scikit-learn

        return [dict(setting) for setting in ParameterGrid(dict(settings))]
    chosen = [dict(setting) if isinstance(setting, Mapping) else {"random_state": setting} for setting in settings]
    if not chosen:
        raise InvalidParameter.of("sweep", "settings", "hold at least one setting", settings)
    return chosen
