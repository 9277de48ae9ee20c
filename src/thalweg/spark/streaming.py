"""One model per key over a stream: rows predicted before they are learned, with Spark's keyed, checkpointed state."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.spark.columns import (
    REAL,
    TEXT,
    ValueType,
    as_span,
    column,
    feature_columns,
    microseconds,
    quoted,
    target_type,
    type_of,
    with_times,
)
from thalweg.spark.group import Group
from thalweg.spark.model_cache import require_learner
from thalweg.spark.packing import (
    CONFIDENCE,
    EVENT,
    ID,
    IS_LABEL,
    KEY,
    PREDICTION,
    SPARK_STATE,
    TARGET,
    TIME,
    Layout,
    packer,
    unpacker,
)
from thalweg.spark.sessions import ROCKSDB, STATE_STORE
from thalweg.spark.tasks import task_of
from thalweg.store import dumps
from thalweg.table_model import TableModel

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_OWNER = "learn_stream"
_WAYS = ("transform", "apply")


def learn_stream(
    df: DataFrame,
    model: Any,
    *,
    key: str,
    target: str,
    time: str,
    columns: Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002
    labels: DataFrame | None = None,
    wait: str | timedelta | None = None,
    lateness: str | timedelta = "0 seconds",
    ttl: str | timedelta | None = None,
    confidence: bool = False,
    coverage: float | None = None,
    state: str | None = None,
) -> DataFrame:
    """Predict and learn a stream with one model for each key; each row is predicted before its label is learned.

    A key's model is, to the last bit, the one that learns the key's rows alone on one machine. Rows are in the order of
    their times within each micro-batch. Spark's checkpoint keeps the model as the bytes of a model file: see `models`.

    Parameters
    ----------
    df : streaming DataFrame
        The rows.
    model : classifier or regressor of thalweg
        The model that each key starts with. It may have learned already. A query that continues from its checkpoint
        needs a model of the same class with the same parameters. Otherwise it ends with an error that says so. A
        `TableClassifier` or `TableRegressor` must have learned, takes columns of numbers and rows with their labels,
        and may have features from earlier rows, which are those of the key, whether they are by the key or without by.
    key, target : str
        Columns of keys (whole numbers or text) and of labels. A row whose label is null is only predicted. With an
        ``id`` it waits for its label.
    time : str
        Column of the time when a row came: a timestamp, a date or a whole number. It restores the order of the rows of
        a key, which a shuffle does not keep. Rows of one time are ordered by their values.
    columns : sequence of str, optional
        Columns of the features (default: those that the model knows, or all other columns of numbers). A row that lacks
        one ends the query with an error. Fill or leave out such rows before.
    id : str, optional
        Column that identifies a row, for labels that come later.
    labels : streaming DataFrame, optional
        Stream of labels, with the columns ``key``, ``id``, ``target`` and ``time``. The last is the time when the label
        came. A label may come before its row. A second label for a row is not learned.
    wait : duration, optional
        How long after its row a label may come, by their times. Needed with ``labels``. Both are kept until the
        watermark says that the other will not come. Longer waits find more labels and keep more rows. A row or label
        that waited too long, or came too late, is reported as an event and counted in the key's state.
    lateness : duration, default 0
        How far the watermark stays behind the newest time of each stream. A larger value waits longer for a stream that
        is behind.
    ttl : duration, optional
        Time without a row or label, by the watermark, after which a key is forgotten. This is reported as an event.
    confidence : bool
        Whether to return the probability of each prediction, for classifiers that have it.
    coverage : float, optional
        Share of targets that the intervals should contain, for a regressor with intervals (default: the model's own).
    state : {"transform", "apply"}, optional
        How Spark keeps the state. "transform" is ``transformWithStateInPandas`` on RocksDB, the default where Spark has
        it. "apply" is ``applyInPandasWithState``. It has no timers and no ``ttl``: a key uses its own newest time as
        the watermark, and looks for what waited too long only when something comes for it.

    Returns
    -------
    streaming DataFrame
        With the columns of key, time, id (where there is one) and target, and ``event``, ``prediction`` and
        ``confidence`` (if asked for). The predictions of a regressor are numbers, null before the first target of a
        key. Intervals have their ends in ``lower`` and ``upper``, null while there is none. Targets that come later
        judge the intervals, and the members of a mixture, by what was predicted (`follow`).

        Events are "predicted" for a row that was predicted, "learned" for a label that came later, with the prediction
        of its row, "expired" for a row whose label did not come in time, "dropped" for a label for which no row waited,
        and "forgotten" for a key.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> rows = spark.readStream.format("rate").load().selectExpr(
    ...     "value % 3 AS pump", "timestamp AS at", "rand() AS level", "value % 2 AS fault"
    ... )
    >>> predictions = learn_stream(rows, OnlineLDC(0.1), key="pump", target="fault", time="at", columns=["level"])
    >>> predictions.columns
    ['pump', 'at', 'fault', 'event', 'prediction']
    """
    require_learner(model, _OWNER)
    way = state or _way_of(df)
    if way not in _WAYS:
        raise InvalidParameter.of(_OWNER, "state", f"be one of {', '.join(_WAYS)}", state)
    _require_fitting(model, id, labels, wait, ttl, way)
    if isinstance(model, TableModel):
        _require_of_key(model, key, wait)
    df = with_times(df, time, _OWNER)
    labels = None if labels is None else with_times(labels, time, f"{_OWNER}, labels")
    names = feature_columns(df, model, columns, _OWNER, besides=(key, target, time, id))
    task = task_of(model, len(names), confidence=confidence, coverage=coverage, owner=_OWNER)
    for name in (key, target, time, id):
        if name is not None and name.lower() in (EVENT, PREDICTION, CONFIDENCE, *task.beside):
            raise InvalidInput(f"{_OWNER}: column {name!r} needs another name: the result has a column of that name")
    layout = Layout(
        key=type_of(df, key, _OWNER, numbers=False),
        id=TEXT if id is None else type_of(df, id, _OWNER, numbers=False),
        target=target_type(df, target, model, _OWNER),
        features=tuple(names),
        beside=task.beside,
        remembered=task.remembered,
    )
    waits = None if wait is None else microseconds(as_span(wait, _OWNER, "wait"))
    lives = None if ttl is None else microseconds(as_span(ttl, _OWNER, "ttl"))
    behind = as_span(lateness, _OWNER, "lateness")
    group = Group(dumps(model), layout, waits, lives, task)
    timed = waits is not None or lives is not None
    watermark = f"{microseconds(behind)} microseconds" if timed and way == "transform" else None
    moments = _is_moment(df, time)
    if timed and not moments:
        raise InvalidInput(f"{_OWNER}: column {time!r} must hold timestamps for rows to wait or keys to be forgotten")
    came = as_events(_marked(df, time, watermark), layout, key, id, target, time)
    if labels is not None and id is not None:
        came = came.unionAll(_as_labels(_marked(labels, time, watermark), layout, key, id, target, time))
    packed = came.mapInArrow(packer(layout), layout.packed).groupBy(KEY)
    learned = _kept(packed, group, way, timed, microseconds(behind)).mapInArrow(unpacker(layout), layout.unpacked)
    return _named(learned, key, id, target, time, moments, task.beside)


def _way_of(df: DataFrame) -> str:
    from pyspark.sql import GroupedData

    if not hasattr(GroupedData, "transformWithStateInPandas"):
        return "apply"
    if str(df.sparkSession.conf.get(STATE_STORE)).endswith("HDFSBackedStateStoreProvider"):  # Spark's default
        df.sparkSession.conf.set(STATE_STORE, ROCKSDB)
    return "transform"


def _require_fitting(model: Any, id: str | None, labels: Any, wait: Any, ttl: Any, way: str) -> None:  # noqa: A002
    if labels is not None and (id is None or wait is None):
        missing, value = ("id", id) if id is None else ("wait", wait)
        raise InvalidParameter.of(_OWNER, missing, "be given with labels that come by themselves", value)
    if id is None and wait is not None:
        raise InvalidParameter.of(_OWNER, "id", "name the column by which a label finds its row", id)
    if wait is not None and getattr(model, "_needs_labels_at_once", False):
        raise InvalidParameter.of(_OWNER, "wait", "be None for a model with persistence", wait)
    if ttl is not None and way == "apply":
        raise InvalidParameter.of(_OWNER, "ttl", "be None with state='apply', which has no timers", ttl)


def _require_of_key(model: TableModel, key: str, wait: Any) -> None:
    """Refuse a model of a table that cannot be that of one key."""
    kind = type(model).__name__
    if not model.__sklearn_is_fitted__():
        raise InvalidParameter(f"{_OWNER}: a {kind} must have learned some rows, which settle its columns")
    if wait is not None:
        raise InvalidParameter.of(_OWNER, "wait", f"be None for a {kind}, whose labels come with their rows", wait)
    history = model.encoder_.history
    for feature in () if history is None else history.features:
        if other := [name for name in feature.keys if name != key]:
            raise InvalidInput(
                f"{_OWNER}: feature {feature.name!r} is by {', '.join(other)}, and a key sees no rows of other keys: "
                f"let it be by {key}, or leave out by"
            )


def _marked(df: DataFrame, time: str, watermark: str | None) -> DataFrame:
    return df if watermark is None else df.withWatermark(quoted(time), watermark)


def _is_moment(df: DataFrame, time: str) -> bool:
    return str(df.schema[time].dataType.simpleString()) == "timestamp"


def _since(df: DataFrame, time: str) -> Column:
    """A time as a whole number: microseconds of a timestamp."""
    from pyspark.sql import functions as F  # noqa: N812

    own = column(df, time)
    return F.unix_micros(own) if _is_moment(df, time) else own.cast("bigint")


def as_events(
    df: DataFrame,
    layout: Layout,
    key: str,
    id: str | None,  # noqa: A002
    target: str,
    time: str,
    *,
    are_labels: bool = False,
) -> DataFrame:
    """Rows, or labels without features, as they are packed: the columns of every event, then the features."""
    from pyspark.sql import functions as F  # noqa: N812

    name = F.lit(None) if id is None else column(df, id)
    features = [F.lit(0.0) if are_labels else column(df, feature).cast("double") for feature in layout.features]
    return df.select(
        column(df, key).cast(layout.key.spark).alias(KEY),
        _since(df, time).alias(TIME),
        F.lit(are_labels).alias(IS_LABEL),
        name.cast(layout.id.spark).alias(ID),
        column(df, target).cast(layout.target.spark).alias(TARGET),
        *(feature.alias(f"feature {place}") for place, feature in enumerate(features)),
    )


def _as_labels(labels: DataFrame, layout: Layout, key: str, id: str, target: str, time: str) -> DataFrame:  # noqa: A002
    for name, own in ((key, layout.key), (id, layout.id), (target, layout.target)):
        _require_same(labels, name, own)
    events = as_events(labels, layout, key, id, target, time, are_labels=True)
    return events.where(events[TARGET].isNotNull())


def _require_same(labels: DataFrame, name: str, own: ValueType) -> None:
    kind = type_of(labels, name, f"{_OWNER}, labels")
    if kind is not own and own is not REAL:
        raise InvalidInput(
            f"{_OWNER}: column {name!r} must hold {own.spark} among labels as among rows, got {kind.spark}"
        )


def _kept(packed: Any, group: Group, way: str, timed: bool, lateness: int) -> DataFrame:
    from thalweg.spark.keyed_state import GroupProcessor, group_function

    schema = group.layout.packed
    learned: DataFrame
    if way == "transform":
        mode = "EventTime" if timed else "none"
        learned = packed.transformWithStateInPandas(GroupProcessor(group, timed), schema, "append", mode)
    else:
        learn = group_function(group, lateness)
        learned = packed.applyInPandasWithState(learn, schema, SPARK_STATE, "append", "NoTimeout")
    return learned


def _named(
    learned: DataFrame,
    key: str,
    id: str | None,  # noqa: A002
    target: str,
    time: str,
    moments: bool,
    beside: Sequence[str],
) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    return learned.select(
        learned[KEY].alias(key),
        (F.timestamp_micros(learned[TIME]) if moments else learned[TIME]).alias(time),
        *([] if id is None else [learned[ID].alias(id)]),
        learned[TARGET].alias(target),
        learned[EVENT],
        learned[PREDICTION],
        *(learned[name] for name in beside),
    )
