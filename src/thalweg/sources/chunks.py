"""Rows in chunks of one size, however the files are cut: a run must not depend on how its source was written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thalweg.sources.block import BadRow, Block
from thalweg.sources.texts import as_text

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Piece:
    """Rows of a chunk that come from one block."""

    block: Block
    start: int
    length: int

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of the rows."""
        return self.block.table.column(name).slice(self.start, self.length)


@dataclass(frozen=True)
class Chunk:
    """Some rows in order, each of which can be named by file and number."""

    pieces: list[Piece]
    bad: list[BadRow]

    def __len__(self) -> int:
        return sum(piece.length for piece in self.pieces)

    @property
    def column_names(self) -> list[str]:
        """The columns of the table, in its order."""
        names: list[str] = self.pieces[0].block.table.column_names
        return names

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of all rows; its pieces may differ in type, since JSON has none."""
        import pyarrow as pa

        arrays = [chunk for piece in self.pieces for chunk in piece.column(name).chunks]
        if len({array.type for array in arrays}) > 1:
            arrays = [as_text(array) for array in arrays]
        return pa.chunked_array(arrays)

    def positions(self) -> list[int]:
        """The place of each row among all rows of the chunk, those that could not be read counted too."""
        unread = deque(self.bad)
        found: list[int] = []
        earlier: set[str] = set()
        passed = 0
        for piece in self.pieces:
            for at in range(piece.start, piece.start + piece.length):
                number = piece.block.number_of(at) if unread else 0
                while unread and (unread[0].file in earlier or unread[0].row < number):
                    unread.popleft()
                    passed += 1
                found.append(len(found) + passed)
            earlier.add(piece.block.file)
        return found

    def complaint(self, at: int, column: str, what: str) -> BadRow:
        """What is wrong with the row at this place."""
        for piece in self.pieces:
            if at < piece.length:
                return BadRow(piece.block.file, piece.block.number_of(piece.start + at), column, what)
            at -= piece.length
        raise IndexError(at)


def chunks(blocks: Iterable[Block], size: int | Callable[[int], int], head: int | None = None) -> Iterator[Chunk]:
    """Chunks of ``size`` rows, which may depend on the rows before; the last may be shorter, the first is the head."""
    size_after = size if callable(size) else lambda done: size
    done = 0
    wanted = head or size_after(0)
    pieces: list[Piece] = []
    bad: list[BadRow] = []
    have = 0
    for block in blocks:
        unread = sorted(block.bad, key=lambda each: each.row)
        start = 0
        while start < len(block.table):
            length = min(wanted - have, len(block.table) - start)
            pieces.append(Piece(block, start, length))
            start, have = start + length, have + length
            last = block.number_of(start - 1)
            bad += [each for each in unread if each.row < last]
            unread = [each for each in unread if each.row > last]
            if have == wanted:
                yield Chunk(pieces, bad)
                done += have
                pieces, bad, have, wanted = [], [], 0, size_after(done)
        bad += unread
    if pieces or bad:
        yield Chunk(pieces, bad)
