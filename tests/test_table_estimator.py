"""The model of a table made by hand: an estimator over frames and dicts, equal to `thalweg run` on the file of them."""

from __future__ import annotations

import copy
import pickle
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from tests.examples import examples
from thalweg import (
    AutoClassifier,
    AutoRegressor,
    OnlineLDC,
    OnlineLinearRegression,
    TableClassifier,
    TableRegressor,
    WindowForest,
    cli,
    load,
    save,
)
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.store import dumps
from thalweg.table_model.first_rows import Call

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

QUICK = OnlineLDC(0.005, counts="soft", ridge=1e-3)
PLAIN = AutoClassifier(curved=False)


def mixed(rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """A frame of numbers, gaps, categories, truth values, times, lengths of time and decimals, with labels."""
    rng = np.random.default_rng(seed)
    wet = rng.integers(0, 2, rows)
    frame = pd.DataFrame(
        {
            "load": np.where(np.arange(rows) % 17 == 3, np.nan, rng.normal(size=rows) + wet),
            "count": rng.integers(0, 99, rows),
            "wind": pd.Categorical.from_codes(rng.integers(-1, 3, rows), ["north", "south", "calm"]),
            "site": rng.choice(["a", "b", "c"], rows).astype(object),
            "up": rng.random(rows) < 0.3 + 0.4 * wet,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(7 * np.arange(rows), unit="h"),
            "took": pd.to_timedelta(rng.integers(1, 90, rows), unit="m"),
        }
    )
    return frame, np.where(wet, "wet", "dry")


def columns_of_numbers(rows: int = 300) -> tuple[Any, Any]:
    X, y = mixed(rows)
    return X, np.random.default_rng(7).normal(size=rows) + X["load"].fillna(0.0).to_numpy() + (y == "wet")


def same(one: Any, other: Any) -> None:
    """Two models learned the same, to the last bit."""
    assert dumps(one.learner_) == dumps(other.learner_)
    assert one.encoder_.to_json() == other.encoder_.to_json()


def told_by_a_run(folder: Path, X: Any, y: Any, *options: str) -> tuple[Any, Any]:
    """The predictions of `thalweg run` on the CSV of a frame, and its model."""
    X.assign(y=y).to_csv(folder / "rows.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(folder / "rows.csv"), "--target", "y", "--out", str(folder / "run"), "--quiet", *options])
    assert not ended.value.code
    given = pd.read_csv(folder / "run" / "predictions.csv", float_precision="round_trip")
    return given, load(folder / "run" / "model.thalweg")


def test_a_frame_is_learned_as_a_run_learns_its_file(tmp_path: Path) -> None:
    X, y = mixed(1300)
    given, run = told_by_a_run(tmp_path, X, y, "--model", "oldc", "--rate", "0.005")
    model = TableClassifier(run.learner)
    predictions = model.predict_then_learn(X, y)
    assert predictions[1:].tolist() == given["prediction"].tolist()[1:]
    assert dumps(model.learner_) == dumps(run.learner_)
    np.testing.assert_array_equal(model.predict_proba(X), run.predict_proba(X))


def test_numbers_are_predicted_as_in_a_run(tmp_path: Path) -> None:
    X, y = columns_of_numbers(1300)
    given, run = told_by_a_run(tmp_path, X, y)
    model = TableRegressor()
    predictions = model.predict_then_learn(X, y)
    np.testing.assert_allclose(predictions[1:], given["prediction"][1:], rtol=2e-6)  # the file has seven digits
    assert dumps(model.learner_) == dumps(run.learner_)
    np.testing.assert_array_equal(model.predict_interval(X), run.predict_interval(X))


@pytest.mark.slow
def test_flights_are_predicted_as_in_a_run(tmp_path: Path) -> None:
    from thalweg.errors import DataUnavailable, MissingExtra
    from thalweg.papers.auto.late import flights

    try:
        frame = flights()
    except (DataUnavailable, MissingExtra) as error:
        pytest.skip(str(error))
    frame = frame[frame["late"].notna()].head(6000).drop(columns="known_at")
    X, y = frame.drop(columns="late"), frame["late"]
    given, run = told_by_a_run(tmp_path, X, y)
    model = TableClassifier()
    assert model.predict_then_learn(X, y).tolist()[1:] == given["prediction"].tolist()[1:]
    assert dumps(model.learner_) == dumps(run.learner_)


@pytest.mark.parametrize("size", [1, pytest.param(7, marks=pytest.mark.slow), 120])
def test_the_size_of_chunks_does_not_matter_once_the_columns_are_settled(size: int) -> None:
    X, y = mixed()
    whole = TableClassifier(QUICK, head=200).partial_fit(X, y)
    parts = TableClassifier(QUICK, head=200)
    for start in range(0, len(X), size):
        part = X[start : start + size]
        if size == 1:
            row = part.iloc[0].to_dict()
            parts.predict_one(row)
            parts.learn_one(row, y[start])
        else:
            parts.predict_then_learn(part, y[start : start + size])
    assert dumps(parts.learner_) == dumps(whole.learner_)
    assert parts.encoder_.state() == whole.encoder_.state()
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def texts(rows: int = 400) -> tuple[Any, Any]:
    """A frame of numbers, words, categories of which there are many, and times written in several ways."""
    rng = np.random.default_rng(1)
    times = pd.date_range("2024-01-01", periods=rows, freq="7h13min")
    forms = (
        "%Y-%m-%dT%H:%M:%S.%f+02:00",
        "%m/%d/%Y %I:%M %p",
        "%d.%m.%Y %H:%M",
        "%d %B %Y",
        "%Y-%m",
        "%H:%M",
        "%Y%m%d",
    )
    frame = pd.DataFrame({f"when{at}": times.strftime(form) for at, form in enumerate(forms)})
    frame["load"] = rng.normal(size=rows)
    frame["note"] = [" ".join(rng.choice([f"word{i}" for i in range(200)], 7)) for _ in range(rows)]
    frame["part"] = [f"p{i}" for i in rng.integers(0, 120, rows)]
    return frame, np.where(frame["load"] > 0, "wet", "dry")


@pytest.mark.parametrize("size", [1, 30])
def test_the_size_of_chunks_does_not_matter_to_a_model_of_text(size: int) -> None:
    X, y = texts(120)
    whole, parts = TableClassifier(PLAIN, head=100).partial_fit(X, y), TableClassifier(PLAIN, head=100)
    for start in range(0, len(X), size):
        parts.partial_fit(X[start : start + size], y[start : start + size])
    same(parts, whole)


def test_the_first_rows_may_be_misleading() -> None:
    """A column that begins with numbers and goes on with words is one of categories, in a loop over dicts, too."""
    rows = [{"a": i, "part": str(i) if i < 5 else f"p{i % 3}", "late": None if i < 9 else i} for i in range(64)]
    labels = [i % 3 == 0 for i in range(64)]
    model = TableClassifier(QUICK, head=50)
    assert model.predict_one(rows[0]) is None
    for row, label in zip(rows, labels, strict=True):
        model.predict_one(row)
        model.learn_one(row, label)
    same(model, TableClassifier(QUICK, head=50).partial_fit(rows, labels))
    kinds = {name: kind for name, kind, _ in model.columns_}
    assert kinds == {"a": "number", "part": "category", "late": "number", "y": "–"}
    assert model.predict_one(rows[3]) is True
    with pytest.raises(InvalidInput, match="column 'late': 'soon' is not a number"):
        model.predict_one({"a": 1, "part": "p1", "late": "soon"})


@pytest.mark.parametrize(
    "labels", [["b", "a"], [10, 9], [True, False], [1.0, 0.0], [np.str_("x"), np.str_("y")]], ids=lambda y: repr(y[0])
)
def test_labels_keep_their_type(labels: list[Any]) -> None:
    X, y = mixed(60)
    y = np.array(labels)[(y == "wet").astype(int)]
    model = TableClassifier(PLAIN).fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).dtype.kind == y.dtype.kind
    assert model.score(X, y) > 0.6
    proba = model.predict_proba(X)
    assert model.classes_[proba.argmax(axis=1)].tolist() == model.predict(X).tolist()
    row = X.iloc[4].to_dict()
    assert type(model.predict_one(row)) is type(y[0].item())
    assert sum(model.predict_proba_one(row).values()) == pytest.approx(1.0)
    begun = TableClassifier(PLAIN).predict_then_learn(X, y, with_proba=True)
    assert begun.proba.shape == (60, 2)
    assert begun.labels[0] == y.dtype.type()
    with pytest.raises(InvalidInput, match="label"):
        model.partial_fit(X[:1], [None])


def test_it_is_an_estimator(tmp_path: Path) -> None:
    X, y = mixed()
    model = TableClassifier(QUICK, head=100, drop=["took"], misfits="missing")
    assert is_classifier(model)
    assert is_regressor(TableRegressor())
    assert model.get_params()["learner__rate"] == 0.005
    for learned in (lambda: model.predict(X), lambda: model.columns_, lambda: model.classes_, lambda: dumps(model)):
        with pytest.raises(NotFittedError, match="it has seen no row"):
            learned()
    with pytest.raises(InvalidInput, match="at least one column"):
        model.learn_one({}, "wet")
    model.fit(X, y)
    twin = clone(model)
    assert not hasattr(twin, "classes_")
    assert twin.set_params(learner__rate=0.5).learner.rate == 0.5
    assert model.learner.rate == 0.005
    assert model.n_features_in_ == 7
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    save(model, tmp_path / "model.thalweg")
    loaded = load(tmp_path / "model.thalweg")
    assert {**loaded.get_params(), "learner": None} == {**model.get_params(), "learner": None}
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), loaded):
        same(other, model)
        other.partial_fit(X, y)
        assert dumps(other.learner_) != dumps(model.learner_)
        same(clone(other).fit(X, y), model)
    assert "TableClassifier" in repr(model)
    assert "<p>" in model._repr_html_()
    assert "<td>took</td>" in model.columns_._repr_html_()


