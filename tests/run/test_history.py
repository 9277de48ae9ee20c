"""History points of a model that learns: each shows the model as it was after so many rows, and no other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thalweg import OnlineLDC, cli
from thalweg.catalogue import make_model
from thalweg.evaluate import model_history as history
from thalweg.evaluate.model_history import ModelHistory, trace_of
from thalweg.explain import importance_sampler as importance
from thalweg.rates import ErrorDriven

pytest.importorskip("pyarrow")

ROWS = 2300


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three classes, one of which comes late, as rows.csv in the working folder; every 9th has no label."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(ROWS) < 700, rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS))
    X = np.round(rng.normal(size=(ROWS, 2)) + truth[:, None] * np.where(np.arange(ROWS) < 1200, 1, -1)[:, None], 3)
    y = np.array(["low", "high", "flood"])[truth]
    y[::9] = ""
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    Path("rows.csv").write_text("\n".join(["a,b,state", *lines]) + "\n")
    return np.column_stack([X, np.zeros(ROWS)]), y


def recorded(*arguments: str) -> dict[str, Any]:
    with pytest.raises(SystemExit, match="0"):
        cli.main(["run", "rows.csv", "--target", "state", "--out", "out", "--fresh", "--json", *arguments])
    found: dict[str, Any] = json.loads(Path("out/metrics.json").read_text())["course"]
    return found


@pytest.mark.parametrize("options", [{"name": "oldc", "adaptive": True}, {"name": "auto"}, {"name": "trend"}])
def test_each_point_is_that_of_a_model_that_learned_exactly_so_many_rows(
    options: dict[str, Any], table: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_POINTS", 15)
    X, y = table[0][table[1] != ""], table[1][table[1] != ""]
    found = recorded("--model", options["name"], *(["--adaptive"] if "adaptive" in options else []))
    assert found["rows"][-1] == len(X)
    assert 8 <= len(found["rows"]) <= 17
    for at in {0, 1, 5, len(found["rows"]) - 1}:
        model = make_model(**options)
        model.predict_then_learn(X[: found["rows"][at]], y[: found["rows"][at]])
        trace = trace_of(model)
        assert (found["rate"] or {at: None})[at] == trace.get("rate")
        for name in ("effective_rows", "weights"):
            seen = {key: values[at] for key, values in (found[name] or {}).items() if values[at] is not None}
            assert seen == trace.get(name, {})
        for label, mean in zip(model.classes_, model._class_means(), strict=True):
            seen = [values[at] for values in found["means"]["classes"][label]]
            assert seen == pytest.approx(mean[:2].tolist(), rel=1e-5)


@pytest.mark.quick(1)
@pytest.mark.parametrize("late", [(), ("--delay", "70")])
def test_neither_chunks_nor_late_labels_move_a_point(late: tuple[str, ...], table: object) -> None:
    whole = recorded("--model", "oldc", *late)
    assert recorded("--model", "oldc", "--chunk", "37", *late) == whole
    assert recorded("--model", "oldc", "--chunk", "2048", *late) == whole
    assert len(whole["rows"]) > 60
    lateness = int(late[1]) if late else 0
    answered = np.arange(32, ROWS, 32)
    learned = [np.count_nonzero(np.arange(max(row - lateness, 0)) % 9) for row in answered]
    assert whole["rows"] == [row for row in dict.fromkeys(learned) if row] + [
        np.count_nonzero(np.arange(ROWS - lateness) % 9)
    ]


def test_a_short_table_has_several_points_and_a_long_one_not_too_many() -> None:
    model = OnlineLDC(ErrorDriven(start=0.1, window=10)).partial_fit([[0.0], [1.0]], ["a", "b"])
    assert ModelHistory().next_due(0) == history.FIRST_STEP
    long = ModelHistory()
    for predicted in range(history.FIRST_STEP, 200_000, history.FIRST_STEP):
        if long.next_due(predicted) == 0:
            long.add(model, predicted)
        assert len(long.points) <= history.MOST_POINTS
    assert len(long.points) >= history.MOST_POINTS // 2
    assert set(np.diff([learned for learned, _ in long.points])) == {long.every}


def test_a_run_leaves_the_compiled_loop_for_points_alone(table: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_POINTS", 7)
    monkeypatch.setattr(importance, "_FIRST", 10**9)  # and for samples of importance
    calls: list[int] = []
    follow = OnlineLDC.follow

    def counted(self: OnlineLDC, X: np.ndarray, *rest: Any, **more: Any) -> Any:
        calls.append(len(X))
        return follow(self, X, *rest, **more)

    monkeypatch.setattr(OnlineLDC, "follow", counted)
    recorded("--model", "oldc", "--chunk", "5000")
    # the head of 1,000 rows and the rest: a call before each point, one after the last
    points = 2 + len([row for row in range(1, ROWS) if row % _spacing(row) == 0])
    assert len(calls) == points


def _spacing(row: int) -> int:
    """Rows between points when so many are predicted: doubled whenever there were more than seven."""
    every = history.FIRST_STEP
    while row > 8 * every:
        every *= 2
    return every


def test_the_memory_of_many_classes_is_bounded() -> None:
    model = OnlineLDC(0.01, counts="soft")
    seen = ModelHistory()
    for begin in (0, 10, 200):
        labels = [f"{label:03}" for label in range(begin, begin + 200)]
        model.partial_fit(np.random.default_rng(begin).normal(size=(200, 1)), labels)
        seen.add(model, begin)
    assert [len(snapshot["effective_rows"]) for _, snapshot in seen.points] == [history.MOST_CLASSES] * 3
    restored = ModelHistory()
    restored.restore(json.loads(json.dumps(seen.state())))
    assert restored.state() == seen.state()
