"""A table answered by one model: batches of Arrow in, the same with an answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

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
from thalweg.table_model import TableClassifier

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

_OWNER = "predict"


def predict(
    df: DataFrame,
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    answer: str = "answer",
    proba: str | None = None,
    missing: str = "error",
) -> DataFrame:
    """The table with a column of answers; also for a stream, which is then answered and not learned.

    Parameters
    ----------
    df : DataFrame of Spark
        Rows; all of its columns are kept.
    model : model of thalweg that has learned
        Any that has ``predict``. It goes to each executor once.
    columns : sequence of str, optional
        The features in the order the model learned them; by default the names that it knows, or, where it knows none,
        all columns of numbers.
    answer : str, default "answer"
        What the new column is called.
    proba : str, optional
        A further column of this name, for classifiers that have them: the probabilities of ``model.classes_``, as an
        array.
    missing : {"error", "null"}
        What to do with a row that has a missing value or one that is not finite among its features: end the query, or
        leave its answer null.

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
    if isinstance(model, TableClassifier):
        rule = "take columns of numbers, as model.learner does: its columns are those that model.encode gives"
        raise InvalidParameter.of(_OWNER, "model", rule, model)
    learned = isinstance(model, StreamEstimator) and model.__sklearn_is_fitted__()
    if not (learned and hasattr(model, "predict")):
        raise InvalidParameter.of(_OWNER, "model", "be a model of thalweg that answers and has learned", model)
    if missing not in ("error", "null"):
        raise InvalidParameter.of(_OWNER, "missing", "be 'error' or 'null'", missing)
    if proba is not None and not hasattr(model, "predict_proba"):
        raise InvalidParameter.of(_OWNER, "proba", f"be None: a {type(model).__name__} has no probabilities", proba)
    added = {answer: _answer_type(model)} | ({proba: "array<double>"} if proba is not None else {})
    taken = {name.lower() for name in df.columns}  # Spark takes Answer for answer
    for name in added:
        if name.lower() in taken:
            raise InvalidInput(
                f"{_OWNER}: the table already has a column {name!r}; choose another name for the answers"
            )
    names = feature_columns(df, model, columns, _OWNER)
    schema = _widened(df, added)
    answering = _answering(broadcast(df, model), df.columns, names, answer, proba, missing == "null")
    return df.toDF(*(f"column {place}" for place in range(len(df.columns)))).mapInArrow(answering, schema)


def _answer_type(model: Any) -> str:
    if is_classifier(model):
        return OF_LABELS[model._labels.kind].spark
    return "double" if getattr(model, "_columns", None) is None else "array<double>"


def _widened(df: DataFrame, added: dict[str, str]) -> Any:
    from pyspark.sql.types import DataType, StructField, StructType

    new = [StructField(name, DataType.fromDDL(kind)) for name, kind in added.items()]
    return StructType([*df.schema.fields, *new])


def _answering(
    model: Broadcast[bytes], kept: list[str], names: list[str], answer: str, proba: str | None, skip: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def answered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
            batch = batch.append_column(answer, _spread(own.predict, given, usable))
            if proba is not None:
                batch = batch.append_column(proba, _spread(own.predict_proba, given, usable))
            yield batch

    return answered


def _spread(ask: Callable[[NamedRows], NDArray[Any]], rows: NamedRows, usable: NDArray[np.bool_]) -> pa.Array:
    """What is answered, null where a row could not be asked about."""
    if not usable.any():
        return pa.nulls(len(usable))
    answers = _as_arrow(ask(rows))
    if usable.all():
        return answers
    places = np.cumsum(usable) - 1
    return answers.take(pa.array(places, mask=~usable))


def _as_arrow(values: NDArray[Any]) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    flat: Floats = np.ascontiguousarray(values).ravel()
    ends = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(flat))
