"""What a service watches of its columns is a function of the records, and says what the stream was made of."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from thalweg.client.protocol import CreateRequest
from thalweg.evaluate.drift import ChangeDetector
from thalweg.evaluate.error_causes import ErrorCauses
from thalweg.evaluate.input_drift import InputDrift
from thalweg.evaluate.short_rises import ShortRises
from thalweg.evaluate.stream_watch import StreamWatch
from thalweg.service.commands import Refused
from thalweg.service.journal.records import (
    Decision,
    Event,
    LabelledRow,
    LabelsArrived,
    PredictBody,
    Predicted,
    PredictedRows,
)
from thalweg.service.learning import encoding, schema
from thalweg.service.learning.creation import record_of
from thalweg.service.learning.live_model import LiveModel
from thalweg.tables.column_changes import ColumnChange
from thalweg.tables.rows import Block, Chunk, Piece

ROWS, REVERSED, MOVED = 5000, 2500, 3000
SCHEMA = {
    "columns": [
        {"name": "price", "kind": "number"},
        {"name": "hour", "kind": "number"},
        {"name": "when", "kind": "time"},
        {"name": "city", "kind": "category", "categories": ["Oslo", "Bergen", "Rome"]},
        {"name": "shop", "kind": "wide category"},
        {"name": "words", "kind": "map"},
    ]
}
DENSE = {"columns": [each for each in SCHEMA["columns"] if each["kind"] not in ("map", "time")]}


def rows_and_labels() -> tuple[list[dict[str, Any]], list[str]]:
    """The price works the other way round from one row on; from another on the columns that do nothing change."""
    rng = np.random.default_rng(1)
    at = np.arange(ROWS)
    price, hour = rng.normal(size=ROWS), rng.uniform(-1, 1, ROWS)
    odds = np.where(at < REVERSED, 2.0, -2.0) * price + hour
    labels = np.where(rng.random(ROWS) < 1 / (1 + np.exp(-odds)), "high", "low").tolist()
    city = np.where(rng.random(ROWS) < np.where(at < MOVED, 0.7, 0.2), "Oslo", "Bergen")
    shop = np.where(rng.random(ROWS) < np.where(at < MOVED, 0.2, 0.8), "one", "other")
    words = np.where(at < MOVED, 3, 6) + rng.integers(0, 3, ROWS)
    gaps = (at >= MOVED) & (rng.random(ROWS) < 0.2)
    rows = [
        {
            "price": float(price[i]),
            "hour": None if gaps[i] else float(hour[i]),
            "when": "2026-03-01T12:00:00",
            "city": str(city[i]),
            "shop": str(shop[i]),
            "words": {f"w{k}": 1.0 for k in range(int(words[i]))},
        }
        for i in range(ROWS)
    ]
    return rows, labels


def created(described: Any, kind: str) -> LiveModel:
    return LiveModel("m", Decision(1, "create", 1, record_of(CreateRequest("m", kind, None, described), None)))


def events_of(
    described: Any, rows: list[dict[str, Any]], labels: list[str], predicted: list[str] | None = None, late: int = 0
) -> list[Event]:
    """Records of rows and labels in portions, these so many portions late; without predictions nothing is scored."""
    encoder, luck = schema.as_described(described), random.Random(3)
    found: list[Event] = []
    waiting: list[list[LabelledRow]] = []
    known = sorted({*(predicted or ())})
    begin = 0
    while begin < len(rows) or waiting:
        part = rows[begin : begin + luck.choice([1, 30, 90])]
        seq = len(found) + 2
        if part:
            encoded = encoding.encode(encoder, encoding.of_rows(part, encoder))
            given = predicted[begin : begin + len(part)] if predicted else [""] * len(part)
            codes = np.array([known.index(label) if label else -1 for label in given], dtype=np.int16)
            answers = {"m": Predicted({"prediction": codes}, known)}
            body = PredictBody(encoded.X, answers, None, 0, encoded.gaps, encoded.categories, cells=encoded.cells)
            asked = PredictedRows(seq, "m", 1000 * seq, body, {})
            found.append(asked)
            waiting.append([LabelledRow(asked, at, labels[begin + at]) for at in range(len(part))])
        if len(waiting) > late or not part:
            found.append(LabelsArrived(len(found) + 2, 1000 * seq + 1, waiting.pop(0), False, 0))
        begin += len(part)
    return found


@pytest.fixture(scope="module")
def told() -> tuple[LiveModel, list[Event]]:
    names = [each["name"] for each in DENSE["columns"]]
    rows, labels = rows_and_labels()
    events = events_of(DENSE, [{name: row[name] for name in names} for row in rows], labels)
    model = created(DENSE, "oldc")
    model.take(events)
    return model, events


def test_a_replay_with_snapshots_watches_the_same(told):
    model, events = told
    luck, again = random.Random(2), created(DENSE, "oldc")
    while events:
        size = luck.randint(1, 40)
        again.take(events[:size])
        events = events[size:]
        again.publish()
        if luck.random() < 0.03:
            again = LiveModel.from_snapshot(again.snapshot())
    assert again.snapshot() == model.snapshot()


def test_the_column_that_reversed_and_those_that_moved_are_named(told):
    state = told[0].publish()
    found = state.importance("m")
    assert found.columns[0].name == "price"
    assert found.columns[0].increase > 3 * found.columns[0].standard_error > 0
    assert {(each.column, each.what) for each in found.changes} == {("price", "reversed")}
    assert abs(found.changes[0].labels - REVERSED) < 500
    inputs = state.inputs("m")
    assert all(abs(change.row - MOVED) < 60 for change in inputs.changes)
    changed = {change.column: change.what for change in inputs.changes}
    assert changed.pop("hour") == "missing"
    assert changed.pop("city") in ("category Oslo", "category Bergen")
    assert changed.pop("shop") in ("category one", "category other")
    assert not changed
    counted = state.counters(None)
    assert counted["input_changes_total"] == 3
    assert next(iter(counted["importance"])) == "price"


def rising() -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Rows, labels and predictions: the error rises at row 4,001, and beyond the old range of x0 at row 8,001."""
    rng = np.random.default_rng(5)
    at = np.arange(12_000)
    X = rng.normal(size=(len(at), 3))
    X[8000:, 0] += 1.5
    labels = np.where(rng.random(len(at)) < 0.5, "high", "low")
    chance = np.where((at >= 4000) & (at < 4600), 0.4, np.where((at >= 8000) & (X[:, 0] > 2.1), 0.6, 0.05))
    wrong = rng.random(len(at)) < chance
    predicted = np.where(wrong, np.where(labels == "high", "low", "high"), labels)
    rows = [{f"x{name}": float(value) for name, value in enumerate(row)} for row in X]
    return rows, labels.tolist(), predicted.tolist()