def test_a_model_in_the_middle_of_its_first_rows_is_pickled() -> None:
    X, y = mixed()
    model = TableClassifier(QUICK).partial_fit(X[:150], y[:150])
    again = pickle.loads(pickle.dumps(model))
    same(again.partial_fit(X[150:], y[150:]), model.partial_fit(X[150:], y[150:]))


def test_labels_may_come_late() -> None:
    X, y = mixed()
    rows = np.arange(len(X))
    model, prompt = TableClassifier(QUICK, head=100), TableClassifier(QUICK, head=100)
    given, proba = model.follow(X, y, np.stack([rows, ~rows], axis=1).ravel(), with_proba=True)
    assert given.tolist() == prompt.predict_then_learn(X, y).tolist()
    assert proba.shape == (300, 2)
    same(model, prompt)
    late = TableClassifier(QUICK).follow(X, [*y[:200], *[None] * 100], [*rows, *~rows[:200]])[0]
    assert set(late) == {""}
    target = columns_of_numbers()[1]
    numbers = TableRegressor(OnlineLinearRegression(solver="rls"), head=100)
    found = numbers.follow(X, target, np.stack([rows, ~rows], axis=1).ravel()).predictions
    learned = TableRegressor(OnlineLinearRegression(solver="rls"), head=100).predict_then_learn(X, target)
    np.testing.assert_array_equal(found[1:], learned[1:])


