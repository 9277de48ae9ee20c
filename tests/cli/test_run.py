"""`thalweg run` from end to end, against the library's own calls on the same rows."""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.calls import PLAIN, ROWS, metrics, predictions, run
from thalweg import AutoClassifier, OnlineLDC, PredictionSets, load, save

pytest.importorskip("pyarrow")

from thalweg.catalogue import MODELS
from thalweg.papers.auto.decisions import follow_late


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
    assert [line["prediction"] for line in told] == expected.labels.tolist()
    assert told[0]["probability"] == ""
    given, likely = [float(line["probability"]) for line in told[1:]], expected.proba.max(axis=1)
    alone = np.arange(1, next(i for i in range(ROWS) if y[i] != y[0]) + 1)  # while one label is known
    likely[alone] = (alone + 1) / (alone + 2)
    np.testing.assert_allclose(given, likely[1:], atol=1e-6)
    found = metrics()
    assert found["scores"]["model"]["error"] == pytest.approx((expected.labels != np.array(y))[1:].mean(), abs=1e-15)
    assert found["scores"]["no_change"]["error"] == pytest.approx(np.mean(np.array(y[:-1]) != y[1:]))
    np.testing.assert_array_equal(load("out/model.thalweg").learner_.predict(features), model.predict(features))


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
    assert (rows["predicted"], rows["unpredicted"], rows["learned"], rows["pending"]) == (1196, 4, 1197, 3)
    Path("again.toml").write_text("colour = 1\n")
    code, _, complaint = run(capsys, "run", "--config", "again.toml")
    assert code == 2
    assert complaint.startswith("thalweg: again.toml: there is no option 'colour'; there are ")


def test_a_file_and_a_path_as_on_windows(table, capsys: pytest.CaptureFixture[str]) -> None:
    """Backslashes, lines that end by CR LF, and Windows' encoding: the same results as from the plain table."""
    name = r"C:\Données\new.csv"
    plain = "saison,niveau\n" + "été,1.5\nhiver,2.5\n" * 50
    Path("plain.csv").write_text(plain, "utf-8")
    Path(name).write_bytes(plain.replace("\n", "\r\n").encode("cp1252"))
    common = ("--target", "saison", "--model", "oldc", "--quiet")
    assert run(capsys, "run", "plain.csv", *common)[0] == 0
    assert run(capsys, "run", name, *common, "--out", r"out\windows")[0] == 0
    told = Path(r"out\windows") / "options.toml"
    assert tomllib.loads(told.read_text("utf-8"))["source"] == name
    assert Path(told.parent / "predictions.csv").read_bytes() == Path("thalweg-run/predictions.csv").read_bytes()
    before = metrics(str(told.parent))
    assert run(capsys, "run", "--config", str(told), "--fresh", "--quiet")[0] == 0
    assert metrics(str(told.parent)) == before
    code, _, complaint = run(capsys, "run", name, "--target", "prix", "--out", "other")
    assert code == 2
    assert complaint.splitlines()[-1].startswith(f"thalweg: {name} has no column 'prix'")


def test_labels_with_times_are_those_of_a_delay(table, capsys: pytest.CaptureFixture[str]) -> None:
    """A label that comes five hours later comes before the fifth row after its own."""
    common = ("table.csv", "--target", "state", "--model", "oldc", "--quiet")
    run(capsys, "run", *common, "--time", "when", "--label-time", "told", "--out", "timed")
    run(capsys, "run", *common, "--drop", "told", "--delay", "4", "--out", "delayed")
    assert predictions("timed") == predictions("delayed")
    assert metrics("timed")["rows"]["pending"] == 5
    code, _, complaint = run(capsys, "run", *common, "--label-time", "told", "--out", "none")
    told = "thalweg: --time must name the column of row times, which --label-time needs, got None\n"
    assert (code, complaint) == (2, told)


FORMS: dict[str, Callable[[np.datetime64], object]] = {
    "seconds since 1970": lambda when: when.astype("datetime64[s]").astype(int),
    "a counter": lambda when: (when - np.datetime64("2024-01-01T00")).astype(int),
    "day.month.year": lambda when: f"{when.astype(datetime):%d.%m.%Y %H:%M}",
    "month/day/year": lambda when: f"{when.astype(datetime):%m/%d/%y %I:%M %p}",
    "day month year": lambda when: f'"{when.astype(datetime):%A, %d %B %Y %H:%M}"',
}


