"""Tables of Arrow over HTTP: many rows in few bytes; messages are measured before anything is unpacked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from thalweg.client.protocol import ARROW
from thalweg.errors import MissingExtra
from thalweg.service.commands import HttpResponse, Predict, Refused
from thalweg.service.options import ServeOptions

#: Places in the tables of Arrow's ``Message.fbs``.
_HEADER_TYPE, _HEADER = 1, 2
_DATA_OF_DICTIONARY, _COMPRESSION = 1, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def is_packed(head: bytes) -> bool:
    """Whether the buffers of a message are compressed; a `ValueError` where its head makes no sense.

    Examples
    --------
    >>> import pyarrow as pa
    >>> def heads(packed):
    ...     sink, table = pa.BufferOutputStream(), pa.table({"x": [1.0] * 100})
    ...     with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as stream:
    ...         stream.write_table(table)
    ...     return [bytes(each.metadata) for each in pa.ipc.MessageReader.open_stream(sink.getvalue())]
    >>> [is_packed(head) for head in heads(None)], [is_packed(head) for head in heads("zstd")]
    ([False, False], [False, True])
    """
    try:
        message = _follow(head, 0)
        kind = _field(head, message, _HEADER_TYPE)
        table = _field(head, message, _HEADER)
        if kind is None or table is None or head[kind] not in (_DICTIONARY_BATCH, _RECORD_BATCH):
            return False
        batch: int | None = _follow(head, table)
        if head[kind] == _DICTIONARY_BATCH:
            data = _field(head, _follow(head, table), _DATA_OF_DICTIONARY)
            batch = None if data is None else _follow(head, data)
        return batch is not None and _field(head, batch, _COMPRESSION) is not None
    except (struct.error, IndexError) as error:
        raise ValueError("the head of a message is broken") from error


def _follow(head: bytes, at: int) -> int:
    """Where the offset at this place leads."""
    return at + int(struct.unpack_from("<I", head, at)[0])


def _field(head: bytes, table: int, number: int) -> int | None:
    """Where a field of a table is; None where it is left out."""
    directory = table - int(struct.unpack_from("<i", head, table)[0])
    if directory < 0 or 4 + 2 * number >= struct.unpack_from("<H", head, directory)[0]:
        return None
    offset = int(struct.unpack_from("<H", head, directory + 4 + 2 * number)[0])
    return table + offset if offset else None


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """Rows or labels as a table of pyarrow, whose every buffer was looked at before it is used."""

    table: Any

    @classmethod
    def read(cls, body: bytes, options: ServeOptions) -> Self:
        """The table of a stream."""
        pa = _pyarrow()
        batches = []
        rows = 0
        try:
            if any(is_packed(message.metadata.to_pybytes()) for message in pa.ipc.MessageReader.open_stream(body)):
                raise Refused(415, "a stream of Arrow must not be compressed: its size cannot be known before")
            with pa.ipc.open_stream(body) as stream:
                schema = stream.schema
                if len(set(schema.names)) < len(schema.names):
                    raise Refused(422, "the table has two columns of the same name")
                for batch in stream:
                    batch.validate(full=True)
                    rows += batch.num_rows
                    if rows > options.max_rows:
                        raise Refused(413, f"a request may have at most {options.max_rows} rows")
                    batches.append(batch)
            return cls(pa.Table.from_batches(batches, schema))
        except (pa.ArrowException, ValueError, TypeError, OSError, EOFError, KeyError, IndexError) as error:
            raise Refused(422, f"the body is not a stream of Arrow: {' '.join(str(error).split())}") from error

    def labels(self) -> list[tuple[str, Any]]:
        """The rows as ids and labels; `Refused` where they are not."""
        pa, table = _pyarrow(), self.table
        if sorted(table.column_names) != ["id", "label"]:
            raise Refused(422, "the columns must be id and label")
        if not (pa.types.is_string(table["id"].type) or pa.types.is_large_string(table["id"].type)):
            raise Refused(422, "the ids must be text")
        kind = table["label"].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_temporal(kind):  # of which some are beyond what Python's are
            raise Refused(422, f"label 0: it must be a text, a number, true or false, got {kind}")
        ids, labels = table["id"].to_pylist(), table["label"].to_pylist()
        if None in ids:
            raise Refused(422, f"label {ids.index(None)}: it has no id")
        for at, value in enumerate(labels):
            if not isinstance(value, str | int | float):
                raise Refused(422, f"label {at}: it must be a text, a number, true or false")
        return list(zip(ids, labels, strict=True))


def predicted(command: Predict) -> HttpResponse:
    """The id of each row, and what the model predicts, column by column."""
    pa = _pyarrow()
    from pyarrow import compute as pc

    numbers = pc.cast(pa.array(np.arange(len(command.body.X))), pa.string())
    ids = pc.binary_join_element_wise(pa.scalar(str(command.seq)), numbers, "-")
    table = pa.table({"id": ids} | command.response.columns())
    about = {"model": command.model, "version": str(command.body.version)}
    about |= {} if command.recorded else {"recorded": "false"}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata(about)) as stream:
        stream.write_table(table)
    return HttpResponse(200, ARROW, sink.getvalue().to_pybytes())


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise Refused(415, str(MissingExtra.of("pyarrow", "files", "reading Arrow"))) from error
    return pyarrow