def test_what_is_refused_changes_nothing() -> None:
    X, y = mixed()
    model = TableClassifier(QUICK, head=100)
    for bad in ((X, y[:5]), (X, None), (X[:0], y[:0]), (X, "y"), (pd.DataFrame({"a": [[1], [2]]}), ["a", "b"])):
        with pytest.raises(InvalidInput):
            model.partial_fit(*bad)
        assert not model.__sklearn_is_fitted__()
        assert not hasattr(model, "n_features_in_")
    for rows in (50, 300):
        model.partial_fit(X[:rows], y[:rows])
        before = dumps(model)
        for other, labels in (
            (X.drop(columns="wind"), y),
            (X, [*y[:299], ""]),
            (X.to_numpy(), y),
            *([] if rows < 100 else [(X.assign(load="much"), y), (X.assign(load=np.inf), y)]),
        ):
            with pytest.raises(InvalidInput):
                model.partial_fit(other[20:], labels[20:])
            assert dumps(model) == before
    with pytest.raises(InvalidInput):
        model.fit(X, y[:3])
    assert dumps(model) == before
    half = X.assign(site=[*X["site"][:9], "\ud800", *X["site"][10:]])
    for learned, rule in (
        (half, "row 9, column 'site': .* surrogate"),
        (X.rename(columns={"up": "\ud800"}), "surrogate"),
    ):
        for rows in (learned, learned.to_dict("records")):
            with pytest.raises(InvalidInput, match=rule):
                TableClassifier(QUICK).fit(rows, y)
    with pytest.raises(InvalidInput, match="row 9, column 'site'"):
        model.predict(half)
    for row in (X.iloc[0], X.iloc[0].to_dict()):
        with pytest.raises(InvalidInput, match="predict_one"):
            model.predict(row)
    for asked in ({"head": 0}, {"drop": "load"}, {"misfits": "skip"}, {"learner": AutoRegressor()}):
        with pytest.raises((InvalidParameter, InvalidInput), match=next(iter(asked))):
            TableClassifier(**asked).fit(X, y)