@pytest.mark.parametrize("form", FORMS)
def test_times_may_be_written_in_other_forms(form: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    """As ISO 8601 they give the same predictions, and shuffled rows those of the rows in order."""
    head, *lines = Path("table.csv").read_text().splitlines()[:401]
    rows = [line.split(",") for line in lines]
    written = [
        ",".join([a, b, str(FORMS[form](np.datetime64(when))), str(FORMS[form](np.datetime64(told))), label])
        for a, b, when, told, label in rows
    ]
    shuffled = [written[at] for at in np.random.default_rng(1).permutation(len(written))]
    for name, those in (("iso", lines), ("other", written), ("shuffled", shuffled)):
        Path(f"{name}.csv").write_text("\n".join([head, *those]) + "\n")
    common = ("--target", "state", "--model", "oldc", "--chunk", "100", "--time", "when", "--label-time", "told")
    for name, sort in (("iso", ()), ("other", ()), ("shuffled", ("--sort",))):
        code, _, said = run(capsys, "run", f"{name}.csv", *common, *sort, "--drop", "when", "--out", name)
        assert code == 0
        assert ("column 'when' is read as month/day/year: " in said) == (form == "month/day/year" and name != "iso")
        assert predictions(name) == predictions("iso")
    assert metrics("other")["rows"]["pending"] == 5


def test_a_column_that_holds_no_times_is_refused(table, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("table.csv").read_text()
    common = ("run", "words.csv", "--target", "state", "--model", "oldc", "--quiet", "--time", "when")
    Path("words.csv").write_text(text.replace("2024-", "day of "))
    told = "thalweg: column 'when' must hold times or numbers, but holds 'day of 01-01T00': times are read that are "
    for sort in ((), ("--sort",), ("--drop", "when")):
        code, _, complaint = run(capsys, *common, *sort)
        assert (code, complaint.startswith(told)) == (2, True)
        assert not Path("thalweg-run").exists()
    for name in ("time", "label-time"):
        code, _, complaint = run(
            capsys, "run", "table.csv", "--target", "state", "--time", "when", f"--{name}", "state"
        )
        assert (code, complaint) == (
            2,
            f"thalweg: --{name} must be a column of times beside the target, got 'state'\n",
        )
    Path("words.csv").write_text(text.replace("2024-01-02T03,2024", "soon,2024"))
    told = "words.csv, row 28, column 'when': 'soon' is not a time such as 2008-05-17 or 2008-05-17T12:30:00"
    for sort in ((), ("--sort",)):
        code, _, complaint = run(capsys, *common, "--drop", "when", *sort, "--fresh")
        assert (code, complaint.startswith(f"thalweg: {told}")) == (2, True)
        assert run(capsys, *common, "--drop", "when", *sort, "--bad-rows", "skip", "--fresh")[0] == 0
        assert metrics("thalweg-run")["rows"]["bad"] == [told]


def test_rows_that_go_back_in_time_are_told(table, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("--target", "state", "--model", "oldc", "--quiet", "--time", "when")
    assert run(capsys, "run", "table.csv", *common)[2] == ""
    head, *lines = Path("table.csv").read_text().splitlines()
    lines[1100:1100] = [lines[3]]
    Path("back.csv").write_text("\n".join([head, lines[1], *lines]) + "\n")
    told = "thalweg: column 'when' goes back 2 times: if the rows are not in time order, --sort sorts them\n"
    assert run(capsys, "run", "back.csv", *common, "--out", "one")[2] == told
    assert run(capsys, "run", "back.csv", *common, "--out", "two", "--label-time", "told", "--chunk", "11")[2] == told
    Path("mixed.csv").write_text("a,when,told,state\n1,2024-01-01,7,x\n2,2024-01-02,8,y\n")
    code, _, complaint = run(capsys, "run", "mixed.csv", *common, "--label-time", "told", "--out", "three")
    told = "columns 'when' and 'told' cannot be compared: one holds times, the other numbers"
    assert (code, complaint) == (2, f"thalweg: {told}\n")


@pytest.mark.parametrize(
    "written",
    [
        lambda at: f"{at // 3600}:{at // 60 % 60:02}:{at % 60:02}",
        lambda at: f"PT{at // 60}M{at % 60}S",
        lambda at: f"{at // 86400} days {at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}",
    ],
    ids=["hours", "ISO 8601", "pandas"],
)
def test_durations_order_rows_and_say_when_labels_come(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As whole numbers of seconds do: shuffled rows over two days, whose labels come twenty minutes later."""
    monkeypatch.chdir(tmp_path)
    seconds, order = range(1, 400 * 431, 431), np.random.default_rng(2).permutation(400)
    states = [str((at % 7 > 2) != (at % 5 == 0)) for at in range(400)]
    for name, form in (("numbers", str), ("durations", written)):
        lines = [f"{form(seconds[at])},{form(seconds[at] + 1200)},{at % 7},{states[at]}" for at in order]
        Path(f"{name}.csv").write_text("\n".join(["since,known,level,state", *lines]) + "\n")
        asked = ("--time", "since", "--label-time", "known", "--sort", "--drop", "since", "--model", "oldc", "--quiet")
        assert run(capsys, "run", f"{name}.csv", "--target", "state", *asked, "--out", name)[::2] == (0, "")
    as_numbers, found = metrics("numbers"), metrics("durations")
    assert found["times"] == as_numbers["times"]
    assert (found["times"]["kind"], found["times"]["times"][-1]) == ("counter", seconds[-1])
    assert found["scores"] == as_numbers["scores"]
    assert [line["label"] for line in predictions("durations")] == states
    Path("soon.csv").write_text(Path("durations.csv").read_text() + "soon,soon,1,True\n")
    code, _, complaint = run(capsys, "run", "soon.csv", "--target", "state", *asked, "--out", "soon")
    assert (code, "'soon' is not a duration such as 1 days 02:03:04 or PT5M" in complaint) == (2, True)


def test_a_column_of_times_may_have_no_name(table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.csv").write_text(Path("table.csv").read_text().replace(",when,", ",,", 1))
    assert run(capsys, "run", "table.csv", "--target", "state", "--time", "", "--model", "oldc", "--quiet")[0] == 0


def test_the_newest_row_first_is_told_and_sorted(table, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("--target", "state", "--model", "oldc", "--quiet")
    head, *lines = Path("table.csv").read_text().splitlines()
    Path("newest.csv").write_text("\n".join([head, *lines[::-1]]) + "\n")
    assert run(capsys, "run", "table.csv", *common, "--out", "ordered")[2] == ""
    told = "column 'when' goes back 1,399 times: if the rows are not in time order, --time when --sort sorts them"
    assert run(capsys, "run", "newest.csv", *common, "--out", "back")[2] == f"thalweg: {told}\n"
    assert metrics("back")["warnings"] == [told]
    assert told.replace("'", "&#39;") in Path("back/report.html").read_text()
    assert run(capsys, "run", "newest.csv", *common, "--time", "when", "--sort", "--out", "sorted")[2] == ""
    assert predictions("sorted") == predictions("ordered")
    lines[7] = "warm" + lines[7]
    Path("newest.csv").write_text("\n".join([head, *lines[::-1]]) + "\n")
    complaint = run(capsys, "run", "newest.csv", *common, "--time", "when", "--sort", "--out", "bad")[2]
    assert "newest.csv, row 1,393, column 'a': 'warm" in complaint


@pytest.mark.slow
def test_keys_that_come_late_are_told_or_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    truth = np.random.default_rng(2).integers(0, 2, 4000).tolist()
    rows = [{"when": at, "noise": at % 7, "y": t} | ({"signal": t} if at >= 2100 else {}) for at, t in enumerate(truth)]
    Path("rows").mkdir()
    for name, part in (("rows/1", rows[:1500]), ("rows/2", rows[1500:]), ("whole", rows)):
        Path(f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in part))
    common = ("--target", "y", "--quiet", "--model", "oldc")
    what = "the key 'signal' is in none of the first 1,000 rows and is ignored"
    told = f"whole.ndjson, row 2,101: {what}: --head 3101 makes it a column"
    for name, options in (("plain", ()), ("sorted", ("--time", "when", "--sort")), ("cut", ("--chunk", "7"))):
        code, _, said = run(capsys, "run", "whole.ndjson", *common, *options, "--out", name)
        assert (code, said) == (0, f"thalweg: {told}\n")
        assert metrics(name)["warnings"] == [told]
    assert metrics("plain")["scores"]["model"]["error"] > 0.4
    assert "warnings" not in metrics_after(capsys, "run", "whole.ndjson", *common, "--limit", "2000")
    found = metrics_after(capsys, "run", "whole.ndjson", *common, "--head", "3101")
    assert "warnings" not in found
    assert found["scores"]["model"]["recent_error"] < 0.05
    told = f"rows/2.ndjson, row 601: {what}: write it, with null for a value, into the first file"
    assert metrics_after(capsys, "run", "rows", *common)["warnings"] == [told]


def test_columns_that_begin_late_are_told_or_learned(table, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = Path("table.csv").read_text().splitlines()
    cells = ["NA" if at < 1100 or at % 4 else "7" for at in range(len(lines))]
    Path("late.csv").write_text("\n".join([f"{head},late", *map(",".join, zip(lines, cells, strict=True))]) + "\n")
    common = ("run", "late.csv", "--target", "state", "--model", "oldc", "--quiet", "--fresh")
    first = "late.csv, row 1,101, column 'late': its first value: it has none in the first 1,000 rows, and is left out"
    told = [
        "column 'late', which is left out, has a value in 25 % of the rows from its first one on",
        f"{first}; --head 2100 takes it in",
    ]
    for chunk in ("30", "5000"):
        code, _, said = run(capsys, *common, "--chunk", chunk)
        assert (code, said) == (0, f"thalweg: {told[1]}\nthalweg: {told[0]}\n")
        assert metrics("thalweg-run")["warnings"] == told
    assert "warnings" not in metrics_after(capsys, *common, "--head", "2100")
    assert "warnings" not in metrics_after(capsys, *common, "--limit", "1100")


def metrics_after(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(capsys, *arguments, "--out", "after", "--fresh")[0] == 0
    return metrics("after")


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
    words = "days: 3 files in the order of their names, from 1.csv to 10.csv; 2 others left out, hidden or a folder\n"
    assert (code, told) == (0, words)


@pytest.mark.parametrize("place", ["table.csv/out", "taken"])
def test_a_folder_that_cannot_be_written_to_is_told(place: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").write_text("a file")
    code, _, complaint = run(capsys, "run", *PLAIN, "--out", place)
    assert (code, complaint.count("\n")) == (2, 1)
    assert complaint.startswith(f"thalweg: {place}: nothing can be written there: ")


OPTIONS = {
    "--decimal must be a point or a comma, got ';'": (*PLAIN, "--decimal", ";"),
    "SOURCE is missing: name the file to learn from, a folder of files, or - for standard input": (),
    "thalweg-run holds no run to resume: name its folder with --out": ("--resume",),
    "--target COL is missing: name the column of labels": ("table.csv",),
    "--drop state names the target column: drop another column, or change --target": (*PLAIN, "--drop", "state"),
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


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", MODELS["classification"])
def test_every_model_runs_predicts_and_is_inspected(name: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, complaint = run(capsys, "run", *PLAIN, "--model", name, "--out", "out", "--quiet", "--limit", "1100")
    assert (code, complaint) == (0, "")
    assert "Pipeline" not in said  # a scaler before the learner is no part of its name
    code, said, _ = run(capsys, "predict", "out/model.thalweg", "table.csv")
    assert code == 0
    lines = list(csv.DictReader(said.splitlines()))
    X, _ = table
    expected = load("out/model.thalweg").learner_.predict(np.column_stack([X, np.zeros(ROWS)]))
    assert [line["prediction"] for line in lines] == expected.tolist()
    assert [line["row"] for line in lines] == [str(i) for i in range(1, ROWS + 1)]
    code, said, _ = run(capsys, "inspect", "out/model.thalweg")
    assert code == 0
    assert "Pipeline" not in said.splitlines()[0]
    assert "2 classes: dry, wet" in said
    assert "\n3 features from 2 columns\n  any other is missing: 1 where a value is missing" in said
    assert "Predicted 1,100 rows" in said
    _, said, _ = run(capsys, "models")
    assert name in said


def test_predictions_hold_the_probabilities_asked_for_and_the_sets(table, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--model", "sets", "--delay", "40", "--chunk", "97", "--out", "out", "--quiet")
    assert run(capsys, "run", *PLAIN, *options)[0] == 0
    X, y = np.column_stack([table[0], np.zeros(ROWS)]), np.array(table[1])
    order = follow_late(ROWS, 41)  # in a run a label comes after that many further rows were predicted
    given = PredictionSets(AutoClassifier()).follow_sets(X, y, order)
    expected = given.sets[np.arange(ROWS), np.searchsorted(np.unique(y), y)]
    told = predictions()
    assert [line["prediction"] for line in told] == given.predictions.tolist()
    assert [line["prediction_set"] for line in told] == ["|".join(np.unique(y)[row]) for row in given.sets]
    sets = metrics()["sets"]
    assert (sets["rows"], sets["coverage"]) == (ROWS - 81, expected[41 : ROWS - 40].mean())
    assert sets["mean_size"] == given.sets[41 : ROWS - 40].sum(axis=1).mean()
    model = load("out/model.thalweg").learner_
    proba, held = model.predict_proba(X), model.predict_labels(X)
    _, said, _ = run(capsys, "predict", "out/model.thalweg", "table.csv", "--probabilities", "all")
    lines = list(csv.DictReader(said.splitlines()))
    assert list(lines[0]) == ["row", "prediction", "probability", "P(dry)", "P(wet)", "prediction_set"]
    np.testing.assert_allclose([[float(line["P(dry)"]), float(line["P(wet)"])] for line in lines], proba, atol=5.1e-7)
    assert all(line["probability"] == line[f"P({line['prediction']})"] for line in lines)
    assert [line["prediction_set"] for line in lines] == ["|".join(labels) for labels in held]
    assert len({len(labels) for labels in held}) > 1
    _, said, _ = run(capsys, "predict", "out/model.thalweg", "table.csv", "--probabilities", "none")
    assert said.splitlines()[0] == "row,prediction,prediction_set"
    code, said, complaint = run(capsys, "predict", "out/model.thalweg", "table.csv", "--probabilities", "some")
    assert (code, said) == (2, "")
    assert "--probabilities" in complaint


def test_a_wide_table_of_many_classes_is_told_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"c{at}" for at in range(40)]
    rows = [{name: (at * 7 + place) % 11 for place, name in enumerate(names)} | {"y": at % 40} for at in range(200)]
    Path("rows.ndjson").write_text("".join(json.dumps(row | {"tags": [1, 2]}) + "\n" for row in rows))
    code, said, complaint = run(capsys, "run", "rows.ndjson", "--target", "y", "--model", "oldc", "--out", "out")
    why = "lists of JSON cannot be learned: write what they hold as columns of their own"
    held = "classification: y holds 40 different whole numbers; --task regression predicts them as numbers"
    assert (code, complaint) == (0, f"{held}\nthalweg: column 'tags' is left out: {why}\n")
    assert metrics()["confusion"]["classes"] == [str(label) for label in range(40)]
    assert "c0 to c39, 40 columns" in said
    assert "c20" not in said
    labels = ", ".join(str(label) for label in range(20))
    assert f"40 classes: {labels}, …\n" in run(capsys, "inspect", "out/model.thalweg")[1]


def test_columns_that_are_absent_count_as_missing(table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *PLAIN, "--model", "oldc", "--out", "out", "--quiet")[0] == 0
    gaps = "".join(f'{{"a": null, "b": {at / 7}}}\n' for at in range(30))
    Path("gaps.ndjson").write_text(gaps)
    Path("absent.csv").write_text("b\n" + "".join(f"{at / 7}\n" for at in range(30)))
    Path("late.ndjson").write_text('{"c": 1}\n' * 1200 + '{"a": 1, "b": 2}\n')
    expected = run(capsys, "predict", "out/model.thalweg", "gaps.ndjson")[1]
    code, said, told = run(capsys, "predict", "out/model.thalweg", "absent.csv")
    assert (code, said) == (0, expected)
    assert told == "thalweg: absent.csv lacks 'a': its values count as missing\n"
    Path("renamed.ndjson").write_text("".join(f'{{"A": 1, "b": {at / 7}}}\n' for at in range(30)))
    code, said, told = run(capsys, "predict", "out/model.thalweg", "renamed.ndjson")
    assert (code, said) == (0, expected)
    assert told == "thalweg: renamed.ndjson has rows without 'a', and has 'A' besides: these values count as missing\n"
    Path("whole.csv").write_text("a,b\n1,2\n")
    last = run(capsys, "predict", "out/model.thalweg", "late.ndjson")[1].splitlines()[-1]
    assert last.partition(",")[2] == run(capsys, "predict", "out/model.thalweg", "whole.csv")[1].splitlines()[-1][2:]
    Path("other.csv").write_text("c,d\n1,2\n")
    Path("other.ndjson").write_text('{"c": 1}\n' * 3)
    for name in ("other.csv", "other.ndjson"):
        code, _, told = run(capsys, "predict", "out/model.thalweg", name)
        assert (code, told) == (2, f"thalweg: {name} has none of the columns that the model learned from: 'a', 'b'\n")


@pytest.mark.parametrize("name", MODELS["classification"])
def test_a_run_without_any_label_ends_well(name: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.csv").write_text("a,b,when,told,state\n" + "".join(f"{i % 7},{i},,,\n" for i in range(40)))
    code, said, complaint = run(capsys, "run", *PLAIN, "--model", name, "--out", "out", "--quiet")
    assert (code, complaint) == (0, "")
    assert said.startswith("No row had a label")
    assert metrics()["rows"]["unlabelled"] == 40
    assert [line["prediction"] for line in predictions()] == [""] * 40


@pytest.mark.slow
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
    assert (code, "model.thalweg does not say what its columns are" in complaint) == (2, True)
