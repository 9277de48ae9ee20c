"""A model with a positive label tells how it is found, after a restart too; others have none of it in the journal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from tests.service.rows import SCHEMA, stream
from thalweg.service.journal.records import PredictBody, Predicted

RECALL = 'thalweg_model_recent_recall_ratio{learner="rare",model="rare",predictor="model"}'
CREATE = {"name": "rare", "kind": "oldc", "schema": SCHEMA, "positive": "flood", "costs": {"fp": 1, "fn": 50}}


def test_scores_are_those_of_scikit_learn_before_and_after_a_restart(start):
    server = start("--new", "oldc", "--positive", "yes", "--costs", "fp=1,fn=2")
    client = server.client()
    client.post("/v1/models", CREATE)
    names = ("roc_auc", "pr_auc", "recall", "precision", "cost", "calibration_error")
    at_first = client.get("/v1/models/rare")["scores"]["model"]
    assert [at_first[f"recent_{name}"] for name in names] == [None] * 6
    client.post("/v1/models", {"name": "second", "kind": "logistic", "challenger_of": "rare"})
    rows, labels = stream(240)
    came, given_labels, scores = [], [], []
    for begin in range(0, 240, 30):
        given = client.predict(rows[begin : begin + 30], model="rare")
        for answer, label in zip(given, labels[begin : begin + 30], strict=True):
            if answer["prediction"] is not None:
                came.append(label)
                given_labels.append(answer["prediction"])
                scores.append(answer["probabilities"].get("flood", 0.0))
        ids = [each["id"] for each in given]
        client.label(list(zip(ids, labels[begin : begin + 30], strict=True)), model="rare")
    truth, said = np.array(came) == "flood", np.array(given_labels) == "flood"
    expected = {
        "roc_auc": sk.roc_auc_score(truth, scores),
        "pr_auc": sk.average_precision_score(truth, scores),
        "recall": sk.recall_score(truth, said),
        "precision": sk.precision_score(truth, said),
        "cost": ((said & ~truth) + 50 * (truth & ~said)).mean(),
    } | {
        "error": sk.zero_one_loss(came, given_labels),
        "kappa": sk.cohen_kappa_score(came, given_labels),
        "balanced_accuracy": sk.balanced_accuracy_score(came, given_labels),
        "matthews": sk.matthews_corrcoef(came, given_labels),
    }
    found = client.settled("/v1/models/rare")
    assert found["positive"] == "flood"
    scores = found["scores"]["model"]
    assert {name: scores[f"recent_{name}"] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert [scores[name] for name in ("recall", "precision", "error")] == pytest.approx(
        [expected[name] for name in ("recall", "precision", "error")], abs=1e-12
    )
    points = client.get("/v1/models/rare/course")["points"]
    assert points["scores"]["model"]["pr_auc"][-1] == pytest.approx(expected["pr_auc"], rel=1e-5)
    assert client.get("/v1/models/second")["scores"]["model"]["recent_roc_auc"] is not None
    client.post("/v1/models", {"name": "plain", "kind": "oldc"})
    assert "recall" not in client.get("/v1/models/plain")["scores"]["model"]
    assert client.get("/v1/models/default")["positive"] == "yes"
    assert "recent_cost" in client.get("/v1/models/default")["scores"]["model"]
    status, text, _ = client.call("GET", "/metrics")
    assert status == 200
    lines = (text if isinstance(text, str) else text.decode()).splitlines()
    (line,) = [line for line in lines if line.startswith(RECALL)]
    assert float(line.split()[-1]) == pytest.approx(expected["recall"])
    server.kill()
    again = start("--new", "oldc").client().settled("/v1/models/rare")
    assert again["scores"] == found["scores"]


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
    without = PredictBody(X, {"m": Predicted({"prediction": codes}, ["a", "b"])}, "a", 7, np.ones((3, 1), dtype=bool))
    scored = Predicted({"prediction": codes, "of_positive": np.array([0.25, 0.5, np.nan])}, ["a", "b"])
    with_scores = PredictBody(
        X, {"m": scored, "n": Predicted({"prediction": codes}, [])}, "a", 7, np.ones((3, 1), dtype=bool)
    )
    assert b"of_positive" not in without.to_bytes()
    for body in (without, with_scores):
        again = PredictBody.from_bytes(body.to_bytes())
        assert again.to_bytes() == body.to_bytes()
        assert (again.X == X).all()
        assert again.gaps is not None
        assert again.gaps.all()
    assert again.predictions["m"].columns["of_positive"].tolist()[:2] == [0.25, 0.5]
    assert "of_positive" not in again.predictions["n"].columns