def test_nothing_is_shared_with_the_caller() -> None:
    X, y = mixed(100)
    X, y, target = X.copy(), y.copy(), columns_of_numbers(100)[1]
    model, numbers = TableClassifier(QUICK), TableRegressor()
    model.partial_fit(X, y)
    numbers.partial_fit(X, target)
    X[["load", "count"]] = 0
    y[:], target[:] = "dry", 0.0
    again, (more, labels) = mixed(100)[0], mixed(100, seed=1)
    same(
        model.partial_fit(more, labels),
        TableClassifier(QUICK).partial_fit(pd.concat([again, more]), [*mixed(100)[1], *labels]),
    )
    whole = TableRegressor().partial_fit(again, columns_of_numbers(100)[1]).partial_fit(more, np.arange(100.0))
    same(numbers.partial_fit(more, np.arange(100.0)), whole)


cells = st.fixed_dictionaries(
    {
        "load": st.sampled_from([None, float("nan"), 1.5, 2, -999.0, 1e9]),
        "count": st.integers(-5, 200),
        "wind": st.sampled_from(["north", "calm", "new", "", None, float("nan"), " south"]),
        "site": st.sampled_from(["a", "b", 7, None]),
        "up": st.sampled_from([True, False, None, "true"]),
        "when": st.one_of(st.none(), st.datetimes(datetime(1905, 1, 1), datetime(2100, 1, 1))),
        "took": st.sampled_from([60, 1.5, None, timedelta(hours=1)]),
    }
)


@pytest.fixture(scope="module")
def settled() -> TableClassifier:
    X, y = mixed(400)
    return TableClassifier(QUICK, head=300).partial_fit(X, y)


@given(rows=st.lists(cells, min_size=1, max_size=8))
@examples(60)
def test_one_dict_is_encoded_as_a_table_to_the_last_bit(settled: TableClassifier, rows: list[dict[str, Any]]) -> None:
    """A row that comes alone is encoded without Arrow and NumPy's calls for each column."""
    alone, before = copy.deepcopy(settled), copy.deepcopy(settled)
    whole = copy.deepcopy(settled)
    for row in rows:
        assert alone.predict_one(row) == alone.predict([row])[0]
        alone.learn_one(row, "wet")
        table = whole._table([row])
        whole._step(whole.encoder_, whole.learner_, Call(table, np.array(["wet"])), "partial_fit")
    same(alone, whole)
    mark = before.encoder_.mark()
    if before.encoder_.row(rows[0], learn=True) is not None:
        before.encoder_.undo(mark)
        same(before, settled)


