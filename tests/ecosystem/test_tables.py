"""Models of tables among the frames of other libraries, and inside scikit-learn and River."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from tests.test_table_estimator import PLAIN, QUICK, columns_of_numbers, mixed, same
from thalweg import AutoClassifier, OnlineLinearRegression, OnlineLogistic, Perceptron, TableClassifier, TableRegressor
from thalweg.conformance import expected_failures
from thalweg.errors import InvalidInput, InvalidParameter

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def frames(X: Any) -> dict[str, Any]:
    """The same table in other libraries and types."""
    pl = pytest.importorskip("polars")
    table = pa.Table.from_pandas(X)
    return {
        "Arrow": table,
        "a record batch": table.combine_chunks().to_batches()[0],
        "polars": pl.from_arrow(table),
        "polars' categories": pl.from_arrow(table).with_columns(pl.col("site").cast(pl.Categorical)),
        "nullable types": X.convert_dtypes(),
        "Arrow's types in pandas": X.convert_dtypes(dtype_backend="pyarrow"),
        "dicts": table.to_pylist(),
    }


def test_all_libraries_give_one_model() -> None:
    X, y = mixed()
    X["price"] = [decimal.Decimal(at) / 4 for at in range(len(X))]
    X["name"] = pd.array([f"n{at % 5}" if at % 11 else None for at in range(len(X))], dtype="string")
    X["day"] = X["when"].dt.date
    model = TableClassifier(QUICK, head=200)
    predictions = model.predict_then_learn(X, y)
    kinds = ["number"] * 2 + ["category"] * 3 + ["time", "duration", "number", "category", "time", "–"]
    assert [kind for _, kind, _ in model.columns_] == kinds
    for name, frame in frames(X).items():
        other = TableClassifier(QUICK, head=200)
        assert other.predict_then_learn(frame, y).tolist() == predictions.tolist(), name
        same(other, model)
        np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(X), name)
    assert model.predict(X[X.columns[::-1]].assign(more=1)).tolist() == model.predict(X).tolist()


def test_what_the_user_says_comes_first() -> None:
    X, y = mixed()
    X["text"] = [f"row number {at} has words like {at % 7}" for at in range(len(X))]
    asked: dict[str, Any] = {
        "categorical": ["count"],
        "drop": ["took"],
        "time": "when",
        "text": ["text"],
        "na": ["calm"],
    }
    model = TableClassifier(AutoClassifier(), **asked).fit(X, y)
    kinds = {name: kind for name, kind, _ in model.columns_}
    assert (kinds["count"], kinds["took"], kinds["text"], kinds["when"]) == ("sparse category", "–", "text", "time")
    assert model.predict_one(X.iloc[3].to_dict()) == model.predict(X)[3]
    with pytest.warns(UserWarning, match="column 'text' is left out: it seems to be text"):
        dense = TableClassifier(QUICK).fit(X, y)
    assert "which OnlineLDC does not take" in dense.encoder_.plan.left_out["text"]
    with pytest.raises(InvalidParameter, match="OnlineLDC takes no sparse rows"):
        TableClassifier(QUICK, text=["text"]).fit(X, y)
    keyed = TableClassifier(QUICK, key="site").fit(X.drop(columns="text"), y)
    assert keyed.learner_.n_keys_ == 3
    with pytest.raises(InvalidInput, match="'colour'"):
        TableClassifier(drop=["colour"]).fit(X, y)


def test_misfits_are_refused_or_missing() -> None:
    X, y = mixed()
    strict, lenient = (TableClassifier(QUICK, misfits=given).fit(X, y) for given in ("error", "missing"))
    odd = X.assign(load="much", wind="a new one")
    gaps = X.assign(load=None, wind="a new one")
    for bad, said in (
        (odd, "row 0, column 'load': 'much' is not a number"),
        (X.drop(columns="up"), "lacks the column 'up'"),
    ):
        with pytest.raises(InvalidInput, match=said):
            strict.predict(bad)
    np.testing.assert_array_equal(lenient.predict_proba(odd), strict.predict_proba(gaps))
    np.testing.assert_array_equal(lenient.predict_proba(X.drop(columns="up")), strict.predict_proba(X.assign(up=None)))
    row = gaps.iloc[5].to_dict()
    assert lenient.predict_one({**row, "load": "much"}) == strict.predict_one(row)
    lenient.learn_one({name: cell for name, cell in row.items() if name != "load"}, "wet")
    strict.learn_one(row, "wet")
    same(lenient, strict)
    assert "a new one" in strict.encoder_.state()["wind"]["categories"]


def test_the_error_of_other_learners_names_it() -> None:
    X, y = mixed()
    line = r"TableClassifier and TableRegressor read text, .* TableClassifier\(learner\)\.fit\(X, y\)"
    with pytest.raises(InvalidInput, match=line):
        AutoClassifier().partial_fit(X, y)
    with pytest.raises(InvalidInput, match="TableClassifier"):
        AutoClassifier().partial_fit(X[["load"]], y)


@pytest.mark.parametrize("model", [TableClassifier(), TableRegressor()], ids=["classifier", "regressor"])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass_on_arrays(model: Any) -> None:
    found = check_estimator(model, expected_failed_checks=expected_failures(model), on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in found if each["status"] == "failed"] == []


def test_searches_and_folds() -> None:
    X, y = mixed()
    folds = TimeSeriesSplit(3)
    scores = cross_val_score(TableClassifier(PLAIN), X, y, cv=folds)
    assert scores.mean() > 0.65
    plain = TableClassifier(Perceptron(), drop=["count", "took"])
    areas = [
        cross_val_score(plain, X, labels, cv=folds, scoring="roc_auc").tolist()
        for labels in (y, np.where(y == "wet", 10, 9))  # of which "10" is the first as text
    ]
    assert areas[0] == areas[1]
    assert min(areas[0]) > 0.5
    settings = {"learner__rate": [0.001, 0.1], "drop": [["count", "took", "when"]]}
    search = GridSearchCV(TableClassifier(OnlineLogistic()), settings, cv=folds).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] != scores[1]
    assert search.best_estimator_.learner.rate == settings["learner__rate"][scores.argmax()]
    assert search.best_estimator_.predict(X).shape == y.shape
    numbers = cross_val_score(TableRegressor(OnlineLinearRegression(solver="rls")), *columns_of_numbers(), cv=folds)
    assert numbers.mean() > 0.1
    usual = TableClassifier().set_params(learner__curved=False).learner
    assert isinstance(usual, AutoClassifier)
    assert not usual.curved


def test_a_time_that_pandas_misses_is_missing_in_a_dict() -> None:
    X, y = mixed()
    model = TableClassifier(PLAIN).partial_fit(X, y)
    rows = X.astype(object).to_dict("records")[:3]
    lacking = [{**row, "when": pd.NaT} for row in rows]
    without = [{**row, "when": None} for row in rows]
    assert model.predict_proba(lacking).tolist() == model.predict_proba(without).tolist()


def test_pipelines_of_frames() -> None:
    X, y = mixed()
    fill = ColumnTransformer(
        [("load", SimpleImputer(), ["load"])], remainder="passthrough", verbose_feature_names_out=False
    )
    filled = make_pipeline(fill.set_output(transform="pandas"), TableClassifier(PLAIN)).fit(X, y)
    assert filled[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert filled.score(X, y) > 0.65
    assert "load is missing" not in filled[-1].encoder_.feature_names()
    assert clone(filled).fit(X, y).predict(X).tolist() == filled.predict(X).tolist()


def test_calibration_and_permutation() -> None:
    X, y = mixed()
    calibrated = CalibratedClassifierCV(TableClassifier(PLAIN), cv=TimeSeriesSplit(2)).fit(X, y)
    assert calibrated.predict_proba(X).shape == (300, 2)
    found = permutation_importance(TableClassifier(PLAIN).fit(X, y), X, y, n_repeats=2, random_state=0)
    assert X.columns[found.importances_mean.argmax()] in ("load", "up")


def test_rivers_loop_over_dicts() -> None:
    pytest.importorskip("river")
    from river import evaluate, metrics

    from thalweg.river import to_river

    X, y = mixed()
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    model = to_river(TableClassifier(PLAIN, head=100))
    accuracy = evaluate.progressive_val_score(zip(rows, y, strict=True), model, metrics.Accuracy())
    assert accuracy.get() > 0.65
    whole = TableClassifier(PLAIN, head=100).partial_fit(X[sorted(X)], y)
    same(model.learner_, whole)
    assert (
        model.predict_one({"load": 3.0, "up": True})
        == whole.predict([{**dict.fromkeys(X), "load": 3.0, "up": True}])[0]
    )
    assert to_river(whole).predict_many(X).tolist() == whole.predict(X).tolist()
    target = columns_of_numbers(120)[1].tolist()
    numbers = to_river(TableRegressor(head=20))
    mae = evaluate.progressive_val_score(zip(rows[:120], target, strict=True), numbers, metrics.MAE())
    assert mae.get() < np.abs(target).mean()
    with pytest.raises(InvalidParameter, match="sparse"):
        to_river(TableClassifier(), sparse=True)


@pytest.mark.slow
@pytest.mark.parametrize("model", [TableClassifier(PLAIN), TableRegressor()], ids=["classifier", "regressor"])
@pytest.mark.filterwarnings("ignore")
def test_rivers_own_checks_pass(model: Any) -> None:
    checks = pytest.importorskip("river.checks")
    from thalweg.river import to_river

    wrapped = to_river(model)
    for check in checks.yield_checks(wrapped):
        check(wrapped.clone())
