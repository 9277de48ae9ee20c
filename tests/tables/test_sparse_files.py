"""Files of svmlight and Vowpal Wabbit: read as a slow and obvious reader does, from any packing and by any cut."""

from __future__ import annotations

import bz2
import gzip
import io
import math
import re
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

pa = pytest.importorskip("pyarrow")

from tests.examples import examples  # noqa: E402

from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.kernels import compiled  # noqa: E402
from thalweg.tables import chunks, open_source  # noqa: E402
from thalweg.tables.opening import format_of  # noqa: E402
from thalweg.tables.sparse_rows import read, sparse_format  # noqa: E402

Row = tuple[str | None, list[tuple[Any, float]]]
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Bad(Exception):
    pass


def number(text: str) -> float:
    if not NUMBER.fullmatch(text) or not abs(float(text)) <= 1e50:
        raise Bad(text)
    return float(text)


def words_of(text: str) -> list[str]:
    return [word for word in re.split(r"[ \t\v\f\r]+", text) if word]


def plain(label: str) -> str:
    """A label without the sign of a positive number."""
    return re.sub(r"^\+(?=[0-9.])", "", label)


def svmlight_row(line: str) -> Row | None:
    """A row, None for a line without content; `Bad` for a malformed line."""
    words = words_of(line.partition("#")[0])
    if not words:
        return None
    label: str | None = None
    entries = words
    if not re.match(r"\d+\S*:|qid:", words[0]):
        label, *entries = words
        if ":" in label:
            raise Bad(label)
    found: dict[int, float] = {}
    for entry in entries:
        index, colon, value = entry.partition(":")
        if index == "qid" and colon:
            continue
        if not colon or not re.fullmatch(r"[0-9]+", index) or int(index) > 2**31 - 2 or int(index) in found:
            raise Bad(entry)
        found[int(index)] = number(value)
    return label and plain(label), list(found.items())


def vowpal_row(line: str) -> Row | None:
    """The same of a line of Vowpal Wabbit."""
    if not words_of(line):
        return None
    before, *spaces = line.split("|")
    if not spaces:
        raise Bad(line)
    given = words_of(before)
    touches = bool(given) and before.endswith(given[-1])
    if given and (given[-1].startswith("'") or touches):
        if len(given) == 1 and not given[0].startswith("'"):
            raise Bad(before)
        given.pop()
    if len(given) > 2 or (given and ":" in given[0]) or (len(given) == 2 and number(given[1]) != 1):
        raise Bad(before)
    found = []
    for space in spaces:
        words = words_of(space)
        name, scale = "", 1.0
        if words and space.startswith(words[0]):
            name, colon, value = words.pop(0).partition(":")
            scale = number(value) if colon else 1.0
            if len(name.encode()) > 256 or (colon and not name):
                raise Bad(space)
        for word in words:
            feature, colon, value = word.partition(":")
            product = (number(value) if colon else 1.0) * scale
            if not feature or not abs(product) <= 1e50:
                raise Bad(word)
            found.append((f"{name}^{feature}" if name else feature, product))
    return plain(given[0]) if given else None, found


ORACLES = {"svmlight": svmlight_row, "vowpal-wabbit": vowpal_row}


def expected(content: str, kind: str) -> tuple[list[Row], list[int]]:
    """The rows of a file, and the numbers of the bad ones."""
    rows, bad, count = [], [], 0
    for line in content.split("\n"):
        try:
            row = ORACLES[kind](line)
            if row is None:
                continue
            rows.append(row)
        except Bad:
            bad.append(count + 1)
        count += 1
    return rows, bad


def found(content: bytes, kind: Any, piece: int = 1 << 22, size: int = 7) -> tuple[list[Row], list[int]]:
    rows: list[Row] = []
    bad: list[int] = []
    with mock.patch("thalweg.tables.rows.PIECE_BYTES", piece):
        for chunk in chunks(read(io.BytesIO(content), "rows", "utf-8", kind), size):  # type: ignore[arg-type]
            bad += [each.row for each in chunk.bad]
            if len(chunk):
                rows += zip(chunk.column("label").to_pylist(), chunk.column("features").to_pylist(), strict=True)
    return rows, bad


