"""A run that was cut off goes on with its own rows and options, and nothing is lost to another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calls import PLAIN, metrics, run

pytest.importorskip("pyarrow")


def test_a_run_that_was_cut_off_is_not_overwritten(table, capsys: pytest.CaptureFixture[str]) -> None:
    """An error half-way leaves the checkpoint, with which only the same options go on."""
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([*lines[:1300], "warm,1,2024-01-01,2024-01-01,wet", *lines[1300:]]))
    common = ("--out", "out", "--chunk", "50", "--checkpoint-seconds", "0", "--quiet", "--model", "logistic")
    arguments = ("run", *PLAIN, *common)
    code, _, complaint = run(capsys, *arguments)
    assert code == 2
    assert complaint.startswith("thalweg: table.csv, row 1,300, column 'a': 'warm' is not a number; --bad-rows skip")
    assert {path.name for path in Path("out").iterdir()} == {"checkpoint", "predictions.csv", "options.toml"}
    code, _, complaint = run(capsys, *arguments)
    assert code == 2
    assert "out holds a run that was cut off: continue it with --resume, start over with --fresh" in complaint
    code, _, complaint = run(capsys, *arguments, "--resume", "--model", "oldc")
    assert code == 2
    assert "was started with model = 'logistic', not 'oldc'" in complaint
    Path("table.csv").write_text("\n".join(lines) + "\n")
    code, said, _ = run(capsys, *arguments, "--resume")
    assert code == 0
    assert "Resumed from the last checkpoint." in said
    resumed = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    run(capsys, *arguments)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == resumed
    Path("out/checkpoint").write_bytes(b"no checkpoint")
    code, _, complaint = run(capsys, *arguments, "--resume")
    assert (code, "out/checkpoint is no saved state: start over with --fresh" in complaint) == (2, True)
    assert run(capsys, *arguments, "--fresh")[0] == 0
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == resumed


def cut_off(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """Leave a run in ``out`` that an error ended in row 1,300, with a checkpoint; the lines of the whole table."""
    lines = Path("table.csv").read_text().splitlines()
    Path("table.csv").write_text("\n".join([*lines[:1300], "warm", *lines[1300:]]) + "\n")
    common = ("--out", "out", "--chunk", "50", "--checkpoint-seconds", "0", "--quiet", "--model", "logistic")
    arguments = (*PLAIN, *common, *options)
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


@pytest.mark.quick(3)
@pytest.mark.parametrize("change", CHANGES)
def test_a_run_does_not_go_on_with_other_rows(change: str, table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = CHANGES[change](cut_off(capsys, "--bad-rows", "error"))
    Path("table.csv").write_text("\n".join(lines) + "\n")
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    code, _, complaint = run(capsys, "run", "--resume", "--out", "out", "--quiet")
    *notes, complaint = complaint.splitlines(keepends=True)
    assert (code, ["has no header" in note for note in notes]) == (2, [True] * (change == "no header"))
    assert "internal" not in complaint
    if "cells" not in complaint:  # a ragged row is told as such
        assert complaint.startswith("thalweg: table.csv is not the file that this run was started with: it")
        assert complaint.endswith("restore the 1,250 rows that were learned, or start over with --fresh\n")
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
    assert "Resumed from the last checkpoint." in said
    for name in ("predictions.csv", "model.thalweg"):
        assert (Path("moved") / name).read_bytes() == (Path("../whole") / name).read_bytes()
    code, said, _ = run(capsys, "run", "--resume", "--out", "moved")
    assert (code, said) == (0, "The run in moved is finished: there is nothing to resume.\n")
    code, said, _ = run(capsys, "run", "--resume", "--out", "moved", "--json")
    assert (code, json.loads(said)) == (0, metrics("moved"))


def test_a_finished_run_is_not_lost_to_another(table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "run", *PLAIN, "--model", "oldc", "--quiet")[0] == 0
    first = {path.name: path.read_bytes() for path in Path("thalweg-run").iterdir()}
    again = (str(Path("table.csv").resolve()), *PLAIN[1:], "--model", "oldc", "--quiet")
    code, _, complaint = run(capsys, "run", *PLAIN, "--model", "oldc")
    assert code == 0
    assert "thalweg-run holds a finished run with the same options: its results are replaced.\n" in complaint
    assert {path.name: path.read_bytes() for path in Path("thalweg-run").iterdir()} == first
    assert run(capsys, "run", *again)[0] == 0  # the same file by another name
    code, _, complaint = run(capsys, "run", *PLAIN, "--quiet")
    assert (code, complaint) == (
        2,
        "thalweg: thalweg-run holds a finished run, started with model = 'oldc', not 'auto': "
        "start over with --fresh, or choose another folder with --out\n",
    )
    misspelt = run(capsys, "run", "tabel.csv", *PLAIN[1:], "--quiet")
    assert misspelt == (2, "", "thalweg: there is no file tabel.csv\n")
    assert "did you mean perceptron?" in run(capsys, "run", *PLAIN, "--quiet", "--model", "perceptorn")[2]
    assert run(capsys, "run", *PLAIN, "--quiet", "--resume", "--model", "pa")[0] == 2
    assert run(capsys, "run", *PLAIN, "--quiet", "--resume", "--fresh")[0] == 2
    assert metrics("thalweg-run")["model"]["name"] == "oldc"
    code, _, complaint = run(capsys, "run", *PLAIN, "--fresh")
    assert (code, "replaced" in complaint) == (0, False)
    assert metrics("thalweg-run")["model"]["name"] == "auto"


def test_lost_answers_are_noticed(table, capsys: pytest.CaptureFixture[str]) -> None:
    lines = cut_off(capsys)
    Path("table.csv").write_text("\n".join(lines) + "\n")
    told = "thalweg: out/predictions.csv has fewer rows than its checkpoint: start over with --fresh\n"
    Path("out/predictions.csv").write_text("")
    assert run(capsys, "run", "--resume", "--out", "out") == (2, "", told)
    Path("out/predictions.csv").unlink()
    assert run(capsys, "run", "--resume", "--out", "out") == (2, "", told)
    assert run(capsys, "run", *PLAIN, "--out", "out", "--fresh", "--quiet")[0] == 0
