"""Metrics of an invented run that predicts numbers, scored as a run scores its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.sample_metrics import sample_metrics
from thalweg.evaluate.drift import ResidualChanges
from thalweg.run.regression_scoreboard import RegressionScoreboard

BASELINES = ("last_value", "running_mean", "running_median", "season")


def sample_number_metrics(
    rows: int = 3000, names: dict[str, Any] | None = None, error: float = 1.0, seed: int = 3
) -> dict[str, Any]:
    """A wave with noise, whose predictions miss it by ``error`` and twice as much after two thirds of the rows."""
    rng = np.random.default_rng(seed)
    steps = np.arange(rows)
    truth = 20.0 + 5.0 * np.sin(steps / 40) + rng.normal(size=rows)
    sizes = error * np.where(steps < 2 * rows // 3, 1.0, 2.0)
    answers = {"model": truth + sizes * rng.normal(size=rows), "running_mean": np.full(rows, 20.0)}
    answers["running_median"] = np.full(rows, 20.5)
    answers["last_value"] = np.concatenate([[20.0], truth[:-1]])
    answers["season"] = truth + 3.0 * rng.normal(size=rows)
    board, changes = RegressionScoreboard(BASELINES, 0.9), ResidualChanges()
    board.by_size.settle(truth[:1000])
    errors, _ = board.add_numbers(truth, answers, answers["model"] - 1.65 * sizes, answers["model"] + 1.65 * sizes)
    changes.add(errors)
    base = sample_metrics(60, names)
    base["run"]["options"]["season"] = 24
    kept = ("schema", "run", "rows", "inputs", "columns", "model")
    return {
        **{name: base[name] for name in kept},
        "task": "regression",
        "course": base["course"] | {"means": None},
        "rows": base["rows"] | {"read": rows + 15, "predicted": rows, "scored": rows, "learned": rows},
        "verdict": board.verdict(),
        "scores": board.scores({"intervals", *board.predictors}),
        "intervals": board.intervals(),
        "curve": board.curve(),
        "predictions": board.predictions(),
        "by_size": board.by_size.groups(),
        "changes": changes.changes(),
        "changes_left_out": 0,
    }
