"""`thalweg run` and its companions from end to end, against the library's own calls on the same rows."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg import AutoClassifier, OnlineLDC, cli, load, save

pytest.importorskip("pyarrow")

from thalweg.run.models import MODELS

ROWS = 1400


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    printed = capsys.readouterr()
    return int(stop.value.code or 0), printed.out, printed.err


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, list[str]]:
    """Rows of two numbers, in the working folder as table.csv."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, ROWS)
    X = np.round(rng.normal(size=(ROWS, 2)) + truth[:, None], 3)
    y = ["dry" if t else "wet" for t in truth]
    times = np.datetime64("2024-01-01T00") + np.arange(ROWS)
    lines = [f"{a},{b},{when},{when + 5},{label}" for (a, b), when, label in zip(X.tolist(), times, y, strict=True)]
    Path("table.csv").write_text("\n".join(["a,b,when,told,state", *lines]) + "\n")
    return X, y


PLAIN = ("table.csv", "--target", "state", "--drop", "when", "--drop", "told")


def metrics(folder: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "metrics.json").read_text())
    return found


def predictions(folder: str = "out") -> list[dict[str, str]]:
    with (Path(folder) / "predictions.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_run_is_predict_then_learn(table, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = table
    code, said, complaint = run(capsys, "run", *PLAIN, "--out", "out", "--chunk", "97")
    assert (code, complaint) == (0, "")
    assert "Report: out/report.html" in said
    files = {"model.thalweg", "metrics.json", "predictions.csv", "options.toml", "report.html"}
    assert {path.name for path in Path("out").iterdir()} == files
    features = np.column_stack([X, np.zeros(ROWS)])
    model = AutoClassifier()
    expected = model.predict_then_learn(features, np.array(y), with_proba=True)
    told = predictions()
    assert [line["row"] for line in told] == [str(i) for i in range(1, ROWS + 1)]
    assert [line["label"] for line in told] == y
    assert [line["answer"] for line in told] == expected.labels.tolist()
    assert told[0]["probability"] == ""
    given = [float(line["probability"]) for line in told[1:]]
    np.testing.assert_allclose(given, expected.proba.max(axis=1)[1:], atol=1e-6)
    found = metrics()
    assert found["scores"]["model"]["error"] == pytest.approx((expected.labels != np.array(y)).mean(), abs=1e-15)
    assert found["scores"]["no_change"]["error"] == pytest.approx(np.mean(np.array(["", *y[:-1]]) != y))
    np.testing.assert_array_equal(load("out/model.thalweg").predict(features), model.predict(features))


def test_the_options_written_down_repeat_the_run(table, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--out", "out", "--model", "oldc", "--rate", "0.05", "--delay", "3", "--limit", "1200", "--json")
    code, said, _ = run(capsys, "run", *PLAIN, *arguments)
    assert code == 0
    told = json.loads(said)
    timing = told.pop("timing")  # of the clock, so not in the file
    assert 0 <= timing["checkpoint_seconds"] <= timing["seconds"]
    assert told == metrics()
    first = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    Path("again.toml").write_bytes(first["options.toml"])
    code, _, _ = run(capsys, "run", "--config", "again.toml", "--quiet")
    assert code == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == first
    rows = metrics()["rows"]
    assert (rows["answered"], rows["learned"], rows["pending"]) == (1200, 1197, 3)
    Path("again.toml").write_text("colour = 1\n")
    code, _, complaint = run(capsys, "run", "--config", "again.toml")
    assert code == 2
    assert complaint.startswith("thalweg: again.toml: there is no option 'colour'; there are ")


def test_labels_with_times_are_those_of_a_delay(table, capsys: pytest.CaptureFixture[str]) -> None:
    """A label that comes five hours later comes before the fifth row after its own."""
    common = ("table.csv", "--target", "state", "--model", "oldc", "--quiet")
    run(capsys, "run", *common, "--time", "when", "--label-time", "told", "--out", "timed")
    run(capsys, "run", *common, "--drop", "told", "--delay", "4", "--out", "delayed")
    assert predictions("timed") == predictions("delayed")
    assert metrics("timed")["rows"]["pending"] == 5
    code, _, complaint = run(capsys, "run", *common, "--label-time", "told", "--out", "none")
    told = "thalweg: --time must name the column of row times to go with --label-time, got None\n"
    assert (code, complaint) == (2, told)


FORMS: dict[str, Callable[[np.datetime64], object]] = {
    "seconds since 1970": lambda when: when.astype("datetime64[s]").astype(int),
    "a counter": lambda when: (when - np.datetime64("2024-01-01T00")).astype(int),
    "days and months": lambda when: f"{when.astype(datetime):%d.%m.%Y %H:%M}",
}


@pytest.mark.parametrize("form", FORMS)
def test_times_may_be_written_in_other_forms(form: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = [line.split(",") for line in Path("table.csv").read_text().splitlines()]
    common = (
        "--target",
        "state",
        "--model",
        "oldc",
        "--quiet",
        "--chunk",
        "100",
        "--time",
        "when",
        "--label-time",
        "told",
    )
    for name in ("iso.csv", "other.csv"):
        rows = [[a, b, str(when), str(told), label] for a, b, when, told, label in lines]
        if name == "other.csv":
            rows = [[*row[:2], *(str(FORMS[form](np.datetime64(cell))) for cell in row[2:4]), row[4]] for row in rows]
        Path(name).write_text("\n".join(",".join(row) for row in [head, *rows]) + "\n")
        assert run(capsys, "run", name, *common, "--drop", "when", "--out", name[:-4])[0] == 0
    assert predictions("iso") == predictions("other")
    assert metrics("other")["rows"]["pending"] == 5


def test_rows_that_go_back_in_time_are_told(table, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("--target", "state", "--model", "oldc", "--quiet", "--time", "when")
    assert run(capsys, "run", "table.csv", *common)[2] == ""
    head, *lines = Path("table.csv").read_text().splitlines()
    lines[1100:1100] = [lines[3]]
    Path("back.csv").write_text("\n".join([head, lines[1], *lines]) + "\n")
    told = "thalweg: column 'when' goes back 2 times: are the rows in time order?\n"
    assert run(capsys, "run", "back.csv", *common, "--out", "one")[2] == told
    assert run(capsys, "run", "back.csv", *common, "--out", "two", "--label-time", "told", "--chunk", "1")[2] == told
    Path("mixed.csv").write_text("a,when,told,state\n1,2024-01-01,7,x\n2,2024-01-02,8,y\n")
    code, _, complaint = run(capsys, "run", "mixed.csv", *common, "--label-time", "told", "--out", "three")
    told = "columns 'when' and 'told' cannot be compared: one holds whole numbers, the other times"
    assert (code, complaint) == (2, f"thalweg: {told}\n")


def test_decimal_commas_are_found_out_or_told(table, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = Path("table.csv").read_text().splitlines()
    text = "\n".join([head, *lines]).replace(",", ";").replace(".", ",")
    Path("european.csv").write_text(text + "\n")
    assert run(capsys, "run", *PLAIN, "--out", "point", "--quiet")[0] == 0
    for name, options in (("found", ()), ("told", ("--decimal", ","))):
        assert run(capsys, "run", "european.csv", *PLAIN[1:], "--out", name, "--quiet", *options)[0] == 0
        assert predictions(name) == predictions("point")
    code, said, _ = run(capsys, "predict", "found/model.thalweg", "european.csv")
    assert code == 0
    assert said == run(capsys, "predict", "point/model.thalweg", "table.csv")[1]


def test_the_files_of_a_folder_are_told(table, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = Path("table.csv").read_text().splitlines()
    Path("days/more").mkdir(parents=True)
    Path("days/.hidden").write_text("")
    for name in ("1.csv", "10.csv", "2.csv"):
        Path(f"days/{name}").write_text("\n".join([head, *lines[:20]]) + "\n")
    code, _, told = run(capsys, "run", "days", *PLAIN[1:], "--model", "oldc")
    words = "days: 3 files in the order of their names, from 1.csv to 2.csv; 2 others left out, hidden or a folder\n"
    assert (code, told) == (0, words)


@pytest.mark.parametrize("place", ["table.csv/out", "taken"])
def test_a_folder_that_cannot_be_written_to_is_told(place: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("a file")
    code, _, complaint = run(capsys, "run", *PLAIN, "--out", place)
    assert (code, complaint.count("\n")) == (2, 1)
    assert complaint.startswith(f"thalweg: {place}: nothing can be written there: ")


OPTIONS = {
    "--decimal must be a point or a comma, got ';'": (*PLAIN, "--decimal", ";"),
    "SOURCE is missing: name the file to learn, a folder of files, or - for a pipe": (),
    "--target COL is missing: name the column of labels": ("table.csv",),
    "--drop state is the target: without labels there is nothing to learn": (*PLAIN, "--drop", "state"),
    "--rate must be left out: auto has no rate, got 0.1": (*PLAIN, "--rate", "0.1"),
    "--rate must be left out with --adaptive, got 0.1": (*PLAIN, "--model", "oldc", "--rate", "0.1", "--adaptive"),
    "--window must be left out unless the model is trend, got '7'": (*PLAIN, "--window", "7"),
    "--window must be \"auto\" or a whole number, got 'x'": (*PLAIN, "--model", "trend", "--window", "x"),
    "--bad-rows must be one of error, skip, got 'drop'": (*PLAIN, "--bad-rows", "drop"),
}


@pytest.mark.parametrize("message", OPTIONS)
def test_options_are_named_as_they_are_typed(message: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *OPTIONS[message]) == (2, "", f"thalweg: {message}\n")
    assert not Path("thalweg-run").exists()


@pytest.mark.parametrize("delimiter", ["\\t", "tab", "\t"])
def test_a_tab_may_be_written_in_three_ways(delimiter: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.csv").write_text(Path("table.csv").read_text().replace(",", "\t"))
    assert run(capsys, "run", *PLAIN, "--delimiter", delimiter, "--quiet")[0] == 0


@pytest.mark.parametrize("name", MODELS)
def test_every_model_runs_predicts_and_is_inspected(name: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, complaint = run(capsys, "run", *PLAIN, "--model", name, "--out", "out", "--quiet", "--limit", "1100")
    assert (code, complaint) == (0, "")
    code, said, _ = run(capsys, "predict", "out/model.thalweg", "table.csv")
    assert code == 0
    lines = list(csv.DictReader(said.splitlines()))
    X, _ = table
    expected = load("out/model.thalweg").predict(np.column_stack([X, np.zeros(ROWS)]))
    assert [line["answer"] for line in lines] == expected.tolist()
    assert [line["row"] for line in lines] == [str(i) for i in range(1, ROWS + 1)]
    code, said, _ = run(capsys, "inspect", "out/model.thalweg")
    assert code == 0
    assert "2 classes: dry, wet" in said
    assert "Answered 1,100 rows" in said
    _, said, _ = run(capsys, "models")
    assert name in said


def test_a_run_that_was_cut_off_is_not_overwritten(table, capsys: pytest.CaptureFixture[str]) -> None:
    """An error half-way leaves the checkpoint, with which only the same options go on."""
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([*lines[:1300], "warm,1,2024-01-01,2024-01-01,wet", *lines[1300:]]))
    arguments = ("run", *PLAIN, "--out", "out", "--chunk", "50", "--checkpoint-seconds", "0", "--quiet")
    code, _, complaint = run(capsys, *arguments)
    assert (code, complaint) == (2, "thalweg: table.csv, row 1,300, column 'a': 'warm' is not a number\n")
    assert {path.name for path in Path("out").iterdir()} == {"checkpoint", "predictions.csv", "options.toml"}
    code, _, complaint = run(capsys, *arguments)
    assert code == 2
    assert "out holds a run that was cut off: go on with --resume, begin anew with --fresh" in complaint
    code, _, complaint = run(capsys, *arguments, "--resume", "--model", "oldc")
    assert code == 2
    assert "was begun with model = 'auto' and not 'oldc'" in complaint
    Path("table.csv").write_text("\n".join(lines) + "\n")
    code, said, _ = run(capsys, *arguments, "--resume")
    assert code == 0
    assert "Went on from the last checkpoint." in said
    resumed = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    run(capsys, *arguments)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == resumed
    Path("out/checkpoint").write_bytes(b"no checkpoint")
    code, _, complaint = run(capsys, *arguments, "--resume")
    assert (code, "out/checkpoint is not a checkpoint of a run: begin anew with --fresh" in complaint) == (2, True)
    assert run(capsys, *arguments, "--fresh")[0] == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == resumed


def cut_off(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """Leave a run in ``out`` that an error ended in row 1,300, with a checkpoint; the lines of the whole table."""
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([*lines[:1300], "warm", *lines[1300:]]) + "\n")
    arguments = (*PLAIN, "--out", "out", "--chunk", "50", "--checkpoint-seconds", "0", "--quiet", *options)
    assert run(capsys, "run", *arguments)[0] == 2
    assert Path("out/checkpoint").exists()
    return lines


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "rows in another order": lambda lines: [lines[0], *reversed(lines[1:])],
    "one cell": lambda lines: [*lines[:7], lines[7].replace(",wet", ",dry").replace(".", ",", 1), *lines[8:]],
    "one digit": lambda lines: [*lines[:700], "9" + lines[700], *lines[701:]],
    "a row gone": lambda lines: [*lines[:500], *lines[501:]],
    "two cells that are the same together": lambda lines: [*lines[:5], lines[5].replace(",", "", 1), *lines[6:]],
    "no header": lambda lines: lines[1:],
    "another header": lambda lines: [lines[0].replace("b", "c"), *lines[1:]],
    "far fewer rows": lambda lines: lines[:300],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_run_does_not_go_on_with_other_rows(change: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = CHANGES[change](cut_off(capsys, "--bad-rows", "error"))
    Path("table.csv").write_text("\n".join(lines) + "\n")
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    code, _, complaint = run(capsys, "run", "--resume", "--out", "out", "--quiet")
    assert (code, complaint.count("\n"), "internal" in complaint) == (2, 1, False)
    if "cells" not in complaint:  # a ragged row is told as such
        assert complaint.startswith("thalweg: table.csv is not what this run was begun with: it")
        assert complaint.endswith("bring back the 1,250 rows that were learned, or begin anew with --fresh\n")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


def test_a_run_goes_on_wherever_it_was_moved(
    table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All options are in the folder; the source may be elsewhere too, as long as its rows are the same."""
    lines = cut_off(capsys, "--model", "oldc")
    Path("elsewhere").mkdir()
    Path("elsewhere/rows.csv").write_text("\n".join(lines) + "\n")
    Path("table.csv").write_text("\n".join(lines) + "\n")
    Path("out").rename("elsewhere/moved")
    assert run(capsys, "run", *PLAIN, "--out", "whole", "--chunk", "50", "--model", "oldc")[0] == 0
    monkeypatch.chdir("elsewhere")
    code, said, _ = run(capsys, "run", "rows.csv", "--resume", "--out", "moved", "--quiet")
    assert code == 0
    assert "Went on from the last checkpoint." in said
    for name in ("predictions.csv", "model.thalweg"):
        assert (Path("moved") / name).read_bytes() == (Path("../whole") / name).read_bytes()
    code, said, _ = run(capsys, "run", "--resume", "--out", "moved")
    assert (code, said) == (0, "The run in moved is finished: there is nothing to go on with.\n")
    code, said, _ = run(capsys, "run", "--resume", "--out", "moved", "--json")
    assert (code, json.loads(said)) == (0, metrics("moved"))


def test_a_finished_run_is_not_lost_to_another(table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *PLAIN, "--model", "oldc", "--quiet")[0] == 0
    first = {path.name: path.read_bytes() for path in Path("thalweg-run").iterdir()}
    again = (str(Path("table.csv").resolve()), *PLAIN[1:], "--model", "oldc", "--quiet")
    assert run(capsys, "run", *PLAIN, "--model", "oldc", "--quiet")[0] == 0
    assert {path.name: path.read_bytes() for path in Path("thalweg-run").iterdir()} == first
    assert run(capsys, "run", *again)[0] == 0  # the same file by another name
    code, _, complaint = run(capsys, "run", *PLAIN, "--quiet")
    assert (code, complaint) == (
        2,
        "thalweg: thalweg-run holds a finished run, begun with model = 'oldc' and not 'auto': "
        "begin anew with --fresh, or choose another folder with --out\n",
    )
    assert run(capsys, "run", *PLAIN, "--quiet", "--resume", "--model", "pa")[0] == 2
    assert run(capsys, "run", *PLAIN, "--quiet", "--resume", "--fresh")[0] == 2
    assert metrics("thalweg-run")["model"]["name"] == "oldc"
    assert run(capsys, "run", *PLAIN, "--quiet", "--fresh")[0] == 0
    assert metrics("thalweg-run")["model"]["name"] == "auto"


def test_lost_answers_are_noticed(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = cut_off(capsys)
    Path("table.csv").write_text("\n".join(lines) + "\n")
    told = "thalweg: out/predictions.csv has lost answers that the checkpoint counts on: begin anew with --fresh\n"
    Path("out/predictions.csv").write_text("")
    assert run(capsys, "run", "--resume", "--out", "out") == (2, "", told)
    Path("out/predictions.csv").unlink()
    assert run(capsys, "run", "--resume", "--out", "out") == (2, "", told)
    assert run(capsys, "run", *PLAIN, "--out", "out", "--fresh", "--quiet")[0] == 0


@pytest.mark.parametrize("name", MODELS)
def test_a_run_without_any_label_ends_well(name: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.csv").write_text("a,b,when,told,state\n" + "".join(f"{i % 7},{i},,,\n" for i in range(40)))
    code, said, complaint = run(capsys, "run", *PLAIN, "--model", name, "--out", "out", "--quiet")
    assert (code, complaint) == (0, "")
    assert said.startswith("No row had a label")
    assert metrics()["rows"]["unlabelled"] == 40
    assert [line["answer"] for line in predictions()] == [""] * 40


def test_figures_and_a_model_elsewhere(
    table, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    arguments = (*PLAIN, "--model", "trend", "--out", "out", "--quiet", "--figures", "--model-out")
    assert run(capsys, "run", *arguments, "kept/model.of-may")[0] == 0
    assert not Path("out/model.thalweg").exists()
    assert load("kept/model.of-may").classes_.tolist() == ["dry", "wet"]
    drawn = {path.name: path.read_bytes() for path in Path("out/figures").iterdir()}
    stems = {"error", "means", "confusion", "calibration"}
    assert set(drawn) == {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")}
    for name, content in drawn.items():
        assert content.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, complaint = run(capsys, "run", *PLAIN, "--out", "none", "--figures")
    assert (code, complaint.count("\n"), Path("none").exists()) == (2, 1, False)
    assert "thalweg[plot]" in complaint


def test_a_model_saved_by_the_library_is_inspected(table, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a table's columns beside it, which only `predict` needs."""
    X, y = table
    save(OnlineLDC(0.05), "unlearned.thalweg")
    code, said, complaint = run(capsys, "inspect", "unlearned.thalweg")
    assert (code, complaint) == (0, "")
    assert "It has learned nothing yet." in said
    save(OnlineLDC(0.05).fit(X, y), "model.thalweg")
    code, said, complaint = run(capsys, "inspect", "model.thalweg")
    assert (code, complaint) == (0, "")
    assert said.startswith("OnlineLDC, ")
    for line in ("2 features", "2 classes: dry, wet", "rate 0.05"):
        assert f"\n{line}\n" in said
    assert "Columns" not in said
    code, _, complaint = run(capsys, "predict", "model.thalweg", "table.csv")
    assert (code, "model.thalweg was not written by `thalweg run`" in complaint) == (2, True)


def test_skipped_rows_keep_their_numbers(table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *PLAIN, "--out", "out", "--quiet")[0] == 0
    lines = Path("table.csv").read_text().splitlines()[:8]
    lines[3], lines[6] = "1", "x" + lines[6]  # rows 3 and 6: one cell, and a word for a number
    Path("new.csv").write_text("\n".join(lines) + "\n")
    code, said, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv", "--bad-rows", "skip")
    assert code == 0
    assert [line["row"] for line in csv.DictReader(said.splitlines())] == ["1", "2", "4", "5", "7"]
    assert complaint.splitlines() == [
        "new.csv, row 3: it has 1 cell, the header 5",
        f"new.csv, row 6, column 'a': {'x' + lines[6][1:].split(',')[0]!r} is not a number",
        "2 rows were skipped",
    ]
    Path("new.csv").write_text("\n".join(lines[:4]) + "\n")
    _, _, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv", "--bad-rows", "skip")
    assert complaint.splitlines()[-1] == "1 row was skipped"


def test_a_table_is_answered_in_its_own_encoding_and_by_the_rule_of_a_run(
    table, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("table.csv").read_text()
    Path("table.csv").write_text(text.replace(",dry", ',"a ""dry"", dusty one"'))
    assert run(capsys, "run", *PLAIN, "--out", "out", "--model", "majority", "--quiet")[0] == 0
    lines = [line.rsplit(",", 1)[0] for line in text.splitlines()[:8]]
    other = "\n".join([f"{line};größe" for line in lines]).replace(",", ";").encode("latin-1")
    Path("new.csv").write_bytes(other)
    code, said, complaint = run(capsys, "predict", "out/model.thalweg", "new.csv")
    assert (code, said, complaint.count("\n")) == (2, "", 1)  # not even a header
    arguments = ("predict", "out/model.thalweg", "new.csv", "--encoding", "latin-1", "--delimiter", ";")
    code, said, complaint = run(capsys, *arguments)
    assert (code, complaint) == (0, "")
    answers = {line.split(",", 2)[2].rsplit(",", 1)[0] for line in Path("out/predictions.csv").read_text().splitlines()}
    assert {line.split(",", 1)[1].rsplit(",", 1)[0] for line in said.splitlines()[1:]} <= answers
    assert run(capsys, *arguments, "-o", "answers.csv") == (0, "", "")
    assert Path("answers.csv").read_text() == said
    Path("old.csv").write_text("mine")
    assert run(capsys, "predict", "out/model.thalweg", "new.csv", "-o", "old.csv")[0] == 2
    assert Path("old.csv").read_text() == "mine"


def test_a_model_without_labels_has_no_answers(table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.csv").write_text("a,b,when,told,state\n" + "".join(f"{i % 7},{i},,,\n" for i in range(40)))
    for name in ("auto", "oldc", "perceptron", "majority"):
        assert run(capsys, "run", "none.csv", *PLAIN[1:], "--model", name, "--out", name, "--quiet")[0] == 0
        told = f"thalweg: {name}/model.thalweg has no answers: it never learned a label\n"
        assert run(capsys, "predict", f"{name}/model.thalweg", "none.csv") == (2, "", told)


def page_text(folder: str = "out") -> str:
    page = (Path(folder) / "report.html").read_text()
    return " ".join(re.sub(r"<[^>]*>", " ", page.split("<main>")[1].split("</main>")[0]).split())


def test_a_short_run_says_what_it_is(table, capsys: pytest.CaptureFixture[str]) -> None:
    """No last thousand rows where there are fewer, no plural of one, and a row that nobody could answer."""
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "out", "--limit", "300", "--quiet")
    assert "all 300 rows" in said
    assert "1,000" not in said + page_text()
    assert metrics()["confusion"]["unanswered"] == 1
    assert sum(map(sum, metrics()["confusion"]["counts"])) == 299
    assert "1 row came before any label, and had no answer" in page_text()
    assert "2 columns give 3 features" in page_text()
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "one", "--limit", "1", "--quiet")
    assert "1 row answered, 1 learned" in said
    assert not re.search(r"\b1 (rows|columns|features)\b", said + page_text("one"))
    _, said, _ = run(capsys, "run", *PLAIN, "--out", "long", "--quiet")
    assert "last 1,000 rows" in said
    assert "last 1,000 rows" in page_text("long")


def test_skipped_rows_are_told_first(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("table.csv").read_text().splitlines()
    Path("half.csv").write_text("\n".join([lines[0], *(line for each in lines[1:151] for line in (each, "1,2"))]))
    arguments = ("half.csv", *PLAIN[1:], "--bad-rows", "skip", "--quiet", "--out", "out")
    code, said, _ = run(capsys, "run", *arguments)
    assert code == 0
    assert said.splitlines()[0].endswith(" 150 of 300 rows were skipped.")
    assert "150 of 300 rows were skipped." in page_text()
    assert "\n  half.csv, row 2: it has 2 cells, the header 5\n" in said
    assert "\n  and 145 more; the report lists the first of them\n" in said


def test_categories_are_counted_as_they_are(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path("table.csv").read_text().splitlines()
    winds = ["wind", *(["north", "south", "east"][at % 3] for at in range(ROWS))]
    Path("winds.csv").write_text("\n".join(f"{wind},{line}" for wind, line in zip(winds, lines, strict=True)))
    _, said, _ = run(capsys, "run", "winds.csv", *PLAIN[1:], "--quiet", "--out", "out")
    assert "each of its 3 categories" in " ".join(said.split())
    assert "one feature for each of its 3 categories, 4 for further ones that may come" in page_text()


def test_many_columns_fill_neither_the_terminal_nor_the_page(table, capsys: pytest.CaptureFixture[str]) -> None:
    header = ",".join([*(f"c{at}" for at in range(300)), "state"])
    rows = [",".join([*(str((at + place) % 7) for place in range(300)), "ab"[at % 2]]) for at in range(40)]
    Path("wide.csv").write_text("\n".join([header, *rows]))
    code, said, complaint = run(capsys, "run", "wide.csv", "--target", "state", "--out", "out", "--quiet")
    assert code == 0
    assert re.fullmatch(r"thalweg: AutoClassifier: with 301 features the bank .*\n", complaint)
    assert "\nc39 " in said
    assert "\nc40 " not in said
    assert "and 261 columns more: the report lists them all" in said
    assert re.search(
        r"<details><summary>All 301 columns</summary><div class=\"scroll\"", Path("out/report.html").read_text()
    )
