"""A table of any size as pairs of features and labels, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.arrow_frame import ArrowFrame, batches_of, pyarrow_for
from thalweg.frames.frame import Frame
from thalweg.frames.reading import frame_of, is_in_memory, reads_once
from thalweg.tables.opening import holds_text, open_source
from thalweg.tables.rows import Block
from thalweg.tables.rows import chunks as cut


def chunks(
    source: Any, target: str | None, *, columns: Sequence[str] | None = None, size: int = 8192
) -> Iterable[tuple[Any, Any]]:
    """A table in chunks of features and labels, in constant memory: ``for X, y in chunks(…): model.partial_fit(X, y)``.

    Parameters
    ----------
    source : path, table or stream
        A Parquet file, a file or stream of Arrow's IPC format, or a folder of them, read in the order of their names; a
        ``pyarrow.dataset``; a table of pandas, polars or pyarrow; a ``RecordBatchReader``; or whatever else hands over
        a stream by Arrow's C interface. Text has no types: for CSV give ``pyarrow.csv.open_csv(path)``.
    target : str or None
        The column of labels, or of numbers to predict. None gives None for y, as transformers take it.
    columns : sequence of str, optional
        The features, in their order; by default all columns but the target.
    size : int >= 1, default 8192
        Rows in a chunk, however the source is cut; the last chunk may be shorter. More rows take more memory and spare
        calls; models learn the same.

    Returns
    -------
    iterable of (X, y)
        Tables and series of pyarrow, or of pandas and polars where the source is of theirs; every method of a learner
        takes them, and remembers and checks the names of the columns. It can be gone through again and again, but for a
        ``RecordBatchReader``, which can be read once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from thalweg import OnlineLDC
    >>> from thalweg.frames import chunks
    >>> table = pa.table({"demand": [1.0, 2.0, 8.0, 9.0], "price": ["low", "low", "high", "high"]})
    >>> model = OnlineLDC()
    >>> for X, y in chunks(table, "price", size=3):
    ...     model = model.partial_fit(X, y)
    >>> model.feature_names_in_.tolist(), model.predict(table.select(["demand"])).tolist()
    (['demand'], ['low', 'low', 'high', 'high'])
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidParameter.of("chunks", "size", "be a whole number of at least 1", size)
    if isinstance(columns, str):
        raise InvalidParameter.of("chunks", "columns", "be a sequence of names", columns)
    if columns is not None and target in columns:
        raise InvalidParameter.of("chunks", "columns", f"leave out the target, {target!r}", list(columns))
    made = Chunks(source, target, None if columns is None else list(columns), size)
    return iter(made) if reads_once(source) else made


class Chunks:
    """What `chunks` gives for a source that can be read again."""

    def __init__(self, source: Any, target: str | None, columns: list[str] | None, size: int) -> None:
        self._source = source
        self._target = target
        self._columns = columns
        self._size = size

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for frame in self._frames():
            target = [] if self._target is None else [self._target]
            for name in (*(self._columns or ()), *target):
                if name not in frame.names:
                    known = ", ".join(map(repr, frame.names))
                    raise InvalidInput(f"the source must have a column {name!r}, its columns are {known}")
            features = [name for name in frame.names if name not in target] if self._columns is None else self._columns
            yield frame.select(features), None if self._target is None else frame.column(self._target)

    def _frames(self) -> Iterator[Frame]:
        if is_in_memory(self._source):
            whole = frame_of(self._source)
            assert whole is not None
            for start in range(0, len(whole), self._size):
                yield whole.sliced(start, start + self._size)
            return
        pa = pyarrow_for(self._source)
        for chunk in cut(_blocks(self._source), self._size):
            yield ArrowFrame(pa.table({name: chunk.column(name) for name in chunk.column_names}))


def _blocks(source: Any) -> Iterator[Block]:
    if isinstance(source, str | Path):
        opened = open_source(source)
        for path in opened.files:
            if holds_text(path):
                change = f"give its columns some, as pyarrow.csv.open_csv({path.name!r}) does"
                raise InvalidInput(f"{path} holds text, which has no types: {change}")
        yield from opened.blocks()
        return
    pa = pyarrow_for(source)
    first = 1
    for batch in batches_of(source):
        yield Block(pa.Table.from_batches([batch]), type(source).__name__, first)
        first += len(batch)
