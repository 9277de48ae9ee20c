"""What a service watches of its columns is a function of the records, and says what the stream was made of."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from thalweg.client.protocol import CreateRequest
from thalweg.service.commands import Refused
from thalweg.service.journal.records import (
    Decision,
    Event,
    LabelledRow,
    LabelsArrived,
    PredictBody,
    PredictedLabels,
    PredictedRows,
)
from thalweg.service.learning import encoding, schema
from thalweg.service.learning.creation import record_of
from thalweg.service.learning.live_model import LiveModel

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


def events_of(described: Any, rows: list[dict[str, Any]], labels: list[str]) -> list[Event]:
    """Records of rows and labels in portions; nothing is predicted, and nothing scored."""
    encoder, luck = schema.as_described(described), random.Random(3)
    found: list[Event] = []
    begin = 0
    while begin < len(rows):
        part = rows[begin : begin + luck.choice([1, 30, 90])]
        encoded = encoding.encode(encoder, encoding.of_rows(part, encoder), len(part))
        nothing = {"m": PredictedLabels([], np.full(len(part), -1, dtype=np.int16))}
        body = PredictBody(encoded.X, nothing, None, 0, encoded.gaps, encoded.categories)
        seq = len(found) + 2
        asked = PredictedRows(seq, "m", 1000 * seq, body, {})
        labelled = [LabelledRow(asked, at, labels[begin + at]) for at in range(len(part))]
        found += [asked, LabelsArrived(seq + 1, 1000 * seq + 1, labelled, False, 0)]
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
        if luck.random() < 0.1:
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
    assert changed.pop("shop").startswith("category cell ")
    assert not changed
    counted = state.counters(None)
    assert counted["input_changes"] == 3
    assert next(iter(counted["importance"])) == "price"


def test_entries_of_sparse_columns_are_watched_and_times_are_said_not_to_be():
    rows, labels = rows_and_labels()
    model = created(SCHEMA, "majority")
    model.take(events_of(SCHEMA, rows, labels))
    inputs = model.publish().inputs("m")
    [words] = [change for change in inputs.changes if change.column == "words"]
    assert (words.what, abs(words.row - MOVED) < 60, round(words.before), round(words.after)) == ("mean", True, 4, 7)
    assert inputs.not_watched == ["when"]


def test_a_snapshot_of_an_earlier_version_is_watched_from_there_on(told):
    model, events = told
    old = created(DENSE, "oldc")
    old.take(events[:40])
    parts = [part for part in old.snapshot() if part.name != ".columns"]
    later = LiveModel.from_snapshot(parts)
    before = later.rows
    later.take(events[40:])
    assert later.file("m") == model.file("m")
    assert {change.column for change in later.publish().inputs("m").changes} == {"hour", "city", "shop"}
    assert later.publish().inputs("m").rows <= ROWS - before


def test_challengers_are_not_sampled_but_have_the_same_rows(told):
    model = LiveModel.from_snapshot(told[0].snapshot())
    body = {"name": "rival", "kind": "majority", "parameters": {}}
    model.take([Decision(model.seq + 1, "challenge", model.time, body)])
    state = model.publish()
    with pytest.raises(Refused, match="ask for 'm'"):
        state.importance("rival")
    assert state.inputs("rival").changes == state.inputs("m").changes
