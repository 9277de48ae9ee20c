from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from thalweg.papers.records import (
    Cell,
    CellRow,
    Curve,
    Fact,
    Finding,
    Measurement,
    MeasurementRow,
    Printed,
    Row,
    remarks,
    write_json,
)
from thalweg.report import tables

FIXED = Finding(
    paper="kuncheva2008",
    item="table1",
    data="STAGGER",
    model="O-LDC",
    symbol="λ",
    rate=0.93,
    measured=0.1561,
    ci95=0.0021,
    runs=100,
    printed=Printed(0.156, 0.024, rate=0.90),
    at_printed_rate=(0.1588, 0.0022),
)
MARKED = replace(FIXED, model="Winnow", symbol="β", measured=0.2, differs=True)
BASELINE = replace(
    FIXED, data="ELEC2", model="No change", symbol="", rate=None, printed=None, at_printed_rate=None, runs=1
)


def rendered(*findings: Finding) -> list[str]:
    console = Console(width=100, record=True, file=StringIO())
    console.print(tables.comparison(findings))
    return console.export_text().splitlines()


def line_of(model: str, lines: list[str]) -> str:
    (line,) = [line for line in lines if line.strip().startswith(model)]
    return " ".join(line.split())


def test_paper_and_measured_stand_on_one_line() -> None:
    lines = rendered(FIXED, MARKED, BASELINE)
    assert line_of("O-LDC", lines) == "O-LDC λ 0.90 0.93 0.156 ± 0.024 0.156 ± 0.002 0.159"
    assert line_of("Winnow", lines) == "Winnow β 0.90 0.93 0.156 ± 0.024 0.200 ± 0.002 • 0.159"
    assert line_of("No change", lines) == "No change 0.156 ± 0.002"
    assert [line.strip() for line in lines if line.strip() in ("STAGGER", "ELEC2")] == ["STAGGER", "ELEC2"]


def test_columns_that_would_be_empty_are_left_out() -> None:
    adaptive = replace(FIXED, rate=None, printed=Printed(0.171, 0.022), at_printed_rate=None, ci95=None)
    text = "\n".join(rendered(adaptive))
    assert "0.171 ± 0.022" in text
    assert "0.156" in text
    assert "rate" not in text
    assert "κ" not in text
    assert "κ" in "\n".join(rendered(replace(adaptive, kappa_temporal=-0.1)))


