"""Features from earlier rows in a run, a resumed one, predictions and a model of a table: the same values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from thalweg import OnlineLDC, TableClassifier, TableRegressor, evaluate, load, save
from thalweg.errors import InvalidInput
from thalweg.run.options import RunOptions
from thalweg.run.predict import model_for_tables, predict_table
from thalweg.run.runner import Run
from thalweg.store import dumps, loads

FEATURES = [
    "risk = rate(target = bad) by card over 4h",
    "ratio = amount / mean(amount) by card",
    "count() by card over 90min",
    "since_last() by card",
    '"shop before" = last(shop) by card',
    "lag(target, 2)",
]


def payments(rows: int = 2500, seed: int = 0) -> pd.DataFrame:
    """Some cards go bad for a while; what a row says alone is nothing."""
    rng = np.random.default_rng(seed)
    card = rng.integers(0, 12, rows)
    amount = np.where(rng.random(rows) < 0.05, np.nan, rng.gamma(2.0, 10.0, rows).round(2))
    bad = rng.random(rows) < np.where((card + np.arange(rows) // 300) % 4 == 0, 0.9, 0.05)
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.cumsum(rng.integers(0, 4, rows)), unit="min")
    known = when + pd.to_timedelta(rng.integers(1, 90, rows), unit="min")
    columns = {
        "card": [f"c{number}" for number in card],
        "amount": amount,
        "shop": rng.choice(["web", "town", "café"], rows),
    }
    return pd.DataFrame({**columns, "when": when, "known": known, "state": np.where(bad, "bad", "good")})


def finished(folder: Path, table: pd.DataFrame, *, stop_after: int | None = None, **options) -> tuple[bytes, str]:
    """The model and the predictions of a run; with ``stop_after`` of one that was cut off, and resumed."""
    folder.mkdir()
    table.to_csv(folder / "table.csv", index=False)
    given = RunOptions(
        str(folder / "table.csv"), "state", model="oldc", feature=tuple(FEATURES), out=str(folder / "out"), **options
    )
    run = Run(given)
    if stop_after is not None:
        run.folder.mkdir(exist_ok=True)
        for _, chunk in zip(range(stop_after), run.chunks(), strict=False):
            run.take(chunk)
            run.fingerprint.take(chunk)
            run.chunks_done += 1
        run.write_checkpoint()
        run.predictions.close()
        run = Run(given)
        assert run.resume()
    run.go()
    run.save_model(folder / "model.thalweg")
    return (folder / "model.thalweg").read_bytes(), (folder / "out" / "predictions.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("late", [{}, {"delay": 40}, {"label_time": "known"}], ids=["at once", "delay", "label time"])
def test_chunks_and_checkpoints_change_nothing(tmp_path, late):
    table = payments()
    model, predictions = finished(tmp_path / "whole", table, time="when", **late)
    cut = finished(tmp_path / "cut", table, time="when", chunk=170, stop_after=4, **late)
    assert cut[1] == predictions
    assert loads(cut[0]).encoder_.to_json() == loads(model).encoder_.to_json()
    assert loads(cut[0]).get_params()["features"] == loads(model).get_params()["features"] != ()
    for name, array in loads(model).encoder_.history.arrays().items():
        assert np.array_equal(array, loads(cut[0]).encoder_.history.arrays()[name])


def test_a_model_of_a_table_predicts_what_a_run_predicts():
    table = payments()
    options = {"time": "when", "features": FEATURES, "drop": ["known"]}
    run = evaluate.run("oldc", table, "state", **options)
    model = TableClassifier(run.model.learner, **options)
    rows, labels = table.drop(columns="state"), table.state
    parts = [model.predict_then_learn(rows[at : at + 300], labels[at : at + 300]) for at in range(0, len(rows), 300)]
    predicted = run.to_frame()["prediction"].to_numpy()
    assert (np.concatenate(parts)[1000:] == predicted[1000:]).all()  # before, the columns are planned anew
    assert (np.concatenate(parts) != labels)[1000:].mean() < 0.2


def test_a_label_that_is_not_known_changes_nothing():
    """Labels after a moment are shuffled: nothing before they are known is another."""
    table = payments()
    moment = table.when.iloc[1500]
    later = table.known > moment
    other = table.copy()
    other.loc[later, "state"] = np.random.default_rng(1).permutation(table.state[later].to_numpy())
    options = {"time": "when", "label_time": "known", "features": FEATURES, "drop": []}
    runs = (evaluate.run("oldc", given, "state", probabilities="all", **options) for given in (table, other))
    one, two = (run.to_frame()[["prediction", "P(bad)"]] for run in runs)
    before = (table.when <= moment).to_numpy()
    assert one[before].equals(two[before])
    assert not one.equals(two)


def test_rows_that_are_predicted_follow_one_another_and_are_forgotten(tmp_path):
    table = payments()
    first, then = table[:2000], table[2000:].drop(columns="state")
    model = TableClassifier(OnlineLDC(), features=FEATURES, time="when", drop=["known"])
    model.partial_fit(first.drop(columns="state"), first.state)
    before = dumps(model)
    whole = model.predict_proba(then)
    assert dumps(model) == before
    save(model, tmp_path / "model.thalweg")
    then.to_csv(tmp_path / "then.csv", index=False)
    given = list(predict_table(model_for_tables(tmp_path / "model.thalweg"), str(tmp_path / "then.csv")))
    assert np.array_equal(np.concatenate([chunk.proba for chunk in given]), whole)
    one = model.predict_proba_one(then.iloc[0].to_dict())
    assert list(one.values()) == pytest.approx(whole[0].tolist())
    assert not np.array_equal(model.predict_proba(then[-1:]), whole[-1:])  # without the rows before it
    assert [clone(model).features, load(tmp_path / "model.thalweg").features] == [FEATURES, [*_lines(model)]]


def _lines(model) -> list[str]:
    return [str(feature) for feature in model.encoder_.history.features]


def test_a_refused_call_leaves_no_trace():
    table = payments(1200)
    model = TableClassifier(OnlineLDC(), features=FEATURES, time="when", drop=["known"])
    model.partial_fit(table.drop(columns="state"), table.state)
    before = dumps(model)
    with pytest.raises(InvalidInput):
        model.partial_fit(table.drop(columns="state")[:50], [*table.state[:49], None])
    with pytest.raises(InvalidInput):
        model.partial_fit(table.drop(columns="state")[:50].assign(amount="much"), table.state[:50])
    assert dumps(model) == before


def test_an_hourly_load_is_predicted_from_the_one_of_the_day_before():
    hours = np.arange(3000)
    rng = np.random.default_rng(0)
    shape = rng.normal(0.0, 10.0, 24)
    load_ = 100 + shape[hours % 24] + np.cumsum(rng.normal(0.0, 0.5, len(hours))) + rng.normal(0.0, 1.0, len(hours))
    table = pd.DataFrame({"wind": rng.normal(size=len(hours)), "load": load_})
    plain, helped = (
        evaluate.run("auto", table, "load", delay=24, **more).summary["model"]["mae"]
        for more in ({}, {"features": ["yesterday = lag(target, 24)", "level = mean(target) over 48 rows"]})
    )
    assert helped < 0.6 * plain


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("amount = count()", "has the name of a column"),
        ("mean(shop)", "needs numbers, and column 'shop' holds a category"),
        ("mean(price)", "'price'"),
        ("x = state", "reads the target of its own row"),
        ("rate(target)", None),
        ("mean(target)", "holds a category"),
        ("count() over 50", "say the unit"),
        ("x = mean(amont) by card", "amont"),
        ("x = mean(amount by card", "x = mean(amount by card"),
    ],
)
def test_what_cannot_be_is_said(feature, message):
    table = payments(600).drop(columns="known")
    if message is None:
        evaluate.run("oldc", table, "state", features=[feature], time="when")
        return
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")):
        evaluate.run("oldc", table, "state", features=[feature], time="when")


def test_the_table_that_is_printed_says_what_a_feature_is_made_of():
    table = payments(600).drop(columns=["known", "state"])
    model = TableRegressor(features="auto").partial_fit(table.drop(columns="amount"), table.amount.fillna(0.0))
    assert "mean(target) fading 100 rows" in str(model.columns_)
    assert "lag(target, 1)" in str(model.columns_)


def test_recent_is_a_length_of_time_where_rows_come_now_and_then():
    """A hundred rows come in about 150 minutes; and in 100 hours, where there is one an hour."""
    table = payments(1000).drop(columns=["known", "amount"])
    regular = table.assign(when=pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(1000), unit="h"))
    said = [
        str(TableClassifier(features="auto", time="when").fit(each.drop(columns="state"), each.state).columns_)
        for each in (table, regular)
    ]
    for line in ("rate(target) by card fading 3h", "count() by card fading 3h", "since_last() by card"):
        assert line in said[0]
    assert "fading 100 rows" in said[1]
    assert "count()" not in said[1]


def test_the_small_set_follows_categories_of_many_by_their_newest_label():
    """Each of 300 machines stays good or bad for long: its own newest label says all."""
    rng = np.random.default_rng(2)
    machine = rng.integers(0, 300, 3000)
    state = np.where((machine + np.arange(3000) // 1500) % 2, "bad", "good")
    table = pd.DataFrame({"machine": [f"m{each}" for each in machine], "load": rng.normal(size=3000), "state": state})
    result = evaluate.run("logistic", table, "state", features="auto", head=500)
    errors = (result.to_frame()["prediction"] != table.state).to_numpy()
    assert errors[1000:1500].mean() < 0.1
    assert errors[2400:].mean() < 0.1
