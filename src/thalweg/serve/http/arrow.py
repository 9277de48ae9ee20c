"""Tables of Arrow over HTTP: many rows in few bytes, and none of them parsed one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from thalweg.errors import MissingExtra
from thalweg.serve.http.arrow_messages import is_packed
from thalweg.serve.http.exchange import ARROW
from thalweg.serve.journal.bodies import NO_ANSWER
from thalweg.serve.options import Limits
from thalweg.serve.refusal import Refused
from thalweg.serve.work import Answer, Predict


def read(body: bytes, limits: Limits) -> Any:
    """The table of a stream; every buffer is looked at before it is used."""
    pa = _pyarrow()
    batches = []
    rows = 0
    try:
        if any(is_packed(message.metadata.to_pybytes()) for message in pa.ipc.MessageReader.open_stream(body)):
            raise Refused(415, "a stream of Arrow must not be compressed: how large it becomes cannot be known before")
        with pa.ipc.open_stream(body) as stream:
            schema = stream.schema
            for batch in stream:
                batch.validate(full=True)
                rows += batch.num_rows
                if rows > limits.rows:
                    raise Refused(413, f"a request may have at most {limits.rows} rows")
                batches.append(batch)
        return pa.Table.from_batches(batches, schema)
    except (pa.ArrowException, ValueError, TypeError, OSError, EOFError, KeyError, IndexError) as error:
        raise Refused(422, f"the body is not a stream of Arrow: {' '.join(str(error).split())}") from error


def read_labels(body: bytes, limits: Limits) -> list[tuple[str, Any]]:
    """Ids and labels."""
    pa = _pyarrow()
    table = read(body, limits)
    if sorted(table.column_names) != ["id", "label"]:
        raise Refused(422, "the columns must be id and label")
    if not (pa.types.is_string(table["id"].type) or pa.types.is_large_string(table["id"].type)):
        raise Refused(422, "the ids must be text")
    ids, labels = table["id"].to_pylist(), table["label"].to_pylist()
    if None in ids:
        raise Refused(422, f"label {ids.index(None)}: it has no id")
    for at, value in enumerate(labels):
        if not isinstance(value, str | int | float):
            raise Refused(422, f"label {at}: it must be a text, a number, true or false")
    return list(zip(ids, labels, strict=True))


def predicted(work: Predict) -> Answer:
    """Columns id, answer and probability, of the answer; null where there is none."""
    pa = _pyarrow()
    from pyarrow import compute as pc

    own = work.asked.answers[work.model]
    rows = len(work.asked.X)
    unknown = own.codes == NO_ANSWER
    places = pa.array(own.codes.astype(np.int32), mask=unknown)
    answers = pa.array(own.labels, pa.string()).take(places)
    numbers = pc.cast(pa.array(np.arange(rows)), pa.string())
    ids = pc.binary_join_element_wise(pa.scalar(str(work.seq)), numbers, "-")
    if work.proba is None:
        likely = pa.nulls(rows, pa.float64())
    else:
        likely = pa.array(work.proba[np.arange(rows), np.maximum(own.codes, 0)], mask=unknown)
    table = pa.table({"id": ids, "answer": answers, "probability": likely})
    about = {"model": work.model, "version": str(work.asked.version)}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata(about)) as stream:
        stream.write_table(table)
    return Answer(200, ARROW, sink.getvalue().to_pybytes())


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise Refused(415, str(MissingExtra.of("pyarrow", "files", "reading Arrow"))) from error
    return pyarrow