def test_json_rows_have_the_agreed_keys_and_the_papers_rate_an_item_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    write_json([FIXED, BASELINE], path)
    best, at_paper, baseline = json.loads(path.read_text())
    for row in (best, at_paper, baseline):
        assert list(row) == list(Row.__annotations__)
    assert best == {
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
    assert at_paper == best | {
        "item": "table1-at-paper-rate",
        "rate": 0.9,
        "measured": 0.1588,
        "ci95": 0.0022,
    }
    assert baseline["paper_value"] is None


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.json"
    write_json([FIXED], path)
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_json([BASELINE], path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.json"]


def test_scores_leave_empty_what_is_not_known() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(tables.scores(("error", "log-loss"), {"O-LDC": (0.25, 0.5), "Other": (0.125, None)}))
    lines = console.export_text().splitlines()
    assert line_of("O-LDC", lines) == "O-LDC 0.250 0.500"
    assert line_of("Other", lines) == "Other 0.125"


CELL = Cell(
    paper="schnackenberg2018",
    item="table1",
    data="Circular",
    model="window 20",
    rate=0.3,
    window=20,
    measured=Curve(0.0934, 0.0046, 0.0322),
    ci95=0.0005,
    runs=100,
    printed=Curve(0.0932, 0.043, 0.0324),
)


def test_a_cell_is_the_agreed_row_and_its_spread(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    write_json([CELL, replace(CELL, printed=None)], path)
    row, alone = json.loads(path.read_text())
    assert list(row) == list(CellRow.__annotations__)
    assert list(row)[: len(Row.__annotations__)] == list(Row.__annotations__)
    assert (row["paper_value"], row["measured"], row["window"]) == (0.0932, 0.0934, 20)
    assert (row["sd_curve"], row["mean_sd"]) == (0.0046, 0.0322)
    assert (row["paper_sd_curve"], row["paper_mean_sd"]) == (0.043, 0.0324)
    assert (alone["paper_value"], alone["paper_sd_curve"], alone["paper_mean_sd"]) == (None, None, None)
    assert CELL.deviation == pytest.approx(0.0002)


def test_a_grid_has_the_paper_left_of_ours_and_a_column_for_what_it_does_not_print() -> None:
    auto = replace(CELL, model="window auto", rate=0.9, window="auto", printed=None, measured=Curve(0.09, 0.01, None))
    console = Console(width=80, record=True, file=StringIO())
    console.print(tables.grid([CELL, replace(CELL, rate=0.9), auto]))
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert lines == [
        "window 20 window auto",
        "λ paper here here",
        ".3 .0932 .0934",
        "(.043 .005)",
        ".0324 .0322",
        ".9 .0932 .0934 .0900",
        "(.043 .005) (.010)",
        ".0324 .0322",
    ]


def test_a_fact_is_the_agreed_row_and_stands_beside_what_the_paper_prints(tmp_path: Path) -> None:
    known = Fact("wusnell2016", "facts", "Perceptron", "best accuracy", 0.92134, printed=0.9214, remark="Φ(√2).")
    found = Fact("wusnell2016", "facts", "Perceptron", "cumulative", 0.893, 0.002, 100)
    path = tmp_path / "rows.json"
    write_json([known, found], path)
    first, second = json.loads(path.read_text())
    assert list(first) == list(Row.__annotations__)
    assert first["data"] == "Perceptron"
    assert (first["paper_value"], first["measured"], first["ci95"]) == (0.9214, 0.92134, None)
    assert (second["paper_value"], second["ci95"], second["runs"]) == (None, 0.002, 100)
    console = Console(width=80, record=True, file=StringIO())
    console.print(tables.facts([known, found]))
    lines = console.export_text().splitlines()
    assert line_of("best accuracy", lines) == "best accuracy 0.9214 0.9213 (1)"
    assert line_of("cumulative", lines) == "cumulative 0.8930 ± 0.0020"
    again = replace(found, remark="Φ(√2).")
    other = replace(found, remark="Other.")
    assert remarks([known, other, found, again]) == ("(1) Φ(√2).", "(2) Other.")


def test_speeds_come_last_and_without_decimals() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(tables.speeds({"CCIPCA": {"overlap": 0.99712, "rows a second": 1_234_567.8}}))
    assert line_of("CCIPCA", console.export_text().splitlines()) == "CCIPCA 0.9971 1,234,568"


def test_a_measurement_is_the_mean_of_its_runs_under_its_name() -> None:
    several = Measurement.of_runs("p", "table", "SEA", "SVM", "ensemble", np.array([0.96, 0.97, 0.98]))
    (row,) = several.rows()
    assert set(row) == set(MeasurementRow.__annotations__) | set(Row.__annotations__)
    assert (row["measure"], row["measured"], row["runs"]) == ("ensemble", pytest.approx(0.97), 3)
    assert row["ci95"] == pytest.approx(4.302653 * 0.01 / np.sqrt(3))  # Student's t, two degrees of freedom
    assert Measurement.of_runs("p", "table", "SEA", "SVM", "ensemble", np.array([0.96])).ci95 is None


def test_sections_stand_under_their_names() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(
        tables.sections(("dip", "blocks"), {"SVM": {"block 51": ["0.9", "3"]}, "MLP": {"block 51": ["0.8", "4"]}})
    )
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert lines == ["dip blocks", "SVM", "block 51 0.9 3", "", "MLP", "block 51 0.8 4"]