numbers = st.one_of(
    st.floats().map(repr),
    st.floats(-1e3, 1e3).map(lambda value: f"{value:.4g}"),
    st.integers(-(10**25), 10**25).map(str),
    st.text("0123456789", min_size=1, max_size=30),
    st.text("0123456789.eE+-", max_size=8),
    st.sampled_from(["1", "0", "-0", "+1", ".5", "5.", "1e50", "1.0000001e50", "1e400", "1e-400", "nan", "inf", "0x1"]),
    st.sampled_from(["9007199254740993", "12345678", "123456789012345678901", "2.2250738585072011e-308", "5e-324"]),
    st.sampled_from(["0." + "0" * 400 + "1e400", "1" + "0" * 400 + "e-400", "0" * 30 + "7", "1e", "1e+", "--1", "1_0"]),
)
indices = st.one_of(st.integers(0, 9), st.integers(-1, 2**31), st.sampled_from([2**31 - 2, 2**64 + 1])).map(str)
odd = st.text(alphabet=list("01:.-+e# \t\r|'qidaé^\x00"), max_size=12)
blanks = st.sampled_from([" ", " ", " ", "  ", "\t", " \r", ""])
entries = st.builds(lambda index, value: f"{index}:{value}", indices, numbers)
svmlight_lines = st.lists(st.one_of(entries, entries, entries, st.just("qid:3"), st.just("# c 1:2"), odd), max_size=6)
features = st.one_of(
    st.text("abcé^'#", min_size=1, max_size=9),
    st.builds(lambda name, value: f"{name}:{value}", st.text("abc", max_size=9), numbers),
    st.sampled_from(["|", "|ns", "|ns:2", "|ns:-0.5", "|" + "n" * 257, "|ns:1e49", "|:2", "a|b"]),
    odd,
)
vowpal_lines = st.tuples(
    st.sampled_from(
        ["1 |", "-1 |", "|", "1 1.0 |", "1 2 |", "1 1 0 |", "1 'tag|", "1 1 t|", "'t |", "1|", "a:1 |", "b ", ""]
    ),
    st.lists(features, max_size=6),
).map(lambda line: [line[0] + (line[1][0] if line[1] else ""), *line[1][1:]])


@examples(400, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), kind=st.sampled_from(["svmlight", "vowpal-wabbit"]))
def test_lines_are_read_as_by_the_obvious_reader(data: Any, kind: str) -> None:
    lines = st.lists(svmlight_lines if kind == "svmlight" else vowpal_lines, max_size=8)
    labelled = [["1", *line] if kind == "svmlight" and data.draw(st.booleans()) else line for line in data.draw(lines)]
    content = "\n".join(data.draw(blanks).join(line) for line in labelled)
    piece, size = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 9))
    told = expected(content, kind)
    assert found(content.encode(), kind) == told
    assert found(content.encode(), kind, piece, size) == told
    assert all(
        math.copysign(1, a) == math.copysign(1, b) for (_, a), (_, b) in pairs(found(content.encode(), kind), told)
    )


def pairs(one: Any, other: Any) -> list[Any]:
    return [pair for a, b in zip(one[0], other[0], strict=True) for pair in zip(a[1], b[1], strict=True)]


