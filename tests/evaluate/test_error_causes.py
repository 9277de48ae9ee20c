"""Concept drift and input drift are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from thalweg import AutoClassifier, OnlineLDC
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.error_causes import ErrorCauses
from thalweg.evaluate.input_drift import InputDrift

ROWS, AT = 14_000, 9000


def stream(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A linear rule over six columns, of which the fifth has no effect; rule, inputs, both or neither change."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 6))
    rule = rng.normal(size=6)
    rule[4] = 0.0
    rules = np.tile(rule / np.linalg.norm(rule), (ROWS, 1))
    if kind in ("inputs", "both"):
        X[AT:, 4] += 2.0
    if kind in ("concept", "both"):
        rules[AT:] *= -1.0
    return X, ((X * rules).sum(axis=1) + 0.3 * rng.normal(size=ROWS) > 0).astype(int)


def examined(
    X: np.ndarray, mistakes: np.ndarray, chunks: Sequence[int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    names = [f"x{at}" for at in range(X.shape[1])]
    drift, detector, causes = InputDrift(), ChangeDetector(), ErrorCauses([False] * X.shape[1])
    for start, end in zip([0, *chunks], [*chunks, len(X)], strict=True):
        rows = drift.as_numbers(names, list(X[start:end].T))
        drift.add_rows(rows)
        rises = [change for change in detector.add(mistakes[start:end]) if change["after"] > change["before"]]
        causes.add(np.arange(start + 1, end + 1), mistakes[start:end], rows, rises, drift.changes, names)
    return drift.changes, causes.results(drift.changes, names)


def verdict(model: Any, kind: str, seed: int) -> str:
    X, y = stream(kind, seed)
    mistakes = np.asarray(model.predict_then_learn(X, y)) != y
    changes, found = examined(X, mistakes, range(1000, ROWS, 1000))
    assert {change["column"] for change in changes} <= {"x4"}
    concept = any(each["cause"] == "concept" for each in found)
    return {(1, 0): "concept", (0, 1): "inputs", (1, 1): "both", (0, 0): "neither"}[concept, bool(changes)]


@pytest.mark.parametrize("kind", ["concept", "inputs", "both", "neither"])
def test_what_changed_is_named(kind: str) -> None:
    assert [verdict(OnlineLDC(0.01), kind, seed) for seed in range(3)] == [kind] * 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["concept", "inputs", "both", "neither"])
def test_what_changed_is_named_for_the_default_model_over_twenty_seeds(kind: str) -> None:
    assert [verdict(AutoClassifier(), kind, seed) for seed in range(20)] == [kind] * 20


def test_new_inputs_account_for_a_rise_and_chunks_do_not_matter() -> None:
    """Rows with a large first column are predicted badly, and become frequent."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, 3))
    X[AT:, 0] += 2.0
    mistakes = rng.random(ROWS) < np.where(X[:, 0] > 2.0, 0.6, 0.05)
    changes, found = examined(X, mistakes, [])
    assert [change["column"] for change in changes] == ["x0"]
    assert [(each["cause"], each["columns"]) for each in found] == [("inputs", ["x0"])]
    assert examined(X, mistakes, [10, 9010, 9500, 9900, 10_100]) == (changes, found)
