"""A column with a thousand categories: what it tells is learned, and what it does not tell does no harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.calls import metrics, run
from thalweg import OnlineLDC, PredictionSets, load
from thalweg.learners.base.kept_predictions import KeptPredictions
from thalweg.pipeline import TargetEncodedClassifier
from thalweg.store import dumps

pytest.importorskip("pyarrow")
pytest.importorskip("orjson")

from thalweg.service.journal.records import Decision
from thalweg.service.learning.creation import from_file
from thalweg.service.learning.encoding import encode, of_rows
from thalweg.service.learning.live_model import LiveModel

_ROWS, _SHOPS = 8000, 1000
_TOLD = ("run", "table.csv", "--target", "state", "--quiet", "--fresh")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three labels, each that of the row's shop in four rows of five; numbers that say nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    shop = rng.integers(0, _SHOPS, _ROWS)
    usual = rng.integers(0, 3, _SHOPS)
    label = np.where(rng.random(_ROWS) < 0.8, usual[shop], rng.integers(0, 3, _ROWS))
    number = rng.normal(size=_ROWS).round(3)
    lines = [f"{x},{'' if x > 3 else f'shop {s}'},{'abc'[k]}" for x, s, k in zip(number, shop, label, strict=True)]
    Path("table.csv").write_text("\n".join(["x,shop,state", *lines]) + "\n")
    return lines


def test_a_thousand_categories_are_learned(table: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *_TOLD, "--model", "oldc", "--out", "out")[0] == 0
    told = metrics()
    assert told["columns"][1] == [
        "shop",
        "wide category",
        "2 numbers: how often each label came with its category so far, counted in 65,536 hashed cells; "
        "0 for an empty cell or a new category",
    ]
    assert told["model"]["title"] == "OnlineLDC"
    late = told["scores"]["model"]["error"]
    assert late < 0.45 < 0.6 < told["scores"]["majority"]["error"]  # 0.42, with eight rows for each shop
    model = load("out/model.thalweg")
    assert isinstance(model.learner_, TargetEncodedClassifier)
    # `thalweg predict`, Python and the service give the same predictions
    Path("new.csv").write_text("\n".join(["x,shop", *(line.rpartition(",")[0] for line in table[-200:])]) + "\n")
    assert run(capsys, "predict", "out/model.thalweg", "new.csv", "--out", "answers.csv")[0] == 0
    answers = [line.split(",")[1].strip('"') for line in Path("answers.csv").read_text().splitlines()[1:]]
    rows = [dict(zip(("x", "shop"), line.split(",")[:2], strict=True)) for line in table[-200:]]
    assert model.predict(rows).tolist() == answers
    assert served(Path("out/model.thalweg"), [row | {"x": float(row["x"])} for row in rows]) == answers
    right = np.mean([answer == line[-1] for answer, line in zip(answers, table[-200:], strict=True)])
    assert right > 0.65


def served(file: Path, rows: list[dict[str, Any]]) -> list[str | None]:
    """What a service that is given the model of a run says of rows."""
    live = LiveModel("m", Decision(1, "create", 1, from_file(file)))
    assert live.follower is not None
    encoder = live.follower.encoder()
    state = live.publish()
    predicted = state.predict(encode(encoder, of_rows(rows, encoder)).X)[0]["m"]
    return [predicted[i] for i in range(len(rows))]


@pytest.mark.slow
@pytest.mark.parametrize("delay", ["0", "300"])
def test_neither_chunks_nor_a_stop_change_a_byte(
    table: list[str], delay: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = (*_TOLD[:-1], "--model", "oldc", "--delay", delay)
    assert run(capsys, *told, "--out", "whole")[0] == 0
    assert run(capsys, *told, "--out", "chunks", "--chunk", "77")[0] == 0
    whole_table = Path("table.csv").read_text()
    Path("table.csv").write_text("\n".join(["x,shop,state", *table[:5000], "warm"]) + "\n")
    assert run(capsys, *told, "--out", "cut", "--chunk", "500", "--checkpoint-seconds", "0")[0] == 2
    Path("table.csv").write_text(whole_table)
    assert run(capsys, *told, "--out", "cut", "--chunk", "500", "--resume")[0] == 0
    for name in ("model.thalweg", "predictions.csv"):
        whole = Path("whole", name).read_bytes()
        assert Path("chunks", name).read_bytes() == whole
        assert Path("cut", name).read_bytes() == whole


def test_a_label_that_has_not_come_yet_counts_for_nothing() -> None:
    """Every category comes twice, 10 rows apart, with the same label: known by then it is given away."""
    rng = np.random.default_rng(1)
    shop = np.repeat(np.arange(300.0).reshape(-1, 10), 2, axis=0).ravel()[:, None]
    y = np.repeat(rng.integers(0, 2, (30, 10)), 2, axis=0).ravel()
    rights = []
    for delay in (0, 10, 11):
        order = [step for i in range(len(y)) for step in ((i, ~(i - delay)) if i >= delay else (i,))]
        model = TargetEncodedClassifier(OnlineLDC(0.05), [(0, 1)])
        answers, _ = model.follow(shop, y, order)
        second = (np.arange(len(y)) // 10 % 2 == 1) & (np.arange(len(y)) > 300)
        rights.append(float((answers == y)[second].mean()))
    assert rights[0] > 0.9
    assert max(rights[1:]) < 0.65, rights


def test_sets_behind_categories_are_the_loop() -> None:
    rng = np.random.default_rng(2)
    shop = rng.integers(0, 9, 60).astype(float)[:, None]
    y = (rng.random(60) < np.where(shop[:, 0] > 4, 0.8, 0.2)).astype(int)
    order = [step for i in range(60) for step in ((i, ~(i - 7)) if i >= 7 else (i,))]
    slow, model = (TargetEncodedClassifier(PredictionSets(OnlineLDC(0.05), 0.7), [(0, 1)]) for _ in range(2))
    given = model.follow_sets(shop, y, order)
    assert len({len(row) for row in map(np.flatnonzero, given.sets)}) > 1
    members = KeptPredictions.none(60)
    for step in order:
        this = slice(max(step, ~step), max(step, ~step) + 1)
        if step > 20:  # both labels have come
            assert given.sets[step].tolist() == slow.predict_set(shop[step][None])[0].tolist()
            assert given.predictions[step] == slow.predict_one(shop[step])
        own = members[this]
        slow.follow_sets(shop[this], y[this], [~0 if step < 0 else 0], kept=own)
        members.put(this, own)
    assert dumps(model) == dumps(slow)


@pytest.mark.slow
def test_a_category_and_a_clock_that_say_nothing_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "generate", "fraud", "--out", "fraud.csv", "--rows", "15000")[0] == 0
    told = ("run", "fraud.csv", "--target", "label", "--delay", "500", "--quiet")
    assert run(capsys, *told, "--out", "all")[0] == 0
    assert run(capsys, *told, "--out", "numbers", "--drop", "time", "--drop", "merchant")[0] == 0
    areas = [metrics(name)["scores"]["model"]["roc_auc"] for name in ("all", "numbers")]
    assert metrics("all")["columns"][7][1] == "wide category"
    assert areas[0] > areas[1] - 0.01 > 0.88, areas