def as_in_a_run(rows: list[dict[str, Any]], labels: list[str], predicted: list[str]) -> list[dict[str, Any]]:
    """The causes by the parts that `thalweg run` is made of, all rows at once."""
    X = np.array([list(row.values()) for row in rows])
    wrong = np.array(labels) != np.array(predicted)
    drift, causes = InputDrift(list(rows[0])), ErrorCauses([False] * 3)
    drift.add(X)
    rises = [change for change in ChangeDetector().add(wrong) if change["after"] > change["before"]]
    rises += [rise | {"short": True} for rise in ShortRises().add(wrong)]
    causes.add(np.arange(1, len(X) + 1), wrong, X, rises, drift.changes, drift.names)
    return causes.results(drift.changes, drift.names)


NUMBERS = {"columns": [{"name": f"x{at}", "kind": "number"} for at in range(3)]}


@pytest.mark.quick(1)
@pytest.mark.parametrize("late", [12, 0])
def test_causes_of_rises_are_those_of_a_run_and_the_same_in_a_replay(late):
    events = events_of(NUMBERS, *rising(), late=late)
    model = created(NUMBERS, "majority")
    model.take(events)
    found = model.publish().inputs("m").causes
    assert [(each.cause, each.columns) for each in found] == [("concept", []), ("inputs", ["x0"])]
    for each, expected in zip(found, as_in_a_run(*rising()), strict=True):
        alike = None if each.alike is None else structs.asdict(each.alike)
        assert (each.labels, each.cause, each.columns) == tuple(expected[name] for name in ("row", "cause", "columns"))
        assert alike == expected.get("alike")
        assert 0 <= expected["at"] - each.row < 64
    luck, again, seen = random.Random(2), created(NUMBERS, "majority"), []
    while events:
        size = luck.choice([1, 20, 200])
        again.take(events[:size])
        events = events[size:]
        seen.append(again.publish().inputs("m").causes)
        if luck.random() < 0.03:
            again = LiveModel.from_snapshot(again.snapshot())
    assert again.snapshot() == model.snapshot()
    assert next(first for first in seen if first)[0].labels == found[0].labels  # told before all rows after it came


