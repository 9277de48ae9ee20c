"""A saved model applied to a table like the one it learned, without learning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, ModelFileError
from thalweg.explain.contributions import contributions_by_column
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.intervals import Interval
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.option_names import remedy
from thalweg.part import Part
from thalweg.store import load
from thalweg.table_model import TableClassifier, TableModel, TableRegressor
from thalweg.tables import Plan, Source, chunks, open_source
from thalweg.tables.cells import brief
from thalweg.tables.columns.map import MapColumn
from thalweg.tables.encoder import BadRows, Encoder
from thalweg.tables.opening import Format
from thalweg.tables.rows import BadRow, Block
from thalweg.tables.sparse_rows import FEATURES, LABEL

_ROWS = 8192
#: Columns that a message names.
_MOST_NAMED = 5
#: Of contributions.
_DIGITS = 6


class Explained(NamedTuple):
    """For each row, the base value and a JSON object of contributions by column, the largest first."""

    base: list[float]
    contributions: list[str]


@dataclass(frozen=True)
class PredictedChunk:
    """Some rows: their numbers, from 1, the predictions, and bad rows.

    Of labels also the probabilities and sets, of numbers the ends of the intervals, where the model has them.
    """

    number: NDArray[np.int64]
    predictions: NDArray[Any]
    bad: list[BadRow]
    proba: NDArray[np.float64] | None = None
    sets: NDArray[np.bool_] | None = None
    interval: Interval | None = None
    explained: Explained | None = None


def predict_table(
    model: TableModel,
    given: str,
    *,
    bad_rows: BadRows = "error",
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    coverage: float | None = None,
    explain: bool = False,
    warn: Callable[[str], None] = lambda warning: None,
) -> Iterator[PredictedChunk]:
    """Predict the rows of a source by a model that `model_for_tables` gave, chunk by chunk.

    ``bad_rows`` says whether a row that cannot be read ends it. ``delimiter``, ``encoding`` and ``header`` are needed
    where they are not those of the table that was learned, ``coverage`` where intervals are to have another one.
    ``explain`` asks for the contributions of the columns. The values of columns that the source lacks count as missing,
    as in the service; ``warn`` is given a sentence that names them, and what was decided of the files. A source with
    none of the columns is refused.
    """
    encoder, table = model.encoder_, model.notes["table"]
    plan = encoder.plan
    encoder.bad_rows, encoder.remedy = bad_rows, remedy()
    source: Source = open_source(
        given,
        delimiter=delimiter or table.get("delimiter"),
        encoding=encoding or table.get("encoding", "utf-8"),
        header=table.get("header") if header is None else header,
    )
    columns = plan.columns
    source = replace(
        source,
        names=tuple(name for name in plan.names if name != table.get("target") and name not in plan.made),
        text_format=_text_format(plan),
        json_columns=encoder.sources,
        json_maps=tuple(column.name for column in columns if column.nested),
    )
    done = 0
    with encoder.passing():
        for chunk in chunks(_with_all_columns(source.blocks(), encoder, given, warn), _ROWS):
            if chunk.bad and bad_rows == "error":
                raise InvalidInput(f"{chunk.bad[0]}{remedy()}")
            if not chunk.pieces:
                nobody = np.empty(0, dtype=np.int64)
                yield PredictedChunk(nobody, model._no_predictions(), chunk.bad)
                continue
            encoded = encoder.encode(chunk, learn=False)
            number = np.array(chunk.positions(), dtype=np.int64)[encoded.kept] + 1 + done
            done += len(chunk) + len(chunk.bad)
            rows: Any = model._named(encoded.X)
            learner: Any = model.learner_
            if not len(number):
                yield PredictedChunk(number, model._no_predictions(), encoded.bad)
                continue
            proba = learner.predict_proba(rows) if hasattr(learner, "predict_proba") else None
            sets = learner.predict_set(rows) if hasattr(learner, "predict_set") else None
            asked = {} if coverage is None else {"coverage": coverage}
            interval = learner.predict_interval(rows, **asked) if hasattr(learner, "predict_interval") else None
            explained = _explained(model, encoded.X) if explain else None
            yield PredictedChunk(number, learner.predict(rows), encoded.bad, proba, sets, interval, explained)


def _text_format(plan: Plan) -> Format:
    """What text is whose first lines do not say so: a table of one sparse column does not come from CSV."""
    first, *more = plan.columns
    if more or not isinstance(first, MapColumn) or {first.name, *plan.names} != {LABEL, FEATURES}:
        return "csv"
    return "svmlight" if first.keys == "index" else "vowpal-wabbit"


def _with_all_columns(
    blocks: Iterator[Block], encoder: Encoder, given: str, warn: Callable[[str], None]
) -> Iterator[Block]:
    """The blocks with an empty column for each that they lack."""
    import pyarrow as pa

    plan, names = encoder.plan, list(encoder.sources)
    warned = False
    for block in blocks:
        for file, note in block.notes:
            warn(f"{file} {note}")
        present = [name for name in names if name in block.table.column_names]
        # keys that the model does not know may be those of columns by other names
        empty = [name for name in present if block.ignored and block.table.column(name).null_count == len(block.table)]
        if empty == present:
            raise InvalidInput(f"{given} has none of the columns that the model learned from: {_listed(names)}")
        absent = [name for name in names if name not in present]
        if absent and not warned:
            warn(f"{given} lacks {_listed(absent)}: {'their' if absent[1:] else 'its'} values count as missing")
        elif empty and not warned:
            unknown = [f", and has {brief(key)!r} besides" for key in block.ignored if key not in plan.names][:1]
            warn(f"{given} has rows without {_listed(empty)}{''.join(unknown)}: these values count as missing")
        warned |= bool(absent or empty)
        table = block.table
        for name in absent:
            table = table.append_column(name, pa.nulls(len(table), pa.string()))
        yield replace(block, table=table)


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_MOST_NAMED])) + (" …" if len(names) > _MOST_NAMED else "")


def model_for_tables(path: Path) -> TableModel:
    """A model that can predict a table: of a run, or one whose features are columns of numbers with names."""
    model: Any = load(path)
    if isinstance(model, Part):
        raise ModelFileError(f"{path} is a Part, the sums of some rows: make a model of it with fitted() first")
    if not isinstance(model, TableModel):
        if not isinstance(model, StreamClassifier | StreamRegressor):
            raise ModelFileError(f"{path} holds {model._in_a_sentence()}, which predicts nothing")
        if not hasattr(model, "feature_names_in_"):
            raise ModelFileError(
                f"{path} does not say what its columns are: it was not written by `thalweg run`, nor learned from rows "
                "with names"
            )
        if getattr(model, "_columns", None) is not None:
            raise ModelFileError(f"{path} predicts several targets at once: a table of predictions has one")
        of_table = TableClassifier if isinstance(model, StreamClassifier) else TableRegressor
        model = of_table.of_learned(model)
    has_learned = model.learner_.__sklearn_is_fitted__() and len(getattr(model.learner_, "classes_", (None,)))
    if not has_learned:
        raise ModelFileError(f"{path} cannot predict: it has learned no label")
    loaded: TableModel = model
    return loaded


def require_background(model: TableModel) -> None:
    """Refuse a model that keeps no rows to compare with; sparse rows need none."""
    if model.background is None and not model.encoder_.plan.sparse_columns:
        raise ModelFileError("the model keeps no background rows, which --explain needs: `thalweg run` writes them")


def _explained(model: TableModel, X: Any) -> Explained:
    """Base value and contributions of a row add up to its score, but for rounding."""
    require_background(model)
    result, by_column = contributions_by_column(model.learner_, X, model.background, model.encoder_.plan)
    words = [
        json.dumps({name: float(f"{value:.{_DIGITS}g}") for name, value in parts.items()}, ensure_ascii=False)
        for parts in by_column
    ]
    return Explained([float(f"{value:.{_DIGITS}g}") for value in result.base.tolist()], words)
