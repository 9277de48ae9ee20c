"""ARFF is read; other formats are recognised by their content and named, with what to do."""

from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from tests.cli.calls import metrics, predictions, run  # noqa: E402

from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.run.options import RunOptions  # noqa: E402
from thalweg.tables import BadRow, chunks, open_source, plan_columns  # noqa: E402

ARFF = r"""% a comment

@RELATION 'rivers of the world'
@Attribute level	NUMERIC
@attribute 'it''s \'odd\'' {yes, no, 'may be'}
@attribute code { 1,2 , 3}
@attribute note STRING
@attribute seen date "dd/MM/yyyy HH:mm"
@attribute "the class" {a,b}

@DATA
1.5, yes, 1, plain, '01/02/2024 07:30', a
% between rows
?,'may be',2,'a, b and \'c\'','02/02/2024 08:00',b

-2e3,no,?,"she said ?",?,a
4, 'no', 3, ?, "03/02/2024 09:30", 'b'
"""


def block_of(path: Path) -> tuple[dict[str, list[Any]], list[BadRow], Any]:
    (chunk,) = chunks(open_source(path).blocks(), 100)
    return {name: chunk.column(name).to_pylist() for name in chunk.column_names}, chunk.bad, chunk


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_arff_is_read(tmp_path: Path, end: str, packed: bool) -> None:
    content = ARFF.replace("it''s", "it is").replace("\n", end).encode()
    (tmp_path / "rows.csv").write_bytes(gzip.compress(content) if packed else content)
    columns, bad, chunk = block_of(tmp_path / "rows.csv")
    assert columns == {
        "level": ["1.5", None, "-2e3", "4"],
        "it is 'odd'": ["yes", "may be", "no", "no"],
        "code": ["1", "2", None, "3"],
        "note": ["plain", "a, b and 'c'", "she said ?", None],
        "seen": ["2024-02-01T07:30:00", "2024-02-02T08:00:00", None, "2024-02-03T09:30:00"],
        "the class": ["a", "b", "a", "b"],
    }
    assert bad == []
    kinds = [line[1] for line in plan_columns(chunk, target="the class").describe()]
    assert kinds == ["number", "category", "category", "category", "time", "–"]


