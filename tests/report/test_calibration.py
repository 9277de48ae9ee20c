"""A sentence about probabilities that do not come true, and none where they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.sample_metrics import sample_metrics

from thalweg import OnlineLogistic, PassiveAggressive, Recalibrated, evaluate
from thalweg.report.page.label_findings import calibration_finding
from thalweg.report.page.verdict import findings

ROWS = 5000


def drawn(seed: int, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which the best possible probabilities are those of a logistic regression."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    chance = 1.0 / (1.0 + np.exp(-X @ [2.0, 1.0, -1.0, 0.0]))
    return X, np.where(rng.random(rows) < chance, "a", "b")


def said(model: Any, seed: int) -> list[str]:
    metrics: Any = evaluate.run(model, *drawn(seed)).metrics
    return calibration_finding(metrics)


def binned(said: np.ndarray, came: np.ndarray) -> Any:
    """Metrics with probabilities of predictions, and whether each was right."""
    bins = np.minimum((10 * said).astype(int), 9)
    rows = [int((bins == at).sum()) for at in range(10)]
    means = [[float(each[bins == at].mean()) if rows[at] else None for at in range(10)] for each in (said, came)]
    calibration = {"edges": [at / 10 for at in range(11)], "rows": rows, "confidence": means[0], "accuracy": means[1]}
    return sample_metrics() | {"calibration": calibration}


def test_nothing_is_said_of_probabilities_that_come_true() -> None:
    """The true probabilities in every seed, also in a short run, and those that a model learned in some."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for rows in (200, 1000, ROWS):
            chance = rng.uniform(0.5, 1.0, rows)
            assert calibration_finding(binned(chance, rng.random(rows) < chance)) == []
    assert [said(OnlineLogistic(), seed) for seed in range(2)] == [[], []]


@pytest.mark.slow
def test_nothing_is_said_of_a_calibrated_model_over_twenty_seeds() -> None:
    for model in ("logistic", "oldc", "auto"):
        assert [said(model, seed) for seed in range(20)] == [[]] * 20


def test_what_was_expected_what_came_and_what_to_do_is_said() -> None:
    for seed in range(2):
        [told] = said(PassiveAggressive(), seed)
        assert told.startswith("The model was overconfident: the probability of its predictions was 8")
        assert told.endswith("Recalibrated(model) in Python.")
        assert said(Recalibrated(PassiveAggressive()), seed) == []
    rng = np.random.default_rng(0)
    low = binned(np.full(ROWS, 0.65), rng.random(ROWS) < 0.95)
    assert (
        "underconfident: the probability of its predictions was 65.0\N{NO-BREAK SPACE}% on average" in findings(low)[-1]
    )
    both = np.where(np.arange(ROWS) % 2, 0.65, 0.95)
    [told] = calibration_finding(binned(both, rng.random(ROWS) < 0.8))
    assert "predictions with a probability of 60 to 70.0\N{NO-BREAK SPACE}%, 8" in told or "90 to 100" in told


def test_a_rare_label_that_comes_less_often_than_its_probability_says() -> None:
    def with_rate(share: float) -> Any:
        edges = [0.0, 0.1, 1.0]
        reliability = {"edges": edges, "rows": [ROWS, 0], "probability": [0.05, None], "observed": [share, None]}
        classes = {"labels": ["fraud", "fine"], "rows": [50, ROWS - 50]}
        rare = {"positive": "fraud", "named": True, "share": share, "costs": None, "alerts": None, "classes": classes}
        return sample_metrics() | {"calibration": None, "rare": rare | {"reliability": reliability}}

    assert calibration_finding(with_rate(0.045)) == []
    [told] = calibration_finding(with_rate(0.01))
    assert told.startswith(
        "P(fraud) was too high: 5.0\N{NO-BREAK SPACE}% on average, and 1.0\N{NO-BREAK SPACE}% of the rows"
    )
