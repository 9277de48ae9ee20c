"""`thalweg run --delay` and `prequential(delay=)` are one evaluation: the same predictions and errors, row by row.

So is `prequential(delay=)` where the target is a number.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from thalweg.catalogue import make_model
from thalweg.evaluate import NO_PREDICTION, prequential
from thalweg.run.options import PREDICTIONS, RunOptions
from thalweg.run.runner import Run
from thalweg.streams import SEA, FriedmanDrift, Table

pytest.importorskip("pyarrow")

ROWS = 1500


@pytest.mark.parametrize("chunk", [64, 4096])
@pytest.mark.parametrize("delay", [0, 1, 40, 1100, ROWS])
def test_a_delay_means_the_same_to_the_model_and_to_both_baselines(
    delay: int, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X, truth = SEA(seed=4).take(ROWS)
    y = np.where(truth == truth[0], "up", "down")  # the first label is not the lowest, which wins a tie
    lines = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    Path("rows.csv").write_text("\n".join(["a,b,c,side", *lines]) + "\n")

    options = RunOptions("rows.csv", "side", model="oldc", rate=0.02, delay=delay, out="out")
    run = Run(options)
    run.go()
    encoded = np.column_stack([X, np.zeros(ROWS)])  # a run adds whether a value is missing
    records = list(prequential(make_model("oldc", rate=0.02), Table(encoded, y), delay=delay, chunk=chunk))

    found = {
        name: np.concatenate([getattr(record, field) for record in records])
        for name, field in (("model", "predictions"), ("no_change", "no_change"), ("majority", "majority"))
    }
    with Path("out", PREDICTIONS).open() as file:
        written = [row["prediction"] for row in csv.DictReader(file)]
    assert written == [["down", "up", ""][code] for code in found["model"]]
    scored = slice(delay + 1, max(delay + 1, ROWS - delay))  # rows before the first label have no prediction
    assert run.counts.learned == ROWS - delay
    assert run.task.board.rows == scored.stop - scored.start
    for name, codes in found.items():
        assert (codes[: delay + 1] == NO_PREDICTION).all()
        expected = (np.array(["down", "up", ""])[codes] != y)[scored]
        assert run.task.scores()[name]["error"] == (expected.mean() if len(expected) else None)


@pytest.mark.parametrize("delay", [0, 1, 40])
def test_a_delay_means_the_same_to_predicted_numbers(
    delay: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = FriedmanDrift(seed=4).take(400)
    X = X[:, :3]
    lines = [",".join(map(repr, [*row, target])) for row, target in zip(X.tolist(), y.tolist(), strict=True)]
    Path("rows.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    run = Run(RunOptions("rows.csv", "y", delay=delay, coverage=0.8, out="out"))
    run.go()
    model, encoded = make_model("auto", task="regression"), np.column_stack([X, np.zeros(400)])
    records = list(prequential(model, Table(encoded, y), delay=delay, coverage=0.8, chunk=77))
    with Path("out", PREDICTIONS).open() as file:
        written = list(csv.DictReader(file))
    for name, field in (("prediction", "predictions"), ("lower", "lower"), ("upper", "upper")):
        given = np.concatenate([getattr(record, field) for record in records])[delay + 1 :]
        shown = np.array([float(row[name] or "nan") for row in written[delay + 1 :]])
        np.testing.assert_array_equal(given, shown, err_msg=name)
    for name in ("running_mean", "running_median"):
        predicted = np.concatenate([getattr(record, name) for record in records])
        expected = np.abs(predicted - y)[delay + 1 : 400 - delay].mean()
        assert run.task.scores()[name]["mae"] == pytest.approx(expected)