odd_cells = st.fixed_dictionaries(
    {},
    optional={
        "when0": st.sampled_from(["", None, "2024-02-30", "2024-01-31 24:00", "2024-1-5", " 2024-01-05 "]),
        "when1": st.sampled_from(["1/5/24", "12/31/2024 13:05 PM", "1/31/2024 12:00 am"]),
        "when2": st.sampled_from(["1.1.24", "01.01.24 7:30 pm EST", "01.01.1999 23:59:59,1234567 (UTC)"]),
        "when5": st.sampled_from(["7:30", "07:30:15.123456789", "00:30 pm"]),
        "note": st.one_of(st.text(), st.sampled_from(["", " ", "word1\n word2 WORD1", "\x1c", None, float("nan")])),
        "part": st.sampled_from(["new", "", None, " p1", "p1", 7]),
    },
)


@pytest.fixture(scope="module")
def of_text() -> TableClassifier:
    return TableClassifier(PLAIN).fit(*texts())


@given(changes=st.lists(odd_cells, min_size=1, max_size=6))
@examples(40)
def test_one_dict_of_text_is_encoded_as_a_table_to_the_last_bit(
    of_text: TableClassifier, changes: list[dict[str, Any]]
) -> None:
    alone, whole = copy.deepcopy(of_text), copy.deepcopy(of_text)
    rows = texts(len(changes))[0].to_dict("records")
    for row in [{**row, **change} for row, change in zip(rows, changes, strict=True)]:
        try:
            table = whole._table([row])
            whole._step(whole.encoder_, whole.learner_, Call(table, np.array(["wet"])), "partial_fit")
        except InvalidInput as error:
            with pytest.raises(InvalidInput, match=re.escape(str(error))):
                alone.learn_one(row, "wet")
            continue
        assert alone.predict_one(row) == alone.predict([row])[0]
        assert list(alone.predict_proba_one(row).values()) == alone.predict_proba([row])[0].tolist()
        alone.learn_one(row, "wet")
    same(alone, whole)


def test_the_table_is_in_what_it_says() -> None:
    """Names of targets, trees and intervals of single rows, and columns that are left out."""
    X, y = mixed(400)
    model = TableClassifier(WindowForest()).fit(X, pd.Series(y, name="weather"))
    assert model.columns_[-1] == ("weather", "–", "the label")
    assert "site = " in model.export_text()
    numbers = TableRegressor(AutoRegressor(curved=False))
    row = X.iloc[7].to_dict()
    assert numbers.predict_interval_one(row) is None
    numbers.fit(X, columns_of_numbers(400)[1])
    ends = numbers.predict_interval(X[7:8], coverage=0.5)
    assert numbers.predict_interval_one(row, coverage=0.5) == (ends.lower[0], ends.upper[0])
    for labels in ([*y[:399], None], pd.Series(y).where(y == "wet")):
        with pytest.raises(InvalidInput, match=r"learn only the rows that have one, in pandas X\[y"):
            TableClassifier(QUICK).fit(X, labels)
    with pytest.raises(InvalidInput, match="learn only the rows that have one"):
        TableRegressor().fit(X, [*range(399), float("nan")])


def test_the_command_and_the_service_take_its_file(tmp_path: Path) -> None:
    from thalweg.run.predict import model_for_tables, predict_table
    from thalweg.service.learning.creation import from_content

    X, y = mixed()
    X.to_csv(tmp_path / "rows.csv", index=False)
    for model, target, kind in (
        (TableClassifier(PLAIN), (y == "wet").astype(int), "AutoClassifier"),
        (TableRegressor(), columns_of_numbers()[1], "AutoRegressor"),
    ):
        save(model.fit(X, target), tmp_path / "model.thalweg")
        parts = predict_table(model_for_tables(tmp_path / "model.thalweg"), str(tmp_path / "rows.csv"))
        found = np.concatenate([part.predictions for part in parts])
        np.testing.assert_array_equal(found.astype(model.predict(X).dtype), model.predict(X))
        assert from_content((tmp_path / "model.thalweg").read_bytes(), "the file")["kind"] == kind
