"""What is sent back of predictions: the same as JSON, as columns of Arrow and as a message of a stream."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from thalweg.client.protocol import RowPrediction
from thalweg.label_budget.worth import Worth, dense
from thalweg.service.journal.records import NO_PREDICTION, Predicted, row_id


@dataclass(frozen=True, slots=True)
class LabelResponse:
    """The predictions of the model that was asked, for the rows of one request."""

    own: Predicted
    labels: list[str]
    #: Probabilities of the classes; None where the model has none, or knows no label.
    proba: NDArray[np.float64] | None
    #: Whether each class is in the set of each row, where the model gives sets.
    sets: NDArray[np.bool_] | None

    def part(self, rows: slice) -> LabelResponse:
        """Those for some of the rows."""
        proba = None if self.proba is None else self.proba[rows]
        return LabelResponse(self.own.part(rows), self.labels, proba, None if self.sets is None else self.sets[rows])

    def worth(self, X: Any, positive: str | None) -> Worth:
        """By which of the rows ``X`` are asked for."""
        if self.proba is None:
            return Worth.unknown(len(X), X)
        return Worth.of_scores(self.proba, self.labels, X, positive)

    def predictions(self, seq: int) -> list[RowPrediction]:
        """As JSON; ``seq`` is the record that holds them."""
        codes, labels = self.own.columns["prediction"].tolist(), self.labels
        likely = [None] * len(codes) if self.proba is None else self.proba.tolist()
        return [
            RowPrediction(
                row_id(seq, row),
                None if code == NO_PREDICTION else labels[code],
                {} if shares is None else dict(zip(labels, shares, strict=True)),
                UNSET if self.sets is None else self._set(row),
                **self.own.asked(row),
            )
            for row, (code, shares) in enumerate(zip(codes, likely, strict=True))
        ]

    def columns(self) -> dict[str, Any]:
        """As arrays of Arrow; null before any label was known."""
        import pyarrow as pa

        codes = self.own.columns["prediction"]
        unknown = codes == NO_PREDICTION
        if self.proba is None:
            likely = pa.nulls(len(codes), pa.float64())
        else:
            likely = pa.array(self.proba[np.arange(len(codes)), np.maximum(codes, 0)], mask=unknown)
        places = pa.array(codes.astype(np.int32), mask=unknown)
        columns = {"prediction": pa.array(self.labels, pa.string()).take(places), "probability": likely}
        if self.sets is not None:
            sets = [self._set(row) for row in range(len(codes))]
            columns["prediction_set"] = pa.array(sets, pa.list_(pa.string()))
        return columns | {name: pa.array(values) for name, values in self.own.all_asked().items()}

    def message(self) -> dict[str, Any]:
        """The first of them, as fields of a message."""
        prediction, code = self.own[0], self.own.columns["prediction"][0]
        probability = None if prediction is None or self.proba is None else float(self.proba[0][code])
        row: dict[str, Any] = {"prediction": prediction, "probability": probability}
        return (row if self.sets is None else row | {"prediction_set": self._set(0)}) | self.own.asked(0)

    def _set(self, row: int) -> list[str]:
        assert self.sets is not None
        return [self.labels[at] for at in self.sets[row].nonzero()[0]]


@dataclass(frozen=True, slots=True)
class NumberResponse:
    """The same of a model that predicts numbers."""

    own: Predicted

    def part(self, rows: slice) -> NumberResponse:
        return NumberResponse(self.own.part(rows))

    def worth(self, X: Any, positive: str | None) -> Worth:
        width = self.own.columns["upper"] - self.own.columns["lower"]
        return Worth(np.nan_to_num(width), np.zeros(len(width)), dense(X))

    def predictions(self, seq: int) -> list[RowPrediction]:
        return [
            RowPrediction(row_id(seq, row), prediction=value, lower=lower, upper=upper, **self.own.asked(row))
            for row, (value, lower, upper) in enumerate(zip(*self._columns().values(), strict=True))
        ]

    def columns(self) -> dict[str, Any]:
        import pyarrow as pa

        columns = {name: pa.array(values, pa.float64()) for name, values in self._columns().items()}
        return columns | {name: pa.array(values) for name, values in self.own.all_asked().items()}

    def message(self) -> dict[str, Any]:
        return {name: values[0] for name, values in self._columns().items()} | self.own.asked(0)

    def _columns(self) -> dict[str, list[float | None]]:
        own = {name: self.own.columns[name].tolist() for name in ("prediction", "lower", "upper")}
        return {name: [None if math.isnan(value) else value for value in values] for name, values in own.items()}


Response: TypeAlias = LabelResponse | NumberResponse
