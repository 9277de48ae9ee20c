"""Rows in the order of a column of times, for tables of any size: an external merge sort.

Runs of 32 MB are sorted in memory and written, in small batches, to one temporary file without a name, which vanishes
with the process. Merging holds one batch of each run. Rows with the same time keep their order; rows without one come
last.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.tables.cells import parsed
from thalweg.tables.clock import Clock
from thalweg.tables.rows import HEAD_ROWS, BadRow, Block, Chunk, Piece, as_text

if TYPE_CHECKING:
    import pyarrow as pa

    from thalweg.tables.rows import Layout

#: Bytes of rows that are sorted in memory, and into how many batches they are cut on the disk.
_RUN_BYTES, _BATCHES = 1 << 25, 64
#: Columns that follow those of the table: time, place among all rows, file, and number in that file.
_TIME, _PLACE, _FILE, _NUMBER = range(-4, 0)


def in_time_order(
    blocks: Iterable[Block],
    time: str,
    run_bytes: int = _RUN_BYTES,
    *,
    head: int = HEAD_ROWS,
    settle: Callable[[str, pa.ChunkedArray], Clock] = Clock.settle,
) -> Iterator[Block]:
    """The same rows by the times in a column; rows that could not be read come first, as bad ones.

    Parameters
    ----------
    blocks : iterable of Block
        The rows.
    time : str
        The column of times or numbers.
    run_bytes : int
        Bytes of rows in memory before they are written to the disk.
    head : int
        Rows that settle how the times are written.
    settle : callable
        Makes the clock of the column of this name out of these rows.
    """
    marker = _Marker(time, head, settle)
    with tempfile.TemporaryFile() as disk:
        runs: list[_Run] = []
        held: list[pa.Table] = []
        size = 0
        for block in marker.settled(blocks):
            held.append(marker.mark(block))
            size += held[-1].nbytes
            if size >= run_bytes:
                runs.append(_Run(_sorted(held), disk))
                held, size = [], 0
        if not held and not runs:
            return
        if marker.bad:
            yield Block(_unmarked((held or [runs[0].rows])[0].slice(0, 0)), marker.bad[0].file, 1, marker.bad)
        if runs and held:
            runs.append(_Run(_sorted(held), disk))
        for rows in _merged(runs) if runs else [_sorted(held)]:
            origins = zip(*(rows.column(len(rows.columns) + at).to_pylist() for at in (_FILE, _NUMBER)), strict=True)
            named = [(marker.files[file], number) for file, number in origins]
            ignored, marker.ignored = marker.ignored, {}
            notes, marker.notes = marker.notes, ()
            yield Block(
                _unmarked(rows),
                "",
                1,
                typed=marker.typed,
                nominal=marker.nominal,
                values=marker.values,
                ignored=ignored,
                layout=marker.layout,
                notes=notes,
                origins=named,
            )


class _Marker:
    """Adds the columns that sorting needs; the first rows settle how times are written."""

    def __init__(self, time: str, head: int, settle: Callable[[str, pa.ChunkedArray], Clock]) -> None:
        self._time = time
        self._head = head
        self._settle = settle
        self._clock = Clock()
        self._rows = 0
        self.files: list[str] = []
        self.bad: list[BadRow] = []
        self.typed = False
        self.nominal: frozenset[str] = frozenset()
        self.values: Mapping[str, tuple[str, ...]] = {}
        self.ignored: dict[str, tuple[str, int]] = {}
        self.layout: Layout | None = None
        self.notes: tuple[tuple[str, str], ...] = ()

    def settled(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The same blocks, once the clock is settled by their first rows."""
        given = iter(blocks)
        first: list[Block] = []
        for block in given:
            if self._time not in block.table.column_names:
                raise InvalidInput.of_column(block.file, self._time, block.table.column_names)
            first.append(block)
            if sum(len(part.table) for part in first) >= self._head:
                break
        pieces = [Piece(block, 0, len(block.table)) for block in first if len(block.table)]
        if pieces:
            self._clock = self._settle(self._time, Chunk(pieces, []).column(self._time).slice(0, self._head))
        yield from first
        yield from given

    def mark(self, block: Block) -> pa.Table:
        import pyarrow as pa

        names, count = block.table.column_names, len(block.table)
        whole = Piece(block, 0, count)
        column = whole.column(self._time)
        # A time that cannot be read is complained of when its row is encoded.
        times = parsed(self._clock, column)[0] if count else []
        if block.file not in self.files[-1:]:
            self.files.append(block.file)
        self.bad += block.bad
        self.ignored = block.ignored | self.ignored
        self.typed, self.nominal, self.values = block.typed, block.categories, block.values
        self.layout, self.notes = self.layout or block.layout, (*self.notes, *block.notes)
        marks: list[Any] = [
            times,
            np.arange(self._rows, self._rows + count),
            np.full(count, len(self.files) - 1),
            [block.number_of(at) for at in range(count)],
        ]
        self._rows += count
        columns = [_of_one_type(whole.column(name), block.typed) for name in names]
        marked = [pa.array(mark, pa.int64()) for mark in marks]
        return pa.table([*columns, *marked], [*names, *(f"{self._time} {at}" for at in range(len(marks)))])


