"""`Fleet`: one model per key, for labels or for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet.keys import Keys, apart, apart_one, as_keys, with_spill_file
from thalweg.kernels import compiled
from thalweg.labels import Labels
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.labelled_estimator import LabelledEstimator
from thalweg.learners.base.regressor import StreamRegressor, as_target, as_targets
from thalweg.learners.base.rows import Floats, Row, as_rows, names_of
from thalweg.parameters import OneOf, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core, FleetCore, RegressionCore


class Fleet(LabelledEstimator):
    """A model for each key, all learned in one pass over interleaved rows.

    Parameters
    ----------
    model : classifier or regressor of thalweg
        Template of the model of each key. It learns nothing itself. Its core must be compiled, which excludes
        pipelines, `LearnNSE`, the kernel mean machine without a budget, and committees with members of scikit-learn.
        With a regressor, ``Fleet(model)`` is a `RegressorFleet`, whose rows have one number each as their target. The
        state of a key is read and written with each of its rows, so small models are fast. Models with tilings or
        trees, such as the defaults unless ``curved=False``, take a hundred to a thousand times as long as alone.
    key : str, optional
        Name of the key's column in a table, or of its entry in a dict. It is used wherever no keys are given, and is
        not a feature.
    capacity : int, optional
        Number of models in memory, at least 1 (default: all). Beyond it, the models that learned least recently go to a
        temporary file until their key comes again. About 24 bytes a key stay in memory. A lower number saves memory and
        costs reads and writes. With "cuda" it is the number of models in the GPU's memory. The others
        are in the host's memory until a batch has rows of their key. Predictions do not depend on it.
    folder : str, optional
        Folder of that temporary file (default: the system's). The file has no name there and is deleted with the fleet.
        `thalweg.save` writes all models, those in the file included.
    device : {"cpu", "cuda"}, default "cpu"
        Device that holds the models and learns. "cuda" needs the extra ``gpu`` and is for an `OnlineLDC` with
        ``counts="soft"`` and without a ridge, a `Perceptron` or an `OnlineLogistic`, at a constant rate, and for an
        `OnlineLinearRegression` with ``solver="rls"``, of at most 64 features, and for keys that are integers. Rows may
        then be arrays of CuPy, PyTorch or JAX in the GPU's memory, where labels must be integers. A file holds a fleet
        of "cpu".

    Attributes
    ----------
    classes_ : ndarray
        The labels of all keys, sorted. A new label is announced to every model, which changes none of their
        predictions.
    n_features_in_ : int
        The width of a row.
    feature_names_in_ : ndarray of str
        The names of the features, where the first rows had names.
    n_bytes_ : int
        The memory held for models and keys.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.fleet import Fleet
    >>> fleet = Fleet(OnlineLDC(0.1, counts="soft", warmup=2))
    >>> X = [[0.0], [1.0], [0.0], [1.0], [0.1], [0.9], [0.1], [0.9]]
    >>> y = ["low", "high", "high", "low", "low", "high", "high", "low"]
    >>> fleet.partial_fit(X, y, ["pump", "pump", "fan", "fan", "pump", "pump", "fan", "fan"])
    Fleet(model=OnlineLDC(counts='soft', rate=0.1, warmup=2))
    >>> fleet.predict([[0.0], [0.0]], ["pump", "fan"])
    array(['low', 'high'], dtype='<U4')
    >>> len(fleet), "pump" in fleet, fleet.keys()
    (2, True, ['fan', 'pump'])
    >>> fleet.model_of("pump").means_.ravel().round(1).tolist()
    [0.9, 0.1]
    """

    _core: Any  # a FleetCore, or a GpuFleetCore

    _why_not_sparse = "its models are arrays over all features; use X.toarray(), or a model of sparse rows for each key"
    _why_not_merged = "keys are kept in the order of their use; add the models of a key, which model_of gives"

    _parameters_not_saved = frozenset({"device"})
    _rules = Rules(
        capacity=Whole(1, 2**32 - 1, text="be an integer from 1 to 2**32 - 1,").or_else(None),
        device=OneOf("cpu", "cuda"),
    )

    def __new__(cls, model: Any = None, **_: Any) -> Self:
        """A fleet of the kind of its model."""
        fleet: Self = super().__new__(RegressorFleet if cls is Fleet and isinstance(model, StreamRegressor) else cls)
        return fleet

    def __init__(
        self,
        model: StreamClassifier | StreamRegressor,
        *,
        key: str | None = None,
        capacity: int | None = None,
        folder: str | None = None,
        device: Literal["cpu", "cuda"] = "cpu",
    ) -> None:
        self.model = model
        self.key = key
        self.capacity = capacity
        self.folder = folder
        self.device = device

    def _make_core(self, features: int) -> Any:
        self._rules.check(self)
        core = self._lone_core(features)
        if self.device == "cuda":
            return self._make_gpu_core(core, features)
        if self.capacity is None:
            return compiled.FleetCore(core)
        return with_spill_file("Fleet", self.folder, partial(compiled.FleetCore, core, int(self.capacity)))

    def _make_gpu_core(self, core: Any, features: int) -> Any:
        from thalweg.fleet.gpu.core import GpuFleetCore
        from thalweg.fleet.gpu.layouts import layout_of

        capacity = None if self.capacity is None else int(self.capacity)
        return GpuFleetCore(core, layout_of(self.model, features), capacity)

    def to(self, device: Literal["cpu", "cuda"]) -> Self:
        """A copy of the fleet whose models lie and learn there."""
        moved: Self = clone(self).set_params(device=device)
        moved._rules.check(moved)
        if self.__sklearn_is_fitted__():
            moved.__setstate__({**self.__getstate__(), "device": device, "_core": self._core.state()})
        return moved

    def _lone_core(self, features: int, known: Labels | None = None) -> Core | RegressionCore:
        """The core of a model by itself; one that is given the labels raises where it cannot take them."""
        if isinstance(self.model, StreamClassifier):
            if self.model._needs_label_names:
                rule = "not depend on which label is which, as costs and thresholds do"
                raise InvalidParameter.of("Fleet", "model", rule, self.model)
            core = self.model._make_core(features) if known is None else self.model._new_core(features, known)
            if isinstance(core, compiled.Core) and not core.may_fail:
                return core
        rule = "be a classifier or regressor of thalweg with a compiled core"
        raise InvalidParameter.of("Fleet", "model", rule, self.model)

    def _new_core(self, features: int, known: Labels) -> FleetCore:
        self._lone_core(features, known)
        return cast("FleetCore", super()._new_core(features, known))

    def _announce(self, wider: Labels) -> None:
        if wider is not self._labels:
            self._lone_core(self.n_features_in_, wider)
            if self.device == "cuda":
                self._core.require_room(len(wider))
            super()._announce(wider)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, keys: ArrayLike | None = None, classes: ArrayLike | None = None
    ) -> Self:
        """Learn these rows in order, each by the model of its key.

        Parameters
        ----------
        X, y : array of shape (rows, features), array of shape (rows,)
            Rows and labels; a label may be new at any row.
        keys : array of shape (rows,), optional
            Integers of 64 bits or strings, the same kind throughout. A key may be new at any row. By default the column
            of X that ``key`` names.
        classes : array, optional
            Labels to come; never needed.
        """
        if self._is_on_gpu(X):
            self._run_on_gpu(X, y, keys, classes)
        elif classes is None and self._is_copied_to_gpu(X, keys, y):
            self._run_on_gpu(*self._core.to_device(X, y, keys))
        else:
            self._run(X, y, keys, classes)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike, keys: ArrayLike | None = None) -> NDArray[Any]:
        """Predict each row by the model of its key before its label is seen, then learn it.

        A key's first row is predicted with the zero of the labels' type (0, False, "").
        """
        if self._is_on_gpu(X):
            return cast("NDArray[Any]", self._run_on_gpu(X, y, keys))
        if self._is_copied_to_gpu(X, keys, y):
            return cast("NDArray[Any]", self._core.to_host(self._run_on_gpu(*self._core.to_device(X, y, keys))))
        return self._decoded(self._run(X, y, keys, predicting=True))

    def _run(
        self, X: Any, y: ArrayLike, keys: Any, classes: ArrayLike | None = None, predicting: bool = False
    ) -> NDArray[np.int64]:
        X, keys = self._apart(X, keys)
        rows, labels = self._take(X, y)
        owners = self._keys(keys, len(rows))
        core, codes = self._ready(rows, labels, X, announced=classes)
        predictions = np.empty(len(rows) if predicting else 0, dtype=np.int64)
        core.run(rows, codes, *owners, predictions if predicting else None)
        return predictions

    def learn_one(self, x: Row, y: Any, key: int | str | None = None) -> Self:
        """Learn one row by the model of its key, by default the row's own entry that ``key`` names."""
        x, key = self._apart_one(x, key)
        labels: Labels | None = self.__dict__.get("_labels")
        if labels is None or type(y) not in labels.everyday_types or y not in labels.codes:
            self._keys([key], 1)
            labels = self._meet(x, y)
        self._core.learn_one(x, labels.codes[y], key)
        return self

    def predict(self, X: ArrayLike, keys: ArrayLike | None = None) -> NDArray[Any]:
        """The prediction for each row by the model of its key; the zero of the labels' type for a key never learned."""
        if self._is_on_gpu(X):
            return cast("NDArray[Any]", self._predict_on_gpu(X, keys))
        if self._is_copied_to_gpu(X, keys):
            return cast("NDArray[Any]", self._core.to_host(self._predict_on_gpu(*self._core.to_device(X, keys))))
        X, keys = self._apart(X, keys)
        rows: Floats = self._rows_to_predict(X)
        predictions = np.empty(len(rows), dtype=np.int64)
        self._core.answers(rows, *self._keys(keys, len(rows)), predictions)
        return self._decoded(predictions)

    def _decoded(self, predictions: NDArray[np.int64]) -> NDArray[Any]:
        return self._labels.decode(predictions)

    def predict_one(self, x: Row, key: int | str | None = None) -> Any:
        """The prediction for one row by the model of its key; None for a key never learned."""
        x, key = self._apart_one(x, key)
        labels: Labels | None = self.__dict__.get("_labels")
        if labels is None:
            return None
        code = self._core.answer_one(x, key)
        return None if code < 0 else labels.ordinary[code]

    def _is_on_gpu(self, X: Any) -> bool:
        if self.device != "cuda" or not hasattr(X, "__dlpack_device__"):
            return False
        from thalweg.fleet.gpu.arrays import is_on_gpu

        return is_on_gpu(X)

    def _is_copied_to_gpu(self, X: Any, keys: Any, y: Any = None) -> bool:
        """Whether rows of NumPy are checked by the GPU, which is quicker at it than the host."""
        kinds = self._kinds_on_gpu() if self.device == "cuda" and self.__sklearn_is_fitted__() else ""
        if not kinds:
            return False
        from thalweg.fleet.gpu.arrays import may_be_copied

        if not may_be_copied(X, keys, y, kinds) or not self._core.takes_whole(X):
            return False
        self._require_same_columns(X)
        return True

    def _kinds_on_gpu(self) -> str:
        """The kinds of NumPy's arrays that may be targets on the GPU; none where predictions could not be."""
        return "iu" if self.classes_.dtype.kind == "i" else ""

    def _run_on_gpu(self, X: Any, y: Any, keys: Any, classes: Any = None) -> Any:
        from thalweg.fleet.gpu import arrays

        begun = self.__sklearn_is_fitted__()
        width, known = (self.n_features_in_, self.classes_) if begun else (None, np.empty(0, dtype=np.int64))
        rows, labels, codes = arrays.as_labelled_rows(X, y, width, known)
        owners = arrays.as_integers(keys, len(rows), "keys")
        if codes is None or classes is not None:  # labels are announced as if they came with rows of zeros
            distinct = np.unique(labels.get())
            blank = np.zeros((len(distinct), rows.shape[1]))
            self._ready(blank, distinct, blank, announced=None if classes is None else arrays.as_host(classes))
            rows, labels, codes = arrays.as_labelled_rows(X, y, rows.shape[1], self.classes_)
        else:
            self._require_same_parameters()
        return self._take_on_gpu(rows, owners, codes)

    def _predict_on_gpu(self, X: Any, keys: Any) -> Any:
        from thalweg.fleet.gpu import arrays

        self._learned_core()
        rows = arrays.as_rows(X, self.n_features_in_)
        owners = arrays.as_integers(keys, len(rows), "keys")
        return self._take_on_gpu(rows, owners, None)

    def _take_on_gpu(self, rows: Any, owners: Any, codes: Any) -> Any:
        from thalweg.fleet.gpu.arrays import names_of as names_of_classes

        return self._core.take(rows, owners, codes, names_of_classes(self.classes_))

    def model_of(self, key: int | str) -> Any:
        """A key's model as an estimator of its own, a copy; InvalidInput for a key never learned."""
        state = self._core.state_of(key) if self.__sklearn_is_fitted__() else None
        if state is None:
            raise InvalidInput(f"the fleet has no model of the key {key!r}")
        alone = clone(self.model)
        learned = {"_core": state, "n_features_in_": self.n_features_in_, **self._known_targets()}
        if hasattr(self, "feature_names_in_"):
            learned["feature_names_in_"] = self.feature_names_in_.copy()
        alone.__setstate__({**alone.get_params(deep=False), **learned})
        return alone

    def _known_targets(self) -> dict[str, Any]:
        """What the model of a key knows of the targets."""
        return {"_labels": self._labels, "classes_": self._labels.values}

    def forget(self, key: int | str) -> bool:
        """Give up a key's model and its memory; whether there was one."""
        return self.__sklearn_is_fitted__() and self._core.forget(key)

    def keys(self) -> list[Any]:
        """All keys, in order."""
        return self._core.keys() if self.__sklearn_is_fitted__() else []

    def __len__(self) -> int:
        return len(self._core) if self.__sklearn_is_fitted__() else 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __contains__(self, key: int | str) -> bool:
        return self.__sklearn_is_fitted__() and key in self._core

    @property
    def n_bytes_(self) -> int:
        """The memory held for models and keys, in bytes."""
        return int(self._learned_core().n_bytes)

    def _keys(self, keys: Any, rows: int) -> Keys:
        return as_keys(keys, rows, self._core.kind if self.__sklearn_is_fitted__() else "")

    def _apart(self, X: Any, keys: Any) -> tuple[Any, Any]:
        return (X, keys) if keys is not None else apart(X, self._key_name())

    def _apart_one(self, x: Row, key: Any) -> tuple[Row, Any]:
        return (x, key) if key is not None else apart_one(x, self._key_name())

    def _key_name(self) -> str:
        if self.key is None:
            raise InvalidInput("each row needs a key: give keys, or name their column by the 'key' parameter")
        return self.key


class RegressorFleet(Fleet):
    """A regressor for each key; see `Fleet`.

    A key's first row is predicted with 0, as a regressor does, and a key never learned with NaN. The model that
    `model_of` gives has the intervals of its own residuals.

    Examples
    --------
    >>> from thalweg import OnlineLinearRegression
    >>> fleet = Fleet(OnlineLinearRegression(solver="rls"))
    >>> X, y = [[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]], [1.0, 3.0, 5.0, 0.0, -1.0, -2.0]
    >>> fleet = fleet.partial_fit(X, y, ["rising"] * 3 + ["falling"] * 3)
    >>> type(fleet).__name__, fleet.predict([[3.0], [3.0], [3.0]], ["rising", "falling", "other"]).round(3).tolist()
    ('RegressorFleet', [7.0, -3.0, nan])
    """

    def _lone_core(self, features: int, known: Labels | None = None) -> RegressionCore:
        core = self.model._make_core(features) if isinstance(self.model, StreamRegressor) else None
        if not isinstance(core, compiled.RegressionCore):
            raise InvalidParameter.of("Fleet", "model", "be a regressor of thalweg with a compiled core", self.model)
        core.widen(1)
        return core

    def _take(self, X: ArrayLike, y: ArrayLike, name: str = "X", *, anew: bool = False) -> tuple[Floats, Floats]:
        rows = as_rows(X, self, name)
        targets, columns = as_targets(y, len(rows), "Fleet")
        if columns is not None:
            raise InvalidInput(f"y must be one-dimensional, one target for each row, got {columns} columns")
        return rows, targets[:, 0]

    def _ready(  # type: ignore[override]
        self, rows: Floats, targets: Floats, X: ArrayLike, announced: ArrayLike | None = None
    ) -> tuple[FleetCore, NDArray[np.int64]]:
        _require_no_classes(announced)
        if not self.__sklearn_is_fitted__():
            self._start(self._make_core(rows.shape[1]), self._remember_columns(X))
        else:
            self._require_same_parameters()
            self._require_same_columns(X)
        return self._core, np.ascontiguousarray(targets).view(np.int64)

    def _start(self, core: FleetCore, names: tuple[str, ...] | None) -> None:
        core.announce(0)  # the one target, in the place of a class
        self._begin_with(core, names)

    def _decoded(self, predictions: NDArray[np.int64]) -> Floats:
        return predictions.view(np.float64)

    def learn_one(self, x: Row, y: Any, key: int | str | None = None) -> Self:
        """Learn one row by the model of its key, by default the row's own entry that ``key`` names."""
        x, key = self._apart_one(x, key)
        target, columns = as_target(y)
        if columns is not None:
            raise InvalidInput(f"y must be a number, got {y!r}")
        if not self.__sklearn_is_fitted__():
            self._keys([key], 1)
            core = self._core_for_row(x)
            core.check_one(x)
            self._start(core, names_of(x))
        self._core.learn_one(x, int(target.view(np.int64)[0]), key)
        return self

    def predict_one(self, x: Row, key: int | str | None = None) -> float | None:
        """The prediction for one row by the model of its key; None for a key never learned."""
        x, key = self._apart_one(x, key)
        if not self.__sklearn_is_fitted__() or key not in self._core:
            return None
        return float(np.int64(self._core.answer_one(x, key)).view(np.float64))

    def _kinds_on_gpu(self) -> str:
        return "iuf"

    def _run_on_gpu(self, X: Any, y: Any, keys: Any, classes: Any = None) -> Any:
        from thalweg.fleet.gpu import arrays

        _require_no_classes(classes)
        begun = self.__sklearn_is_fitted__()
        rows, targets = arrays.as_rows_with_targets(X, y, self.n_features_in_ if begun else None)
        owners = arrays.as_integers(keys, len(rows), "keys")
        if begun:
            self._require_same_parameters()
        else:
            blank = np.zeros((1, rows.shape[1]))
            self._ready(blank, blank[:, 0], blank)
        return self._take_on_gpu(rows, owners, targets)

    def _take_on_gpu(self, rows: Any, owners: Any, targets: Any) -> Any:
        return self._core.take(rows, owners, targets, np.array([-1])).view(np.float64)

    def _known_targets(self) -> dict[str, Any]:
        return {"_columns": None}

    def _header(self) -> dict[str, Any]:
        return {"targets": {"columns": None}}

    def _attributes_from(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        if header["targets"]["columns"] is not None or arrays["n_classes"].tolist() != [1]:
            raise ValueError("a fleet of regressors has one target")
        return {}


def _require_no_classes(announced: Any) -> None:
    if announced is not None:
        raise InvalidParameter.of("Fleet", "classes", "be left out: its models are regressors", announced)
