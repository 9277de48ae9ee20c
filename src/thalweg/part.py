"""`Part`, the moments of some rows, made where the rows are; and `merge`, for parts and models alike."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy, deepcopy
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter, NotAdditive
from thalweg.labels import Labels, as_labels
from thalweg.learners.base.estimator import StreamEstimator, WithColumns, is_zero
from thalweg.learners.base.labelled_estimator import LabelledEstimator
from thalweg.learners.base.regressor import StreamRegressor, as_targets
from thalweg.learners.base.rows import Floats, as_rows
from thalweg.learners.base.sample_weight import as_masses
from thalweg.merging.models import (
    Merging,
    ModelMoments,
    extend,
    is_fitted,
    labels_of,
    merge_models,
    placed,
    refuse,
    require_alike,
    require_same_columns,
    subtract_rows,
    union,
    with_moments,
)
from thalweg.merging.moments import Moments
from thalweg.parameters import FLAG


class Part(WithColumns):
    """The moments of some rows, for a model like the one given.

    Parts are made where the rows are, in any process, and added up: ``part + part``. ``part.fitted()`` is the model
    that `fit` would have made of all their rows, ``model + part`` the one that would have learned them by
    `partial_fit`, each to rounding. A part has no start, no rate and no predictions. `thalweg.store.dumps` turns it
    into bytes.

    Parameters
    ----------
    model : a learner or a transformer of thalweg
        Whose class and parameters are taken; what it has learned is not looked at.
    later : bool, default False
        False: rows that a model begins with, all weighing alike; parts add up in any order. True: rows that come after
        those a model has learned. Where the model forgets, they fade by those that follow, and parts add up in order of
        time: the earlier one first. Where it does not, both are the same.

    Attributes
    ----------
    rows_ : int
        How many rows were learned.
    in_order : bool
        Whether parts must be added in order of time.
    classes_ : ndarray
        The labels seen so far, sorted, of a classifier.

    See Also
    --------
    merge : many models or parts as one.

    Examples
    --------
    >>> from thalweg import OnlineLDC, Part
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(2000)
    >>> parts = [Part(OnlineLDC()).learn(X[i : i + 500], y[i : i + 500]) for i in range(0, 2000, 500)]
    >>> model = (parts[3] + parts[1] + parts[0] + parts[2]).fitted()
    >>> bool(abs(model.precision_ - OnlineLDC().fit(X, y).precision_).max() < 1e-9)
    True
    """

    _labels: Labels
    _columns: int | None
    _to_start_anew = "make a new Part"

    def __init__(self, model: Any, *, later: bool = False) -> None:
        if not isinstance(model, StreamEstimator):
            raise InvalidInput(f"a part is of a model of thalweg, got {model!r}")
        FLAG.check("Part", "later", later)
        self.model = clone(model)
        self.later = bool(later)
        self._parameters_at_start, self._watched = {}, None
        merging = self._merging()
        refuse(model, merging.why_not_extended if self.later else merging.why_not_fitted)
        if isinstance(model, LabelledEstimator):
            self._know(Labels.none())
        self._moments: Moments | None = None

    def set_params(self, **params: Any) -> Self:
        """Change the model, its parameters or ``later``, as long as no row is learned."""
        changed = clone(self)
        super(Part, changed).set_params(**params)
        changed = Part(changed.model, later=changed.later)
        if self._moments is None:
            self.__dict__ = changed.__dict__
            return self
        changed._parameters_at_start = self._parameters_at_start
        changed._require_same_parameters()
        return self

    @property
    def rows_(self) -> int:
        """How many rows were learned."""
        return 0 if self._moments is None else self._moments.rows

    @property
    def in_order(self) -> bool:
        """Whether parts must be added in order of time."""
        return self.later and self._merging().ordered

    @staticmethod
    def rows_first(model: Any) -> int:
        """How many more rows a model must learn by itself before parts of later rows can be added to it.

        Examples
        --------
        >>> from thalweg import OnlineLDC, Part
        >>> Part.rows_first(OnlineLDC(0.1, counts="soft", warmup=10).learn_one([0.0], "a"))
        9
        """
        return int(model._merging().rows_first(model._core.state() if is_fitted(model) else None))

    def learn(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Add these rows, with their labels or targets where the model has any; the part itself grows.

        ``sample_weight`` is how many rows each row counts for, as the model's own methods take it.
        """
        self._require_same_parameters()
        rows = as_rows(X, self, "X")
        masses = as_masses(sample_weight, len(rows), first=False).get("masses", np.ones(len(rows)))
        known, groups, values = self._taken(rows, y)
        if self._moments is None:
            self._remember_columns(X)
            self.n_features_in_ = rows.shape[1]
            self._remember_parameters()
        else:
            self._require_same_columns(X)
        merging = self._merging()
        forgetting = merging.forgetting if self.in_order else 0.0
        before = self._placed(known, values.shape[1])
        self._moments = before.with_rows(values, groups, masses, forgetting=forgetting, centred=merging.centred)
        self._know(known)
        return self

    def fitted(self) -> Any:
        """The model that `fit` would have made of these rows.

        Examples
        --------
        >>> from thalweg import MajorityClass, Part
        >>> Part(MajorityClass()).learn([[0.0], [0.0], [0.0]], ["a", "b", "b"]).fitted().predict_one([1.0])
        'b'
        """
        self._require_same_parameters()
        merging = self._merging()
        refuse(self.model, merging.why_not_fitted)
        refuse(self.model, "later rows have faded and are no start, so use later=False" if self.in_order else None)
        if self._moments is None or self.rows_ == 0:
            raise InvalidInput(f"{self.model._in_a_sentence()} needs rows to begin with, got a part of none")
        return with_moments(self.model, merging.fitted(self._moments), labels_of(self), like=self)

    def __add__(self, other: Any) -> Part:
        if isinstance(other, StreamEstimator):
            raise NotAdditive("A Part comes after the model that it is added to: write model + part.")
        if not isinstance(other, Part):
            return NotImplemented
        self._require_alike(other)
        if self.rows_ == 0 or other.rows_ == 0:
            return deepcopy(other if self.rows_ == 0 else self)
        known = union([labels_of(self), labels_of(other)])
        return self._with(self._placed(known).merge(other._placed(known)), known)

    def __sub__(self, other: Any) -> Part:
        if not isinstance(other, Part):
            return NotImplemented
        self._require_alike(other)
        refuse(self.model, self._merging().why_not_subtracted if self.in_order else None)
        if other.rows_ == 0:
            return deepcopy(self)
        if self.rows_ < other.rows_:
            raise InvalidInput(f"what is taken out of a Part must have been learned by it, got {other.rows_} rows")
        known = union([labels_of(self), labels_of(other)])
        return self._with(self._placed(known).subtract(other._placed(known), "a Part"), known)

    def __radd__(self, model: Any) -> Any:
        if is_zero(model):
            return deepcopy(self)
        if not isinstance(model, StreamEstimator):
            return NotImplemented
        merging = self._ready_for(model)
        if self._moments is None or self.rows_ == 0:
            return deepcopy(model)
        if not is_fitted(model) and not self.in_order:
            return self.fitted()
        refuse(model, merging.why_not_extended)
        missing = self.rows_first(model)
        refuse(model, f"it must learn {missing} more rows by itself before parts can follow" if missing > 0 else None)
        refuse(
            model, "it forgets, so sum later rows with later=True" if merging.ordered and not self.in_order else None
        )
        if not is_fitted(model):
            return with_moments(model, merging.fitted(self._moments), labels_of(self), like=self)
        return extend(model, self._moments, labels_of(self))

    def __rsub__(self, model: Any) -> Any:
        if not isinstance(model, StreamEstimator):
            return NotImplemented
        merging = self._ready_for(model)
        refuse(model, merging.why_not_extended or merging.why_not_subtracted)
        if self._moments is None or self.rows_ == 0:
            return deepcopy(model)
        return subtract_rows(model, ModelMoments(self._moments), labels_of(self))

    def _header(self) -> dict[str, Any]:
        """What a part is beside its moments and the model's parameters, as JSON holds it."""
        self._require_same_parameters()
        names = getattr(self, "feature_names_in_", None)
        header: dict[str, Any] = {"later": self.later}
        if self._moments is not None:
            header["features"] = {"count": self.n_features_in_, "names": None if names is None else names.tolist()}
            header["labels"] = self._labels.plain() if isinstance(self.model, LabelledEstimator) else None
            header["columns"] = getattr(self, "_columns", None)
        return header

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {} if self._moments is None else self._moments.arrays()

    @classmethod
    def _of_file(cls, model: Any, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Part:
        """What these entries and arrays stand for; ValueError where they disagree."""
        part = cls(model, later=header["later"])
        if "features" not in header:
            return part
        features, columns, groups = int(header["features"]["count"]), header["columns"], 1
        part.n_features_in_ = features
        if header["features"]["names"] is not None:
            if len(header["features"]["names"]) != features:
                raise ValueError("the names and the number of features disagree")
            part.feature_names_in_ = np.array(header["features"]["names"], dtype=object)
        if isinstance(model, LabelledEstimator):
            part._know(Labels.of_plain(header["labels"]))
            groups = len(part._labels)
        if isinstance(model, StreamRegressor):
            if columns is not None and not isinstance(columns, int):
                raise ValueError("the number of target columns is not a number")
            part._columns = columns
        merging = part._merging()
        width = model._rows_to_merge(np.zeros((1, features))).shape[1] if merging.uses_features else 0
        width += (1 if columns is None else columns) if isinstance(model, StreamRegressor) else 0
        part._moments = Moments.of_arrays(arrays, width, groups, merging.diagonal)
        part._remember_parameters()
        return part

    def __sklearn_clone__(self) -> Part:
        return Part(self.model, later=self.later)

    def __sklearn_is_fitted__(self) -> bool:
        return self._moments is not None

    def _merging(self) -> Merging:
        merging: Merging = self.model._merging()
        return merging

    def _require_alike(self, other: Part) -> None:
        for part in (self, other):
            part._require_same_parameters()
        require_alike([self.model, other.model])
        if self.in_order != other.in_order:
            raise InvalidParameter.of("Part", "later", "be the same in all that is added", (self.later, other.later))
        if self._moments is not None and other._moments is not None:
            require_same_columns(self, other)

    def _ready_for(self, model: Any) -> Merging:
        self._require_same_parameters()
        require_alike([model, self.model])
        if self._moments is not None and is_fitted(model):
            require_same_columns(model, self)
        return self._merging()

    def _taken(self, rows: Floats, y: ArrayLike | None) -> tuple[Labels | None, NDArray[np.int64], Floats]:
        """The labels known now, the group of each row, and what moments are taken of."""
        owner = type(self.model).__name__
        values = self.model._rows_to_merge(rows) if self._merging().uses_features else rows[:, :0]
        if isinstance(self.model, LabelledEstimator):
            return *self._labels.encode(as_labels(y, len(rows), owner)), values
        if isinstance(self.model, StreamRegressor):
            targets, columns = as_targets(y, len(rows), owner)
            if self._moments is not None and columns != self._columns:
                raise InvalidInput(f"y must have as many columns as before, {self._columns}, got {columns}")
            self._columns = columns
            values = np.hstack((values, targets))
        return None, np.zeros(len(rows), dtype=np.int64), values

    def _placed(self, known: Labels | None, width: int = 0) -> Moments:
        """The moments, with room for all labels known."""
        groups = 1 if known is None else len(known)
        if self._moments is None:
            return Moments.none(width, groups, diagonal=self._merging().diagonal)
        return placed(self._moments, labels_of(self), known)

    def _know(self, known: Labels | None) -> None:
        if known is not None:
            self._labels = known
            self.classes_ = known.values

    def _with(self, moments: Moments, known: Labels | None) -> Part:
        new = copy(self)
        new.model, new._moments = clone(self.model), moments
        new._know(known)
        return new


def merge(things: Iterable[Any]) -> Any:
    """Merge several models, several parts, or a model and later parts.

    Parameters
    ----------
    things : iterable of models, of parts, or of a model and then parts
        All of one class with the same parameters and columns; classes may differ. Where the model forgets, in order of
        time. None of them is changed.

    Returns
    -------
    model or Part
        What would have learned all their rows: a model where there is one among them, else a part.

    Raises
    ------
    thalweg.errors.NotAdditive
        Where such models do not add up, or a model comes after a part; it says why.

    See Also
    --------
    Part : the moments of some rows.

    Examples
    --------
    >>> from thalweg import OnlineLDC, merge
    >>> north = OnlineLDC().fit([[0.0], [1.0], [5.0]], ["low", "low", "high"])
    >>> south = OnlineLDC().fit([[2.0], [6.0], [7.0]], ["low", "high", "high"])
    >>> merge([north, south]).means_.ravel().tolist()
    [6.0, 1.0]
    """
    if isinstance(things, StreamEstimator | Part) or not isinstance(things, Iterable):
        got = f"a single {type(things).__name__}" if isinstance(things, StreamEstimator | Part) else repr(things)
        raise NotAdditive(f"merge takes a list of models or parts, got {got}")
    parts = list(things)
    if not parts:
        raise InvalidInput("merge needs at least one model or part, got none")
    for thing in parts:
        if not isinstance(thing, StreamEstimator | Part):
            raise InvalidInput(f"merge takes models and parts of thalweg, got {thing!r}")
    if len(parts) == 1:
        return deepcopy(parts[0])
    if all(isinstance(thing, StreamEstimator) for thing in parts):
        return merge_models(parts)
    for before, after in pairwise(parts):
        if isinstance(before, Part) and isinstance(after, StreamEstimator):
            raise NotAdditive("merge takes models, or parts, or a model and then parts, got a model after a part")
    if isinstance(parts[0], StreamEstimator) and len(parts) > 2:
        return parts[0] + reduce(add, parts[1:])
    return reduce(add, parts)