def _of_one_type(column: pa.ChunkedArray, typed: bool) -> Any:
    """A column of the same type in all blocks: JSON may have numbers in one and text in the next."""
    import pyarrow as pa

    return column if typed or pa.types.is_nested(column.type) else as_text(column)


def _unmarked(rows: pa.Table) -> pa.Table:
    return rows.select(range(len(rows.columns) + _TIME))


def _mark(rows: pa.Table, which: int) -> NDArray[np.int64]:
    mark: NDArray[np.int64] = rows.column(len(rows.columns) + which).to_numpy()
    return mark


def _sorted(held: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    rows = pa.concat_tables(held)
    return rows.take(np.lexsort((_mark(rows, _PLACE), _mark(rows, _TIME))))


class _Run:
    """Sorted rows on the disk, read back batch by batch: those of one batch that are still to come."""

    def __init__(self, rows: pa.Table, disk: IO[bytes]) -> None:
        import pyarrow as pa

        self._disk = disk
        self._batches: list[tuple[int, int]] = []
        step = -(-len(rows) // _BATCHES)
        for begin in range(0, len(rows), step):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows.schema) as writer:
                writer.write_table(rows.slice(begin, step))
            content = sink.getvalue()
            self._batches.append((disk.seek(0, os.SEEK_END), content.size))
            disk.write(content)
        self._next = 0
        self.rows = rows.schema.empty_table()

    @property
    def has_more(self) -> bool:
        """Whether batches are left on the disk."""
        return self._next < len(self._batches)

    def fill(self) -> None:
        """Read the next batch if the one before is used up."""
        import pyarrow as pa

        if not len(self.rows) and self.has_more:
            at, size = self._batches[self._next]
            self._next += 1
            self._disk.seek(at)
            self.rows = pa.ipc.open_stream(self._disk.read(size)).read_all()

    def take_until(self, time: int, place: int) -> pa.Table:
        """The rows up to this time; of those at it, up to this place."""
        times, places = _mark(self.rows, _TIME), _mark(self.rows, _PLACE)
        count = int(((times < time) | ((times == time) & (places <= place))).sum())
        taken, self.rows = self.rows.slice(0, count), self.rows.slice(count)
        return taken


def _merged(runs: list[_Run]) -> Iterator[pa.Table]:
    """All rows in order. What is in memory of each run is in order up to the least of their last rows."""
    while True:
        for run in runs:
            run.fill()
        runs = [run for run in runs if len(run.rows)]
        if not runs:
            return
        ends = [(int(_mark(run.rows, _TIME)[-1]), int(_mark(run.rows, _PLACE)[-1])) for run in runs]
        yield _sorted([run.take_until(*min(ends)) for run in runs])
