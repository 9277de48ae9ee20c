"""`thalweg run` on a table with -999 for missing values, from end to end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.calls import metrics, run

pytest.importorskip("pyarrow")

_ROWS = 2000


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A linear boundary over three columns: whole, with -999 or gaps in 2 % of one, and with -999 after the head."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(_ROWS, 3)), 4)
    labels = np.where(X @ [1.0, 1.0, -1.0] > 0, "yes", "no")
    hit = rng.random(_ROWS) < 0.02
    for name, cell, rows in (
        ("whole", "", np.zeros(_ROWS, dtype=bool)),
        ("coded", "-999", hit),
        ("gaps", "", hit),
        ("late", "-999", hit & (np.arange(_ROWS) >= 1000)),
    ):
        lines = [f"{a},{cell if at else b},{c},{label}" for (a, b, c), at, label in zip(X, rows, labels, strict=True)]
        Path(f"{name}.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")


def error_of(capsys: pytest.CaptureFixture[str], table: str, *options: str) -> tuple[float, str]:
    given = ("--target", "label", "--out", table, "--fresh", "--quiet", *options)
    code, _, told = run(capsys, "run", f"{table}.csv", *given)
    assert code == 0
    return metrics(table)["scores"]["model"]["error"], told


def test_sentinels_cost_no_more_than_gaps_and_are_told(tables, capsys: pytest.CaptureFixture[str]) -> None:
    with_gaps, _ = error_of(capsys, "gaps")
    found, told = error_of(capsys, "coded")
    assert found == with_gaps < 0.05
    assert "column 'b' has -999 (11 times) in the first 1,000 rows, far from its other values (-" in told
    assert told.count("\n") == 1
    assert metrics("coded")["warnings"] == [told.removeprefix("thalweg: ").rstrip("\n")]
    assert metrics("coded")["columns"][1][2].endswith("; -999 counts as missing")
    assert "--keep-sentinels keeps it as a number" in Path("coded/report.html").read_text()
    Path("coded.new.csv").write_text("a,b,c\n1,-999,1\n-1,-999.0,-1\n")
    Path("gaps.new.csv").write_text("a,b,c\n1,,1\n-1,,-1\n")
    given, expected = (run(capsys, "predict", f"{name}/model.thalweg", f"{name}.new.csv") for name in ("coded", "gaps"))
    assert given == expected
    kept, told = error_of(capsys, "coded", "--keep-sentinels")
    assert (kept > 2 * found, told) == (True, ""), (kept, found)


@pytest.mark.parametrize("table", ["coded", "late"])
def test_a_resumed_run_treats_and_tells_sentinels_alike(tables, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    error_of(capsys, table, "--chunk", "100", "--model", "oldc")
    lines = Path(f"{table}.csv").read_text().splitlines()
    Path(f"{table}.csv").write_text("\n".join([*lines[:1500], "warm", *lines[1500:]]) + "\n")
    arguments = (
        "run",
        f"{table}.csv",
        "--target",
        "label",
        "--chunk",
        "100",
        "--model",
        "oldc",
        "--out",
        "cut",
        "--quiet",
    )
    assert run(capsys, *arguments, "--checkpoint-seconds", "0")[0] == 2
    Path(f"{table}.csv").write_text("\n".join(lines) + "\n")
    assert run(capsys, *arguments, "--resume")[0] == 0
    assert Path("cut/model.thalweg").read_bytes() == Path(table, "model.thalweg").read_bytes()
    assert metrics("cut")["warnings"] == metrics(table)["warnings"] != []


def test_values_that_mean_missing_may_be_named(tables, capsys: pytest.CaptureFixture[str]) -> None:
    with_gaps, _ = error_of(capsys, "gaps")
    assert error_of(capsys, "coded", "--na", "unknown", "--na", "-999") == (with_gaps, "")
    assert 'na = ["unknown", "-999"]' in Path("coded/options.toml").read_text()
    Path("options.toml").write_text('source = "coded.csv"\ntarget = "label"\nout = "again"\nna = ["unknown", -999]\n')
    assert run(capsys, "run", "--config", "options.toml", "--quiet")[0] == 0
    assert Path("again/predictions.csv").read_bytes() == Path("coded/predictions.csv").read_bytes()
    code, _, told = run(capsys, "run", "coded.csv", "--target", "label", "--missing", "error", "--fresh")
    assert code == 2
    assert "column 'b': the value is missing; -999 counts as missing" in told
    code, _, told = run(capsys, "run", "coded.csv", "--target", "label", "--na", " ")
    assert (code, told) == (2, "thalweg: --na must name a value: an empty cell is missing anyway, got ''\n")


@pytest.mark.quick(1)
@pytest.mark.parametrize("model", ["logistic", "auto"])
def test_sentinels_after_the_first_rows_are_found_and_told(
    tables, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with_gaps, _ = error_of(capsys, "gaps", "--model", model)
    late, told = error_of(capsys, "late", "--model", model)
    assert late < with_gaps + 0.005, (late, with_gaps)
    first, sentence = "thalweg: late.csv, row 1,", told.removeprefix("thalweg: ").rstrip("\n")
    assert told.startswith(first)
    assert "column 'b': -999 for the third time, far from the other values (-" in told
    assert told.count("\n") == 1
    assert metrics("late")["warnings"] == [sentence]
    assert metrics("late")["columns"][1][2].endswith("; -999 counts as missing")
    whole = Path("late/model.thalweg").read_bytes()
    assert error_of(capsys, "late", "--model", model, "--chunk", "7") == (late, told)
    assert Path("late/model.thalweg").read_bytes() == whole
    kept, told = error_of(capsys, "late", "--model", model, "--keep-sentinels")
    assert (kept > late, told) == (True, "")
