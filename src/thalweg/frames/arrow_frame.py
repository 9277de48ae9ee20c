"""Arrow: tables and record batches of pyarrow, and whatever else hands its memory over by Arrow's C interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput, MissingExtra
from thalweg.frames.frame import Floats, Frame, InParts

_ROWS_READ = 1 << 16


class ArrowFrame(Frame):
    @property
    def names(self) -> list[Any]:
        return list(self.native.schema.names)

    def as_one_array(self) -> NDArray[Any] | None:
        """A single column of float64 in one piece."""
        import pyarrow as pa

        if self.native.num_columns != 1:
            return None
        column = self.native.column(0)
        if column.type != pa.float64() or column.null_count or column.num_chunks != 1:
            return None
        values: Floats = column.chunk(0).to_numpy()
        return values.reshape(-1, 1)

    def columns(self) -> Iterator[NDArray[Any] | InParts]:
        """Each column, a dictionary by its values."""
        import pyarrow as pa

        for column in self.native.itercolumns():
            kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
            if not (plain or pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)):
                raise TypeError(f"it holds {kind}")
            if plain and kind == column.type and not column.null_count and column.num_chunks == 1:
                yield column.chunk(0).to_numpy()
            else:
                yield InParts(partial(_as_floats, column, kind))

    def is_null(self, row: int, column: int) -> bool:
        return not self.native.column(column)[row].is_valid

    def sliced(self, start: int, stop: int) -> Self:
        return type(self)(self.native.slice(start, stop - start))

    def column(self, name: Any) -> Any:
        return self.native.column(name)

    def arrow_column(self, name: Any) -> Any:
        return self.native.column(name)

    def select(self, names: list[Any]) -> Any:
        return self.native.select(names)


def _as_floats(column: Any, kind: Any, start: int, stop: int) -> Floats:
    import pyarrow as pa

    values: Floats = column.slice(start, stop - start).cast(kind).cast(pa.float64(), safe=False).to_numpy()
    return values


def array_of(values: Sequence[Any], column: Any = None) -> Any:
    """Values of Python, those of a column, as an array of Arrow; of several types as text; null where one is missing.

    Examples
    --------
    >>> array_of([1, None, float("nan")]).to_pylist(), array_of([1, True, "a"]).to_pylist()
    ([1, None, None], ['1', 'true', 'a'])
    """
    import pyarrow as pa

    with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
        return pa.array(values, from_pandas=True)
    texts = [value if isinstance(value, str) else _text_of(value) for value in values]
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        at = next(at for at, text in enumerate(texts) if text is not None and ascii(error.object) == ascii(text))
        where = f"row {at}" if column is None else f"row {at}, column {column!r}"
        raise InvalidInput(f"{where}: {texts[at]!r} holds half of a character, a lone surrogate") from error


def _text_of(value: Any) -> str | None:
    """One value as it would be written in a column of its own type."""
    import pyarrow as pa

    from thalweg.tables.rows import as_text  # which the learners, who read frames too, need not load

    try:
        text: str | None = as_text(pa.array([value], from_pandas=True))[0].as_py()
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return str(value)
    return text


def table_of(X: Any) -> Any:
    """The table behind any of Arrow's interfaces; a stream is read to its end."""
    pa = pyarrow_for(X)
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    try:
        return X.read_all() if isinstance(X, pa.RecordBatchReader) else pa.table(X)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidInput(f"a {type(X).__name__} cannot be read as a table of Arrow: {error}") from error


def batches_of(stream: Any) -> Iterator[Any]:
    """The record batches of a data set, a reader, or a stranger's stream, one after the other."""
    pa = pyarrow_for(stream)
    if hasattr(stream, "scanner"):
        yield from stream.scanner(**_little_at_a_time(stream)).to_reader()
    elif isinstance(stream, pa.RecordBatchReader):
        yield from stream
    elif hasattr(stream, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(stream)
    else:
        yield from table_of(stream).to_batches()


def _little_at_a_time(dataset: Any) -> dict[str, Any]:
    """How to scan a data set in little memory; left to itself pyarrow reads far ahead, and Parquet files as a whole."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    options = {"batch_size": _ROWS_READ, "use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
    if getattr(getattr(dataset, "format", None), "default_extname", None) == "parquet":
        options["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False)
    return options


def schema_table_of(X: Any) -> Any:
    """The same without its rows: a stream that can be read only once keeps them."""
    pa = pyarrow_for(X)
    if isinstance(X, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return X.schema.empty_table()
    if hasattr(X, "__arrow_c_schema__"):
        return pa.schema(X).empty_table()
    if not hasattr(X, "__arrow_c_stream__"):
        return pa.record_batch(X).schema.empty_table()
    try:
        return pa.RecordBatchReader.from_stream(X).schema.empty_table()
    except (pa.ArrowException, RuntimeError, TypeError, ValueError) as error:
        kind = type(X).__name__
        raise InvalidInput(
            f"a {kind} can be read only once and has no names besides: read it first, as in pyarrow.table(X)"
        ) from error


def values_of(series: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The values of an array or a chunked one, and where one is null; None where none is."""
    pa = pyarrow_for(series)
    if not isinstance(series, pa.Array | pa.ChunkedArray):
        series = pa.chunked_array(series) if hasattr(series, "__arrow_c_stream__") else pa.array(series)
    if series.null_count:
        return np.array(series.to_pylist(), dtype=object), np.asarray(series.is_null())
    if pa.types.is_dictionary(series.type) and len(series):
        pieces = series.chunks if isinstance(series, pa.ChunkedArray) else [series]
        return np.concatenate([_decoded(piece) for piece in pieces]), None
    return np.asarray(series), None


def _decoded(piece: Any) -> NDArray[Any]:
    codes: NDArray[np.int64] = piece.indices.to_numpy(zero_copy_only=False)
    return np.array(piece.dictionary.to_pylist()).take(codes)


def pyarrow_for(X: Any) -> Any:
    """The library, or `MissingExtra` that says what X needs it for."""
    try:
        import pyarrow
    except ImportError as error:
        what = "files" if isinstance(X, str | Path) else f"a {type(X).__name__}"
        raise MissingExtra.of("pyarrow", "files", f"reading {what}") from error
    return pyarrow
