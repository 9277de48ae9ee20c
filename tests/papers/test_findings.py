"""One type of finding: its JSON, and the tables of the papers that are laid out from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from thalweg.papers.bounsiar.printed import Spread, duration, per_cent, split_error
from thalweg.papers.kuncheva2008.tables import Comparison, Printed, layout
from thalweg.papers.registry import Finding, write_json
from thalweg.papers.schnackenberg2018 import reproduce as schnackenberg2018
from thalweg.papers.schnackenberg2018.protocol import CurveSummary
from thalweg.papers.wusnell2016 import facts

FOUND = Finding(
    "STAGGER", "O-LDC", 0.1561, paper="kuncheva2008", item="table1", ci95=0.0021, runs=100, printed=0.156, rate=0.93
)
KEYS = ["paper", "item", "data", "model", "rate", "paper_value", "measured", "ci95", "runs"]


def lines_of(table: Table) -> list[str]:
    console = Console(width=100, record=True, file=StringIO())
    console.print(table)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def written(findings: Sequence[Finding], folder: Path) -> list[dict[str, object]]:
    write_json(findings, folder / "rows.json")
    rows: list[dict[str, object]] = json.loads((folder / "rows.json").read_text())
    return rows


# ---- JSON -----------------------------------------------------------------------------------------------


def test_json_objects_have_the_agreed_keys_and_those_of_their_paper_last(tmp_path: Path) -> None:
    plain, more = written([FOUND, replace(FOUND, note="A misprint.", more={"measure": "error"})], tmp_path)
    assert list(plain) == KEYS
    assert plain == {
        "paper": "kuncheva2008",
        "item": "table1",
        "data": "STAGGER",
        "model": "O-LDC",
        "rate": 0.93,
        "paper_value": 0.156,
        "measured": 0.1561,
        "ci95": 0.0021,
        "runs": 100,
    }
    assert list(more) == [*KEYS, "measure"]
    assert FOUND.deviation == pytest.approx(0.0001)
    assert replace(FOUND, printed=None).deviation is None


def test_a_time_has_seconds_and_none_of_the_keys_of_an_error(tmp_path: Path) -> None:
    (row,) = written([duration("twonorm", "SVC", "fit", 300, 0.25)], tmp_path)
    assert list(row) == ["paper", "item", "data", "model", "operation", "rows_learned", "seconds"]
    assert list(row.values()) == ["", "", "twonorm", "SVC", "fit", 300, 0.25]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.json"
    write_json([FOUND], path)
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_json([replace(FOUND, measured=0.2)], path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.json"]


def test_a_finding_of_runs_is_their_mean_and_its_interval() -> None:
    several = Finding.of_runs("SEA", "SVM", np.array([0.96, 0.97, 0.98]))
    assert (several.measured, several.runs) == (pytest.approx(0.97), 3)
    assert several.ci95 == pytest.approx(4.302653 * 0.01 / np.sqrt(3))  # Student's t, two degrees of freedom
    assert Finding.of_runs("SEA", "SVM", np.array([0.96])).ci95 is None


def test_a_split_error_has_its_spread_and_the_papers(tmp_path: Path) -> None:
    errors = np.array([0.16, 0.18])
    found = split_error("heart", "METH.", errors, Spread(0.169, 0.038), {"sigma": 2.0})
    (row,) = written([found], tmp_path)
    assert list(row) == [*KEYS, "sd", "paper_sd", "parameters"]
    assert (row["paper_value"], row["paper_sd"], row["parameters"]) == (0.169, 0.038, {"sigma": 2.0})
    assert row["sd"] == pytest.approx(errors.std(ddof=1))
    assert per_cent(found) == "17.0±1.4"
    assert per_cent(split_error("heart", "METH.", errors[:1])) == "16.0"


# ---- tables ---------------------------------------------------------------------------------------------

PRINTED = Printed(0.156, 0.024, rate=0.90)
FIXED = Comparison(FOUND, "λ", PRINTED, replace(FOUND, measured=0.1588, rate=0.90))
MARKED = replace(FIXED, finding=replace(FOUND, model="Winnow", measured=0.2), symbol="β", differs=True)
BASELINE = Comparison(replace(FOUND, data="ELEC2", model="No change", rate=None, printed=None), "")


def test_paper_and_measured_are_on_one_line() -> None:
    lines = lines_of(layout([FIXED, MARKED, BASELINE]))
    assert lines[2:] == [
        "STAGGER",
        "O-LDC λ 0.90 0.93 0.156 ± 0.024 0.156 ± 0.002 0.159",
        "Winnow β 0.90 0.93 0.156 ± 0.024 0.200 ± 0.002 • 0.159",
        "",
        "ELEC2",
        "No change 0.156 ± 0.002",
    ]


def test_columns_that_would_be_empty_are_left_out() -> None:
    adaptive = Comparison(replace(FOUND, rate=None, ci95=None), "λ", Printed(0.171, 0.022))
    text = "\n".join(lines_of(layout([adaptive])))
    assert "0.171 ± 0.022" in text
    assert "0.156" in text
    assert "rate" not in text
    assert "κ" not in text
    assert "κ" in "\n".join(lines_of(layout([replace(adaptive, kappa_temporal=-0.1)])))


def test_a_cell_has_its_spread_and_the_papers(tmp_path: Path) -> None:
    measured, printed = CurveSummary(0.0934, 0.0046, 0.0322), CurveSummary(0.0932, 0.043, 0.0324)
    cell = schnackenberg2018._cell("Circular", "window 20", measured, printed, 20)
    row, alone = written([cell, schnackenberg2018._cell("Circular", "window auto", measured)], tmp_path)
    assert list(row) == [*KEYS, "window", "sd_curve", "mean_sd", "paper_sd_curve", "paper_mean_sd"]
    assert (row["paper_value"], row["measured"], row["window"]) == (0.0932, 0.0934, 20)
    assert (row["sd_curve"], row["mean_sd"]) == (0.0046, 0.0322)
    assert (row["paper_sd_curve"], row["paper_mean_sd"]) == (0.043, 0.0324)
    assert (alone["paper_value"], alone["paper_sd_curve"], alone["paper_mean_sd"]) == (None, None, None)


def test_a_grid_has_the_paper_left_of_ours_and_a_column_for_what_it_does_not_print() -> None:
    measured, printed = CurveSummary(0.0934, 0.0046, 0.0322), CurveSummary(0.0932, 0.043, 0.0324)
    cell = schnackenberg2018._cell("Circular", "window 20", measured, printed, 20)
    auto = schnackenberg2018._cell("Circular", "window auto", CurveSummary(0.09, 0.01, None), None, "auto")
    cells = [replace(cell, rate=0.3), replace(cell, rate=0.9), replace(auto, rate=0.9)]
    assert lines_of(schnackenberg2018._grid(cells)) == [
        "window 20 window auto",
        "λ paper here here",
        ".3 .0932 .0934",
        "(.043 .005)",
        ".0324 .0322",
        ".9 .0932 .0934 .0900",
        "(.043 .005) (.010)",
        ".0324 .0322",
    ]


def test_facts_are_beside_what_the_paper_prints_and_refer_to_their_remarks() -> None:
    known = Finding("Perceptron", "best accuracy", 0.92134, printed=0.9214, note="Φ(√2).")
    found = Finding("Perceptron", "cumulative", 0.893, ci95=0.002, runs=100)
    assert lines_of(facts.table([known, found]))[1:] == [
        "Perceptron",
        "best accuracy 0.9214 0.9213 (1)",
        "cumulative 0.8930 ± 0.0020",
    ]
    again, other = replace(found, note="Φ(√2)."), replace(found, note="Other.")
    assert facts.remarks([known, other, found, again]) == ("(1) Φ(√2).", "(2) Other.")
