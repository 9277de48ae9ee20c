"""Concept drift and input drift are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.evaluate.drift_streams import drifting
from thalweg import AutoClassifier, OnlineLDC
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.error_causes import EARLY, ErrorCauses
from thalweg.evaluate.input_drift import InputDrift
from thalweg.evaluate.short_rises import ShortRises

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
    short = ShortRises()
    for start, end in zip([0, *chunks], [*chunks, len(X)], strict=True):
        rows = drift.as_numbers(names, list(X[start:end].T))
        drift.add_rows(rows)
        rises = [change for change in detector.add(mistakes[start:end]) if change["after"] > change["before"]]
        rises += [rise | {"short": True} for rise in short.add(mistakes[start:end])]
        causes.add(np.arange(start + 1, end + 1), mistakes[start:end], rows, rises, drift.changes, names)
    return drift.changes, causes.results(drift.changes, names)


def verdict(model: Any, kind: str, seed: int) -> str:
    return named(model, *stream(kind, seed), columns={"x4"})


def named(model: Any, X: np.ndarray, y: np.ndarray, columns: set[str] | None = None) -> str:
    """What is said to have changed; no column may but these, where they are given."""
    mistakes = np.asarray(model.predict_then_learn(X, y)) != y
    changes, found = examined(X, mistakes, range(1000, len(X), 1000))
    assert columns is None or {change["column"] for change in changes} <= columns
    concept = any(each["cause"] == "concept" for each in found)
    return {(1, 0): "concept", (0, 1): "inputs", (1, 1): "both", (0, 0): "neither"}[concept, bool(changes)]


@pytest.mark.parametrize("kind", ["concept", "inputs", "both", "neither"])
def test_what_changed_is_named(kind: str) -> None:
    assert [verdict(OnlineLDC(0.01), kind, seed) for seed in range(3)] == [kind] * 3


#: Of 20 seeds, those in which a change of the rule is named, at the least; measured: 6, 20, 20, 17, 20 and 20.
#: The model follows a moved threshold of SEA with 26 mistakes more than usual, which are few among 10 % of noise.
NAMED = {"SEA": 5, "STAGGER": 20, "hyperplane": 20, "one weight": 16, "disc": 20, "quadrants": 20}


@pytest.mark.slow
@pytest.mark.parametrize("generator", list(NAMED))
def test_rule_and_inputs_are_told_apart_on_streams_of_several_kinds(generator: str) -> None:
    """A change of the inputs alone is not taken for one of the rule, nor the other way round.

    In 20 x 9,000 rows one stretch of mistakes may look like a rise by chance: 31 in 114 rows of SEA, instead of 12.
    """
    concepts, inputs = (
        [named(AutoClassifier(), *drifting(generator, kind, seed)) for seed in range(20)]
        for kind in ("concept", "inputs")
    )
    assert concepts.count("concept") >= NAMED[generator]
    assert set(concepts) <= {"concept", "neither"}
    assert inputs.count("inputs") >= (19 if generator == "SEA" else 20)


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


def test_a_column_that_changes_after_a_rise_is_no_cause_of_it() -> None:
    """The share of mistakes rises at one row, x0 moves there or 700 rows before, and x1 moves 150 rows after."""
    for begin, when in ((AT, "with"), (AT - 700, "before"), (ROWS, None)):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(ROWS, 3))
        X[begin:, 0] += 2.0
        X[AT + 150 :, 1] += 2.0
        mistakes = rng.random(ROWS) < np.where(np.arange(ROWS) < AT, 0.05, 0.5)
        _, [rise] = examined(X, mistakes, [9100, 9400])
        assert rise["columns"] == ([] if when is None else ["x0"])
        assert {each["column"]: each["when"] for each in rise["changed"]} == (
            {"x1": "after"} | ({} if when is None else {"x0": when})
        )
        assert rise["cause"] == "concept"


def test_a_short_rise_is_found_and_chunks_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    X, mistakes = rng.normal(size=(ROWS, 2)), rng.random(ROWS) < 0.05
    mistakes[AT : AT + 60 : 4] = True  # too short a rise for ADWIN
    changes, found = examined(X, mistakes, [])
    [rise] = found
    assert (changes, rise["cause"], rise["short"], abs(rise["at"] - AT) < 60) == ([], "concept", True, True)
    assert rise["before"] < 0.06 < 0.2 < rise["after"]
    for cut in ([AT], [AT + 20], [17, AT + 40, AT + 900], list(range(0, ROWS, 777))[1:]):
        assert examined(X, mistakes, cut) == (changes, found)
    numbers = np.abs(rng.normal(size=ROWS))
    numbers[AT : AT + 40] *= 3.0
    assert [abs(each["row"] - AT) < 20 for each in ShortRises(whole=False).add(numbers)] == [True]


def test_short_rises_are_not_found_where_there_is_none() -> None:
    rng = np.random.default_rng(5)
    for share in (0.01, 0.1, 0.4):
        assert not ShortRises().add(rng.random(100_000) < share)
    assert not ShortRises(whole=False).add(np.abs(rng.standard_t(2, 100_000)))


def test_nothing_is_said_of_a_rise_at_the_start() -> None:
    """The model itself is new there: a rise is not laid to the stream."""
    rng = np.random.default_rng(0)
    for first, cause in ((EARLY // 2, "unclear"), (2 * EARLY, "concept")):
        causes = ErrorCauses([False])
        errors = np.where(np.arange(2000) < first, 0.0, 1.0)
        rise = {"row": first, "found": first + 30}
        causes.add(np.arange(2000), errors, rng.normal(size=(2000, 1)), [rise], [], ["a"])
        (found,) = causes.results([], ["a"])
        assert (found["cause"], found.get("early", False)) == (cause, cause == "unclear")
