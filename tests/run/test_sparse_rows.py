"""Runs over sparse files: whatever stands around the learner takes compressed rows, late labels and checkpoints too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
from tests.cli.calls import metrics, run

from thalweg import load
from thalweg.errors import InvalidInput
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def write(kind: str, count: int = 2500) -> None:
    rng = np.random.default_rng(4)
    lines = []
    for _ in range(count):
        sign = 1 if rng.random() < 0.5 else -1
        keys = rng.choice(300, 5, replace=False)
        entries = [(f"{key}" if kind == "svmlight" else f"w{key}", round(rng.normal() + sign, 3)) for key in keys]
        bar = "" if kind == "svmlight" else "| "
        lines.append(f"{sign} {bar}" + " ".join(f"{key}:{value}" for key, value in entries))
    lines[1200] = "1 3:x" if kind == "svmlight" else "1 2.5 | a"
    Path("rows").write_text("\n".join(lines))


def begun(folder: str, **options: Any) -> Run:
    given = {"source": "rows", "model": "auto", "out": folder, "chunk": 200, "bad_rows": "skip"}
    return Run(RunOptions.of(given | options))


class Cut(Exception):
    pass


@pytest.mark.parametrize("kind", ["svmlight", "vowpal-wabbit"])
@pytest.mark.parametrize("delay", [0, 70])
def test_a_run_that_is_cut_off_resumes_to_the_same_bytes(kind: str, delay: int) -> None:
    write(kind)
    whole = begun("whole", delay=delay)
    whole.go()
    whole.save_model(Path("whole/model"))
    assert (whole.answered, whole.pending, whole.skipped) == (2499, delay, 1)
    assert whole.options.target == "label"
    assert "row 1,201: " in whole.notices.complaints[0]

    def cut(status: Any) -> None:
        if status.rows > 1500:
            raise Cut

    first = begun("cut", delay=delay)
    with pytest.raises(Cut):
        first.go(cut, checkpoint_seconds=0)
    again = begun("cut", delay=delay)
    assert again.resume()
    assert 1000 < again.answered < 1500
    again.go()
    again.save_model(Path("cut/model"))
    for file in ("model", "predictions.csv"):
        assert Path("cut", file).read_bytes() == Path("whole", file).read_bytes()


def test_the_commands_take_sparse_files(capsys: pytest.CaptureFixture[str]) -> None:
    write("svmlight")
    command = ("run", "rows", "--out", "out")
    code, _, told = run(capsys, *command)
    assert (code, told) == (2, "thalweg: rows, row 1,201: 'x' is not a finite number\n")
    assert run(capsys, *command, "--bad-rows", "skip", "--quiet")[0] == 0
    assert metrics()["scores"]["model"]["error"] < 0.2
    code, said, _ = run(capsys, "predict", "out/model.thalweg", "rows", "--bad-rows", "skip")
    assert (code, len(said.splitlines())) == (0, 2500)
    code, said, _ = run(capsys, "inspect", "out/model.thalweg")
    assert "sparse features by their indices" in said
    for option, wrong in {
        "--target": "rows: the target 'features' must hold labels or numbers, got values of type map<int32, double>",
        "--time": "column 'features' must hold times, got values of type map<int32, double>",
    }.items():
        code, _, told = run(capsys, *command, "--fresh", option, "features")
        assert (code, told) == (2, f"thalweg: {wrong}\n")


@pytest.mark.parametrize("model", ["logistic", "perceptron", "pa", "winnow"])
def test_models_that_are_scaled_learn_sparse_rows_without_means(model: str) -> None:
    write("svmlight")
    done = begun("out", model=model)
    done.go()
    steps = done.task.model.named_steps
    assert not steps["standardscaler"].with_mean
    assert done.task.board.score("model")["error"] < 0.25


def test_a_model_of_a_table_learns_dicts_and_tables_with_maps(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"label": "ab"[i % 2], "x": i % 7, "words": {f"w{i % 2}{i % 5}": 1, "the": 2}} for i in range(600)]
    Path("rows").write_text("\n".join(map(json.dumps, rows)))
    assert run(capsys, "run", "rows", "--target", "label", "--out", "out", "--quiet")[0] == 0
    by_dict, by_table, by_row = (load("out/model.thalweg") for _ in range(3))
    labels = [row.pop("label") for row in rows]
    cells = pa.array([list(row["words"].items()) for row in rows], pa.map_(pa.string(), pa.float64()))
    table = pa.table({"x": [row["x"] for row in rows], "words": cells})
    by_dict.partial_fit(rows, labels)
    by_table.partial_fit(table, labels)
    for row, label in zip(rows, labels, strict=True):
        by_row.learn_one(row, label)
    expected = by_dict.predict_proba(rows)
    np.testing.assert_array_equal(by_table.predict_proba(table), expected)
    np.testing.assert_allclose(by_row.predict_proba(rows), expected, atol=1e-12)
    with pytest.raises(InvalidInput, match="X, row 1, column 'words': 'much', the value of 'the', is not a number"):
        by_dict.partial_fit([rows[0], {"x": 1, "words": {"the": "much"}}], ["a", "b"])
    np.testing.assert_array_equal(by_dict.predict_proba(rows), expected)