def test_rows_from_before_a_change_of_columns_are_not_compared():
    rows, labels, predicted = rising()
    events = events_of(NUMBERS, rows, labels, predicted, late=12)
    begun = next(at for at, each in enumerate(events) if isinstance(each, PredictedRows) and each.seq > 150)
    model = created(NUMBERS, "majority")
    model.take(events[:begun])
    rename = ColumnChange.from_json({"rename": {"x2": "y2"}, "add": [], "retire": []})
    model.change_columns(rename, model.seq)
    model.take(events[begun:])
    rule, moved = model.publish().inputs("m").causes
    assert (rule.cause, moved.cause, moved.columns) == ("concept", "inputs", ["x0"])
    assert rule.row < rule.labels - 1000  # rows are counted from the change of the columns on


def test_labels_of_rows_from_before_the_columns_changed_may_come_together_or_apart():
    rows, labels = [{"x0": 1.0, "x1": 2.0, "x2": 0.5}] * 600, ["a", "b"] * 300
    events = events_of(NUMBERS, rows, labels, labels, late=2)
    begun = next(at for at, each in enumerate(events) if isinstance(each, LabelsArrived))
    found = []
    for together in (1, len(events)):
        model = created(NUMBERS, "majority")
        model.take(events[:begun])
        model.change_columns(ColumnChange.from_json({"rename": {"x2": "y2"}, "add": [], "retire": []}), model.seq)
        for begin in range(begun, len(events), together):
            model.take(events[begin : begin + together])
        found.append(model.snapshot())
    assert found[0] == found[1]


def test_a_label_of_a_row_that_was_not_predicted_can_be_kept():
    """A snapshot is made of it, though nothing is scored."""
    model = created(NUMBERS, "majority")
    events = events_of(NUMBERS, [{"x0": 1.0, "x1": 2.0, "x2": 0.5}] * 40, ["a"] * 40, ["a"] * 40)
    model.take(events)
    model.snapshot()
    later = events_of(NUMBERS, [{"x0": 1.0, "x1": 2.0, "x2": 0.5}], ["a"])
    model.take([replace(each, seq=each.seq + 100) for each in later])
    assert LiveModel.from_snapshot(model.snapshot()).labels == 41


def test_entries_of_sparse_columns_are_watched():
    rows, labels = rows_and_labels()
    model = created(SCHEMA, "majority")
    model.take(events_of(SCHEMA, rows, labels))
    inputs = model.publish().inputs("m")
    [words] = [change for change in inputs.changes if change.column == "words"]
    assert (words.what, abs(words.row - MOVED) < 60, round(words.before), round(words.after)) == ("mean", True, 4, 7)
    assert inputs.not_watched == []
    measures = {each.name: each.measure for each in inputs.columns}
    assert (measures["words"], measures["when"], measures["price"]) == ("entries", "seconds since the row before", None)


