"""Lines above the table, delimiters and headers are those that a person sees."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from tests.cli.calls import metrics, run  # noqa: E402

from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.tables import chunks, open_source, plan_columns  # noqa: E402
from thalweg.tables.layout import LayoutOptions, layout_of  # noqa: E402

NAMED: dict[str, tuple[str, list[str]]] = {
    "words": ("x,y,label\n1,2,a\n3,4,b\n", ["x", "y", "label"]),
    "words above words": ("x,y\na,b\nb,a\n", ["x", "y"]),
    "an array of pandas": ("0,1,2,target\n0.5,1,2,a\n0.25,7,1,b\n", ["0", "1", "2", "target"]),
    "an array of pandas without a name": ("0,1,2\n0.5,1.5,2.5\n0.25,7,1\n", ["0", "1", "2"]),
    "an index of pandas": (",0,1\n0,3.5,4\n1,8,2\n2,6,5\n", ["", "0", "1"]),
    "years": ("country,1990,1991,1995\nAruba,4.8,4.6,4\nAngola,7.1,7.2,7\n", ["country", "1990", "1991", "1995"]),
    "days": ("place,1/22/20,1/23/20\nHubei,4,5\nBern,0,1\n", ["place", "1/22/20", "1/23/20"]),
    "thresholds": ("10,20,50\n0.5,0.25,0.5\n0.75,1.5,2.5\n", ["10", "20", "50"]),
    "a single row": ("1,2,3\n", ["1", "2", "3"]),
    "a title": ("Sales of 2024\n\nmonth,sold,label\n1,5,a\n2,7,b\n", ["month", "sold", "label"]),
    "a title of Excel": ("Sales,,\nmonth,sold,label\n1,5,a\n2,7,b\n", ["month", "sold", "label"]),
    "keys above": ("Name:,sales\nYear:,2024\na,b,c,d\n1,2,3,4\n5,6,7,8\n9,8,7,6\n", ["a", "b", "c", "d"]),
    "comments": ("# made by hand\n# in May\nx,y\n1,2\n", ["x", "y"]),
    "a header behind a sign": ("# numbers\n# x,y\n1,2\n3,4\n", ["x", "y"]),
    "a separator": ("sep=;\nx;y\n1.5;2\n", ["x", "y"]),
    "blank lines": ("\n \nx;y\n1.5;2\n", ["x", "y"]),
    "blanks": ("x    y  label\n1    2.5  a\n 30  4    b \n", ["x", "y", "label"]),
    "blanks and tabs": ('1.5  8\t"a b"\n2.5  7\t"c d"\n', ["1", "2", "3"]),
    "row names of R": ('"x" "y"\n"a" 1 2\n"b" 3 4\n"c" 3 5\n', ["", "x", "y"]),
    "a delimiter behind every row": ("x,y\n1,2,\n3,4,\n", ["x", "y", ""]),
    "a delimiter behind the header": ("x,y,\n1,2\n3,4\n", ["x", "y"]),
    "quotes of one kind": ("'x'\t'y'\n1\t2\n", ["x", "y"]),
    "the same name": ("x,x,y,x\n1,2,3,4\n", ["x", "x.1", "y", "x.2"]),
    "names that others would get": ("x,x.1,x,,\n1,2,3,4,5\n", ["x", "x.1", "x.2", "", "Unnamed: 4"]),
    "a name that a gap would get": (",x,,Unnamed: 2\n1,2,3,4\n", ["", "x", "Unnamed: 2.1", "Unnamed: 2"]),
    "flowers": ("5.1,3.5,setosa\n4.9,3.5,setosa\n", ["1", "2", "3"]),
    "cars": ("vhigh,vhigh,2,small,unacc\nvhigh,high,2,small,unacc\nlow,vhigh,3,big,acc\n", list("12345")),
    "letters": ("p,x,x,n\ne,x,y,n\np,y,x,k\n", list("1234")),
    "people": ("39, State-gov, 77516, Male\n50, Private, 83311, Male\n38, Private, 215646, Female\n", list("1234")),
    "times": ("2024-01-01,5.5\n2024-01-02,6.5\n", ["1", "2"]),
    "gaps": ("6,?,72,1\n1,85,?,0\n8,183,64,1\n", list("1234")),
    "two rows of names": (
        ",price,price,sold\n,open,close,total\n2024-01-01,1,2,3\n2024-01-02,2,3,4\n",
        ["", "price open", "price close", "sold total"],
    ),
    "names above several columns": (
        "day,price,,sold\n,open,close,total\n1,1,2,3\n2,2,3,4\n",
        ["day", "price open", "price close", "sold total"],
    ),
    "three rows of names": (
        "Price,Close,High\nTicker,AAPL,AAPL\nDate,,\n2024-01-01,1.5,2\n2024-01-02,1.6,3\n",
        ["Price", "Close", "High"],
    ),
    "units": ("t,speed,height,label\ns,m/s,,\n1,3.5,2,a\n2,4,,b\n3,4.5,1,a\n", ["t", "speed", "height", "label"]),
    "a word among numbers": ("name,age,kg\nAnn,unknown,60\nBob,42,70\nCy,43,71\n", ["name", "age", "kg"]),
    "a row of gaps": ("name,age,kg\nAnn,?,NA\nBob,42,70\nCy,43,71\n", ["name", "age", "kg"]),
    "counts above": ("150,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n4.9,3.0,1.4,0.2,1\n", list("12345")),
    "fewer counts above": ("2,5,a,b\n5.1,3.5,1.4,0.2,1,0\n4.9,3.0,1.4,0.2,2,1\n", list("123456")),
}


@pytest.mark.parametrize("which", NAMED)
def test_columns_have_the_names_that_a_person_sees(which: str) -> None:
    content, names = NAMED[which]
    for end in ("\n", "\r\n"):
        layout = layout_of(content.replace("\n", end).encode(), "rows.csv")
        assert list(layout.names) == names
        assert layout.header == (names != [str(i + 1) for i in range(len(names))] or which == "a single row")


def rows_of(path: Path | str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for chunk in chunks(open_source(path, **options).blocks(), 100):
        assert not chunk.bad
        names = chunk.column_names
        cells = zip(*(chunk.column(name).to_pylist() for name in names), strict=True)
        found += [dict(zip(names, row, strict=True)) for row in cells]
    return found


@pytest.mark.parametrize("which", NAMED)
def test_rows_begin_below_the_header(which: str, tmp_path: Path) -> None:
    content, names = NAMED[which]
    (tmp_path / "rows").write_text(content)
    below = [line for line in content.splitlines() if line.strip(" ,")]
    found = rows_of(tmp_path / "rows")
    rows = {"a single row": 0, "keys above": 3, "counts above": 2, "fewer counts above": 2}
    lines = {"a title": 2, "a title of Excel": 2, "comments": 3, "a header behind a sign": 2, "a separator": 2}
    lines |= {"two rows of names": 2, "names above several columns": 2, "three rows of names": 3, "units": 2}
    expected = rows.get(which, len(below) - lines.get(which, int(names[:1] != ["1"])))
    assert [list(row) for row in found] == [names] * expected
    if found:
        assert (
            found[-1][names[0]]
            == below[-1].strip().replace('"', "").replace(";", ",").replace("\t", ",").split(",")[0].split()[0]
        )


def test_what_is_asked_for_overrules_what_is_seen() -> None:
    numbers = b"5.1,3.5,setosa\n4.9,3.5,setosa\n"
    assert layout_of(numbers, "f", LayoutOptions(header=True)).names == ("5.1", "3.5", "setosa")
    words = b"x,y\n1,2\n"
    units = NAMED["units"][0].encode()
    assert layout_of(units, "f", LayoutOptions(header=True)).above == units.index(b"\n") + 1
    assert layout_of(units, "f").notes == ("has a second row below its names, such as units, which is skipped: 's'",)
    layout = layout_of(words, "f", LayoutOptions(header=False))
    assert (layout.names, layout.above, layout.notes) == (("1", "2"), 0, ())


ORANGE = "age\tsex\tcode\tnote\twet\nc\td\t1 2\ts\td\n\t\t\tmeta\tclass\n"


@pytest.mark.parametrize("header", [ORANGE, "C#age\tD#sex\tD#code\tmS#note\tcD#wet\n"])
def test_tables_of_orange_say_what_their_columns_are(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i}.5\t{i % 3}\t{i % 2 + 1}\tn{i % 5}\t{i % 2}\n" for i in range(60))
    Path("rows.tab").write_text(header + rows)
    code, _, told = run(capsys, "run", "rows.tab", "--quiet", "--out", "out")
    assert code == 0
    assert "rows.tab has the header of Orange" in told
    found = metrics()
    assert {name: kind for name, kind, _ in found["columns"]} == {
        "age": "number",
        "sex": "category",
        "code": "category",
        "note": "–",
        "wet": "–",
    }
    assert found["confusion"]["classes"] == ["0", "1"]


def test_a_folder_whose_first_file_alone_has_a_header(tmp_path: Path) -> None:
    (tmp_path / "part-1").write_text("x,label\n1,a\n2,b\n")
    (tmp_path / "part-2.gz").write_bytes(gzip.compress(b"3,a\n4,b\n"))
    (tmp_path / "part-10").write_text("label,x\nb,5\n")
    assert [row["x"] for row in rows_of(tmp_path)] == list("12345")
    (tmp_path / "part-1").write_text("1,a\n2,b\n1,a\n")
    (tmp_path / "part-10").unlink()
    assert [row["1"] for row in rows_of(tmp_path)] == list("12134")


def test_a_table_without_a_header_is_learned_resumed_and_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{'ab'[i % 2]},{i % 7}.5,{i % 2}.25" for i in range(80)]
    Path("rows.csv").write_text("\n".join(rows) + "\n")
    code, _, told = run(capsys, "run", "rows.csv")
    assert (code, told) == (
        2,
        "thalweg: --target COL is missing: name the column of labels, such as the last one: --target 3\n",
    )
    code, _, told = run(capsys, "run", "rows.csv", "--target", "1", "--quiet", "--out", "out")
    note = (
        "rows.csv has no header: its columns are named by their numbers, 1 to 3; --header takes its first row for names"
    )
    assert (code, told) == (0, f"thalweg: {note}\n")
    assert metrics()["warnings"][0] == note
    assert metrics()["rows"]["learned"] == 80
    Path("labelled.csv").write_text("\n".join(rows[:4]) + "\n")
    Path("new.csv").write_text("\n".join(row[2:] for row in rows[:4]) + "\n")
    answers = [run(capsys, "predict", "out/model.thalweg", file) for file in ("labelled.csv", "new.csv")]
    assert answers[0] == answers[1]
    assert (answers[0][0], len(answers[0][1].splitlines()), answers[0][2]) == (0, 5, "")
    code, _, told = run(capsys, "run", "rows.csv", "--header", "--target", "a", "--quiet", "--out", "named")
    assert (code, told) == (0, "")
    assert metrics("named")["rows"]["learned"] == 79
    code, said, _ = run(capsys, "run", "rows.csv", "--no-header", "--target", "1", "--json", "--out", "again")
    assert (code, json.loads(said)["scores"]) == (0, metrics()["scores"])


ROWS = [{"level": "1", "state": "low"}, {"level": "2", "state": "häuser"}, {"level": "3", "state": "low"}]
TEXT = "level,state\n1,low\n2,häuser\n3,low\n"


def _zip(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        lzma.compress(TEXT.encode()),
        _zip(rows_csv=TEXT.encode()),
        _zip(b_csv=b"level,state\n3,low\n", a_csv=TEXT[:-6].encode(), README=b"words", __MACOSX__x_csv=b"\0"),
        _zip(rows_csv_gz=gzip.compress(TEXT.encode())),
        TEXT.encode("utf-16"),
        TEXT.encode("latin-1"),
        json.dumps(ROWS).encode(),
        json.dumps(ROWS, indent=2, ensure_ascii=False).encode(),
    ],
    ids=["xz", "zip", "zip of two", "zip of gzip", "utf-16", "latin-1", "array", "array over lines"],
)
def test_packed_and_encoded_tables_are_the_same(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(content)
    assert rows_of(tmp_path / "rows") == ROWS


def test_an_array_of_json_is_cut_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [{"x": i, "note": 'a "]" , é', "state": None if i % 3 else "low"} for i in range(50)]
    (tmp_path / "rows").write_bytes(json.dumps(objects, indent=1, ensure_ascii=False).encode())
    for size in (1, 7, 100):
        monkeypatch.setattr("thalweg.tables.rows.PIECE_BYTES", size)
        assert rows_of(tmp_path / "rows") == objects
    (tmp_path / "rows").write_bytes(b'[{"x": 1}, {"x": ')
    with pytest.raises(InvalidInput, match="rows, row 2: it is not JSON"):
        rows_of(tmp_path / "rows")
    (tmp_path / "rows").write_bytes(b'[{"x": 1},')
    with pytest.raises(InvalidInput, match="rows is an array of JSON that is cut off after row 1"):
        rows_of(tmp_path / "rows")


@pytest.mark.parametrize(
    "content",
    [lzma.compress(TEXT.encode() * 99)[:-30], _zip(rows_csv=TEXT.encode())[:-40]],
    ids=["xz", "zip"],
)
def test_packed_tables_that_are_cut_off_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(content)
    with pytest.raises(InvalidInput, match="rows cannot be read to its end: "):
        rows_of(tmp_path / "rows")


KEEL = """@relation r
@attribute Age real[0.0,1.0]
@attribute Class{a,b}
@attribute Count integer[0,5]
@inputs Age, Count
@outputs Class
@data
0.5, a, 3
0.25,b,4
"""


def test_arff_of_keel_names_its_target(tmp_path: Path) -> None:
    from thalweg.tables.opening import declared_target

    path = tmp_path / "rows.dat"
    path.write_text(KEEL)
    assert rows_of(path) == [{"Age": "0.5", "Class": "a", "Count": "3"}, {"Age": "0.25", "Class": "b", "Count": "4"}]
    assert declared_target(str(path)) == ("Class", "Count")
    (chunk,) = chunks(open_source(path).blocks(), 10)
    assert [line[1] for line in plan_columns(chunk, target="Class").describe()] == ["number", "–", "number"]


@pytest.mark.parametrize("name", ["x", ""])
def test_any_number_of_equal_names_is_numbered(name: str) -> None:
    head = ",".join([name] * 100_000) + "\n" + ",".join(["1.5"] * 100_000) + "\n"
    names = layout_of(head.encode(), "wide.csv").names  # minutes, where each number is sought from 1 on
    assert len(set(names)) == len(names) == 100_000
