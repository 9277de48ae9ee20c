"""Runs that learn only the labels they ask for."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from thalweg import LabelBudget, cli, load
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run
from thalweg.store import dumps
from thalweg.streams import MovingPlane

ROWS = 900
MODELS = {"side": "oldc", "size": "linear"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Labels, gaps among them, numbers, row times every ten minutes, and when the label comes."""
    X, y = MovingPlane(seed=1).take(ROWS)
    rng = np.random.default_rng(0)
    at = np.datetime64("2026-01-01T00:00") + 10 * np.arange(ROWS)
    known = at + rng.integers(5, 900, ROWS)
    labels = np.where(rng.random(ROWS) < 0.1, "", np.array(["down", "up"])[y])
    lines = [f"{a},{k},{x},{z},{x - z + 0.1 * e:.4f},{label}" for a, k, (x, z), e, label in
             zip(at, known, X.tolist(), rng.normal(size=ROWS), labels, strict=True)]  # fmt: skip
    path = tmp_path_factory.mktemp("tables") / "plane.csv"
    path.write_text("\n".join(["at,known,a,b,size,side", *lines]) + "\n")
    return path


def run(table, out, *options, target="side"):
    others = {"side": "size", "size": "side"}[target]
    command = ["run", str(table), "--target", target, "--drop", others, "--model", MODELS[target], "--out", str(out)]
    with pytest.raises(SystemExit) as stop:
        cli.main([*command, "--quiet", "--fresh", *options])
    assert not stop.value.code
    return json.loads((out / "metrics.json").read_text())


WAYS = {
    "prompt": ("--drop", "at", "--drop", "known"),
    "delay": ("--drop", "at", "--drop", "known", "--delay", "40"),
    "times": ("--time", "at", "--label-time", "known"),
}


@pytest.mark.parametrize(
    ("way", "target"), [("prompt", "side"), ("prompt", "size"), ("delay", "size"), ("times", "side")]
)
def test_chunks_change_nothing_and_only_asked_labels_are_learned(table, tmp_path, way, target):
    options = (*WAYS[way], "--label-budget", "0.1")
    found = [run(table, tmp_path / c, *options, "--chunk", c, target=target) for c in ("37", "900")]
    for metrics in found:
        metrics["run"] = None
    assert found[0] == found[1]
    budget = found[0]["label_budget"]
    assert budget["asked"] == pytest.approx(90, abs=3)
    assert found[0]["rows"]["learned"] == budget["came"] <= budget["asked"]
    for name in ("predictions.csv", "to_label.csv"):
        assert (tmp_path / "37" / name).read_bytes() == (tmp_path / "900" / name).read_bytes()
    if target == "side":
        lines = (tmp_path / "37" / "to_label.csv").read_text().splitlines()[1:]
        predictions = (tmp_path / "37" / "predictions.csv").read_text().splitlines()
        assert len(lines) == budget["to_label"] > 0
        assert all(predictions[int(line.split(",")[0])].split(",")[1] == "" for line in lines)


def test_a_run_asks_for_the_rows_that_the_model_asks_for(table, tmp_path):
    metrics = run(table, tmp_path, *WAYS["prompt"], "--label-budget", "0.1", "--drop", "b")
    X = np.loadtxt(table, delimiter=",", skiprows=1, usecols=[2])[:, np.newaxis]
    labels = np.loadtxt(table, delimiter=",", skiprows=1, usecols=5, dtype=str)
    model = LabelBudget(clone(load(tmp_path / "model.thalweg").learner_), 0.1)
    steps = np.stack([np.arange(ROWS), ~np.arange(ROWS)], axis=1)
    given, asked, *_ = model.follow(X, labels, steps[np.stack([labels == labels, labels != ""], axis=1)])
    assert metrics["label_budget"]["asked"] == asked.sum() == model.asked_
    written = np.loadtxt(tmp_path / "predictions.csv", delimiter=",", skiprows=1, usecols=2, dtype=str)
    assert (given == np.char.strip(written, '"')).all()


def test_a_stopped_run_resumes_with_the_same_rows(table, tmp_path, monkeypatch):
    options = {"source": str(table), "target": "side", "drop": ("at", "known", "size"), "model": "oldc", "delay": 40}
    options |= {"label_budget": "0.1", "chunk": 100}
    whole = Run(RunOptions(**options, out=str(tmp_path / "whole")))
    whole.go()
    for _ in range(3):
        cut = Run(RunOptions(**options, out=str(tmp_path / "cut")))
        cut.resume()
        left = iter(range(3))
        with suppress(StopIteration):
            cut.go(lambda _, left=left: next(left), checkpoint_seconds=0.0)
    cut.resume()
    cut.go()
    assert cut.task.budget.metrics({"error": 0.0}, None) == whole.task.budget.metrics({"error": 0.0}, None)
    assert dumps(cut.task.model) == dumps(whole.task.model)


def test_a_budget_by_the_day_is_not_exceeded_on_any_day(table, tmp_path):
    metrics = run(table, tmp_path, *WAYS["times"], "--label-budget", "12/day")
    days = ROWS * 10 / (24 * 60)
    assert 0.8 * 12 * days <= metrics["label_budget"]["asked"] <= 12 * np.ceil(days)


def test_a_shop_that_checks_only_what_it_flags_has_no_estimate_of_the_rest(table, tmp_path):
    options = (*WAYS["prompt"], "--label-budget", "0.1", "--labels-of", "flagged", "--positive", "up")
    blind = run(table, tmp_path / "blind", *options)["label_budget"]
    exploring = run(table, tmp_path / "exploring", *options, "--explore", "0.3")["label_budget"]
    assert (blind["explore"], exploring["explore"]) == (0.0, 0.3)
    assert blind["estimate"] == {"value": None, "low": None, "high": None}
    low, high = exploring["estimate"]["low"], exploring["estimate"]["high"]
    assert low <= exploring["truth"] <= high


def test_the_curve_falls_with_the_budget(table, tmp_path):
    metrics = run(table, tmp_path, *WAYS["prompt"], "--label-budget", "0.1", "--label-curve", "--limit", "500")
    shares, errors = zip(*metrics["label_budget"]["curve"], strict=True)
    assert shares == (0.01, 0.03, 0.1, 0.3, 1.0)
    assert errors[-1] < errors[0]
    assert errors[2] == metrics["scores"]["model"]["error"]
    assert "Error by label budget" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--label-budget", "2"), "--label-budget"), (("--label-budget", "5/day"), "--time"),
     (("--labels-of", "random"), "--label-budget"), (("--label-budget", "0.1", "--explore", "2"), "explore")],
)  # fmt: skip
def test_what_cannot_be_is_refused(table, tmp_path, options, said, capsys):
    with pytest.raises(SystemExit):
        cli.main(["run", str(table), "--target", "side", "--out", str(tmp_path / "out"), *options])
    assert said in capsys.readouterr().err
