"""The same rows from every format, packing and cut, and complaints that count rows as the file does."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from tests.examples import examples  # noqa: E402

from thalweg.errors import DataUnavailable, InvalidInput, InvalidParameter  # noqa: E402
from thalweg.tables import BadRow, Block, chunks, open_source  # noqa: E402
from thalweg.tables.rows import Chunk  # noqa: E402

ROWS = [
    {"level": "1.5", "note": "plain", "state": "low"},
    {"level": "-2", "note": "a,b;c\td|e", "state": "high"},
    {"level": "", "note": "two\nlines", "state": "low"},
    {"level": "3e4", "note": 'she said "no"', "state": "häuser"},
]


def as_csv(rows: list[dict[str, str]], delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def rows_of(path: Path | str, size: int = 3, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for chunk in chunks(open_source(path, **options).blocks(), size):
        names = chunk.column_names
        columns = [chunk.column(name).to_pylist() for name in names]
        assert len(chunk) == len(columns[0]) <= size
        found += [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return found


PACKINGS = {
    "plain": lambda content: content,
    "gzip": gzip.compress,
    "gzip in parts": lambda content: gzip.compress(content[:20]) + gzip.compress(content[20:]),
    "bz2": bz2.compress,
    "zstd": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_of_any_delimiter_packing_and_end_of_line(tmp_path: Path, packing: str, delimiter: str, end: str) -> None:
    file = tmp_path / "no name tells"
    file.write_bytes(PACKINGS[packing](as_csv(ROWS, delimiter, end).encode()))
    assert rows_of(file) == ROWS


@pytest.mark.parametrize(
    ("encoding", "bytes_before"), [("utf-8", b"\xef\xbb\xbf"), ("latin-1", b""), ("utf-16", b""), ("utf-8-sig", b"")]
)
def test_encodings_and_byte_order_marks(tmp_path: Path, encoding: str, bytes_before: bytes) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(bytes_before + as_csv(ROWS).encode(encoding))
    assert rows_of(file, encoding=encoding) == ROWS


def test_another_delimiter_can_be_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(as_csv(ROWS, "~"), encoding="utf-8")
    assert rows_of(file, delimiter="~") == ROWS


def typed() -> Any:
    return pa.table(
        {
            "level": [1.5, -2.0, None, 3e4] * 10,
            "count": list(range(40)),
            "state": pa.array(["low", "high", None, "low"] * 10).dictionary_encode(),
        }
    )


@pytest.mark.parametrize("kind", ["parquet", "arrow-file", "arrow-stream"])
def test_typed_formats(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "rows"
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(typed(), file, row_group_size=7)
    else:
        opened = pa.ipc.new_file if kind == "arrow-file" else pa.ipc.new_stream
        with opened(str(file), typed().schema) as writer:
            writer.write_table(typed(), max_chunksize=7)
    assert rows_of(file, size=9) == typed().to_pylist()


def test_a_large_batch_of_an_arrow_stream_is_read_as_a_whole(tmp_path: Path) -> None:
    large = pa.table(
        {"level": [float(row) for row in range(50_000)]}
    )  # more than the first bytes, by which formats are known
    with pa.ipc.new_stream(str(tmp_path / "rows"), large.schema) as writer:
        writer.write_table(large)
    assert rows_of(tmp_path / "rows") == large.to_pylist()


def test_ndjson_with_types_that_change_gaps_and_blank_lines(tmp_path: Path) -> None:
    objects = [{"a": 1, "b": "x"}, {"a": 2.5}, {"b": "y", "a": None, "c": True}, {"a": 10**30, "b": 3, "c": False}]
    file = tmp_path / "rows"
    file.write_text("\n\n".join(map(json.dumps, objects)) + "\n\n")
    assert rows_of(file) == [
        {"a": "1", "b": "x", "c": None},  # text, since no column of numbers holds the last one
        {"a": "2.5", "b": None, "c": None},
        {"a": None, "b": "y", "c": True},
        {"a": "1" + 30 * "0", "b": "3", "c": False},
    ]
    file.write_text("\n".join(map(json.dumps, objects[:3])))
    assert [row["a"] for row in rows_of(file)] == [1.0, 2.5, None]


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("y,x\n2,1\n")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n0,0\n"))
    (tmp_path / "c").write_text('{"x": "3", "y": "4"}\n')
    (tmp_path / ".hidden").write_text("not a table")
    expected = [{"x": "0", "y": "0"}, {"x": "1", "y": "2"}, {"x": "3", "y": "4"}]
    assert rows_of(tmp_path) == expected
    (tmp_path / "d.csv").write_text("x,z\n1,2\n")
    with pytest.raises(InvalidInput, match=r"d.csv lacks 'y' and has 'z' besides: all files must have the columns of"):
        rows_of(tmp_path)


class Piped:
    """Standard input that gives bytes a few at a time."""

    def __init__(self, content: bytes) -> None:
        reading, writing = os.pipe()
        self.buffer = open(reading, "rb", buffering=0)  # noqa: SIM115 - closed by the test
        self._writer = threading.Thread(target=self._write, args=(writing, content))
        self._writer.start()

    def _write(self, writing: int, content: bytes) -> None:
        with open(writing, "wb", buffering=0) as pipe:
            for start in range(0, len(content), 11):
                pipe.write(content[start : start + 11])

    def close(self) -> None:
        self._writer.join()
        self.buffer.close()


def through_a_pipe(content: bytes, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    pipe = Piped(content)
    monkeypatch.setattr("sys.stdin", pipe)
    try:
        return rows_of("-")
    finally:
        pipe.close()


def test_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    assert through_a_pipe(as_csv(ROWS).encode(), monkeypatch) == ROWS
    assert through_a_pipe(gzip.compress(as_csv(ROWS).encode()), monkeypatch) == ROWS
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, typed().schema) as writer:
        writer.write_table(typed())
    assert through_a_pipe(stream.getvalue(), monkeypatch) == typed().to_pylist()


def test_what_cannot_come_through_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    parquet.write_table(typed(), tmp_path / "rows")
    with pytest.raises(InvalidInput, match="standard input is a parquet file, which cannot come through a pipe"):
        through_a_pipe((tmp_path / "rows").read_bytes(), monkeypatch)


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailable, match="there is no file"):
        open_source(tmp_path / "nothing")
    with pytest.raises(DataUnavailable, match="holds no file"):
        open_source(tmp_path)
    with pytest.raises((InvalidInput, InvalidParameter), match="one ASCII character"):
        open_source(tmp_path, delimiter="::")
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(InvalidInput, match="there is no encoding 'klingon'"):
        rows_of(tmp_path, encoding="klingon")


# ------------------------------------------------------------------ cuts

cells = st.text(alphabet=list('ab,;"\n\r é1.'), max_size=6).filter(
    lambda cell: cell == cell.strip() and "\r" not in cell
)


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rows=st.lists(st.tuples(cells, cells, st.booleans()), min_size=1, max_size=25),
    block=st.integers(1, 60),
    size=st.integers(1, 9),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_blocks_and_chunks_do_not_matter(tmp_path, monkeypatch, rows, block, size, end) -> None:
    """Quoted cells, ragged rows, any cut: Python's own reader says what the rows are and where they stand."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(("a", "b"))
    for first, second, ragged in rows:
        writer.writerow((first, second, "too many") if ragged else (first, second))
    file = tmp_path / "rows.csv"
    file.write_bytes(text.getvalue().encode())
    monkeypatch.setattr("thalweg.tables.rows.PIECE_BYTES", block)
    good = [(number, *row[:2]) for number, row in enumerate(rows, 1) if not row[2]]
    ragged = [number for number, row in enumerate(rows, 1) if row[2]]
    found, bad = [], []
    for chunk in chunks(open_source(file, delimiter=",", header=True).blocks(), size):
        bad += [each.row for each in chunk.bad]
        assert len(chunk) == min(size, len(good) - len(found))
        if len(chunk):
            numbers = [chunk.complaint(at, "a", "").row for at in range(len(chunk))]
            values = (chunk.column(name).to_pylist() for name in ("a", "b"))
            found += list(zip(numbers, *values, strict=True))
            if len(chunk) == size:
                assert max(bad, default=0) < numbers[-1]  # a bad row comes with the rows that follow it
    assert found == good
    assert bad == ragged


def test_chunk_sizes_may_grow_and_the_head_has_its_own() -> None:
    table = pa.table({"x": list(range(30))})
    blocks = [Block(table.slice(0, 7), "f", 1), Block(table.slice(7, 0), "f", 8), Block(table.slice(7), "f", 8)]
    found = list(chunks(blocks, lambda done: 2 + done, head=3))
    assert [len(chunk) for chunk in found] == [3, 5, 10, 12]
    assert [value for chunk in found for value in chunk.column("x").to_pylist()] == list(range(30))


def test_pieces_of_different_types_become_text() -> None:
    blocks = [Block(pa.table({"x": [1, 2]}), "f", 1), Block(pa.table({"x": ["three"]}), "f", 3)]
    chunk: Chunk = next(iter(chunks(blocks, 10)))
    assert chunk.column("x").to_pylist() == ["1", "2", "three"]


def test_a_bad_row_names_its_place() -> None:
    assert str(BadRow("a.csv", 1234, None, "it is odd")) == "a.csv, row 1,234: it is odd"
    block = Block(pa.table({"x": [1, 2, 3]}), "f", 11, [BadRow("f", 13, None, ""), BadRow("f", 12, None, "")])
    assert [block.number_of(at) for at in range(3)] == [11, 14, 15]
