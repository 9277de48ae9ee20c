"""A table predicted by one model: batches of Arrow in, the same with a prediction out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import is_classifier

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.fleet import Fleet
from thalweg.frames.arrow_frame import ArrowFrame
from thalweg.frames.frame import Floats, NamedRows
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.spark.columns import OF_LABELS, feature_columns
from thalweg.spark.model_cache import broadcast, model_to_predict
from thalweg.table_model import TableModel

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

_OWNER = "predict"


def predict(
    df: DataFrame,
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    prediction: str = "prediction",
    proba: str | None = None,
    interval: tuple[str, str] | None = None,
    coverage: float | None = None,
    missing: str = "error",
) -> DataFrame:
    """Add a column of predictions to a table or a stream; nothing is learned.

    Parameters
    ----------
    df : DataFrame of Spark
        Rows; all of its columns are kept.
    model : model of thalweg that has learned
        Any that has ``predict``. It goes to each executor once.
    columns : sequence of str, optional
        The features in the order the model learned them; by default the names that it knows, or, where it knows none,
        all columns of numbers.
    prediction : str, default "prediction"
        What the new column is called.
    proba : str, optional
        A further column of this name, for classifiers that have them: the probabilities of ``model.classes_``, as an
        array.
    interval : pair of str, optional
        Two further columns of these names, for regressors that have intervals: the lower and the upper end of the
        interval of each row.
    coverage : float, optional
        Share of rows whose interval is to hold the target; by default the model's usual one.
    missing : {"error", "null"}
        What to do with a row that has a missing value or one that is not finite among its features: end the query, or
        leave its prediction null.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> model = OnlineLDC().fit([[0.0], [1.0], [0.1], [0.9]], ["low", "high", "low", "high"])
    >>> table = spark.createDataFrame([("a", 0.2), ("b", 0.8)], "pump string, level double")
    >>> [tuple(row) for row in predict(table, model).collect()]
    [('a', 0.2, 'low'), ('b', 0.8, 'high')]
    """
    if isinstance(model, Fleet):
        raise InvalidParameter.of(_OWNER, "model", "be one model: fleet.model_of(key) gives that of a key", model)
    if isinstance(model, TableModel):
        rule = "take columns of numbers, as model.learner_ does: its columns are those that model.encode gives"
        raise InvalidParameter.of(_OWNER, "model", rule, model)
    learned = isinstance(model, StreamEstimator) and model.__sklearn_is_fitted__()
    if not (learned and hasattr(model, "predict")):
        raise InvalidParameter.of(_OWNER, "model", "be a fitted model of thalweg that predicts", model)
    if missing not in ("error", "null"):
        raise InvalidParameter.of(_OWNER, "missing", "be 'error' or 'null'", missing)
    if proba is not None and not hasattr(model, "predict_proba"):
        raise InvalidParameter.of(_OWNER, "proba", f"be None: a {type(model).__name__} has no probabilities", proba)
    if interval is None and coverage is not None:
        raise InvalidParameter.of(_OWNER, "coverage", "be None where no interval is asked for", coverage)
    if interval is not None:
        _require_interval(model, interval, coverage)
    asked = _Asked(prediction, proba, interval, coverage)
    added = asked.types(model)
    taken = {name.lower() for name in df.columns}  # Spark takes Prediction for prediction
    for name in added:
        if name.lower() in taken:
            raise InvalidInput(
                f"{_OWNER}: the table already has a column {name!r}; choose another name for the predictions"
            )
    names = feature_columns(df, model, columns, _OWNER)
    schema = _widened(df, added)
    predicting = _predicting(broadcast(df, model), df.columns, names, asked, missing == "null")
    return df.toDF(*(f"column {place}" for place in range(len(df.columns)))).mapInArrow(predicting, schema)


def _require_interval(model: Any, interval: Any, coverage: float | None) -> None:
    if not hasattr(model, "predict_interval"):
        rule = f"be None: {type(model).__name__} has no intervals, which PredictionIntervals puts around a regressor"
        raise InvalidParameter.of(_OWNER, "interval", rule, interval)
    if isinstance(interval, str) or len(interval) != 2 or interval[0].lower() == interval[1].lower():
        raise InvalidParameter.of(_OWNER, "interval", "be two names of columns", interval)
    model._require_tracked(coverage)


class _Asked(NamedTuple):
    """The columns to add, by their names."""

    prediction: str
    proba: str | None
    interval: tuple[str, str] | None
    coverage: float | None

    def types(self, model: Any) -> dict[str, str]:
        """What Spark calls the types of the columns."""
        numbers = "double" if getattr(model, "_columns", None) is None else "array<double>"
        types = {self.prediction: OF_LABELS[model._labels.kind].spark if is_classifier(model) else numbers}
        if self.proba is not None:
            types[self.proba] = "array<double>"
        return types | dict.fromkeys(self.interval or (), numbers)

    def columns(self, model: Any, rows: NamedRows) -> dict[str, NDArray[Any]]:
        columns = {self.prediction: model.predict(rows)}
        if self.proba is not None:
            columns[self.proba] = model.predict_proba(rows)
        if self.interval is not None:
            columns |= zip(self.interval, model.predict_interval(rows, self.coverage), strict=True)
        return columns


def _widened(df: DataFrame, added: dict[str, str]) -> Any:
    from pyspark.sql.types import DataType, StructField, StructType

    new = [StructField(name, DataType.fromDDL(kind)) for name, kind in added.items()]
    return StructType([*df.schema.fields, *new])


def _predicting(
    model: Broadcast[bytes], kept: list[str], names: list[str], asked: _Asked, skip: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def predicted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        own = model_to_predict(model.value)
        for batch in batches:
            if batch.num_rows == 0:
                continue
            batch = batch.rename_columns(kept)  # by number until here: Spark takes a dot in a name for a field
            rows = ArrowFrame(pa.Table.from_batches([batch]).select(names)).rows()
            usable: NDArray[np.bool_] = np.ones(len(rows), dtype=np.bool_)
            if skip:
                usable = np.asarray(np.isfinite(rows).all(axis=1))
            given = NamedRows(rows if usable.all() else np.ascontiguousarray(rows[usable]), names)
            columns = asked.columns(own, given) if usable.any() else dict.fromkeys(asked.types(own))
            for name, values in columns.items():
                batch = batch.append_column(name, _spread(values, usable))
            yield batch

    return predicted


def _spread(values: NDArray[Any] | None, usable: NDArray[np.bool_]) -> pa.Array:
    """What is predicted, null where a row could not be asked about."""
    if values is None:
        return pa.nulls(len(usable))
    predictions = _as_arrow(values)
    if usable.all():
        return predictions
    places = np.cumsum(usable) - 1
    return predictions.take(pa.array(places, mask=~usable))


def _as_arrow(values: NDArray[Any]) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    flat: Floats = np.ascontiguousarray(values).ravel()
    ends = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(flat))
