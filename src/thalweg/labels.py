"""The labels a learner knows, sorted, and their places: what turns labels into the kernels' class indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from thalweg.errors import InvalidInput
from thalweg.frames.frame import LABELLED_ONLY
from thalweg.frames.reading import as_array, as_they_are
from thalweg.kernels import compiled

_KIND_NAMES = {"i": "integers", "b": "booleans", "U": "strings", "f": "numbers"}
#: How labels of each kind are held.
LABEL_TYPES: dict[str, Any] = {"i": np.int64, "b": np.bool_, "U": np.str_, "f": np.float64}
#: What a learner predicts before it has seen any label: the zero of the labels' type.
_ZEROS: dict[str, Any] = {"i": 0, "b": False, "U": "", "f": 0.0}
_EVERYDAY_TYPES: dict[str, frozenset[type]] = {
    "i": frozenset({int, np.int64}),
    "b": frozenset({bool, np.bool_}),
    "U": frozenset({str, np.str_}),
}


def as_labels(y: ArrayLike | None, rows: int, owner: str) -> NDArray[Any]:
    """A one-dimensional array of integers, booleans, strings or whole floats; or an error that says what is wrong."""
    if y is None:
        raise InvalidInput(f"{owner} requires y to be passed, but the target y is None")
    try:
        labels: NDArray[Any] = y if _is_labels_already(y) else _column_of(y)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            first = int(np.flatnonzero(~np.isfinite(labels))[0])
            where = f"contains NaN or infinity at row {first}{missing_hint(labels[first])}"
            raise InvalidInput(f"y must hold a label for every row, but Input y {where}")
        if labels.dtype.kind == "O":
            labels = _from_objects(labels)
        elif labels.dtype.kind in "fc":
            check_classification_targets(labels)
    except InvalidInput:
        raise
    except ValueError as error:
        numbers = ": AutoRegressor predicts numbers" if "continuous" in str(error) else ""
        said = str(error).rstrip(".")
        raise InvalidInput(f"y must be a one-dimensional array of class labels: {said}{numbers}") from error
    if len(labels) != rows:
        raise InvalidInput(f"y must have one label for each of the {rows} rows of X, got {len(labels)}")
    if labels.dtype.kind in "iu":
        if labels.dtype.kind == "u" and len(labels) and int(labels.max()) > np.iinfo(np.int64).max:
            raise InvalidInput(f"y must hold integers below 2**63, got {int(labels.max())}")
        labels = labels.astype(np.int64, copy=False)
    if labels.dtype.kind == "S":
        raise InvalidInput("y must hold integers, strings or booleans, got bytes: decode them, as y.astype(str) does")
    if labels.dtype.kind not in _KIND_NAMES:
        raise InvalidInput(f"y must hold integers, strings or booleans, got {labels.dtype}")
    return labels


def _is_labels_already(y: ArrayLike) -> TypeGuard[NDArray[Any]]:
    """What scikit-learn's check, which takes longer than predicting some hundred rows, would return as it is."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "ibU"


def _column_of(y: ArrayLike) -> NDArray[Any]:
    if np.ma.is_masked(y):
        raise InvalidInput("y must hold a label for every row, got a masked array")
    column: NDArray[Any] = column_or_1d(as_they_are(as_array(y)), warn=True)
    return column


def _from_objects(labels: NDArray[Any]) -> NDArray[Any]:
    kinds = set()
    for at, label in enumerate(labels.tolist()):
        try:
            kinds.add(kind_of(label))
        except InvalidInput as error:
            hint = missing_hint(label)
            raise InvalidInput(f"{error} at row {at}{hint}") from None
    if len(kinds) > 1:
        names = " and ".join(sorted(_KIND_NAMES[kind] for kind in kinds))
        raise InvalidInput(f"y must hold labels of one type, got {names} together")
    kind = kinds.pop() if kinds else "U"
    try:
        return np.asarray(labels, dtype=LABEL_TYPES[kind])
    except OverflowError as error:
        raise InvalidInput("y must hold integers from -2**63 to 2**63 - 1") from error


def missing_hint(label: object) -> str:
    """What to do about a label that is missing; nothing about others."""
    return LABELLED_ONLY if label is None or label != label else ""


def kind_of(label: object) -> str:
    """The kind of one label: ``"i"``, ``"b"``, ``"U"`` or ``"f"``."""
    if isinstance(label, (bool, np.bool_)):
        return "b"
    if isinstance(label, (int, np.integer)):
        return "i"
    if isinstance(label, str):
        return "U"
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return "f"
    raise InvalidInput(f"y must be an integer, a string or a boolean, got {label!r}")


