"""Models of tables as River's: dicts with numbers, categories, text, times and gaps. River must be installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from river import base
from sklearn.base import clone

from thalweg.table_model import TableClassifier, TableRegressor

Row = Mapping[str, Any]


class _OverTable:
    """A model of a table that has learned nothing, and ``learner_``, a copy of it that learns.

    Columns are in alphabetical order, whatever the order of the dicts. One that a row lacks is missing there.
    """

    learner_: Any

    def __init__(self, model: Any) -> None:
        self.model = model
        self.learner_ = clone(model)

    def learn_one(self, x: Row, y: Any) -> None:
        self.learner_.learn_one(self._whole(x), y)

    def learn_many(self, X: Any, y: Any) -> None:
        self.learner_.partial_fit(self._whole_frame(X), y)

    def _names(self) -> list[str]:
        return self.learner_._names if self.learner_.__sklearn_is_fitted__() else []

    def _whole(self, x: Row) -> Row:
        known = self._names()
        whole = x if all(name in x for name in known) else {**dict.fromkeys(known), **x}
        return whole if known and self.learner_._held is None else dict(sorted(whole.items()))

    def _whole_frame(self, X: Any) -> Any:
        names = sorted({*self._names(), *X.columns})
        return X.reindex(columns=names)

    def take_over(self, learned: Any) -> None:
        """Continue from what another model has learned."""
        self.learner_ = deepcopy(learned)


class RiverTableClassifier(_OverTable, base.MiniBatchClassifier):
    """A `TableClassifier` over rows that are dicts; `to_river` makes one.

    Examples
    --------
    >>> from thalweg import TableClassifier
    >>> from thalweg.river import to_river
    >>> model = to_river(TableClassifier())
    >>> for wind, level, state in [("north", 1.0, "calm"), ("south", None, "flood"), ("north", 2.0, "calm")] * 20:
    ...     model.learn_one({"wind": wind, "level": level}, state)
    >>> model.predict_one({"wind": "south", "level": 1.5})
    'flood'
    """

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The prediction for one row; None before any label."""
        return self.learner_.predict_one(self._whole(x))

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """The probability of each label met so far."""
        shares: dict[Any, float] = self.learner_.predict_proba_one(self._whole(x))
        return shares

    def predict_many(self, X: Any) -> Any:
        import pandas as pd

        known = self.learner_.__sklearn_is_fitted__() and len(X)
        predictions = self.learner_.predict(self._whole_frame(X)) if known else [None] * len(X)
        return pd.Series(predictions, index=X.index, dtype=object)

    def predict_proba_many(self, X: Any) -> Any:
        """The probability of each label, a column each."""
        import pandas as pd

        if not self.learner_.__sklearn_is_fitted__() or not len(X):
            return pd.DataFrame(index=X.index)
        shares = self.learner_.predict_proba(self._whole_frame(X))
        return pd.DataFrame(shares, index=X.index, columns=self.learner_.classes_.tolist())

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": TableClassifier()}


class RiverTableRegressor(_OverTable, base.MiniBatchRegressor):
    """A `TableRegressor` over rows that are dicts; `to_river` makes one."""

    def predict_one(self, x: Row, **kwargs: Any) -> float:
        """The prediction for one row; 0 before any."""
        prediction = self.learner_.predict_one(self._whole(x))
        return 0.0 if prediction is None else prediction

    def predict_many(self, X: Any) -> Any:
        import pandas as pd

        known = self.learner_.__sklearn_is_fitted__() and len(X)
        return pd.Series(self.learner_.predict(self._whole_frame(X)) if known else [0.0] * len(X), index=X.index)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": TableRegressor()}
