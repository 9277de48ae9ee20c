"""Every kind of dirt: a correct run, or one line that names file, row and column, exit code 2, and nothing left."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg import cli

pytest.importorskip("pyarrow")

HEADER = "level,rain,state"


SKIP = "; --bad-rows skip leaves such rows out"
CELL = f"{SKIP}, --na takes a text for a missing value, --categorical a column for categories"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """A command, without lines of progress, of which a busy machine prints more."""
    with pytest.raises(SystemExit) as stop:
        cli.main((*arguments, "--quiet") if arguments[0] == "run" else arguments)
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


def clean(count: int = 60) -> list[str]:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, count)
    return [f"{rng.normal() + t:.3f},{rng.normal():.3f},{'ab'[t]}" for t in truth]


def table(lines: list[str], header: str = HEADER) -> bytes:
    return ("\n".join([header, *lines]) + "\n").encode(errors="surrogateescape")


def with_row(number: int, line: str, count: int = 60) -> bytes:
    """A clean table with another row in place of one; rows count from 1."""
    lines = clean(count)
    lines[number - 1] = line
    return table(lines)


def with_bytes(number: int, line: bytes) -> bytes:
    return with_row(number, "HERE").replace(b"HERE", line)


def wide(columns: int) -> bytes:
    header = ",".join([*(f"c{i}" for i in range(columns)), "state"])
    return table([",".join([*(str((i + j) % 7) for j in range(columns)), "ab"[i % 2]]) for i in range(12)], header)


REFUSED: dict[str, tuple[bytes, str]] = {
    "more cells than the header": (with_row(31, "1,2,a,b"), "{file}, row 31: it has 4 cells, the header 3" + SKIP),
    "fewer cells than the header": (with_row(31, "1"), "{file}, row 31: it has 1 cell, the header 3" + SKIP),
    "every row ragged": (table(["1,2", "3,4"]), "{file}, row 1: it has 2 cells, the header 3" + SKIP),
    "a word early": (with_row(31, "warm,2,a"), "{file}, row 31, column 'level': 'warm' is not a number" + CELL),
    "a word half-way": (
        with_row(1531, "1,warm,a", 3000),
        "{file}, row 1,531, column 'rain': 'warm' is not a number" + CELL,
    ),
    "a line feed in quotes": (
        with_row(1531, '1,"wa\nrm",a', 3000),
        "{file}, row 1,531, column 'rain': 'wa\\nrm' is not a number" + CELL,
    ),
    "a number without end": (
        with_row(20, "1,inf,a"),
        "{file}, row 20, column 'rain': 'inf' is beyond the numbers that can be learned" + CELL,
    ),
    "an empty file": (b"", "{file} is empty"),
    "blank lines alone": (b"\n\n", "{file} is empty"),
    "a header alone": (b"level,rain,state\n", "{file} has a header but no rows"),
    "Latin-1 in a cell": (
        with_bytes(44, b"1,2,fa\xe7ade"),
        "{file}, row 44, column 'state': the byte 0xe7 is not UTF-8; name the encoding, as in --encoding latin-1"
        + SKIP,
    ),
    "Latin-1 in a row with too many cells": (
        with_bytes(44, b"1,2,fa\xe7ade,4"),
        "{file}, row 44: it has 4 cells, the header 3" + SKIP,
    ),
    "two encodings in the header": (
        table(clean(), "level,rain,state").replace(b"rain", "größe".encode() + b"\xe7"),
        "{file}: a column name in the header is not UTF-8; name the encoding, as in --encoding latin-1",
    ),
    "no such target": (
        table(clean(), "level,rain,status"),
        "{file} has no column 'state'; it has 'level', 'rain', 'status': did you mean 'status'?",
    ),
    "a target that is a quantity, for a classifier": (
        table([f"{line},{i}.5" for i, line in enumerate(clean())], "level,rain,x,state"),
        "state holds 60 different numbers in the first 60 rows, which means regression: --model must be one of auto, "
        "auto-linear, robust, tiling, forest, linear for regression, got 'oldc'; --task classification takes the "
        "numbers for classes",
    ),
    "a target of texts that do not come again": (
        table([f"{line},id{i}" for i, line in enumerate(clean() * 3)], "level,rain,x,state"),
        "{file}: the target 'state' must hold classes, but it has 180 different values in the first 180 rows, "
        "such as 'id0'; if they are classes nevertheless, say so with --categorical state",
    ),
    "nothing to learn from": (table(["a", "b"], "state"), "{file} has no column to learn from beside 'state'"),
    "a quotation mark left open": (with_row(31, '1,"2,a'), "{file}, row 31: a quotation mark is left open" + SKIP),
    "a quotation mark left open in the header": (
        table(clean(), 'level,"rain,state'),
        "{file}, header: a quotation mark is left open",
    ),
    "a quotation mark left open before a label": (
        with_row(31, '1,2,"a'),
        "{file}, row 31: a quotation mark is left open" + SKIP,
    ),
    "a gzip file cut off": (b"\x1f\x8b\x08\x00\x00\x00", "{file} cannot be read to its end: "),
    "Parquet that is none": (b"PAR1\x15 and no more", "{file} cannot be read as parquet: "),
    "Arrow that is none": (b"ARROW1\x00 and no more", "{file} cannot be read as arrow-file: "),
    "JSON that is none": (b'{"level": 1, "state": "a"}\n{"level": 2,\n', "{file}, row 2: it is not JSON: "),
    "JSON that is no object": (
        b'{"level": 1, "state": "a"}\n[2]\n',
        "{file}, row 2: it must be an object, got [2]" + SKIP,
    ),
    "JSON of another type": (
        b"".join(b'{"level": %d.5, "state": "a"}\n' % i for i in range(60)) + b'{"level": [1], "state": "a"}\n',
        "{file}, row 61, column 'level': '[1]' is not a number" + CELL,
    ),
}


@pytest.mark.parametrize("dirt", REFUSED)
@pytest.mark.filterwarnings("error")
def test_dirt_is_named_in_one_line_and_nothing_is_left(
    dirt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, message = REFUSED[dirt]
    file, out = tmp_path / "table.csv", tmp_path / "out"
    file.write_bytes(content)
    code, said, complaint = run(capsys, "run", str(file), "--target", "state", "--model", "oldc", "--out", str(out))
    expected = message.replace("{file}", str(file))
    assert (code, said) == (2, "")
    assert complaint.count("\n") == 1
    assert complaint.startswith(f"thalweg: {expected}")
    if not message.endswith(": "):
        assert complaint == f"thalweg: {expected}\n"
    assert not out.exists()


def test_a_failed_run_leaves_the_files_of_a_folder_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    (tmp_path / "table.csv").write_bytes(with_row(1531, "warm,2,a", 3000))
    code, _, _ = run(capsys, "run", str(tmp_path / "table.csv"), "--target", "state", "--out", str(out))
    assert code == 2
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def metrics_of(capsys: pytest.CaptureFixture[str], file: Path, *options: str) -> dict[str, Any]:
    out = file.parent / "out"
    arguments = ("run", str(file), "--target", "state", "--model", "oldc", "--out", str(out), "--json", *options)
    code, said, complaint = run(capsys, *arguments)
    assert (code, complaint) == (0, "")
    metrics: dict[str, Any] = json.loads(said)
    return metrics


def answers(file: Path) -> list[list[str]]:
    with (file.parent / "out" / "predictions.csv").open(newline="") as lines:
        return list(csv.reader(lines))[1:]


LEARNED = {
    "a label never seen before": (table([*clean(), "1,2,new"]), ()),
    "a label that never comes": (with_row(31, "1,2,"), ()),
    "missing values in all their spellings": (
        table([*clean(), *(f"{missing},2,a" for missing in ("", "NaN", "n/a", "NULL", " ", "?", "-"))]),
        (),
    ),
    "classes named as nothing is": (
        table([f"{i % 2},{i % 3},{('none', 'NA', 'null', '-', '?')[i % 5]}" for i in range(60)]),
        (),
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + table(clean()), ()),
    "Latin-1 that is named": (with_bytes(44, b"1,2,fa\xe7ade"), ("--encoding", "latin-1")),
    "UTF-16 that is named": (table(clean()).replace(b",", b";").decode().encode("utf-16"), ("--encoding", "utf-16")),
    "percentages": (table([f"{i}%,{i % 3} %,{'ab'[i % 2]}" for i in range(60)]), ()),
    "lines that end as on Windows": (table(clean()).replace(b"\n", b"\r\n"), ()),
    "a last line without an end": (table(clean()).removesuffix(b"\n"), ()),
    "a column all missing": (table([f",{line}" for line in clean()], "void,level,rain,state"), ()),
    "one row": (table(clean(1)), ()),
    "one class": (table([f"{i},0.5,a" for i in range(30)]), ()),
    "constant columns": (table([f"1,1,{'ab'[i % 2]}" for i in range(30)]), ()),
}


@pytest.mark.parametrize("dirt", LEARNED)
def test_dirt_that_can_be_learned_from_is(dirt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, options = LEARNED[dirt]
    file = tmp_path / "table.csv"
    file.write_bytes(content)
    metrics = metrics_of(capsys, file, *options)
    encoding = options[1] if options else "utf-8-sig"
    labels = [line.replace(";", ",").rsplit(",", 1)[-1] for line in content.decode(encoding).splitlines()[1:]]
    told = answers(file)
    assert [line[1] for line in told] == labels
    assert [int(line[0]) for line in told] == list(range(1, len(labels) + 1))
    scored = [line for line in told if line[1] and line[2]]
    assert metrics["rows"]["predicted"] + metrics["rows"]["unpredicted"] == len(labels)
    assert metrics["rows"]["unlabelled"] == labels.count("")
    wrong = sum(label != answer for _, label, answer, _ in scored)
    assert metrics["scores"]["model"]["error"] == (wrong / len(scored) if scored else None)
    assert (file.parent / "out" / "report.html").exists()


def test_whole_numbers_are_one_class_with_a_point_or_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.csv"
    labels = ["0", "1", "0.0", "1.", "1.0", "01", "-1.00", "x1.0"]
    file.write_bytes(table([f"{i % 3},{i % 4},{labels[0 if i < 50 else i % 8]}" for i in range(80)]))
    assert sorted(metrics_of(capsys, file)["confusion"]["classes"]) == ["-1", "0", "01", "1", "x1.0"]
    assert {line[1] for line in answers(file)} == {"0", "1", "01", "-1", "x1.0"}


def test_numbers_with_a_fraction_are_classes_if_declared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(table([f"{i % 3},{i % 4},{i % 2 * 1.5}" for i in range(60)]))
    assert metrics_of(capsys, file, "--categorical", "state")["confusion"]["classes"] == ["0", "1.5"]


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wide.csv"
    file.write_bytes(wide(10_000))
    out = tmp_path / "out"
    arguments = ("run", str(file), "--target", "state", "--model", "perceptron", "--out", str(out), "--json")
    code, said, complaint = run(capsys, *arguments)
    assert (code, complaint) == (0, "")
    assert json.loads(said)["model"]["features"] == 10_001


DIRTY = [
    (20, "warm,2,a", "column 'level': 'warm' is not a number"),
    (31, "1,2,a,b", "it has 4 cells, the header 3"),
    (32, "1", "it has 1 cell, the header 3"),
    (1533, "hot,cold,a", "column 'level': 'hot' is not a number"),
    (1540, "1,inf,b", "column 'rain': 'inf' is beyond the numbers that can be learned"),
    (3000, "a,b", "it has 2 cells, the header 3"),
    (35, "1,2,fa\udce7ade", "column 'state': the byte 0xe7 is not UTF-8; name the encoding, as in --encoding latin-1"),
    (36, '"\udce7\n",2,a,b', "it has 4 cells, the header 3"),
    (37, "1,2", "it has 2 cells, the header 3"),
    (
        1999,
        '"wa\nrm \udcff",2,a',
        "column 'level': the byte 0xff is not UTF-8; name the encoding, as in --encoding latin-1",
    ),
]


def test_bad_rows_can_be_skipped_and_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rest is learned as if they had never been there."""
    lines = clean(3000)
    for number, line, _ in DIRTY:
        lines[number - 1] = line
    numbers = {number for number, _, _ in DIRTY}
    rest = [line for number, line in enumerate(lines, 1) if number not in numbers]
    found = []
    for name, kept in (("dirty", lines), ("clean", rest)):
        (tmp_path / name).mkdir()
        file = tmp_path / name / "table.csv"
        file.write_bytes(table(kept))
        found.append((metrics_of(capsys, file, "--bad-rows", "skip", "--chunk", "100"), answers(file)))
    (dirty, dirty_answers), (without, clean_answers) = found
    assert dirty_answers == clean_answers
    assert dirty["scores"] == without["scores"]
    assert dirty["rows"]["skipped"] == len(DIRTY)
    assert dirty["rows"]["read"] == 3000
    where = tmp_path / "dirty" / "table.csv"
    expected = {f"{where}, row {number:,}{', ' if what[0] == 'c' else ': '}{what}" for number, _, what in DIRTY}
    assert set(dirty["rows"]["bad"]) == expected


def test_a_limit_stops_before_later_dirt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(with_row(31, "1,2,a,b"))
    assert metrics_of(capsys, file, "--limit", "30")["rows"]["predicted"] == 29


def test_nothing_but_bad_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "table.csv", tmp_path / "out"
    file.write_bytes(table(["1,2", "3,4"]))
    arguments = ("run", str(file), "--target", "state", "--out", str(out), "--bad-rows", "skip")
    code, _, complaint = run(capsys, *arguments)
    reason = f"{file} has no row that can be used: {file}, row 1: it has 2 cells, the header 3"
    assert (code, complaint) == (2, f"thalweg: {reason}\n")
    assert not out.exists()
