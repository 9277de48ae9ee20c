"""What the messages of a stream of Arrow say of themselves, read before anything is unpacked.

A packed buffer says itself how large it becomes, and is believed: a few kilobytes could ask for all memory there is. So
packed streams are refused. Whether one is packed stands in the flatbuffer at the head of each message, of which a few
offsets are all that is needed here.
"""

from __future__ import annotations

import struct

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
