"""What a run says of its inputs and of the alerts that fired, whatever cuts it into pieces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.calls import run

from thalweg.report.page.input_parts import findings
from thalweg.run.metrics import metrics_of
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run

pytest.importorskip("pyarrow")

RULES = ("error>0.2 over 100 rows for 50 rows", "missing(c5)>0.2", "new_category(city)", "input_drift", "error_rise")


def write(path: Path, rows: int, at: int) -> None:
    """Column c5 moves without an effect, and gets gaps; the effect of column c3 turns round at the same row."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(rows, 6))
    X[at:, 5] += 2.0
    score = np.where(np.arange(rows) < at, 1.0, -1.0) * X[:, 3] * 2.0 + X[:, 1] + 0.3 * rng.normal(size=rows)
    gaps = (np.arange(rows) >= at + 1500) & (rng.random(rows) < 0.5)
    city = np.where(np.arange(rows) >= at + 2000, rng.choice(["Oslo", "Bodø"], rows), "Oslo")
    with path.open("w", encoding="utf-8") as file:
        file.write("c0,c1,c2,c3,c4,c5,city,label\n")
        for values, gap, name, each in zip(X, gaps, city, score > 0, strict=True):
            cells = [f"{value:.4f}" for value in values[:5]] + ["" if gap else f"{values[5]:.4f}"]
            file.write(f"{','.join(cells)},{name},{'yes' if each else 'no'}\n")


def finished(folder: Path, *, stop_after: int | None = None, **options: Any) -> dict[str, Any]:
    """The metrics of a run; with ``stop_after`` one that was cut off after so many chunks, and resumed."""
    asked: dict[str, Any] = {"model": "oldc", "alert": RULES} | options
    given = RunOptions(str(folder / "table.csv"), "label", out=str(folder / "out"), **asked)
    begun = Run(given)
    if stop_after is not None:
        begun.folder.mkdir(exist_ok=True)
        for _, chunk in zip(range(stop_after), begun.chunks(), strict=False):
            begun.take(chunk)
            begun.fingerprint.take(chunk)
            begun.chunks_done += 1
        assert begun.predictions is not None
        begun.write_checkpoint()
        begun.predictions.close()
        begun = Run(given)
        assert begun.resume()
    begun.go()
    begun.write_alerts()
    return metrics_of(begun) | {"lines": (folder / "out" / "alerts.ndjson").read_text(encoding="utf-8")}


@pytest.mark.parametrize("delay", [pytest.param(0, marks=pytest.mark.slow), 300])
def test_chunks_and_checkpoints_change_neither_inputs_nor_alerts(tmp_path: Path, delay: int) -> None:
    write(tmp_path / "table.csv", 7000, 3500)
    whole = finished(tmp_path, delay=delay)
    inputs = whole["inputs"]
    assert {change["column"] for change in inputs["changes"]} == {"c5", "city"}
    assert {json.loads(line)["rule"] for line in whole["lines"].splitlines()} == set(RULES)
    for options in ({"chunk": 777}, {"chunk": 700, "stop_after": 8}):
        other = finished(tmp_path, delay=delay, **options)
        assert (other["inputs"], other["alerts_fired"], other["lines"]) == (
            inputs,
            whole["alerts_fired"],
            whole["lines"],
        )


@pytest.mark.parametrize("at", [6000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_column_that_moves_without_effect_does_not_hide_concept_drift(tmp_path: Path, at: int) -> None:
    write(tmp_path / "table.csv", at + 1400, at)
    found = finished(tmp_path)
    assert [change["column"] for change in found["inputs"]["changes"]] == ["c5"]
    [(_, sentence)] = findings(found)
    assert re.match(r"The error rose at row [\d,]+ from ", sentence)
    assert abs(found["inputs"]["causes"][0]["at"] - at) < 20
    assert "when column c5 changed, but" in sentence
    assert sentence.endswith("the relation between inputs and label changed.")


def test_steps_of_times_and_entries_of_text_are_watched_whatever_cuts_the_run(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    seconds = np.cumsum(rng.exponential(np.where(np.arange(4500) < 2500, 60.0, 240.0))).astype(int)
    with (tmp_path / "table.csv").open("w") as file:
        file.write("when,note,x,label\n")
        for at, second in enumerate(seconds.tolist()):
            words = " ".join(f"w{word}" for word in rng.integers(0, 60, rng.integers(4, 8) + 5 * (at >= 3000)))
            when = "" if at % 100 == 7 else np.datetime64("2026-01-01T00:00:00") + second
            file.write(f"{when},{words},{rng.normal():.3f},{'yes' if rng.random() < 0.5 else 'no'}\n")
    asked: dict[str, Any] = {"model": "logistic", "text": ("note",), "alert": ("input_drift",)}
    cuts: tuple[dict[str, int], ...] = ({}, {"chunk": 700}, {"chunk": 500, "stop_after": 5})
    found = [finished(tmp_path, **asked, **cut) for cut in cuts]
    inputs = found[0]["inputs"]
    assert [(each["column"], each["what"]) for each in inputs["changes"]] == [("when", "mean"), ("note", "mean")]
    assert all(abs(each["row"] - row) < 40 for each, row in zip(inputs["changes"], (2501, 3001), strict=True))
    assert {line["name"]: line.get("measure") for line in inputs["columns"]} == {
        "when": "seconds since the row before",
        "note": "different words",
        "x": None,
    }
    assert not inputs["not_watched"]
    assert "Column when (seconds since the row before) moved from 61.42 to 238.3" in findings(found[0])[0].sentence
    assert [each["inputs"] for each in found[1:]] == [inputs] * 2


def test_the_exit_code_says_whether_an_alert_fired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "table.csv", 300, 200)
    plain = ("run", str(tmp_path / "table.csv"), "--target", "label", "--model", "oldc", "--quiet", "--fresh")
    plain = (*plain, "--out", str(tmp_path / "out"))
    code, said, _ = run(capsys, *plain, "--alert", "error>0.99 over 100 rows")
    assert (code, "No alert fired." in said) == (0, True)
    code, said, _ = run(capsys, *plain, "--alert", "error>0 over 100 rows")
    assert code == 3
    assert "Alert error>0 over 100 rows at row 10" in said
    assert "Alerts that fired" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for rule, why in {
        "mae>3": "mae is not a metric of classification",
        "missing(nothing)>0.1": "no column 'nothing'",
        "recall<0.5": "name it with --positive",
        "__import__('os')": "name one of error, log_loss, brier, recall",
        "error above 0.2": "be as in error>0.2",
    }.items():
        code, _, complaint = run(capsys, *plain, "--alert", rule)
        assert (code, why in complaint, complaint.count("\n")) == (2, True, 1)


def test_the_page_escapes_what_columns_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "<b>a</b>,label\n" + "".join(f"{at % 7},{'x' if at % 2 else 'y'}\n" for at in range(1200))
    (tmp_path / "table.csv").write_text(text)
    out = ("--out", str(tmp_path / "out"), "--quiet")
    run(capsys, "run", str(tmp_path / "table.csv"), "--target", "label", "--model", "oldc", *out)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<b>a</b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
