"""A service that asks for labels: which rows, the list of those that wait, labels unasked, kills and replicas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tests.waiting import wait_until
from thalweg import LabelBudget
from thalweg.store import loads
from thalweg.streams import MovingPlane

X, Y = MovingPlane(seed=2).take(160)
ROWS = [{"a": a, "b": b} for a, b in X.tolist()]
LABELS = [f"side {label}" for label in Y.tolist()]
ASKED = {"name": "plane", "kind": "oldc", "label_budget": 0.2}


def ask(client: Any, at: int) -> dict[str, Any]:
    [row] = client.predict([ROWS[at]], model="plane")
    return row


def test_a_service_asks_for_the_rows_that_the_model_asks_for_and_goes_on_after_a_kill(start) -> None:
    server = start("--new", "oldc")
    client = server.client()
    client.post("/v1/models", ASKED)
    rows: list[dict[str, Any]] = []
    for at in range(len(ROWS)):
        if at == 90:
            server.kill()
            server = start("--new", "oldc")
            client = server.client()
        rows.append(ask(client, at))
        if rows[-1]["ask"]:
            client.label([(rows[-1]["id"], LABELS[at])], model="plane")
    table = loads(client.call("GET", "/v1/models/plane/file")[1])
    encoded = np.zeros((len(X), table.learner_.n_features_in_))  # whether a value is missing has a feature of its own
    encoded[:, [list(table.encoder_.feature_names()).index(name) for name in "ab"]] = X
    model, asked = LabelBudget(clone(table.learner_), 0.2), []
    for x, label in zip(encoded, LABELS, strict=True):
        row = model.ask_one(x)
        asked.append((row.ask, row.probability))
        if row.ask:
            model.learn_one(x, label, row)
    assert [(row["ask"], row["ask_probability"]) for row in rows] == asked
    described = client.settled("/v1/models/plane")["label_budget"]
    error = model.error_
    assert described == {
        "budget": "0.2", "labels_of": "auto", "explore": 0.1, "rows": 160, "asked": model.asked_, "waiting": 0,
        "error": error.value, "interval": [error.lower, error.upper],
    }  # fmt: skip
    samples = dict(line.rsplit(" ", 1) for line in client.get("/metrics").decode().splitlines() if line[0] != "#")
    assert float(samples['thalweg_model_asked_rows_total{model="plane"}']) == model.asked_
    assert float(samples['thalweg_model_estimated_error{bound="value",model="plane"}']) == error.value


def test_a_replica_lists_the_same_rows_and_estimates_the_same_error(start, tmp_path) -> None:
    primary = start("--new", "oldc").client()
    primary.post("/v1/models", ASKED)
    replica = start("--follow", str(tmp_path / "data")).client()
    asked: list[str] = []
    for at, label in enumerate(LABELS):
        row = ask(primary, at)
        asked += [row["id"]] if row["ask"] else []
        if row["ask"] and at < 120:
            primary.label([(row["id"], label)], model="plane")
    for path in ("/v1/models/plane/to-label", "/v1/models/plane"):
        wait_until(lambda path=path: replica.get(path) == primary.get(path))
    listed, described = replica.get("/v1/models/plane/to-label"), replica.get("/v1/models/plane")["label_budget"]
    assert {row["id"] for row in listed["rows"]} == set(asked[-listed["waiting"] :])
    assert described["asked"] == len(asked) > listed["waiting"] > 0
    assert described["interval"] is not None


def test_asked_rows_wait_in_a_list_and_labels_unasked_are_learned(common, client) -> None:
    client.post("/v1/models", ASKED | {"name": "waits"})
    predictions = client.predict(ROWS, model="waits")
    asked = {row["id"] for row in predictions if row["ask"]}
    waiting = client.settled("/v1/models/waits/to-label?limit=1000")
    assert {row["id"] for row in waiting["rows"]} == asked
    assert waiting["waiting"] == len(asked)
    shares = [row["probability"] for row in waiting["rows"]]
    assert shares == sorted(shares, reverse=True)
    [first] = client.get("/v1/models/waits/to-label?limit=1")["rows"]
    unasked = next(row["id"] for row in predictions if not row["ask"])
    client.label([(first["id"], "up"), (unasked, "down")], model="waits")
    model = client.settled("/v1/models/waits")
    assert model["labels"] == 2
    assert model["label_budget"]["waiting"] == len(asked) - 1
    second, third, *_ = waiting["rows"][1:]
    client.post("/v1/models/waits/void", {"ids": [second["id"]]})
    client.post("/v1/models/waits/erase", {"ids": [third["id"]]})
    rest = client.settled("/v1/models/waits/to-label?limit=1000")
    assert {row["id"] for row in rest["rows"]} == asked - {first["id"], second["id"], third["id"]}
    status, refused, _ = client.call("GET", "/v1/models/default/to-label")
    assert (status, "label_budget" in refused["error"]) == (409, True)


@pytest.mark.parametrize(
    ("more", "said"),
    [({"label_budget": 2}, "label_budget"), ({"label_budget": "often"}, "label_budget"), ({"explore": 0.5}, "explore"),
     ({"label_budget": 0.1, "explore": 3}, "explore"), ({"label_budget": 0.1, "labels_of": "best"}, "labels_of"),
     ({"label_budget": 0.1, "labels_of": "rare"}, "positive")],
)  # fmt: skip
def test_what_cannot_be_is_refused(common, client, more: dict[str, Any], said: str) -> None:
    status, refused, _ = client.call("POST", "/v1/models", {"name": "no", "kind": "oldc"} | more)
    assert status == 422
    assert said in refused["error"]
