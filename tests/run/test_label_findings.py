"""Delays by label, the shares of labels, and what lateness costs, beside plain loops; then what a run says of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.calls import run

from thalweg import AutoClassifier, AutoRegressor, OnlineLDC, evaluate
from thalweg.container import packed, unpacked
from thalweg.errors import InvalidParameter
from thalweg.report.page.label_findings import delays_by_label, shares_of_labels
from thalweg.report.score_table import verdict_of
from thalweg.run.label_findings import LabelDelays, LabelShares
from thalweg.streams import SEA, FriedmanDrift
from thalweg.tables.clock import NEVER
from thalweg.tables.late_labels import LateLabels

HOUR = 3600 * 10**6


@given(
    rows=st.integers(1, 600),
    spread=st.floats(0.0, 3.0),
    ratio=st.floats(1.0, 4.0),
    seed=st.integers(0, 999),
    cuts=st.lists(st.integers(0, 600), max_size=4),
)
def test_medians_are_those_of_numpy(rows: int, spread: float, ratio: float, seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, rows)
    now = np.cumsum(rng.integers(0, HOUR, rows))
    delays = (HOUR * np.exp(spread * rng.normal(size=rows)) * np.where(labels == 2, ratio, 1.0)).astype(np.int64)
    due = np.where(rng.random(rows) < 0.1, NEVER, now + np.where(rng.random(rows) < 0.02, -5, delays))
    found = LabelDelays(counts=False)
    for part in np.split(np.arange(rows), sorted(min(cut, rows) for cut in cuts)):
        found.add(labels[part], now[part], due[part])
        state, found = unpacked(packed(found.state())), LabelDelays()
        found.restore(state)
    whole = LabelDelays(counts=False)
    whole.add(labels, now, due)
    assert sorted(found.state()["_cells"]) == sorted(whole.state()["_cells"])
    metrics = found.metrics(["early", "late"])
    known = [np.maximum(due - now, 0)[(labels == label) & (due != NEVER)] / 1e6 for label in (1, 2)]
    assert (metrics is None) == (sum(map(len, known)) == 0)
    if metrics is None:
        return
    assert dict(zip(metrics["labels"], metrics["rows"], strict=True)) == {
        name: len(each) for name, each in zip(("early", "late"), known, strict=True) if len(each)
    }
    medians = dict(zip(metrics["labels"], metrics["medians"], strict=True))
    for name, each in zip(("early", "late"), known, strict=True):
        if len(each):
            lower, upper = np.quantile(each, 0.5, method="lower"), np.quantile(each, 0.5, method="higher")
            assert lower * 0.989 <= medians[name] <= upper * 1.011
    if metrics["differ"] is not None:
        early, late = metrics["differ"]
        assert medians[late] >= 1.25 * medians[early]
        assert min(map(len, known)) >= 50
    elif ratio > 2 and spread < 0.2:
        assert min(map(len, known)) < 50


def test_labels_that_come_alike_do_not_differ() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        delays = LabelDelays(counts=True)
        delays.add(rng.integers(1, 4, 600), np.zeros(600, dtype=np.int64), rng.exponential(1e6, 600).astype(np.int64))
        found = delays.metrics(["a", "b", "c"])
        assert found is not None
        assert found["differ"] is None


@given(
    rows=st.integers(1, 200),
    delay=st.integers(0, 30),
    classes=st.integers(1, 5),
    seed=st.integers(0, 999),
    cuts=st.lists(st.integers(0, 200), max_size=4),
)
def test_shares_are_those_of_the_labels_known(rows: int, delay: int, classes: int, seed: int, cuts: list[int]) -> None:
    labels = np.random.default_rng(seed).integers(0, classes + 1, rows)
    late, shares, given = LateLabels(delay=delay), LabelShares(), []
    for part in np.split(np.arange(rows), sorted(min(cut, rows) for cut in cuts)):
        batch = late.plan(np.zeros((len(part), 1)), labels[part], labels[part] > 0, part + 1)
        given += shares.of_truth(batch)[batch.carried :].tolist()
        late.keep(batch, {})
        resumed = LabelShares()
        resumed.restore(unpacked(packed(shares.state())))
        shares = resumed
    for row in np.flatnonzero(labels):
        known = labels[: max(row - delay, 0)]
        known = Counter(known[known > 0].tolist())
        if known:
            assert given[row] == known[labels[row]] / known.total()
        else:
            assert np.isnan(given[row])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_prompt_is_a_run_without_lateness(task: str) -> None:
    numbers = task == "regression"
    X, y = (FriedmanDrift if numbers else SEA)(seed=1).take(900)
    y = y.astype(object)
    y[np.random.default_rng(0).random(900) < 0.1] = None  # never labelled
    model = AutoRegressor() if numbers else AutoClassifier()
    late = evaluate.run(model, X, y, delay=40, against="prompt")
    prompt = evaluate.run(model, X, y)
    truth, had, own = (
        np.array([np.nan if each is None else float(each) for each in table[name].to_pylist()])
        for table, name in (
            (prompt.predictions, "target" if numbers else "label"),
            (prompt.predictions, "prediction"),
            (late.predictions, "prediction"),
        )
    )
    scored = ~np.isnan(truth) & ~np.isnan(own) & (np.arange(900) < 860)
    losses = (np.abs(truth - had) if numbers else (truth != had).astype(float))[scored]
    found = late.metrics["against"]
    assert found["references"]["prompt"]["rows"] == scored.sum() > 700
    assert found["references"]["prompt"]["loss"] == pytest.approx(losses.mean(), rel=1e-12)
    every = len(losses) // len(found["curve"]["prompt"])  # a point stands for so many scored rows
    means = np.cumsum(losses) / np.arange(1, len(losses) + 1)  # of fewer rows than the window has
    assert found["curve"]["prompt"] == pytest.approx(means[every - 1 :: every].tolist(), rel=1e-9)
    assert "Had they come at once:" in late.headline


def test_prompt_needs_late_labels() -> None:
    with pytest.raises(InvalidParameter, match="name prompt only with"):
        evaluate.run("oldc", SEA(seed=0), rows=200, against="prompt")


def test_neither_chunks_nor_a_stop_change_what_is_said_of_late_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = ("generate", "fraud", "--rows", "1500", "--set", "label_delay=60", "--set", "share=0.2", "-o", "rows.csv")
    assert run(capsys, *made)[0] == 0
    asked = ("--target", "label", "--time", "time", "--label-time", "known_at", "--positive", "1", "--model", "oldc")
    arguments = ("run", "rows.csv", *asked, "--against", "prompt", "--head", "80", "--out", "out", "--quiet")

    def results() -> dict[str, Any]:
        found = json.loads(Path("out/metrics.json").read_bytes())
        return {"predictions": Path("out/predictions.csv").read_bytes(), "metrics": found | {"run": None}}

    code, said, _ = run(capsys, *arguments)
    assert code == 0
    said = said.replace("\N{NO-BREAK SPACE}", " ").replace("\n", " ")
    assert "Had they come at once: error" in said
    assert "Label 1 comes 3 h" in said or "Label 1 comes 2 h" in said
    whole = results()
    delays = whole["metrics"]["label_delays"]
    assert delays["differ"] == ["0", "1"]
    assert delays["medians"] == pytest.approx([3600, 3 * 3600], rel=0.1)
    lines = Path("rows.csv").read_text().splitlines()
    Path("rows.csv").write_text("\n".join([*lines[:950], "warm" + lines[951], *lines[951:]]) + "\n")
    assert run(capsys, *arguments, "--chunk", "97", "--checkpoint-seconds", "0", "--fresh")[0] == 2
    Path("rows.csv").write_text("\n".join(lines) + "\n")
    assert run(capsys, "run", "--resume", "--out", "out", "--quiet")[0] == 0
    assert results() == whole


@pytest.mark.quick(3)
@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize("delay", [0, 50])
def test_coin_tosses_teach_nothing_and_a_run_says_so(share: float, delay: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(4000, 3)), (rng.random(4000) < share).astype(int)
    result = evaluate.run(OnlineLDC(0.001, counts="soft"), X, y, delay=delay)
    assert result.headline.startswith("No better than the share of each label known at the time: log-loss 0.")
    assert "Nothing useful was learned" in " ".join(verdict_of(result.metrics).findings)
    y = (X[:, 0] + 0.3 * rng.normal(size=4000) > 0).astype(int)
    result = evaluate.run(OnlineLDC(0.001, counts="soft"), X, y, delay=delay)
    assert result.headline.startswith("Better than")
    shares = result.metrics["label_shares"]
    assert shares["log_loss"] == pytest.approx(np.log(2), abs=0.01)
    assert "its log-loss is 0." in " ".join(shares_of_labels(result.metrics))  # type: ignore[arg-type]
    assert delays_by_label(result.metrics) == []  # type: ignore[arg-type]