@examples(200)
@given(content=st.binary(max_size=200), kind=st.sampled_from(["svmlight", "vowpal-wabbit"]))
def test_any_bytes_are_rows_or_bad_rows(content: bytes, kind: str) -> None:
    rows, bad = found(content, kind)
    assert len(rows) + len(bad) <= content.count(b"\n") + 1
    assert found(content, kind, piece=3) == (rows, bad)
    for reader in (compiled.read_svmlight, compiled.read_vowpal_wabbit):
        lines = reader(content)
        assert lines.rows == len(lines.offsets) - 1 + len(lines.bad)
        assert len(lines.values) == lines.offsets[-1]
        assert (np.abs(lines.values) <= 1e50).all()


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), from_zero=st.booleans(), query=st.booleans())
def test_what_scikit_learn_writes_is_read_as_it_reads_it(
    seed: int, from_zero: bool, query: bool, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 40)) * (rng.random((30, 40)) < 0.2) * 10.0 ** rng.integers(-30, 30)
    X[0, 0] = X[:, -1] = 1.0  # or the file has fewer columns, and lines without entries may come first
    file = tmp_path / "rows"
    written = {"zero_based": from_zero, "query_id": np.arange(30) if query else None, "comment": "rows of a test"}
    dump_svmlight_file(X, rng.integers(0, 3, 30), str(file), **written)
    truth, labels = load_svmlight_file(str(file), zero_based=True)
    assert format_of(file.read_bytes()[:500]) == "svmlight"
    (chunk,) = chunks(open_source(file).blocks(), 100)
    assert [float(label) for label in chunk.column("label").to_pylist()] == labels.tolist()
    read_back = np.zeros(truth.shape)
    for row, cell in enumerate(chunk.column("features").to_pylist()):
        for index, value in cell:
            read_back[row, index] = value
    assert (read_back == truth.toarray()).all()


SVMLIGHT = "# rows of a test\n1 1:0.5 7:-1e-3 # first\n-1 qid:3 2:1\n\n9:2\n"
VOWPAL = "1 1.0 'first|weather rain:0.5 wind |level:2 3\n-1 |weather sun é:3\n| rain\n"
READ = {
    SVMLIGHT: [("1", [(1, 0.5), (7, -1e-3)]), ("-1", [(2, 1.0)]), (None, [(9, 2.0)])],
    VOWPAL: [
        ("1", [("weather^rain", 0.5), ("weather^wind", 1.0), ("level^3", 2.0)]),
        ("-1", [("weather^sun", 1.0), ("weather^é", 3.0)]),
        (None, [("rain", 1.0)]),
    ],
}


@pytest.mark.parametrize("content", READ)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_packed_in_folders_and_with_byte_order_marks(tmp_path: Path, content: str, end: str) -> None:
    raw = content.replace("\n", end).encode()
    packings = (
        raw,
        b"\xef\xbb\xbf" + raw,
        gzip.compress(raw),
        bz2.compress(raw),
        pa.compress(raw, "zstd", asbytes=True),
    )
    for at, packed in enumerate(packings):
        (tmp_path / f"{at}.csv").write_bytes(packed)
    (chunk,) = chunks(open_source(tmp_path).blocks(), 100)
    rows = list(zip(chunk.column("label").to_pylist(), chunk.column("features").to_pylist(), strict=True))
    assert rows == READ[content] * len(packings)


def test_files_of_both_formats_cannot_be_mixed(tmp_path: Path) -> None:
    (tmp_path / "1").write_text(SVMLIGHT)
    (tmp_path / "2").write_text(VOWPAL)
    with pytest.raises(
        InvalidInput, match=r"2: column 'features' must be of one type, got map<string, double> and map<int32"
    ):
        [chunk.column("features") for chunk in chunks(open_source(tmp_path).blocks(), 100)]


REASONS = {
    "1 3": "'3' has no colon between an index and a value",
    "1 x:3": "'x' is not an index",
    "1 -3:1": "the index -3 is negative",
    "1 2147483647:1": "the index 2147483647 is beyond 2147483646",
    "1 3:1 2:1 3:2": "the index 3 stands twice",
    "1 3:": "a value is missing after a colon",
    "1 3:nan": "'nan' is not a finite number",
    "1 3:1e51": "'1e51' is beyond the numbers that can be learned",
    "x:1 4:1": "it begins with 'x:1', which is not a label",
    "1 a b": "it has no | before its features",
    "1 2 | a": "an importance other than 1, here '2', is not supported",
    "1 1 0.5 | a": "initial predictions, here '0.5', are not supported",
    "1 1 1 1 1 | a": "'1 ' is too much before the first bar",
    "1| a": "'1' touches the bar, as a tag does: write a blank between a label and the bar",
    "1:2:0.5 | a": "'1:2:0.5' is not a label",
    "1 | a:x": "'x' is not a finite number",
    "1 | :3": "':3' is a feature without a name",
    "1 |:3 a": "a namespace has no name",
    "1 |n:1e40 a:1e40": "'a:1e40' times the scale of its namespace is beyond the numbers that can be learned",
    f"1 |{'n' * 257} a": f"the namespace '{'n' * 58} …' has more than 256 bytes",
}


