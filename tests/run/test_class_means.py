"""Class means over time: the right ones, of the right features, in the units of the table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from thalweg import OnlineLDC, cli
from thalweg.catalogue import MODELS, make_model
from thalweg.evaluate.model_history import MOST_FEATURES, MOST_MEANS, MeanWatch

KEEPING = ("auto", "auto-linear", "oldc", "trend", "hiraoka")
CENTRES = np.array([[100.0, -3.0, 0.02], [140.0, 5.0, 0.05]])


def rows(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, count)
    return CENTRES[y] + rng.normal(size=(count, 3)) * [8.0, 2.0, 0.01], np.array(["low", "high"])[y]


@pytest.mark.parametrize("name", KEEPING)
def test_means_are_in_the_units_of_the_rows(name: str) -> None:
    X, y = rows()
    rate = None if name == "auto" else 0.9 if name == "trend" else 0.01 if name == "hiraoka" else None
    model = make_model(name, rate=rate)
    model.partial_fit(X, y)
    watch = MeanWatch()
    watch.choose(X, y)
    look = watch.snapshot(model)
    found = np.array([look["means"][label] for label in ("low", "high")])
    spread = np.array([8.0, 2.0, 0.01])
    # Half of the spread: quick members of a committee know a mean from a few rows only.
    assert (np.abs(found - CENTRES) < 0.5 * spread).all()
    assert ("forecast" in look) == (name == "trend")


def test_the_other_models_keep_none() -> None:
    X, y = rows(300)
    for name in sorted(set(MODELS["classification"]) - set(KEEPING)):
        model = make_model(name)
        watch = MeanWatch()
        watch.choose(X, y)
        assert watch.snapshot(model) == {}
        model.partial_fit(X, y)
        assert watch.snapshot(model) == {}


def test_the_features_that_tell_classes_apart_are_chosen() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 12)) + 1e6
    useful = [1, 3, 4, 8, 10, 11]
    X[:, useful] += y[:, None]
    watch = MeanWatch()
    watch.choose(X, np.where(rng.random(500) < 0.1, "", y.astype(str)))
    assert watch.features == useful
    few = np.column_stack([X[:, 3], np.full(500, 0.1), np.zeros(500)])
    watch.choose(few, y.astype(str))
    assert watch.features == [0, 1]  # a constant may move yet; what was always 0 says nothing


def test_what_is_kept_is_bounded() -> None:
    y = np.array([f"class {i % 30:02}" for i in range(600)])
    X = np.random.default_rng(1).normal(size=(600, 40)) + np.arange(600)[:, None] % 30
    model, watch = OnlineLDC(0.1), MeanWatch()
    watch.choose(X, y)
    for begin in (0, 7, 300):
        model.partial_fit(X[begin : begin + 300 if begin else 7], y[begin : begin + 300 if begin else 7])
        means = watch.snapshot(model)["means"]
        assert len(means) <= MOST_MEANS
        assert {len(values) for values in means.values()} == {MOST_FEATURES}
    assert list(means)[:7] == [f"class {i:02}" for i in range(7)]  # those that came first


def test_a_run_records_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end they are those of the model that was saved, for features by the names of their columns."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    X, y = rows(2500)
    wind = np.where((y == "low") ^ (np.arange(2500) % 9 == 0), "north", "south")
    lines = [f"{a!r},{b!r},{w},{label}" for (a, b, _), w, label in zip(X.tolist(), wind, y, strict=True)]
    Path("t.csv").write_text("level,rain,wind,state\n" + "\n".join(lines) + "\n")
    with pytest.raises(SystemExit):
        cli.main(["run", "t.csv", "--target", "state", "--model", "trend", "--out", "out", "--quiet", "--json"])
    metrics = json.loads(Path("out/metrics.json").read_text())
    means = metrics["course"]["means"]
    assert means["features"] == ["level", "rain", *(f"wind = {each}" for each in dict.fromkeys(wind.tolist()))]
    assert metrics["course"]["rows"][-1] == 2500
    assert means["ahead"] == 1
    assert metrics["changes_left_out"] == 0
    from thalweg import load

    model = load("out/model.thalweg").learner_
    for label, held, ahead in zip(model.classes_, model._class_means(), model.forecast_.means, strict=True):
        for feature in range(4):
            assert means["classes"][label][feature][-1] == pytest.approx(held[feature], rel=1e-5)
            assert means["forecast"][label][feature][-1] == pytest.approx(ahead[feature], rel=1e-5)
