"""A key's rows and labels, in any batches: the model of the slow twin to the last bit, and nothing lost on the way."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

pa = pytest.importorskip("pyarrow", reason="the engines need pyarrow")

from tests.examples import examples  # noqa: E402
from tests.late_calls import ask, tell  # noqa: E402
from tests.spark.oracle import Event, Oracle  # noqa: E402
from thalweg import (  # noqa: E402
    AutoClassifier,
    AutoRegressor,
    CostSensitive,
    OnlineLDC,
    OnlineLinearRegression,
    Perceptron,
    PredictionIntervals,
    StandardScaler,
    StreamPipeline,
    TableClassifier,
    WindowForest,
)
from thalweg.errors import InvalidInput, InvalidParameter  # noqa: E402
from thalweg.evaluate.task import LabelTask  # noqa: E402
from thalweg.frames.frame import NamedRows  # noqa: E402
from thalweg.spark.columns import REAL, TEXT  # noqa: E402
from thalweg.spark.group import Group  # noqa: E402
from thalweg.spark.packing import (  # noqa: E402
    EVENT,
    EVENTS,
    ID,
    IS_LABEL,
    KEY,
    PREDICTION,
    TARGET,
    TIME,
    KeyState,
    Layout,
    batch_from_bytes,
    packer,
)
from thalweg.spark.tasks import LearningTask, task_of  # noqa: E402
from thalweg.store import dumps, loads  # noqa: E402

NAMES = ["level", "flow"]
LAYOUT = Layout(key=TEXT, id=TEXT, target=TEXT, features=tuple(NAMES))
LABELS = LearningTask(LabelTask())
WAIT = 20
MODEL = OnlineLDC(0.1, counts="soft", warmup=3)


def packed(events: list[Event], layout: Layout = LAYOUT, key: str = "pump", cuts: int = 1) -> list[bytes]:
    """The events as Spark hands them on, in so many record batches."""
    columns = {
        KEY: pa.array([key] * len(events), pa.string()),
        TIME: pa.array([each.time for each in events], pa.int64()),
        IS_LABEL: pa.array([each.is_label for each in events]),
        ID: pa.array([each.id for each in events], layout.id.arrow),
        TARGET: pa.array([each.target for each in events], layout.target.arrow),
        **{f"feature {i}": pa.array([each.row[i] for each in events], pa.float64()) for i in range(len(NAMES))},
    }
    whole = pa.record_batch(columns)
    edges = np.linspace(0, len(events), cuts + 1).astype(int)
    parts = [whole.slice(a, b - a) for a, b in itertools.pairwise(edges)]
    rows = [batch for part in parts for batch in packer(layout)(iter([part]))]
    return [cell for batch in rows for cell in batch.column("rows").to_pylist()]


def told(cell: bytes, layout: Layout = LAYOUT) -> list[tuple[str, Any, Any, Any]]:
    if not cell:
        return []
    batch = batch_from_bytes(cell, layout.outgoing)
    names = [EVENTS[code] for code in batch.column(EVENT).to_pylist()]
    return list(zip(names, *(batch.column(name).to_pylist() for name in (ID, PREDICTION, TARGET)), strict=True))


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[list[Event]], bool]:
    """Batches of rows and labels, and whether labels come later."""
    rows = draw(st.integers(1, 25))
    late = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    events = []
    for number in range(rows):
        label = ["high", "low", "flood"][rng.integers(3)]
        row = tuple(rng.normal(size=2).tolist())
        now = late and rng.random() < 0.3
        events.append(Event(number * 4, False, f"r{number:03}", None if late and not now else label, row))
        if late and not now and rng.random() < 0.8:
            came = number * 4 + int(rng.integers(-6, 40)) * 2 + 1  # never at the time of a row, nor of another label
            events.append(Event(came, True, f"r{number:03}", label, (0.0, 0.0)))
            if rng.random() < 0.2:
                events.append(Event(came + 4000, True, f"r{number:03}", label, (0.0, 0.0)))
    seen: set[int] = set()
    unique = [each for each in events if each.time not in seen and not seen.add(each.time)]  # type: ignore[func-returns-value]
    shuffled = sorted(unique, key=lambda each: each.time + rng.integers(0, 12))
    cut = draw(st.lists(st.integers(1, 8), min_size=1, max_size=20))
    batches, at = [], 0
    for size in [*cut, len(shuffled)]:
        if at < len(shuffled):
            batches.append(shuffled[at : at + size])
        at += size
    return batches, late


def test_a_model_of_a_table_needs_the_label_of_each_row():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = TableClassifier(OnlineLDC(), features=["count()"]).fit(pa.table(list(X.T), NAMES), ["low", "high"] * 20)
    group = Group(dumps(model), LAYOUT, None, None, LABELS)
    with pytest.raises(InvalidInput, match="needs the label of each row with it"):
        group.take(None, packed([Event(0, False, "r", None, (0.0, 1.0))]), lambda _: 0)


@examples(60)
@given(streams(), st.integers(1, 3))
def test_a_key_is_its_slow_twin(stream, cuts):
    batches, late = stream
    wait = WAIT if late else None
    group = Group(dumps(MODEL), LAYOUT, wait, None, LABELS)
    twin = Oracle(MODEL, NAMES, wait)
    state, happened, newest = None, Counter(), 0
    for events in batches:
        watermark = newest - 3
        state, cell = group.take(state, packed(events, cuts=cuts), lambda _, w=watermark: w)
        happened.update(told(cell))
        twin.batch(events, watermark)
        newest = max(newest, *(each.time for each in events))
    assert happened == twin.told
    assert loads(state.model).__sklearn_is_fitted__() == twin.model.__sklearn_is_fitted__()
    assert state.model == dumps(twin.model)
    rows = sum(not each.is_label for events in batches for each in events)
    labels = sum(each.is_label for events in batches for each in events)
    counts = Counter(event for event, *_ in happened.elements())
    assert (state.predicted, state.expired, state.dropped) == (rows, counts["expired"], counts["dropped"])
    assert state.predicted == state.learned + state.expired + len(twin.waiting)
    assert counts["learned"] + counts["dropped"] + len(twin.early) == labels
    if late:
        after, rest = Group(dumps(MODEL), LAYOUT, wait, 1, LABELS).wake(state, newest + 10**6)
        ended = Counter(event for event, *_ in told(rest))
        assert after is None
        assert ended == Counter(expired=len(twin.waiting), dropped=len(twin.early), forgotten=1)


def test_rows_of_one_time_have_one_order_whatever_the_shuffle():
    rng = np.random.default_rng(1)
    events = [Event(0, False, None, "ab"[i % 2], tuple(rng.normal(size=2))) for i in range(30)]
    group = Group(dumps(MODEL), LAYOUT, None, None, LABELS)
    orders = [rng.permutation(30) for _ in range(5)]
    states = [group.take(None, packed([events[i] for i in order]), lambda _: 0)[0] for order in orders]
    assert len({state.model for state in states}) == 1


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    "model",
    [AutoRegressor(), PredictionIntervals(OnlineLinearRegression(), 0.7), OnlineLinearRegression(solver="rls")],
    ids=["mixture", "intervals", "neither"],
)
def test_a_regressor_learns_numbers_at_once_and_late(model, late):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    asked = {"confidence": False, "coverage": None, "owner": "test"}
    task, twin, lag = task_of(model, 2, **asked), clone(model), 4
    layout = Layout(TEXT, TEXT, REAL, tuple(NAMES), beside=task.beside, remembered=task.remembered)
    group = Group(dumps(model), layout, 1000 if late else None, None, task)
    rows = [Event(2 * i, False, f"{i:02}", None if late else float(y[i]), tuple(X[i])) for i in range(40)]
    labels = [Event(2 * (i + lag) + 1, True, f"{i:02}", float(y[i]), (0.0, 0.0)) for i in range(40)]
    events = sorted(rows + labels if late else rows, key=lambda each: each.time)
    state, happened = None, []
    for start in range(0, len(events), 13):  # whatever the cuts
        state, cell = group.take(state, packed(events[start : start + 13], layout), lambda _: 0)
        happened += batch_from_bytes(cell, layout.outgoing).to_pylist()
    said = np.full((3, 40), np.nan)  # answer, lower, upper
    kept, named = {}, [NamedRows(x[np.newaxis], NAMES) for x in X]
    ends = bool(task.beside)
    for i in range(40 + lag):
        if i < 40 and twin.__sklearn_is_fitted__():
            said[0, i] = twin.predict(named[i])[0]
            if ends:
                said[1:, i : i + 1] = twin.predict_interval(named[i])
                kept[i] = ask(twin, named[i])
        due = i - lag if late else i
        if late and ends and due >= 0:
            tell(twin, named[due], y[[due]], kept.get(due), min(i, 39) - due)
        elif 0 <= due < 40:
            twin.partial_fit(named[due], y[[due]])
    said[1:, ~(said[1] < said[2])] = np.nan
    columns = (PREDICTION, *task.beside)
    for event in ("predicted", "learned") if late else ("predicted",):
        told_of = sorted((each for each in happened if EVENTS[each[EVENT]] == event), key=lambda each: each[TIME])
        shown = np.array([[each[name] for name in columns] for each in told_of], dtype=np.float64)
        np.testing.assert_array_equal(shown, said[: len(columns)].T)
    assert state.model == dumps(twin)
    assert (state.predicted, state.learned, state.waiting) == (40, 40, b"")


@pytest.mark.parametrize("model", [AutoClassifier(curved=False), WindowForest(3, 2, rows=64)], ids=["auto", "forest"])
def test_members_of_a_committee_are_judged_by_what_they_predicted_whatever_the_cuts(model):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 2)) + y[:, None] * np.linspace(1, -1, 60)[:, None]
    labels = np.array(["high", "low", "flood"])[y]
    task = task_of(model, 2, confidence=False, coverage=None, owner="test")
    layout = replace(LAYOUT, remembered=task.remembered)
    rows = [Event(2 * i, False, f"{i:02}", None, tuple(X[i])) for i in range(60)]
    late = [Event(2 * (i + 4) + 1, True, f"{i:02}", str(labels[i]), (0.0, 0.0)) for i in range(60)]
    events = sorted(rows + late, key=lambda each: each.time)
    order = [step for i in range(64) for step in ((i,) if i < 60 else ()) + ((~(i - 4),) if i >= 4 else ())]
    twin = clone(model)
    twin.follow(NamedRows(X, NAMES), labels, order)
    for size in (5, 200):
        state, group = None, Group(dumps(model), layout, 1000, None, task)
        for start in range(0, len(events), size):
            state, _ = group.take(state, packed(events[start : start + size], layout), lambda _: 0)
        assert state.model == dumps(twin)


def test_what_does_not_go_with_the_task_is_refused():
    for model, asked, sentence in (
        (MODEL, {"coverage": 0.9}, "'coverage' parameter of test must be None for a classifier"),
        (
            OnlineLinearRegression(),
            {"coverage": 0.9},
            "'coverage' parameter of OnlineLinearRegression must be None for a model without",
        ),
        (AutoRegressor(), {"coverage": 0.7}, "'coverage' parameter of AutoRegressor must be 0.5"),
        (AutoRegressor(), {"confidence": True}, "'confidence' parameter of test must be False for a regressor"),
    ):
        with pytest.raises(InvalidParameter, match=sentence):
            task_of(model, 2, owner="test", **({"confidence": False, "coverage": None} | asked))


@pytest.mark.parametrize(
    "model",
    [
        StreamPipeline([StandardScaler(), OnlineLDC(0.1, counts="soft")]),
        CostSensitive(OnlineLDC(0.1, counts="soft"), {"fp": 1, "fn": 3}),
    ],
    ids=["pipeline", "by cost"],
)
def test_confidence_is_the_probability_of_the_answer(model):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 2)), np.array(["a", "b"])[rng.integers(0, 2, 50)]
    events = [Event(i, False, None, str(y[i]), tuple(X[i])) for i in range(50)]
    task = LearningTask(LabelTask(), ("confidence",))
    layout = replace(LAYOUT, beside=task.beside)
    state, cell = Group(dumps(model), layout, None, None, task).take(None, packed(events), lambda _: 0)
    twin = clone(model)
    answers, proba, *_ = twin.predict_then_learn(pa.table(dict(zip(NAMES, X.T, strict=True))), y, with_proba=True)
    batch = batch_from_bytes(cell, layout.outgoing)
    assert batch.column("prediction").to_pylist() == answers.tolist()
    confidence = batch.column("confidence").to_numpy(zero_copy_only=False)
    assert np.isnan(confidence[0])
    np.testing.assert_array_equal(confidence[1:], np.where(answers == "a", *proba.T)[1:])
    assert state.model == dumps(twin)


def test_a_state_that_another_model_began_is_refused():
    state = KeyState(dumps(MODEL))
    Group(dumps(MODEL), LAYOUT, None, None, LABELS).require_begun(state)
    with pytest.raises(InvalidParameter, match=r"an OnlineLDC started with rate = 0\.1, not 0\.9"):
        Group(dumps(clone(MODEL).set_params(rate=0.9)), LAYOUT, None, None, LABELS).require_begun(state)
    with pytest.raises(InvalidParameter, match="holds an OnlineLDC and not a Perceptron"):
        Group(dumps(Perceptron()), LAYOUT, None, None, LABELS).require_begun(state)