def test_declared_values_that_come_late_have_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of a column, and classes: in the first twenty rows there is one of each."""
    monkeypatch.chdir(tmp_path)
    kinds, states = [f"k {i}" for i in range(30)], ["dry", "it's wet", "flood, again", "1.0"]
    quoted = ["dry", r"'it\'s wet'", '"flood, again"', "1.0"]
    rows = [(0, 0)] * 20 + [(i % 30, i % 3) for i in range(200)]
    head = f"@relation r\n@attribute kind {{{', '.join(map(repr, kinds))}}}\n@attribute state {{{','.join(quoted)}}}"
    lines = [f"{kinds[kind]!r},{quoted[state]}" for kind, state in rows]
    Path("rows.arff").write_text("\n".join([head, "@data", *lines]) + "\n")
    (chunk,) = chunks(open_source("rows.arff").blocks(), 300)
    assert chunk.values == {"kind": tuple(kinds), "state": tuple(states)}
    asked = ("--target", "state", "--model", "oldc", "--head", "20", "--probabilities", "all", "--quiet")
    code, _, complaint = run(capsys, "run", "rows.arff", *asked)
    assert (code, complaint) == (0, "")
    found = metrics("thalweg-run")
    assert found["columns"][0][2].startswith("one feature for each of its first 30 categories, one for all others")
    written = predictions("thalweg-run")
    columns = [f"P({label})" for label in sorted(["dry", "it's wet", "flood, again", "1"])]
    assert list(written[0])[-4:] == columns
    last = [[float(row[name]) for name in columns] for row in written[-100:]]
    assert np.allclose(np.sum(last, axis=1), 1.0, atol=1e-3)
    assert max(row[columns.index("P(flood, again)")] for row in last) > 0.5
    assert all(float(row["P(flood, again)"]) == 0.0 for row in written[1:20])


def test_arff_names_rows_that_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "rows.arff"
    head = "@relation r\n@attribute a numeric\n@attribute d date\n@data\n"
    path.write_text(f"{head}1,2024-01-01T00:00:00\n1\n2,soon\n3,'open\n")
    _, bad, _ = block_of(path)
    assert [str(each).removeprefix(f"{path}, ") for each in bad] == [
        "row 2: it has 1 cell, the header 2 attributes",
        "row 3, column 'd': 'soon' is not a date of its declared format",
        "row 4: a quotation mark is left open",
    ]
    for content, told in (
        (f"{head}{{0 1}}\n", "row 1: it is sparse: write all values"),
        ("@relation r\n@attribute a numeric\n", "an ARFF file without a line @data"),
        (
            '@relation r\n@attribute d date "MM MM"\n@data\n',
            "the date format 'MM MM' of the attribute 'd' cannot be read",
        ),
        ("@relation r\n@data\n1\n", "without an @attribute"),
        ("@relation r\n@attribute a relational\n@data\n", "'a' is of type relational, which cannot be learned"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "'a' is declared more than once"),
    ):
        path.write_text(content)
        with pytest.raises(InvalidInput, match=told):
            block_of(path)


def test_the_last_attribute_is_suggested_as_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7}.5,{i % 2}\n" for i in range(60))
    Path("rows.arff").write_text(f"@relation r\n@attribute level real\n@attribute 'is wet' {{0,1}}\n@data\n{rows}")
    code, _, told = run(capsys, "run", "rows.arff")
    suggested = "name the column of labels, such as the last one: --target 'is wet'"
    assert (code, told) == (2, f"thalweg: --target COL is missing: {suggested}\n")
    assert run(capsys, "run", "rows.arff", "--target", "is wet", "--quiet", "--out", "out")[0] == 0
    assert metrics()["rows"]["learned"] == 60
    code, said, _ = run(capsys, "predict", "out/model.thalweg", "rows.arff")
    assert (code, len(said.splitlines())) == (0, 61)


def _npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, X=np.ones((3, 2)))
    return file.getvalue()


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones((3, 2)))
    return file.getvalue()


def _zip(name: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, "a,b\n1,2\n")
    return file.getvalue()


FOREIGN = {
    "an archive of NumPy arrays (.npz)": _npz(),
    "an array of NumPy (.npy)": _npy(),
    "a pickle of Python (.pkl)": pickle.dumps({"a": [1, 2]}),
    "a workbook of Excel (.xlsx)": _zip("[Content_Types].xml"),
    "a workbook of Excel (.xls)": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
    "an array of arrays of JSON": b"[\n [1, 2], [3, 4]\n]\n",
    "an object of columns of JSON": b'{"a":{"0":1,"1":2}}',
    "a table of columns of fixed width": b"NAME       AGE CITY\nAnn Smith   31 New York\nBob          7 Rio\n" * 4,
    "a page of HTML or XML": b"<!DOCTYPE html><html></html>",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_no_table_is_named(what: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(FOREIGN[what])
    with pytest.raises(InvalidInput) as told:
        next(open_source(tmp_path / "rows.csv").blocks())
    start = f"{tmp_path / 'rows.csv'} is {what}, which is not read: "
    assert str(told.value).startswith(start)
    assert len(str(told.value)) > len(start) + 20


def test_a_database_is_named(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "rows.csv")
    database.execute("CREATE TABLE t (a)")
    database.close()
    with pytest.raises(InvalidInput, match="is a database of SQLite"):
        next(open_source(tmp_path / "rows.csv").blocks())


@pytest.mark.parametrize(
    "header", ["PAR1,PAR2", "ARROW1;n", "FEA1,FEA2", "ORC,x", "@relation,n", "a | b", "1:2,b", "PK,b", "[x],y"]
)
def test_a_header_that_begins_like_another_format_is_csv(header: str, tmp_path: Path) -> None:
    first, sign, second = header.partition(next(sign for sign in ",;|" if sign in header))
    (tmp_path / "rows.csv").write_text(f"{header}\n1{sign}2\n")
    columns, _, _ = block_of(tmp_path / "rows.csv")
    assert columns == {first: ["1"], second: ["2"]}


def test_options_name_no_target_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"name the column of labels$"):
        RunOptions.of({"source": str(tmp_path / "rows.csv")})


def test_text_of_arrow_that_is_no_text_is_refused(tmp_path: Path) -> None:
    damaged = pa.array([b"\xea("], pa.binary()).view(pa.string())
    table = pa.table({"a": damaged})
    with pa.ipc.new_file(tmp_path / "rows", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(InvalidInput, match="rows cannot be read as arrow-file: "):
        next(open_source(tmp_path / "rows").blocks())
