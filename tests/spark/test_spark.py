"""On two threads of Spark: what the single machine gives, key by key and row by row."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pkgutil
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

pa = pytest.importorskip("pyarrow", reason="the engines need pyarrow")
from pyarrow import parquet  # noqa: E402

from tests.conftest import spark_tests  # noqa: E402
from tests.spark.keyed_job import MODEL, run, streamed  # noqa: E402
from tests.spark.late_tables import write_late_labels  # noqa: E402
from tests.spark.oracle import Event, Oracle  # noqa: E402
from tests.spark.tables import NAMES, by_key, finish, rows, write_parts  # noqa: E402
from thalweg import AutoRegressor, OnlineLDC, OnlineLinearRegression, Perceptron, TableClassifier, load  # noqa: E402
from thalweg.errors import InvalidInput, InvalidParameter, NotAdditive  # noqa: E402
from thalweg.store import dumps, loads  # noqa: E402

pytestmark = [pytest.mark.slow, spark_tests]


def test_a_busy_machine_ends_no_query(spark):
    assert int(os.environ["SPARK_AUTH_SOCKET_TIMEOUT"]) >= 120  # seconds; Spark's own default is 15


def test_answers_are_those_of_the_model(spark, tmp_path):
    from thalweg.spark import predict

    table = rows(300, 5)
    write_parts(table, tmp_path / "in", 2)
    df = spark.read.parquet(str(tmp_path / "in"))
    model = OnlineLDC(0.1).fit(table.select(NAMES), table.column("state"))
    got = predict(df, model, proba="p").orderBy("row").toPandas()
    assert list(got.columns) == [*table.column_names, "prediction", "p"]
    assert got["prediction"].tolist() == model.predict(table.select(NAMES)).tolist()
    np.testing.assert_array_equal(np.vstack(got["p"]), model.predict_proba(table.select(NAMES)))
    numbers = OnlineLinearRegression(solver="rls").fit(table.select(NAMES[:2]), table.column("heat"))
    got = predict(df, numbers, prediction="expected").orderBy("row").toPandas()
    assert got["expected"].tolist() == numbers.predict(table.select(NAMES[:2])).tolist()
    holes = spark.createDataFrame([(1.0, None, 2.0), (1.0, 2.0, 3.0)], "level double, flow double, heat double")
    assert [row["prediction"] is None for row in predict(holes, model, missing="null").collect()] == [True, False]
    with pytest.raises(InvalidInput, match="no column 'heat'; it has 'pump'"):
        predict(df.drop("heat"), model)
    with pytest.raises(InvalidInput, match="'state' must hold numbers"):
        predict(df, OnlineLDC(0.1).fit(np.eye(2), [0, 1]), columns=["level", "state"])
    for other in (OnlineLDC(0.1), LogisticRegression()):
        with pytest.raises(InvalidParameter, match="be a fitted model of thalweg that predicts"):
            predict(df, other)
    with pytest.raises(InvalidInput, match="already has a column 'prediction'"):
        predict(df.withColumn("Prediction", df["heat"]), model)
    dotted = OnlineLDC(0.1).fit(table.select(NAMES).rename_columns(["a.level", "flow", "heat"]), table.column("state"))
    got = predict(df.withColumnRenamed("level", "a.level"), dotted).orderBy("row").toPandas()
    assert got["prediction"].tolist() == model.predict(table.select(NAMES)).tolist()


@pytest.mark.real
def test_features_from_earlier_rows_are_in_the_state_of_each_key(spark, tmp_path):
    from thalweg.spark import learn_stream, models

    lines = ["level - mean(level) by unit over 20 rows", "rate(target = high) fading 30 rows", "lag(target, 1)"]
    columns = ["unit", *NAMES]
    table, before = (
        part.append_column("unit", pa.array([int(pump[-1]) for pump in part["pump"].to_pylist()]))
        for part in (rows(600, 3), rows(60, 2, seed=1))
    )
    start = TableClassifier(OnlineLDC(0.1), features=[*lines, "max(flow)"])
    start.fit(before.select(columns), before.column("state"))
    for first, part in enumerate((table.slice(0, 350), table.slice(350))):
        write_parts(part, tmp_path / "in", 1, first=first)
        stream = streamed(spark, tmp_path / "in")
        finish(
            learn_stream(stream, start, key="unit", target="state", time="at"),
            tmp_path / "checkpoint",
            tmp_path / "out",
        )
    got = spark.read.parquet(str(tmp_path / "out")).orderBy("at").toPandas()
    kept = {row["key"]: bytes(row["model"]) for row in models(spark, str(tmp_path / "checkpoint")).collect()}
    for key, own in by_key(table, "unit").items():
        twin = loads(dumps(start))
        expected = twin.predict_then_learn(own.select(columns), own.column("state")).tolist()
        assert got["prediction"][got["unit"] == key].tolist() == expected
        assert kept[key] == dumps(twin)
    assert len(set(kept.values())) == 3


@pytest.mark.real
@pytest.mark.parametrize("way", ["transform", "apply"])
def test_each_key_is_the_single_machine_byte_for_byte_across_a_restart(spark, tmp_path, way):
    from thalweg.spark import export_models, learn_stream, models

    table = rows(3000, 30)
    write_parts(table.slice(0, 2000), tmp_path / "in", 2)

    def answers():
        return learn_stream(
            streamed(spark, tmp_path / "in"), MODEL, key="pump", target="state", time="at", columns=NAMES, state=way
        )

    finish(answers(), tmp_path / "checkpoint", tmp_path / "out")
    for name in ("1", ".1.crc"):  # as after a kill: Spark repeats its last micro-batch
        (tmp_path / "checkpoint" / "commits" / name).unlink()
    write_parts(table.slice(2000), tmp_path / "in", 1, first=2)
    finish(answers(), tmp_path / "checkpoint", tmp_path / "out")
    got = spark.read.parquet(str(tmp_path / "out")).orderBy("at").toPandas()
    assert len(got) == 3000
    assert export_models(spark, str(tmp_path / "checkpoint"), tmp_path / "models") == 30
    kept = {row["key"]: row for row in models(spark, str(tmp_path / "checkpoint")).collect()}
    first = models(spark, str(tmp_path / "checkpoint"), batch=0).agg({"learned": "sum"}).first()
    assert first is not None
    assert first[0] == 1000
    with pytest.raises(InvalidInput, match="holds no state after batch 99"):
        models(spark, str(tmp_path / "checkpoint"), batch=99)
    for key, own in by_key(table, "pump").items():
        twin = OnlineLDC(0.1, counts="soft", warmup=5)
        expected = twin.predict_then_learn(own.select(NAMES), own.column("state")).tolist()
        assert got["prediction"][got["pump"] == key].tolist() == expected
        assert bytes(kept[key]["model"]) == dumps(twin)
        assert (kept[key]["predicted"], kept[key]["learned"]) == (len(own), len(own))
        assert dumps(load(tmp_path / "models" / f"{key}.thalweg")) == dumps(twin)


def test_late_labels_find_their_rows_and_nothing_goes_silently(spark, tmp_path):
    from thalweg.spark import models

    events = write_late_labels(tmp_path / "in", 600, 6, parts=3)
    query = run(spark, tmp_path / "in", tmp_path)
    got = spark.read.parquet(str(tmp_path / "out")).toPandas()
    twins = {key: Oracle(MODEL, NAMES, 100_000_000) for key in by_key(events, "pump")}
    size = -(-len(events) // 3)
    for progress in query.recentProgress:
        watermark = int(np.datetime64(progress["eventTime"]["watermark"].rstrip("Z"), "us").astype(np.int64))
        came = by_key(events.slice(progress["batchId"] * size, size), "pump")
        for key, twin in twins.items():
            twin.batch(_events(came[key]) if key in came else [], watermark)
    happened: Counter = Counter()
    for key, twin in twins.items():
        own = got[got["pump"] == key]
        happened.update(own["event"])
        assert Counter(own[["event", "row", "prediction", "state"]].itertuples(index=False, name=None)) == twin.told, (
            key
        )
    kept = {row["key"]: row for row in models(spark, str(tmp_path / "checkpoint")).collect()}
    for key, twin in twins.items():
        assert bytes(kept[key]["model"]) == dumps(twin.model)
    assert happened["predicted"] == 600
    assert happened["expired"] > 0
    assert happened["dropped"] > 0
    assert happened["learned"] > 200
    assert sum(row["expired"] for row in kept.values()) == happened["expired"]
    assert sum(row["dropped"] for row in kept.values()) == happened["dropped"]


def test_late_targets_find_what_was_predicted(spark, tmp_path):
    from thalweg.spark import learn_stream

    table = rows(300, 2)
    late = pa.compute.add(table.column("at"), pa.scalar(4_500_000, pa.duration("us")))
    targets = pa.table({"pump": table["pump"], "at": late, "row": table["row"], "heat": table["heat"]})
    write_parts(table.drop(["state"]), tmp_path / "rows", 2)
    write_parts(targets, tmp_path / "targets", 2)
    answers = learn_stream(
        streamed(spark, tmp_path / "rows").selectExpr("* EXCEPT (heat)", "CAST(NULL AS DOUBLE) AS heat"),
        AutoRegressor(curved=False),
        key="pump",
        target="heat",
        time="at",
        columns=NAMES[:2],
        id="row",
        labels=streamed(spark, tmp_path / "targets"),
        wait="1 day",
        coverage=0.8,
    )
    finish(answers, tmp_path / "checkpoint", tmp_path / "out")
    got = spark.read.parquet(str(tmp_path / "out")).toPandas()
    first, then = (got[got["event"] == event].sort_values("row") for event in ("predicted", "learned"))
    assert len(first) == len(then) == 300
    assert then["heat"].tolist() == table.column("heat").to_pylist()
    for name in ("prediction", "lower", "upper"):
        np.testing.assert_array_equal(first[name], then[name])
    assert (first["lower"] < first["upper"]).sum() > 250


def _events(own):
    at = own.column("at").cast(pa.int64()).to_pylist()
    X = np.column_stack([own.column(name).to_numpy() for name in NAMES]).tolist()
    columns = zip(at, *(own.column(name).to_pylist() for name in ("told", "row", "state")), X, strict=True)
    return [Event(time, told, row, state, tuple(x)) for time, told, row, state, x in columns]


def test_a_key_is_forgotten_when_nothing_comes_for_it(spark, tmp_path):
    from thalweg.spark import learn_stream, models

    table = rows(300, 3)
    gone = table.filter(pa.compute.equal(table.column("pump"), "pump 0")).slice(0, 20)
    rest = table.filter(pa.compute.not_equal(table.column("pump"), "pump 0"))
    write_parts(pa.concat_tables([gone, rest.slice(0, 60)]), tmp_path / "in", 1)
    write_parts(rest.slice(60), tmp_path / "in", 1, first=1)
    answers = learn_stream(
        streamed(spark, tmp_path / "in"), MODEL, key="pump", target="state", time="at", columns=NAMES, ttl="2 minutes"
    )
    finish(answers, tmp_path / "checkpoint", tmp_path / "out")
    events = spark.read.parquet(str(tmp_path / "out")).toPandas()
    assert events[events["event"] == "forgotten"]["pump"].tolist() == ["pump 0"]
    assert {row["key"] for row in models(spark, str(tmp_path / "checkpoint")).collect()} == {"pump 1", "pump 2"}


def same(one, other, tolerance=1e-9):
    """Whether two models answer and know the same, to rounding."""
    for name in ("means_", "precision_", "counts_", "coef_", "mean_", "var_"):
        if hasattr(other, name):
            expected = getattr(other, name)
            scale = max(1.0, float(np.abs(expected).max()))
            np.testing.assert_allclose(getattr(one, name), expected, rtol=0, atol=tolerance * scale)


@pytest.mark.real
def test_a_table_is_fitted_from_its_partitions(spark, tmp_path):
    from thalweg.spark import fit

    table = rows(5000, 5)
    write_parts(table, tmp_path / "in", 2)
    df = spark.read.parquet(str(tmp_path / "in"))
    many = df.repartition(33)  # more than are added at a time
    for rows_of, model in ((many, OnlineLDC(0.5)), (df, OnlineLDC(0.1, counts="soft"))):
        same(fit(rows_of, model, target="state"), clone(model).fit(table.select(NAMES), table.column("state")))
    numbers = OnlineLinearRegression(solver="rls")
    same(fit(df.drop("state"), numbers, target="heat"), numbers.fit(table.select(NAMES[:2]), table.column("heat")))
    weighted = fit(df.withColumn("weight", df["heat"] * df["heat"]), OnlineLDC(), target="state", weight="weight")
    masses = table.column("heat").to_numpy() ** 2
    same(weighted, OnlineLDC().fit(table.select(NAMES), table.column("state"), sample_weight=masses))
    with pytest.raises(NotAdditive, match="Perceptron"):
        fit(df, Perceptron(), target="state")
    with pytest.raises(InvalidParameter, match="'df' parameter of fit must be a DataFrame of Spark"):
        fit(table.to_pandas(), OnlineLDC(), target="state")
    with pytest.raises(InvalidParameter, match="'target' parameter of fit must name a column"):
        fit(df, OnlineLDC(), target=None)
    with pytest.raises(InvalidInput, match="'state' must hold numbers"):
        fit(df, numbers, target="state")


@pytest.mark.parametrize("where", ["workers", "driver"])
def test_one_model_over_a_whole_stream_whatever_is_repeated(spark, tmp_path, where):
    from thalweg.spark import learn_global

    table = rows(3000, 5)
    write_parts(table.slice(0, 2000), tmp_path / "in", 2)
    model = OnlineLDC(0.01, counts="soft", warmup=20)

    def go() -> None:
        common = {"target": "state", "time": "at", "folder": tmp_path / "out", "columns": NAMES}
        df = streamed(spark, tmp_path / "in")
        learn_global(
            df, model, **common, predictions=True, where=where, trigger={"availableNow": True}
        ).awaitTermination()

    go()
    before = (tmp_path / "out" / "model.thalweg").read_bytes()
    (tmp_path / "out" / "checkpoint" / "commits" / "1").unlink()  # as after a kill: Spark repeats its last micro-batch
    (tmp_path / "out" / "checkpoint" / "commits" / ".1.crc").unlink()
    go()
    assert (tmp_path / "out" / "model.thalweg").read_bytes() == before
    write_parts(table.slice(2000), tmp_path / "in", 1, first=2)
    go()
    df, other = streamed(spark, tmp_path / "in"), clone(model).set_params(rate=0.5)
    with pytest.raises(InvalidParameter, match=r"started with rate = 0\.01, not 0\.5"):
        learn_global(df, other, target="state", time="at", folder=tmp_path / "out")
    learned = load(tmp_path / "out" / "model.thalweg")
    twin = clone(model).partial_fit(table.select(NAMES), table.column("state"))
    same(learned, twin)
    if where == "driver":
        assert dumps(learned) == dumps(twin)
    answers = spark.read.parquet(str(tmp_path / "out" / "predictions")).orderBy("at").toPandas()
    half = clone(model).partial_fit(table.slice(0, 1000).select(NAMES), table.slice(0, 1000).column("state"))
    expected = half.predict(table.slice(1000, 1000).select(NAMES)).tolist()
    assert answers["prediction"][:1000].tolist() == expected
    assert len(answers) == 2000


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_by_the_command_line(spark, tmp_path, monkeypatch, capsys, kind):
    from pyarrow import csv

    from thalweg.cli import main

    # The command stops its session when it is done; the tests go on with theirs.
    monkeypatch.setattr("thalweg.spark.sessions.session", lambda master: _Lasting(spark))
    table = rows(1000, 4)
    write_parts(table, tmp_path / "in", 2)
    if kind == "csv":
        for path in sorted((tmp_path / "in").glob("*.parquet")):
            csv.write_csv(parquet.read_table(path), path.with_suffix(".csv"))
            os.utime(path.with_suffix(".csv"), (path.stat().st_mtime,) * 2)
            path.unlink()
    common = ["run", str(tmp_path / "in"), "--target", "state", "--time", "at", "--drop", "row", "--engine", "spark"]
    by_key = [*common, "--key", "pump", "--model", "oldc", "--rate", "0.1", "--out", str(tmp_path / "keys")]
    whole = [*common, "--drop", "pump", "--model", "oldc", "--rate", "0.1", "--out", str(tmp_path / "whole")]
    for command in (by_key, whole) if kind == "parquet" else (by_key,):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 0, capsys.readouterr().err
    told = capsys.readouterr().out
    assert kind == "csv" or "The first 500 rows, those of the first file, were learned without a prediction." in told
    assert "4 models, one per pump, predicted 1,000 rows" in told
    metrics = json.loads((tmp_path / "keys" / "metrics.json").read_text())["rows"]
    assert (metrics["predicted"], metrics["keys"], metrics["features"]) == (1000, 4, NAMES)
    assert metrics["error"] < 0.3
    got = spark.read.parquet(str(tmp_path / "keys" / "predictions")).where("event = 'predicted'").toPandas().dropna()
    assert metrics["kappa"] == pytest.approx(cohen_kappa_score(got["state"].astype(str), got["prediction"].astype(str)))
    if kind == "csv":
        return
    model = load(tmp_path / "whole" / "model.thalweg")
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(SystemExit) as ended:
        main(["predict", str(tmp_path / "whole" / "model.thalweg"), str(tmp_path / "in")])
    assert ended.value.code == 0
    predicted = csv.read_csv(pa.py_buffer(capsys.readouterr().out.encode())).to_pydict()
    assert predicted["prediction"] == model.predict(table.select(NAMES)).tolist()
    np.testing.assert_allclose(
        predicted["probability"], model.predict_proba(table.select(NAMES)).max(axis=1), rtol=0, atol=5.1e-7
    )
    for words, sentence in (
        (["--delay", "3"], "--delay has no effect with --engine spark"),
        (["--resume"], "--resume has no effect with --engine spark"),
        (["--engine", "ray"], "--engine must be spark, got 'ray'"),
    ):
        with pytest.raises(SystemExit):
            main([*by_key, *words])
        assert sentence in capsys.readouterr().err
    for words, sentence in (
        (["--model", "perceptron"], "started with model = 'oldc', not 'perceptron'"),
        (["--drop", "heat"], "started with drop = ['row'], not ['row', 'heat']"),
        (["--key", "row"], "started with key = 'pump', not 'row'"),
    ):
        with pytest.raises(SystemExit):
            main([*by_key, *words])
        assert sentence in capsys.readouterr().err
    single = [str(tmp_path / "in" / "part-000.parquet"), *common[2:], "--model", "oldc", "--rate", "0.1"]
    with pytest.raises(SystemExit):
        main(["run", *single, "--out", str(tmp_path / "one")])
    assert "one model predicts only the files after the first: name a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["run", *single, "--key", "pump", "--out", str(tmp_path / "single")])
    assert ended.value.code == 0, capsys.readouterr().err
    assert "4 models, one per pump, predicted 500 rows" in capsys.readouterr().out
    os.utime(tmp_path / "in" / "part-001.parquet", (1, 1))
    with pytest.raises(SystemExit):
        main(by_key)
    assert "touch the files in the order of their rows" in capsys.readouterr().err


def test_a_folder_of_numbers_by_the_command_line(spark, tmp_path, monkeypatch, capsys):
    from thalweg.catalogue import make_model
    from thalweg.cli import main
    from thalweg.spark import models, predict

    monkeypatch.setattr("thalweg.spark.sessions.session", lambda master: _Lasting(spark))
    table = rows(600, 3).drop(["row", "state"])
    write_parts(table, tmp_path / "in", 2)
    common = ["run", str(tmp_path / "in"), "--target", "heat", "--time", "at", "--engine", "spark"]
    by_pump = [*common, "--key", "pump", "--out", str(tmp_path / "keys")]
    whole = [*common, "--drop", "pump", "--model", "linear", "--coverage", "0.8", "--out", str(tmp_path / "whole")]
    for command in (by_pump, whole, by_pump):  # the last resumes the first: nothing is left to learn
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 0, capsys.readouterr().err
    told = capsys.readouterr().out
    assert "regression: heat holds 600 different numbers in the first 600 rows; --task classification" in told
    assert "3 models, one per pump, predicted 597 rows, with a mean absolute error of" in told
    got = spark.read.parquet(str(tmp_path / "keys" / "predictions")).orderBy("at").toPandas()
    kept = {row["key"]: bytes(row["model"]) for row in models(spark, str(tmp_path / "keys" / "checkpoint")).collect()}
    names, said = NAMES[:2], []
    for key, own in by_key(table, "pump").items():
        twin = make_model("auto", task="regression")
        answers, lower, upper = twin.predict_interval_then_learn(own.select(names), own.column("heat"), 0.9)
        assert kept[key] == dumps(twin)
        shown = got[got["pump"] == key]
        assert np.isnan(shown["prediction"].iloc[0])
        np.testing.assert_array_equal(shown["prediction"][1:], answers[1:])
        np.testing.assert_array_equal(shown["lower"][2:], lower[2:])
        said.append(np.column_stack([own.column("heat").to_numpy(), answers, lower, upper])[1:])
    truth, answers, lower, upper = np.concatenate(said).T
    wide = lower < upper
    found = json.loads((tmp_path / "keys" / "metrics.json").read_text())["rows"]
    assert (found["predicted"], found["scored"], found["keys"]) == (597, 597, 3)
    assert found["mae"] == pytest.approx(np.abs(answers - truth).mean())
    assert found["rmse"] == pytest.approx(np.sqrt(np.square(answers - truth).mean()))
    assert found["coverage"] == pytest.approx(np.mean((lower <= truth) & (truth <= upper), where=wide))
    assert found["bias"] == pytest.approx((truth - answers).mean())
    assert found["mean_width"] == pytest.approx(np.mean(upper - lower, where=wide))
    twin = make_model("linear", task="regression").set_params(coverage=0.8)
    half = twin.partial_fit(table.slice(0, 300).select(names), table.slice(0, 300).column("heat"))
    answered = spark.read.parquet(str(tmp_path / "whole" / "predictions")).orderBy("at").toPandas()
    np.testing.assert_array_equal(answered["prediction"], half.predict(table.slice(300).select(names)))
    np.testing.assert_array_equal(answered["upper"], half.predict_interval(table.slice(300).select(names), 0.8)[1])
    twin.partial_fit(table.slice(300).select(names), table.slice(300).column("heat"))
    assert dumps(load(tmp_path / "whole" / "model.thalweg")) == dumps(twin)
    for words, sentence in (
        (["--task", "classification"], "started with task = 'regression', not 'classification'"),
        (["--season", "3"], "--season has no effect with --engine spark"),
    ):
        with pytest.raises(SystemExit):
            main([*by_pump, *words])
        assert sentence in capsys.readouterr().err
    known = OnlineLDC().fit(table.select(names), np.arange(600) % 2)
    with pytest.raises(InvalidParameter, match="OnlineLDC has no intervals"):
        predict(spark.read.parquet(str(tmp_path / "in")), known, interval=("lower", "upper"))


class _Lasting:
    """A session that nobody can stop."""

    def __init__(self, spark):
        self._spark = spark

    def __getattr__(self, name):
        return (lambda: None) if name == "stop" else getattr(self._spark, name)


def test_what_cannot_be_is_said_before_anything_runs(spark, tmp_path):
    from thalweg.spark import learn_global, learn_stream, predict

    write_parts(rows(10, 2), tmp_path / "in", 1)
    df = streamed(spark, tmp_path / "in")
    common = {"key": "pump", "target": "state", "time": "at"}
    with pytest.raises(InvalidInput, match="no column 'kind'"):
        learn_stream(df, MODEL, key="kind", target="state", time="at")
    with pytest.raises(InvalidInput, match="must hold whole numbers or text, got double"):
        learn_stream(df, MODEL, key="heat", target="state", time="at")
    with pytest.raises(InvalidParameter, match="'id' parameter of learn_stream"):
        learn_stream(df, MODEL, **common, wait="1 hour")
    with pytest.raises(InvalidParameter, match="'wait' parameter of learn_stream"):
        learn_stream(df, MODEL, **common, id="row", labels=df)
    with pytest.raises(InvalidParameter, match="'ttl' parameter of learn_stream"):
        learn_stream(df, MODEL, **common, ttl="1 hour", state="apply")
    with pytest.raises(InvalidParameter, match="timedelta or words such as '2 hours'"):
        learn_stream(df, MODEL, **common, id="row", wait="soon")
    with pytest.raises(InvalidParameter, match="'model' parameter of learn_stream"):
        learn_stream(df, "oldc", **common)
    with pytest.raises(InvalidParameter, match="must have learned some rows"):
        learn_stream(df, TableClassifier(features=["count()"]), **common)
    some = rows(30, 3)
    by_flow = TableClassifier(OnlineLDC(), features=["often = count() by flow"])
    by_flow.fit(some.select(["pump", *NAMES]), some.column("state"))
    with pytest.raises(InvalidInput, match="'often' is by flow, and a key sees no rows of other keys: let it be by"):
        learn_stream(df, by_flow, **common)
    with pytest.raises(InvalidParameter, match="whose labels come with their rows"):
        learn_stream(df, by_flow, **common, id="row", wait="1 hour")
    known = OnlineLDC().partial_fit(rows(10, 2).select(NAMES), rows(10, 2).column("state"))
    with pytest.raises(InvalidParameter, match=r"as model\.learner_ does"):
        predict(spark.range(3), TableClassifier.of_learned(known))
    with pytest.raises(InvalidInput, match="column 'event' needs another name"):
        learn_stream(df.withColumnRenamed("pump", "event"), MODEL, key="event", target="state", time="at")
    odd = df.withColumnRenamed("level", "a.level").withColumnRenamed("pump", "a.pump")
    odd = odd.withColumn("at", odd["at"].cast("date"))
    assert learn_stream(odd, MODEL, key="a.pump", target="state", time="at").columns[0] == "a.pump"
    with pytest.raises(InvalidInput, match="df must be a stream"):
        learn_global(spark.range(3), MODEL, target="state", time="at", folder=tmp_path)
    (tmp_path / "model.thalweg").write_bytes(dumps(MODEL))
    with pytest.raises(InvalidParameter, match="hold no model but one that learn_global wrote"):
        learn_global(df, MODEL, target="state", time="at", folder=tmp_path, where="driver")


def test_examples_of_the_reference_run(spark):
    package = importlib.import_module("thalweg.spark")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for found in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"spark": spark}):
            runner.run(test)
    assert runner.failures == 0
    assert runner.tries > 10
