"""Models of tables made by hand, in `run`, `compare`, `prequential` and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tests.test_table_estimator import PLAIN, QUICK, columns_of_numbers, mixed, same
from thalweg import OnlineLinearRegression, TableClassifier, TableRegressor, evaluate
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.evaluate import prequential, summarise
from thalweg.explain import contributions, importance
from thalweg.frames import chunks
from thalweg.store import dumps
from thalweg.streams import Table

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


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


def test_a_frame_comes_with_its_labels_or_the_name_of_their_column() -> None:
    X, y = mixed(300)
    X = X.drop(columns="took")
    whole = X.assign(wet=y)
    model = TableClassifier(PLAIN)
    by_chunks = summarise(prequential(clone(model), chunks(whole, "wet")))
    for given in ((whole, "wet"), (X, y), (Table(X, y),), (pl.from_pandas(whole), "wet")):
        assert summarise(prequential(clone(model), *given)).scores == by_chunks.scores
    by_stream, by_rows = evaluate.run(model, Table(X, y)), evaluate.run(model, X, y)
    assert by_stream.to_frame()["prediction"].tolist() == by_rows.to_frame()["prediction"].tolist()
    with pytest.raises(InvalidInput, match="the frame has no column 'wett'"):
        next(prequential(model, whole, "wett"))
    with pytest.raises(InvalidParameter, match="name a column only where rows are a frame"):
        next(prequential(model, [[1.0]], "wet"))
    with pytest.raises(InvalidInput, match="X must hold numbers, column 'site' does not"):
        next(prequential(PLAIN, X[["site"]], y))


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
