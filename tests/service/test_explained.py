"""Explanations of predictions: those of the library for the same model, rows and background."""

from __future__ import annotations

import numpy as np
import pytest

from tests.service.rows import SCHEMA, stream
from thalweg.client import Client
from thalweg.errors import InvalidInput, ServiceRefused
from thalweg.explain import contributions
from thalweg.explain.groups import Groups
from thalweg.store import loads


@pytest.fixture(scope="module")
def service(common):
    with Client(f"http://127.0.0.1:{common.port}") as client:
        yield client


def expected(model, rows, background):
    """The contributions of every column, by the library."""
    plan = model.encoder_.plan
    return contributions(
        model.learner_, model.encode(rows), model.encode(background), groups=Groups.of_plan(plan), paths=2
    )


def test_an_explanation_is_that_of_the_library(service):
    service.create("river", "logistic", schema=SCHEMA)
    rows, labels = stream(80)
    whole = [row for row in rows if None not in row.values()]  # gaps are filled by what came before
    for begin in (0, 20, 40):
        answers = service.predict(whole[begin : begin + 20], model="river")
        service.label(dict(zip(answers.ids, labels[begin : begin + 20], strict=True)), model="river")
    model = loads(service.download("river"))
    asked = whole[60:65]
    answers = service.predict(asked, model="river", explain=True, key="once")
    found = expected(model, asked, whole[28:60])
    for at, answer in enumerate(answers):
        named = dict(zip(found.names, found.values[at].tolist(), strict=True))
        assert answer.contributions == pytest.approx({name: v for name, v in named.items() if v}, rel=1e-12)
        assert answer.base + sum(answer.contributions.values()) == pytest.approx(answer.score, rel=1e-9)
        assert answer.score == pytest.approx(answer.probability, rel=1e-12)
    assert service.predict(asked, model="river", explain=True, key="once").ids == answers.ids
    assert service.label(dict(zip(answers.ids, labels[:5], strict=True)), model="river").learned == 5
    one = service.predict_one(asked[0], model="river", explain=True)
    assert set(one.contributions) <= {"level", "rain", "wind", "when"}
    assert service.predict_one(asked[0], model="river").contributions is None


def test_numbers_and_sparse_rows_are_explained(service):
    columns = {"columns": [{"name": name, "kind": "number"} for name in ("a", "b")]}
    service.create("load", "linear", task="regression", schema=columns)
    rng = np.random.default_rng(0)
    rows = [{"a": a, "b": b} for a, b in rng.normal(size=(120, 2)).tolist()]
    answers = service.predict(rows, model="load")
    service.label({row: 3 * x["a"] - x["b"] for row, x in zip(answers.ids, rows, strict=True)}, model="load")
    answers = service.predict(rows, model="load", explain=True)  # in two requests
    assert len(answers) == 120
    for answer in answers:
        assert answer.base + sum(answer.contributions.values()) == pytest.approx(answer.prediction, rel=1e-9)
    words = {"columns": [{"name": "words", "kind": "map"}]}
    service.create("mail", "auto", schema=words)
    asked = service.predict([{"words": {"free": 1.0}}, {"words": {"hello": 1.0}}] * 20, model="mail")
    service.label(dict(zip(asked.ids, ["spam", "ham"] * 20, strict=True)), model="mail")
    answer = service.predict_one({"words": {"free": 1.0}}, model="mail", explain=True)
    assert answer.base + sum(answer.contributions.values()) == pytest.approx(answer.score)
    assert len(answer.contributions) == 1


def test_what_cannot_be_explained_is_refused(service, client):
    service.create("young", "oldc")
    row = {"x": 1.0}
    for _ in range(2):  # before it knows its columns, and before a label
        with pytest.raises(ServiceRefused, match="has learned no label yet"):
            service.predict_one(row, model="young", explain=True)
        answer = service.predict_one(row, model="young")
    service.label(answer.id, "a", model="young")
    service.upload("copy", service.download("young"))
    with pytest.raises(ServiceRefused, match="has predicted no rows yet"):
        service.predict_one(row, model="copy", explain=True)
    with pytest.raises(ServiceRefused, match="no such column"):
        service.predict_one({"y": 1.0}, model="young", explain=True)
    with pytest.raises(InvalidInput, match="mappings"):
        service.predict(np.ones((2, 1)), columns=["x"], model="young", explain=True)
    body = {"model": "young", "rows": [row] * 101}
    assert client.call("POST", "/v1/predict?explain=1", body)[0] == 413
    assert client.call("POST", "/v1/predict?explain=maybe", body)[0] == 422
    before = service.model("young").rows
    assert before == 2  # what is refused is not recorded
