"""Models of tables made by hand, in `run`, `compare`, `prequential` and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tests.test_table_estimator import PLAIN, QUICK, columns_of_numbers, mixed, same
from thalweg import OnlineLinearRegression, TableClassifier, TableRegressor, evaluate
from thalweg.evaluate import prequential, summarise
from thalweg.explain import contributions, importance
from thalweg.store import dumps

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")


def test_a_run_takes_its_learner_and_its_parameters() -> None:
    X, y = mixed(700)
    given = TableClassifier(QUICK, head=300, drop=["took"], time="when", na=["calm"], misfits="error")
    model = clone(given)
    predictions = model.predict_then_learn(X, y)
    result = evaluate.run(given, X, y)
    assert result.to_frame()["prediction"].tolist()[1:] == predictions.tolist()[1:]
    same(result.model, model)
    again = clone(result.model)
    assert again.predict_then_learn(X, y).tolist() == predictions.tolist()
    compared = evaluate.compare({"by hand": given, "the default": TableClassifier(PLAIN)}, X, y, rows=400)
    assert list(compared.results) == ["by hand", "the default"]
    target = columns_of_numbers(700)[1]
    numbers = TableRegressor(OnlineLinearRegression(solver="rls"), drop=["took"])
    found = evaluate.run(numbers, X, target).model
    assert "took" in found.encoder_.plan.left_out
    assert found.get_params()["drop"] == ["took"]


@pytest.mark.parametrize("labels", [["dry", "wet"], [12, 3], [True, False]], ids=lambda y: repr(y[0]))
def test_prequential_settles_the_columns(labels: list[Any]) -> None:
    X, y = mixed(600)
    y = np.array(labels)[(y == "wet").astype(int)]
    model, whole = TableClassifier(PLAIN, head=250), TableClassifier(PLAIN, head=250)
    predictions = (
        whole.predict_then_learn(X[:250], y[:250]).tolist() + whole.predict_then_learn(X[250:], y[250:]).tolist()
    )
    records = list(prequential(model, [(X[:250], y[:250]), (X[250:], y[250:])]))
    assert [label for record in records for label in record.classes[record.predictions].tolist()][1:] == predictions[1:]
    same(model, whole)
    late = summarise(prequential(TableClassifier(PLAIN), [(X, y)], delay=30)).model
    assert 0.15 < late.error < 0.4
    assert late.log_loss < 0.7


def test_late_numbers_are_learned_in_turn() -> None:
    X, y = columns_of_numbers(600)
    model = TableRegressor(OnlineLinearRegression(solver="rls"))
    found = summarise(prequential(model, [(X, y)], delay=30)).model
    assert found.mae < np.abs(y - y.mean()).mean()
    assert model.learner_.__sklearn_is_fitted__()


@pytest.mark.parametrize("labels", [["dry", "wet"], [12, 3], [True, False]], ids=lambda y: repr(y[0]))
def test_explanations_name_columns(labels: list[Any]) -> None:
    X, y = mixed(400)
    y = np.array(labels)[(y == "wet").astype(int)]
    model = TableClassifier(PLAIN).partial_fit(X, y)
    before = dumps(model)
    for found in (importance(model, X, y), model.importance_, importance(model, X, y, label=labels[1])):
        assert {*list(found.ranking())[:2]} == {"load", "up"}
    given = contributions(model, X[:5], background=X[100:120])
    assert given.names[:5] == ("load", "count", "wind", "site", "up")
    assert given.labels.tolist() == model.predict(X[:5]).tolist()
    assert contributions(model, X[:2], label=labels[1]).labels.tolist() == [labels[1]] * 2
    assert dumps(model) == before