class Labels:
    """An immutable, sorted set of labels of one kind.

    Examples
    --------
    >>> known = Labels.of(["up", "down"])
    >>> known.values
    array(['down', 'up'], dtype='<U4')
    >>> known.codes["up"]
    1
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self.values = values
        self.kind = values.dtype.kind if len(values) else ""
        self.everyday_types = _EVERYDAY_TYPES.get(self.kind, frozenset())
        self.codes: dict[Any, int] = {value: code for code, value in enumerate(values.tolist())}
        #: The labels as ordinary Python values, by place; -1, no prediction, is the zero of their type.
        self.ordinary: list[Any] = [*self.codes, _ZEROS.get(self.kind)]
        #: Whether they are 0, 1, 2, …
        self.are_places = self.kind == "i" and list(self.codes) == list(range(len(values)))

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Labels:
        return cls.none().with_labels(np.asarray(list(labels)))

    @classmethod
    def none(cls) -> Labels:
        return cls(np.empty(0, dtype=np.int64))

    def plain(self) -> dict[str, Any]:
        """As JSON holds them."""
        return {"kind": self.kind, "values": self.values.tolist()}

    @classmethod
    def of_plain(cls, saved: dict[str, Any]) -> Labels:
        if not saved["kind"]:
            return cls.none()
        values = np.array(saved["values"], dtype=LABEL_TYPES[saved["kind"]])
        if not (values[:-1] < values[1:]).all():  # their places are found by their order
            raise ValueError("its labels are not sorted")
        return cls(values)

    def __len__(self) -> int:
        return len(self.values)

    def knows(self, label: object) -> bool:
        """Whether this very label, of this type, is in the set; a label of another type is an error."""
        self._require_kind(kind_of(label), label)
        return label in self.codes

    def may_be_places(self, y: NDArray[Any]) -> bool:
        """Whether y, read as it is, holds places of these labels if it holds no others: what the core finds out."""
        return len(self) > 0 and self.are_places and y.dtype == np.int64 and y.flags.c_contiguous

    def with_labels(self, y: NDArray[Any]) -> Labels:
        if len(self) or len(y) == 0 or y.dtype.kind not in "ib":
            return self.encode(y)[0]
        return Labels(_distinct(np.ascontiguousarray(y, dtype=np.int64)).astype(y.dtype))  # places are not asked for

    def with_label(self, label: object) -> Labels:
        kind = kind_of(label)
        return self.with_labels(_from_objects(np.array([label], dtype=object)) if kind == "i" else np.array([label]))

    def encode(self, y: NDArray[Any]) -> tuple[Labels, NDArray[np.int64]]:
        """These labels widened by those of y, and the place of each of y among them, to be read and not written."""
        if len(y) == 0:
            return self, np.empty(0, dtype=np.int64)
        self._require_kind(y.dtype.kind, y[0])
        if y.dtype.kind == "U":
            codes = np.empty(len(y), dtype=np.int64)
            if len(self) and compiled.encode_words(code_points(y), code_points(self.values), codes) < 0:
                return self, codes
        if y.dtype.kind not in "ib":
            return self._encode_by_name(y.tolist())
        whole = np.ascontiguousarray(y, dtype=np.int64)
        if self.are_places and len(self) and whole.view(np.uint64).max() < len(self):  # a negative one would be huge
            return self, whole
        codes = np.empty(len(y), dtype=np.int64)
        if len(self) and compiled.encode(whole, self.values.astype(np.int64, copy=False), codes) < 0:
            return self, codes
        wider = Labels(np.union1d(self.values.astype(y.dtype), _distinct(whole).astype(y.dtype)))
        compiled.encode(whole, wider.values.astype(np.int64, copy=False), codes)
        return wider, codes

    def _encode_by_name(self, y: list[Any]) -> tuple[Labels, NDArray[np.int64]]:
        new = set(y).difference(self.codes)
        wider = Labels(np.array(sorted([*self.codes, *new]))) if new else self
        return wider, np.fromiter(map(wider.codes.__getitem__, y), dtype=np.int64, count=len(y))

    def decode(self, codes: NDArray[np.int64], *, in_order: bool = False) -> NDArray[Any]:
        """The labels at these places; -1, no prediction, is the zero of the labels' type.

        Labels 0, 1, 2, … are the places themselves: the array is then given back, not copied. Of predictions in the
        order in which they were given the first says whether there are any without a label: none follows one with a
        label.
        """
        least = (codes.item(0) if in_order else codes.min()) if codes.size else 0
        unknown = codes < 0 if least < 0 else None
        labels = codes if self.are_places else self.values.take(codes)
        if unknown is not None:
            labels[unknown] = _ZEROS[self.kind]
        return labels

    def _require_kind(self, kind: str, example: object) -> None:
        if self.kind and kind != self.kind:
            shown = example.item() if isinstance(example, np.generic) else example
            raise InvalidInput(f"y must hold {_KIND_NAMES[self.kind]} like the labels learned so far, got {shown!r}")


def probability_of_predictions(
    proba: NDArray[np.float64], classes: NDArray[Any], predictions: NDArray[Any]
) -> NDArray[Any]:
    """The probability of each prediction, which need not be the highest: some learners decide by costs or a threshold.

    NaN for a row that was predicted before there was a class.
    """
    places = np.minimum(np.searchsorted(classes, predictions), len(classes) - 1)
    likely = proba[np.arange(len(predictions)), places]
    return np.where(classes[places] == predictions, likely, np.nan)


def code_points(words: NDArray[np.str_]) -> NDArray[np.uint32]:
    """Words as rows of code points, padded with zeros."""
    native = np.ascontiguousarray(words, dtype=words.dtype.newbyteorder("=") if words.itemsize else "U1")
    return native.view(np.uint32).reshape(len(words), -1)


def _distinct(y: NDArray[np.int64]) -> NDArray[np.int64]:
    distinct = compiled.distinct(y)  # much faster than sorting
    return np.array(distinct, dtype=np.int64) if distinct else np.unique(y)
