"""Importance during a run: a stream with a known cause, and independence of chunks, delays and interruptions."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from thalweg import OnlineLDC
from thalweg.explain import importance
from thalweg.explain.groups import Groups
from thalweg.explain.importance import LEAST_PROBABILITY, replace_groups
from thalweg.run.metrics import metrics_of
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run
from thalweg.store import dumps, loads

pytest.importorskip("pyarrow")

COLUMNS = 6


def flipping(seed: int, rows: int, flip: int) -> tuple[np.ndarray, np.ndarray]:
    """Column 3 reverses its effect at a row; column 5 drifts from half of that row on, and has none."""
    rng = np.random.default_rng(seed)
    X, time = rng.normal(size=(rows, COLUMNS)), np.arange(rows)
    X[:, 5] += np.maximum(time - flip / 2, 0.0) / 4000
    odds = X[:, 0] + np.where(time < flip, 1.5, -1.5) * X[:, 3]
    return X.round(4), np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no")


def write(path: Path, X: np.ndarray, y: np.ndarray) -> str:
    lines = [",".join(map(repr, row)) + f",{label}" for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join([",".join([*(f"c{at}" for at in range(X.shape[1])), "y"]), *lines]) + "\n")
    return str(path)


def found(folder: Path, **options) -> dict:
    run = Run(RunOptions(target="y", out=str(folder / "out"), **options))
    run.go()
    return metrics_of(run) | {"model_file": dumps(run.task.model)}


def names_the_cause(folder: Path, seed: int, rows: int, flip: int, model: str) -> None:
    metrics = found(folder, source=write(folder / f"{seed}.csv", *flipping(seed, rows, flip)), model=model)[
        "importance"
    ]
    assert [(cause["column"], cause["what"]) for cause in metrics["causes"]] == [("c3", "reversed")]
    assert abs(metrics["causes"][0]["row"] - flip) < 1000
    (third,) = [column for column in metrics["columns"] if column["name"] == "c3"]
    sign = np.sign(third["effect"][0])
    followed = [row for row, effect in zip(metrics["rows"], third["effect"], strict=True) if effect * sign < 0]
    assert flip <= followed[0] <= flip + 1000
    assert {column["name"] for column in metrics["columns"][:2]} == {"c0", "c3"}


@pytest.mark.parametrize("seed", range(2))
def test_the_column_that_reversed_is_named_and_no_other(seed: int, tmp_path: Path) -> None:
    names_the_cause(tmp_path, seed, 8000, 4000, "oldc")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["oldc", "auto"])
@pytest.mark.parametrize("seed", range(20))
def test_the_column_that_reversed_is_named_in_all_seeds(seed: int, model: str, tmp_path: Path) -> None:
    names_the_cause(tmp_path, seed, 24_000, 20_000, model)


@pytest.mark.parametrize("options", [{}, {"delay": 70}], ids=["at once", "late"])
def test_samples_depend_neither_on_chunks_nor_on_interruptions(options: dict, tmp_path: Path) -> None:
    X, y = flipping(3, 900, 500)
    X[:, 4] = X[:, 2] * -2.0  # which stand for each other
    y[::17] = ""  # rows without a label
    options |= {"source": write(tmp_path / "t.csv", X, y), "model": "oldc", "head": 100}
    whole, parts = found(tmp_path / "whole", **options), found(tmp_path / "parts", **options, chunk=13)
    assert len(whole["importance"]["rows"]) > 3
    assert "c2 + c4" in [column["name"] for column in whole["importance"]["columns"]]
    assert json.dumps(parts["importance"]) == json.dumps(whole["importance"])
    assert parts["model_file"] == whole["model_file"]
    # Stopped after every chunk, also within a sample.
    options["limit"] = 145 + options.get("delay", 0)
    asked = RunOptions(**options, target="y", chunk=7, out=str(tmp_path / "cut"))
    waited, answered = False, 0
    while answered < options["limit"]:
        run = Run(asked)
        run.resume()
        further = run._further_chunks
        run._further_chunks = lambda further=further: islice(further(), 1)
        run.go(checkpoint_seconds=0)
        answered, waited = run.counts.processed, waited or run.observer.importance.waiting is not None
    assert waited
    assert json.dumps(metrics_of(run)["importance"]) == json.dumps(found(tmp_path / "short", **options)["importance"])


def test_columns_that_stand_for_each_other_do_not_hide_the_one_that_counts(tmp_path: Path) -> None:
    """Flights in the order of their departure: the delay at departure decides, and times and distances repeat."""
    rng = np.random.default_rng(2)
    rows = 4000
    hour, minute = np.sort(rng.integers(5, 23, (rows // 500, 500)), axis=1).ravel(), rng.integers(0, 60, rows)
    distance, delay = rng.uniform(200, 2500, rows), rng.exponential(20, rows) - 8
    air_time = distance / 8 + rng.normal(scale=6, size=rows)
    day = np.arange(rows) // 500 + 1
    X = np.column_stack([day, 100 * hour + minute, delay, air_time, distance, hour, minute]).round(2)
    y = (delay + 0.8 * (air_time - distance / 8) + rng.normal(scale=3, size=rows)).round(2)
    metrics = found(tmp_path, source=write(tmp_path / "flights.csv", X, y))["importance"]
    names = [column["name"] for column in sorted(metrics["columns"], key=lambda each: -each["recent"]["increase"])]
    assert names[0] == "c2"
    assert {"c1 + c5 + c6", "c3 + c4"} < set(names)
    assert metrics["causes"] == []


def test_increase_and_effect_are_those_of_the_definition() -> None:
    """Row by row and column by column, against the model's own probabilities."""
    X, y = flipping(1, 320, 10_000)
    model = OnlineLDC(0.02).partial_fit(X[:300], y[:300])
    rows, labels, reference = X[300:], y[300:], X[:7]
    groups = Groups.given({"pair": [0, 1], "two": 2}, COLUMNS, [])
    rng = np.random.default_rng(5)
    drawn = np.random.default_rng(5).integers(7, size=(3, 20))
    replaced = replace_groups(model, rows, labels, reference, groups, "yes", 1.0, rng)

    def loss(row: np.ndarray, label: str) -> float:
        proba = model.predict_proba(row[np.newaxis])[0, list(model.classes_).index(label)]
        return -np.log(max(proba, LEAST_PROBABILITY))

    for at in range(20):
        for group, features in enumerate([[0, 1], [2], [3, 4, 5]]):
            mixed = rows[at].copy()
            mixed[features] = reference[drawn[group, at], features]
            wanted = loss(mixed, labels[at]) - loss(rows[at], labels[at])
            assert replaced.increase[at, group] == pytest.approx(wanted, abs=1e-12)
        other = rows[at].copy()
        other[2] = reference[drawn[1, at], 2]
        proba = model.predict_proba(np.stack([rows[at], other]))[:, 1]
        assert replaced.effect[at, 1] == pytest.approx((proba[0] - proba[1]) * np.sign(rows[at, 2] - other[2]))
    assert np.isnan(replaced.effect[:, [0, 2]]).all()


def test_a_number_and_a_table_have_importance_too(tmp_path: Path) -> None:
    X, _ = flipping(2, 3000, 10_000)
    rng = np.random.default_rng(0)
    targets = 3.0 * X[:, 1] - X[:, 2] + rng.normal(size=3000)
    write(tmp_path / "t.csv", X, targets.round(3))
    run = Run(RunOptions(source=str(tmp_path / "t.csv"), target="y", model="linear", out=str(tmp_path / "out")))
    run.go()
    metrics = metrics_of(run)["importance"]
    assert metrics["loss"] == "squared error"
    assert [column["name"] for column in metrics["columns"][:2]] == ["c1", "c2"]
    assert [np.sign(column["overall"]["effect"]) for column in metrics["columns"][:2]] == [1.0, -1.0]
    run.save_model(tmp_path / "model.thalweg")
    model = loads((tmp_path / "model.thalweg").read_bytes())
    assert model.background.shape[1] == COLUMNS + 1
    table = [dict(zip((f"c{at}" for at in range(COLUMNS)), row, strict=True)) for row in X[:50].tolist()]
    asked = importance(model, table, targets[:50])
    assert list(asked.ranking())[:2] == ["c1", "c2"]
