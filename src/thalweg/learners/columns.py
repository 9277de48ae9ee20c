"""The columns of a model: remembered when learning begins, and the same in every call after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from thalweg.errors import InvalidInput
from thalweg.frames.named_rows import NamedRows
from thalweg.frames.reading import names_of_columns, with_names


class WithColumns(BaseEstimator):
    """An estimator that knows how many columns its rows have, and their names where the first rows had names."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _has_use_for(self, names: list[Any]) -> bool:
        """Whether rows with these names, `NamedRows` or dicts, say more to this model than arrays."""
        begun = hasattr(self, "n_features_in_") and not hasattr(self, "feature_names_in_")
        return not begun and all(isinstance(name, str) for name in names)

    def _remember_columns(self, X: ArrayLike) -> tuple[str, ...] | None:
        """The names of X's columns, if it has any, kept as scikit-learn keeps them."""
        if type(X) is np.ndarray or isinstance(X, NamedRows):
            self.__dict__.pop("feature_names_in_", None)
            if not isinstance(X, NamedRows) or not all(isinstance(name, str) for name in X.names):
                return None  # no names; scikit-learn would look for them in many kinds of frames
            self.feature_names_in_ = np.asarray(X.names, dtype=object)
            return tuple(X.names)
        validate_data(self, X=with_names(X), reset=True, skip_check_array=True)
        return tuple(self.feature_names_in_.tolist()) if hasattr(self, "feature_names_in_") else None

    def _require_same_columns(self, X: Any) -> None:
        if isinstance(X, NamedRows):
            if self._has_use_for(X.names):
                self._require_same_names(X)
                return
            X = X.values
        if type(X) is np.ndarray and X.shape[1:] == (self.n_features_in_,) and not hasattr(self, "feature_names_in_"):
            return  # scikit-learn's check, which looks for names in many kinds of frames, would find nothing else
        try:
            validate_data(self, X=with_names(X), reset=False, skip_check_array=True)
        except ValueError as error:
            raise InvalidInput(self._first_other_column(X) + str(error)) from error

    def _require_same_names(self, X: NamedRows) -> None:
        other = self._first_other_column(X)
        if other:
            raise InvalidInput(other.rstrip())

    def _first_other_column(self, X: Any) -> str:
        known, given = getattr(self, "feature_names_in_", None), names_of_columns(X)
        if known is None or given is None:
            return ""
        for place, (was, now) in enumerate(zip(known, given, strict=False)):
            if was != now:
                return f"Column {place} of X must be {was!r}, as when learning began, got {now!r}. "
        if len(known) > len(given):
            return f"Column {len(given)} of X must be {known[len(given)]!r}, as when learning began, got no column. "
        if len(known) < len(given):
            return f"X must have no column {len(known)}, as when learning began, got {given[len(known)]!r}. "
        return ""
