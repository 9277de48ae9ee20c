"""An estimator that knows labels: what taking rows and labels in means, before any of them is learned.

Everything a call could refuse is checked first, unless the core is to look itself; then the core is made, or new labels
are announced to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.labels import Labels, as_labels
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.rows import Floats, Row, as_rows, names_of, rows_for, width_for_core


class LabelledEstimator(StreamEstimator, abstract=True):
    """An estimator whose core is announced each label once, in sorted places.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen so far, sorted.
    """

    _labels: Labels

    def _take(self, X: ArrayLike, y: ArrayLike, name: str = "X", *, anew: bool = False) -> tuple[Floats, NDArray[Any]]:
        rows: Floats = rows_for(X, self, name, anew=anew)
        return rows, as_labels(y, len(rows), type(self).__name__)

    def _ready(
        self,
        rows: Floats,
        labels: NDArray[Any],
        X: ArrayLike,
        announced: ArrayLike | None = None,
        unchecked: bool = False,
    ) -> tuple[Any, NDArray[np.int64]]:
        """The core, knowing every class of these labels, and the labels as class indices.

        Where the core is to look at rows and labels itself it may turn out not to know every class.
        """
        known: Labels = self.__dict__.get("_labels") or Labels.none()
        if announced is not None:
            wider = known.with_labels(as_labels(announced, np.size(announced), type(self).__name__))
            wider, codes = wider.encode(labels)
        elif unchecked and known.may_be_places(labels):
            wider, codes = known, labels
        else:
            wider, codes = known.encode(labels)
        if unchecked and wider is not known:
            as_rows(rows, self, "X")  # what is refused must be refused before a label is announced
        if len(known) == 0:
            self._commit(self._new_core(width_for_core(rows), wider), wider, self._remember_columns(X))
        else:
            self._require_same_parameters()
            self._require_same_columns(X)
            self._announce(wider)
        return self._core, codes

    def _new_core(self, features: int, known: Labels) -> Any:
        core = self._make_core(features)
        for code in range(len(known)):
            core.announce(code)
        self._name_classes(core, known)
        return core

    def _name_classes(self, core: Any, known: Labels) -> None:
        """Tell the core what it must know of its classes by label; called whenever a class was announced."""

    def _announce(self, wider: Labels) -> None:
        if wider is self._labels:
            return
        for code, label in enumerate(wider.values.tolist()):
            if label not in self._labels.codes:
                self._core.announce(code)
        self._name_classes(self._core, wider)
        self._labels = wider
        self.classes_ = wider.values

    def _meet(self, x: Row, y: Any) -> Labels:
        """Before a first row, a new label or one of a rarer type: check the row and the label, then make room."""
        labels: Labels | None = self.__dict__.get("_labels")
        if labels is None:
            core, known = self._core_for_row(x), Labels.none().with_label(y)
            core.announce(0)
            self._name_classes(core, known)
            core.check_one(x)
            self._commit(core, known, names_of(x))
        elif not labels.knows(y):
            self._core.check_one(x)
            self._announce(labels.with_label(y))
        return self._labels

    def _commit(self, core: Any, known: Labels, names: tuple[str, ...] | None) -> None:
        self._begin_with(core, names)
        self._labels = known
        self.classes_ = known.values

    def _header(self) -> dict[str, Any]:
        return {"labels": self._labels.plain()}

    def _attributes_from(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
        known = Labels.of_plain(header["labels"])
        if arrays["n_classes"].tolist() != [len(known)]:
            raise ValueError("the labels and the state disagree")
        return {"_labels": known, "classes_": known.values}