def test_a_service_watches_the_cells_that_a_run_watches():
    """Also steps of more than a cycle, and categories without a feature of their own."""
    rows, labels = rows_and_labels()
    rng = np.random.default_rng(4)
    steps = rng.integers(1, np.where(np.arange(ROWS) < MOVED, 100, 40), ROWS).cumsum()
    for row, day in zip(rows, steps.tolist(), strict=True):
        time = np.datetime64("2026-01-01T08:00") + np.timedelta64(day, "D")
        row |= {"when": str(time) if day % 7 else None, "city": f"{row['city']} {day % 40}"}
    model = created(SCHEMA, "majority")
    model.take(events_of(SCHEMA, rows, labels))
    found = model.publish().inputs("m")
    encoder, watch = schema.as_described(SCHEMA), StreamWatch()
    for begin in range(0, ROWS, 700):
        block = Block(encoding.as_table(rows[begin : begin + 700]), "rows", 1)
        encoded = encoder.encode(Chunk([Piece(block, 0, len(block.table))], []))
        watch.add_rows(watch.as_numbers(encoder.plan, encoded.cells, encoded.X))
    assert [structs.asdict(change) for change in found.changes] == watch.columns.changes
    assert {change.column for change in found.changes} >= {"when", "shop", "hour", "words"}
    for line, each in zip(watch.summary(encoder.plan), found.columns, strict=True):
        assert (each.name, each.then, each.now, each.measure) == (
            line["name"],
            line["then"],
            line["now"],
            line.get("measure"),
        )


def test_predictions_and_labels_that_change_are_shown_and_the_same_in_a_replay():
    """Two of three labels are high from row 3,001 on, and predictions from row 4,001 on."""
    rng, at = np.random.default_rng(8), np.arange(6000)
    labels = np.where(rng.random(6000) < np.where(at < 3000, 0.2, 0.7), "high", "low").tolist()
    predicted = np.where(rng.random(6000) < np.where(at < 4000, 0.2, 0.7), "high", "low").tolist()
    rows = [{"x0": value} for value in rng.normal(size=6000).tolist()]
    described = {"columns": [{"name": "x0", "kind": "number"}], "labels": ["high", "low"]}
    events = events_of(described, rows, labels, predicted)
    model, again = created(described, "oldc"), created(described, "oldc")
    model.take(events)
    for begin in range(0, len(events), 90):
        again.take(events[begin : begin + 90])
        again = LiveModel.from_snapshot(again.snapshot())
    prediction, label = model.publish().inputs("m").outcomes
    assert (prediction.name, label.name, model.publish().inputs("m").changes) == ("prediction", "label", [])
    for outcome, row in ((prediction, 4001), (label, 3001)):
        assert [abs(change.row - row) < 100 for change in outcome.changes] == [True]
        assert outcome.then["shares"]["high"] < 0.3 < 0.6 < outcome.now["shares"]["high"]
    assert again.publish().inputs("m").outcomes == [prediction, label]


@pytest.mark.slow
def test_rows_that_come_faster_are_found_and_leave_the_cause_of_a_rise_unclear():
    columns = {"columns": [{"name": "x0", "kind": "number"}, {"name": "when", "kind": "time"}]}
    rows, labels, predicted = rising()
    rng = np.random.default_rng(3)
    seconds = np.cumsum(np.where(np.arange(12_000) < 4000, 60.0, 20.0) + rng.uniform(-5, 5, 12_000))
    when = np.datetime64("2026-03-01", "us") + (1e6 * seconds).astype("timedelta64[us]")
    rows = [{"x0": row["x0"], "when": str(time)} for row, time in zip(rows, when, strict=True)]
    events = events_of(columns, rows, labels, predicted, late=3)
    model = created(columns, "majority")
    model.take(events)
    inputs = model.publish().inputs("m")
    [change] = [each for each in inputs.changes if each.column == "when"]
    assert (change.what, abs(change.row - 4001) < 20) == ("mean", True)
    assert (round(change.before), round(change.after)) == (60, 20)
    assert [(each.cause, each.columns) for each in inputs.causes] == [("unclear", ["when"]), ("inputs", ["x0"])]
    again = created(columns, "majority")
    for begin in range(0, len(events), 50):
        again.take(events[begin : begin + 50])
        again = LiveModel.from_snapshot(again.snapshot())
    assert again.snapshot() == model.snapshot()


def test_challengers_are_not_sampled_but_have_the_same_rows(told):
    model = LiveModel.from_snapshot(told[0].snapshot())
    body = {"name": "rival", "kind": "majority", "parameters": {}}
    model.take([Decision(model.seq + 1, "challenge", model.time, body)])
    state = model.publish()
    with pytest.raises(Refused, match="ask for 'm'"):
        state.importance("rival")
    assert state.inputs("rival").changes == state.inputs("m").changes
    assert state.inputs("rival").causes == []