@pytest.mark.parametrize("line", REASONS)
def test_malformed_lines_are_named(line: str, tmp_path: Path) -> None:
    good = "1 | a b:1" if "|" in line or line == "1 a b" else "1 1:2"
    (tmp_path / "rows").write_text(f"{good}\n\n{line}\n{good}\n")
    kind: Any = "vowpal-wabbit" if "|" in good else "svmlight"
    assert format_of((tmp_path / "rows").read_bytes()) == kind
    (chunk,) = chunks(open_source(tmp_path / "rows").blocks(), 100)
    assert [str(bad) for bad in chunk.bad] == [f"{tmp_path / 'rows'}, line 3: {REASONS[line]}"]
    assert len(chunk) == 2


def test_lines_that_are_not_utf8_are_bad_but_for_their_comments() -> None:
    content = b"1 1:2\n1 # \xe9\n\xe9\xff 1:1\n# \xe9\n2 1:3\n"
    assert found(content, "svmlight") == ([("1", [(1, 2.0)]), ("1", []), ("2", [(1, 3.0)])], [3])
    lines = b"# c\n\n1 1:2\nx:1\n1 2:x\n\n# c\n1 3:1 3:2\n" + b"1 # \xe9\n\xe9 1:1\n1 x:3"
    for size in (7, 1 << 20):
        with mock.patch("thalweg.tables.rows.PIECE_BYTES", size):
            blocks = list(read(io.BytesIO(lines), "rows", "utf-8", "svmlight"))  # type: ignore[arg-type]
        assert [(bad.row, bad.line) for block in blocks for bad in block.bad] == [
            (2, 4),
            (3, 5),
            (4, 8),
            (6, 10),
            (7, 11),
        ]
    blocks = list(read(io.BytesIO(b"1 | a\n1 | \xe9:1\n"), "rows", "utf-8", "vowpal-wabbit"))  # type: ignore[arg-type]
    (bad,) = [bad for block in blocks for bad in block.bad]
    assert str(bad) == "rows, line 2: the byte 0xe9 is not UTF-8; name the encoding, as in --encoding latin-1"


TABLES = {
    "a pandas index without a name": "|unit price|class of\n0|3.5 kg|a b\n1|4.5 kg|a b\n",
    "durations": "id\tduration\n1\t02:35\n2\t03:10\n",
    "times as names": "label\t12:00\t13:00\n1\t3:20\t4:10\n",
    "blanks about bars": "1 | 2\n1 | 2\n3 | 4\n",
    "bars and text": "price|class\n1|a b:2 c\n2|a b:3\n",
    "one column of times": "time\n5 12:30\n6 12:40\n",
    "a table in bars": "|a |b |\n|1 x |2 |\n",
    "numbers": "1\n2\n3\n",
    "nothing": "",
}


@pytest.mark.parametrize("table", TABLES)
def test_a_csv_file_is_never_taken_for_sparse_rows(table: str) -> None:
    assert format_of(TABLES[table].encode()) == "csv"


def test_a_line_is_not_longer_than_memory_allows(tmp_path: Path) -> None:
    with mock.patch("thalweg.tables.sparse_rows._LONGEST_LINE", 50), mock.patch("thalweg.tables.rows.PIECE_BYTES", 20):
        (tmp_path / "rows").write_text("1 1:2\n1 " + " ".join(f"{i}:1" for i in range(100)))
        with pytest.raises(InvalidInput, match="rows has a line of more than 50 bytes"):
            list(open_source(tmp_path / "rows").blocks())


def test_words_behind_labels_are_vowpal_wabbits() -> None:
    assert sparse_format(b"1 | free money now\n-1 | see you\n") == "vowpal-wabbit"
    assert sparse_format(b"id | some text\n1 | free money now\n") is None
    assert sparse_format(b"1 | free\n2 | money\n") is None
