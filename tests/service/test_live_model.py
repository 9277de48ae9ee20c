"""A model is a function of its records, of every kind: neither portions nor snapshots change a byte of it."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from tests.service.rows import SCHEMA, stream
from thalweg.catalogue import MODELS
from thalweg.client.protocol import Costs, CreateRequest
from thalweg.container import packed, unpacked
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import LabelBody, LabelLink, LabelsArrived, PredictBody, Predicted, Record
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning import encoding, schema
from thalweg.service.learning.classification import Classification
from thalweg.service.learning.creation import record_of
from thalweg.service.learning.encoding import encode
from thalweg.service.learning.live_model import LiveModel
from thalweg.service.learning.progress import MOST_POINTS, Progress
from thalweg.service.learning.rebuild import _events, decision, rebuild

ROWS, CLASSES = stream(90)
LABELS: dict[str, list[Any]] = {
    "classification": CLASSES,
    "regression": [3.0 * (row["level"] or 0.0) - (row["rain"] or 0.0) for row in ROWS],
}
#: What takes the place of a label, once or twice, and who challenges.
REVISED: dict[str, list[Any]] = {"classification": ["dry", "low"], "regression": [-7.25, 1e6]}
#: One kind of every way in which models are made, asked and judged.
QUICK = {"classification": ("auto-linear", "nse"), "regression": ("auto",)}
RIVAL = {"classification": "logistic", "regression": "auto-linear"}
#: The same columns, with the labels counted by category.
WIDE = {
    "columns": [
        {k: "wide category" if v == "category" else v for k, v in each.items() if k != "categories"}
        for each in SCHEMA["columns"]
    ]
}
#: The same columns and a sparse one, and words for it.
SPARSE = {"columns": [*SCHEMA["columns"], {"name": "words", "kind": "map"}]}
WORDS = [None if i % 13 == 0 else {f"w{i * k % 31}": k / 4 for k in range(i % 5)} for i in range(len(ROWS))]


def written(folder: Path, kind: str, described: Any = SCHEMA, task: str = "classification") -> SqlJournal:
    """A journal of a model with a challenger: rows, labels out of order, some revised, a promotion, an expiry."""
    journal = open_journal(folder, None)
    journal.prepare()
    encoder = schema.as_described(described)
    rare = task == "classification" and sorted(MODELS[task]).index(kind) % 2  # every second kind has a positive label
    positive, costs = ("flood", Costs(1.0, 50.0)) if rare else (None, None)
    body = record_of(CreateRequest("m", kind, None, described, None, positive, costs, task), None)
    labels, rival = LABELS[task], "majority" if described is SPARSE else RIVAL[task]
    rows = [row | {"words": words} for row, words in zip(ROWS, WORDS, strict=True)] if described is SPARSE else ROWS
    records = [Record(1, "m", "create", 1, 0, orjson.dumps(body))]
    told: list[LabelLink] = []
    model = LiveModel("m", decision(records[0]))
    luck = random.Random(kind)
    waiting: list[tuple[int, int, int]] = []
    known: list[tuple[int, int, int, str]] = []

    def add(what, rows, content):
        records.append(Record(len(records) + 1, "m", what, 1_000_000 * len(records), rows, content))
        return len(records)

    begin = 0
    while begin < len(rows):
        part = rows[begin : begin + luck.choice([1, 4, 10])]
        encoded = encode(encoder, encoding.of_rows(part, encoder))
        published = model.publish()
        answers = published.predict(encoded.X)[0]
        asked = PredictBody(
            encoded.X,
            answers,
            published.last,
            published.version,
            encoded.gaps,
            encoded.categories,
            published.baselines,
            begin,
            cells=encoded.cells,
        )
        seq = add("predict", len(part), asked.to_bytes())
        waiting += [(seq, row, begin + row) for row in range(len(part))]
        begin += len(part)
        luck.shuffle(waiting)
        now, waiting = waiting[: len(waiting) // 2], waiting[len(waiting) // 2 :]
        if now:
            revised = []
            if known and luck.random() < 0.4:
                place, row, first, label = luck.choice(known)
                revised = [(place, row, REVISED[task][label == REVISED[task][0]], first)]
            body = LabelBody([(seq, row, labels[at]) for seq, row, at in now], revised)
            at = add("revise" if revised else "label", len(now), body.to_bytes())
            known += [(seq, row, at, labels[i]) for seq, row, i in now]
            told += [LabelLink(seq, at, sum(1 for each in now if each[0] == seq)) for seq in {each[0] for each in now}]
        done = {each.kind for each in records}
        if len(records) >= 6 and "challenge" not in done:
            add("challenge", 0, orjson.dumps({"name": "rival", "kind": rival, "parameters": {}}))
        if len(records) >= 14 and "promote" not in done:
            add("promote", 0, orjson.dumps({"name": "rival"}))
            add("expire", 0, orjson.dumps({"through": 3, "rows": 1}))
        with journal.transaction():
            journal.write(records[journal.last()[0] :], told)
        told = []
        if luck.random() < 0.3:
            model = rebuild(journal, "m").model
    journal.close()
    return open_journal(folder, None)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("task", "kind", "described"),
    [
        *(
            pytest.param(task, kind, SCHEMA, marks=() if kind in QUICK[task] else pytest.mark.slow)
            for task in MODELS
            for kind in MODELS[task]
        ),
        ("classification", "oldc", WIDE),
        pytest.param("classification", "auto", SPARSE, marks=pytest.mark.slow),
        ("classification", "sets", SPARSE),
    ],
)
def test_neither_chunks_nor_snapshots_matter(task, kind, described, tmp_path):
    journal = written(tmp_path, kind, described, task)
    assert {each.kind for each in journal.records("m")} >= {"challenge", "label", "revise", "promote", "expire"}
    whole = rebuild(journal, "m", from_snapshots=False).model
    expected = whole.snapshot()
    last = journal.last()[0]
    luck = random.Random(kind)
    right = {
        (asked, row): label
        for record in journal.records("m", kind="revise")
        for asked, row, label, _ in LabelBody.from_bytes(record.body).revised
    }
    records = list(journal.records("m"))
    model = LiveModel("m", decision(records[0]))
    events = [each for part in _events(journal, records[1:], right) for each in part]
    while events:  # the same records in other portions, and with snapshots on the way
        size = luck.randint(1, 7)
        model.take(events[:size])
        events = events[size:]
        if luck.random() < 0.3:
            model = LiveModel.from_snapshot(model.snapshot())
    assert model.snapshot() == expected
    for seq in range(8, last, 9):  # snapshots of some moments, each by those before
        then = rebuild(journal, "m", seq).model.snapshot()
        assert then == rebuild(journal, "m", seq, from_snapshots=False).model.snapshot()
        with journal.transaction():
            journal.write([], parts=then)
    assert rebuild(journal, "m").model.snapshot() == expected
    journal.close()


def test_bodies_are_kept_as_they_are():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3, 4))
    gaps = rng.random((3, 2)) < 0.5
    given = {"m": Predicted({"prediction": np.array([0, -1, 1], np.int16)}, ["a", "ü"])}
    when = np.array(["2026-01-01T10:00:00.000001", "NaT", "1969-12-31"], "datetime64[us]")
    cells = {"day": (np.array([0, -1, 0]), ["mön"]), "when": when, "shop": (np.array([1, 0, 1]), ["b", "a"])}
    asked = PredictBody(X, given, None, 7, gaps, {"day": ["mon"]}, cells=cells)
    found = PredictBody.from_bytes(asked.to_bytes())
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.gaps, gaps)
    np.testing.assert_array_equal(found.cells.pop("when"), when)
    assert {name: (places.tolist(), names) for name, (places, names) in found.cells.items()} == {
        "day": ([0, -1, 0], ["mön"]),
        "shop": ([1, 0, 1], ["b", "a"]),
    }
    assert [found.predictions["m"][i] for i in range(3)] == ["a", None, "ü"]
    assert (found.last, found.version, found.categories) == (None, 7, {"day": ["mon"]})
    labelled = LabelBody([(1, 0, "a"), (9, 2, "ü")], [(3, 1, "a", 5)])
    assert LabelBody.from_bytes(labelled.to_bytes()) == labelled
    assert LabelsArrived(1, 2, []).revises is False


def test_a_history_takes_as_much_memory_as_its_text():
    """Thirteen times as much, it was what models left behind that had been archived."""
    points = [orjson.dumps({"labels": label, "delay": 1 / label}).decode() for label in range(1, MOST_POINTS + 1)]
    progress = Progress(Classification().scoring)
    kept = packed(progress.state() | {"history": {"every": 1, "points": points}})
    tracemalloc.start()
    progress.restore(unpacked(kept))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < 4 * sum(map(len, progress.history.points))


def test_models_that_decide_take_the_costs():
    asked = {"positive": "flood", "costs": {"fp": 1.0, "fn": 50.0}}
    body = record_of(CreateRequest("m", "cost-sensitive"), None) | asked
    model = LiveModel("m", decision(Record(1, "m", "create", 1, 0, orjson.dumps(body))))
    rival = record_of(CreateRequest("rival", "threshold"), model.task)
    model.take([decision(Record(2, "m", "challenge", 2, 0, orjson.dumps(rival)))])
    made = {name: each.model for name, each in model.learners.items()}
    assert (made["m"].costs, made["m"].positive) == (asked["costs"], "flood")
    assert (made["rival"].objective, made["rival"].costs, made["rival"].positive) == ("cost", asked["costs"], "flood")
