"""Frozen and retrained boosting get each label when the model does, and are refitted as they were after a stop."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from tests.cli.calls import run
from threadpoolctl import threadpool_limits

from thalweg import evaluate
from thalweg.errors import InvalidParameter
from thalweg.report.page import build
from thalweg.report.page.formats import percent, short
from thalweg.run_metrics import as_metrics
from thalweg.streams import SEA, DriftingTopics, FriedmanDrift

pytest.importorskip("pyarrow")

EVERY, ROWS = 50, 330


def oracle(X: Any, y: Any, delay: int, name: str, make: Any) -> Any:
    """By fits: row k·EVERY + delay is the last one predicted before fit k; NaN before the first."""
    found = np.full(len(y), np.nan)
    fits = range(EVERY, len(y) - delay + 1, EVERY)
    with threadpool_limits(1):
        for labelled in fits[:1] if name == "frozen" else fits:
            window = slice(max(0, labelled - 5 * EVERY), labelled)
            model = make(early_stopping=False, random_state=0).fit(X[window], y[window])
            found[labelled + delay :] = model.predict(X[labelled + delay :]) if labelled + delay < len(y) else []
    return found


@pytest.mark.parametrize("delay", [pytest.param(0, marks=pytest.mark.slow), 25])
@pytest.mark.parametrize("task", ["classification", pytest.param("regression", marks=pytest.mark.slow)])
def test_a_slow_loop_finds_the_same_losses(task: str, delay: int) -> None:
    numbers = task == "regression"
    X, y = (FriedmanDrift if numbers else SEA)(seed=1).take(ROWS)
    result = evaluate.run("auto", X, y, task=task, delay=delay, against=("frozen", "retrained"), against_rows=EVERY)
    encoded = np.column_stack([X, np.zeros(ROWS)])
    shown = result.to_frame("arrow").to_pydict()
    scored = slice(delay + 1, ROWS - delay)
    own = [np.nan if each is None else float(each) for each in shown["prediction"]]
    for name, found in result.metrics["against"]["references"].items():
        make = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
        given = oracle(encoded, y, delay, name, make)[scored]
        has = ~np.isnan(given)
        truth, model = y[scored][has], np.array(own)[scored][has]
        losses = [np.abs(truth - each) if numbers else truth != each for each in (given[has], model)]
        assert found["rows"] == has.sum() > 200
        assert found["fits"] == (1 if name == "frozen" else (ROWS - delay) // EVERY)
        assert (found["loss"], found["model"]) == pytest.approx(tuple(each.mean() for each in losses))
        assert found["difference"]["difference"] == pytest.approx(losses[1].mean() - losses[0].mean())
        curve = result.metrics["against"]["curve"][name]
        assert len(curve) == len(result.metrics["curve"]["rows"])
        assert curve[-1] == pytest.approx(losses[0].mean())


@pytest.mark.parametrize("late", [(), pytest.param(("--delay", "33"), marks=pytest.mark.slow)])
def test_neither_chunks_nor_a_stop_change_the_results(
    late: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = SEA(seed=1).take(700)
    lines = [
        "a,b,c,side",
        *(",".join([*map(repr, row), f"s{label}"]) for row, label in zip(X.tolist(), y, strict=True)),
    ]
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    asked = ("--against", "frozen,retrained", "--against-rows", "160", "--model", "oldc", "--head", "80", *late)
    arguments = ("run", "rows.csv", "--target", "side", *asked, "--out", "out", "--quiet")

    def results() -> dict[str, Any]:
        found = json.loads(Path("out/metrics.json").read_bytes())
        return {"predictions": Path("out/predictions.csv").read_bytes(), "metrics": found | {"run": None}}

    assert run(capsys, *arguments)[0] == 0
    whole = results()
    assert whole["metrics"]["against"]["references"]["retrained"]["fits"] == 4
    Path("rows.csv").write_text("\n".join([*lines[:450], "warm,1,1,s1", *lines[450:]]) + "\n")
    assert run(capsys, *arguments, "--chunk", "37", "--checkpoint-seconds", "0", "--fresh")[0] == 2
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    assert run(capsys, "run", "--resume", "--out", "out", "--quiet")[0] == 0
    assert results() == whole


def test_the_terminal_says_what_was_saved_and_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = SEA(seed=1).take(300)
    lines = [
        "a,b,c,side",
        *(",".join([*map(repr, row), f"s{label}"]) for row, label in zip(X.tolist(), y, strict=True)),
    ]
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    plain = ("run", "rows.csv", "--target", "side", "--against-rows", "100", "--out", "out", "--quiet")
    code, said, _ = run(capsys, *plain, "--against", "frozen")
    assert code == 0
    assert "Gradient boosting fitted once, to the first 100 labelled rows" in said
    assert "Processor time: model" in said
    code, said, _ = run(capsys, *plain, "--against", "frozen", "--json")
    assert set(json.loads(said)["timing"]["processor_seconds"]) == {"model", "frozen"}
    assert "timing" not in json.loads(Path("out/metrics.json").read_bytes())
    code, _, complaint = run(capsys, *plain, "--against", "frozen,frozen")
    assert (code, "--against must be frozen, retrained, prompt, or several" in complaint) == (2, True)


def test_one_label_in_the_window_and_too_few_labels() -> None:
    X, y = SEA(seed=1).take(200)
    same = np.where(np.arange(200) < 100, 1, y)
    found = evaluate.run("oldc", X, same, against=("frozen", "retrained"), against_rows=50).metrics["against"]
    assert found["references"]["frozen"]["fits"] == 1
    result = evaluate.run("oldc", X, y, against="frozen", against_rows=500)
    assert result.metrics["against"]["references"]["frozen"]["rows"] == 0
    assert "nothing to show" in result._repr_html_()


def test_wide_categories_are_categories_to_the_references() -> None:
    """Whether the number of a cell is high or low says nothing: only a category of its own can learn the labels."""
    import pandas as pd

    rng = np.random.default_rng(0)
    shops = rng.integers(0, 90, 3000)
    table = pd.DataFrame({"shop": [f"shop {at}" for at in shops], "noise": rng.normal(size=3000)})
    labels = np.where(rng.permutation(90)[shops] % 2, "open", "closed")
    found = evaluate.run("oldc", table, labels, against="frozen", against_rows=2500).metrics["against"]
    assert found["references"]["frozen"]["loss"] < 0.02


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_headline_says_where_another_model_is_significantly_better(task: str) -> None:
    """Trees learn a product of two features, a linear model cannot. Of a sum it learns more, and nothing is said."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(1500, 6))
    numbers, model = task == "regression", "linear" if task == "regression" else "oldc"
    kind = "mean absolute error" if numbers else "error"
    curved, straight = X[:, 0] * X[:, 1], X.sum(axis=1)
    asked: Any = {"task": task, "against": ("frozen", "retrained"), "against_rows": 400}
    lost, won = (evaluate.run(model, X, y if numbers else np.sign(y), **asked) for y in (curved, straight))
    references = lost.metrics["against"]["references"]
    best = min(references, key=lambda name: references[name]["loss"])
    assert all(each["difference"]["low"] > 0.0 for each in references.values())
    loss, own = (short(each) if numbers else percent(each) for each in map(references[best].get, ("loss", "model")))
    done = "once, to the first 400 labelled rows," if best == "frozen" else "every 400 labelled rows, to the last"
    assert f"Gradient boosting fitted {done} " in lost.headline
    assert lost.headline.endswith(f"does better: {kind} {loss} against {own} over the last 1,100 rows.")
    for metrics in (lost.metrics, lost.metrics | {"against": won.metrics["against"]}):
        page = build(as_metrics(metrics))
        (headline,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
        assert ("does better" in headline) == (metrics is lost.metrics)
    assert won.headline.startswith("Better")


def test_text_is_refused() -> None:
    import pandas as pd

    texts, labels = DriftingTopics(seed=0).take(200)
    table = pd.DataFrame({"product": [f"p{at % 90}" for at in range(200)], "title": np.ravel(texts)})
    table["body"] = table["title"]
    with pytest.raises(
        InvalidParameter,
        match="'against' parameter of run must be left out for sparse rows and text, as in columns 'title', 'body' ",
    ):
        evaluate.run("auto", table, labels, text=("title", "body"), against="frozen")
