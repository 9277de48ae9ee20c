"""A model with a positive label tells how it is found, after a restart too; others have none of it in the journal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from tests.service.rows import SCHEMA, stream
from thalweg.service.journal.records import PredictBody, PredictedLabels
from thalweg.service.learning.rare_progress import RareProgress

CREATE = {"name": "rare", "kind": "oldc", "schema": SCHEMA, "positive": "flood", "costs": {"fp": 1, "fn": 50}}


def test_scores_are_those_of_scikit_learn_before_and_after_a_restart(start):
    server = start("--new", "oldc", "--positive", "yes", "--costs", "fp=1,fn=2")
    client = server.client()
    client.post("/v1/models", CREATE)
    assert client.get("/v1/models/rare")["rare"] == {
        "roc_auc": None, "pr_auc": None, "recall": None, "precision": None, "cost": None
    }  # fmt: skip
    client.post("/v1/models", {"name": "second", "kind": "logistic", "challenger_of": "rare"})
    rows, labels = stream(240)
    truth, said, scores = [], [], []
    for begin in range(0, 240, 30):
        given = client.predict(rows[begin : begin + 30], model="rare")
        for answer, label in zip(given, labels[begin : begin + 30], strict=True):
            if answer["prediction"] is not None:
                truth.append(label == "flood")
                said.append(answer["prediction"] == "flood")
                scores.append(answer["probabilities"].get("flood", 0.0))
        ids = [each["id"] for each in given]
        client.label(list(zip(ids, labels[begin : begin + 30], strict=True)), model="rare")
    truth, said = np.array(truth), np.array(said)
    expected = {
        "roc_auc": sk.roc_auc_score(truth, scores),
        "pr_auc": sk.average_precision_score(truth, scores),
        "recall": sk.recall_score(truth, said),
        "precision": sk.precision_score(truth, said),
        "cost": ((said & ~truth) + 50 * (truth & ~said)).mean(),
    }
    found = client.settled("/v1/models/rare")
    assert found["positive"] == "flood"
    assert found["rare"] == pytest.approx(expected, abs=1e-12)
    points = client.get("/v1/models/rare/course")["points"]
    assert points["rare"]["pr_auc"][-1] == pytest.approx(expected["pr_auc"], abs=1e-12)
    assert client.get("/v1/models/second")["rare"]["roc_auc"] is not None
    client.post("/v1/models", {"name": "plain", "kind": "oldc"})
    assert client.get("/v1/models/plain")["rare"] is None
    assert client.get("/v1/models/default")["positive"] == "yes"
    assert "cost" in client.get("/v1/models/default")["rare"]
    status, text, _ = client.call("GET", "/metrics")
    assert status == 200
    lines = (text if isinstance(text, str) else text.decode()).splitlines()
    (line,) = [line for line in lines if line.startswith('thalweg_model_recall_ratio{learner="rare"')]
    assert float(line.split()[-1]) == pytest.approx(expected["recall"])
    server.kill()
    again = start("--new", "oldc").client().settled("/v1/models/rare")
    assert again["rare"] == found["rare"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"positive": None}, "costs need a positive label"),
        ({"positive": 3}, "positive must be a text, a label"),
        ({"costs": {"fp": -1}}, "costs must be an object with numbers fp and fn of at least 0"),
        ({"costs": {"price": 1}}, "costs must be an object with numbers fp and fn of at least 0"),
        ({"challenger_of": "default", "schema": None}, "a challenger has the positive label and the costs"),
    ],
)
def test_what_is_refused(change, told, client):
    status, answer, _ = client.call("POST", "/v1/models", CREATE | {"name": "other"} | change)
    assert status == 422, answer
    assert told in answer["error"]


def test_records_hold_the_probability_only_where_there_is_a_positive_label() -> None:
    X, codes = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0], dtype=np.int16)
    without = PredictBody(X, {"m": PredictedLabels(["a", "b"], codes)}, "a", 7, np.ones((3, 1), dtype=bool))
    scored = PredictedLabels(["a", "b"], codes, np.array([0.25, 0.5, np.nan]))
    with_scores = PredictBody(X, {"m": scored, "n": PredictedLabels([], codes)}, "a", 7, np.ones((3, 1), dtype=bool))
    assert b"of_positive" not in without.to_bytes()
    for body in (without, with_scores):
        again = PredictBody.from_bytes(body.to_bytes())
        assert again.to_bytes() == body.to_bytes()
        assert (again.X == X).all()
        assert again.gaps is not None
        assert again.gaps.all()
    assert again.predictions["m"].of_positive.tolist()[:2] == [0.25, 0.5]
    assert again.predictions["n"].of_positive is None


def test_the_window_is_saved_as_it_is() -> None:
    rng = np.random.default_rng(1)
    progress = RareProgress(None)
    progress.add(rng.random(12_000) < 0.1, rng.random(12_000) < 0.1, rng.random(12_000))
    again = RareProgress.from_state(progress.state())
    assert again.scores() == progress.scores()
    more = rng.random(500) < 0.1, rng.random(500) < 0.2, rng.random(500)
    progress.add(*more)
    again.add(*more)
    assert again.state() == progress.state()
