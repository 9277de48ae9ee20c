"""`thalweg.evaluate.run` is `thalweg run` on rows in memory: the same scores, changes, predictions, page and model."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from tests.cli.calls import metrics, run

import thalweg
from thalweg import evaluate
from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.river import from_river
from thalweg.store import dumps
from thalweg.streams import SEA, DriftingTopics, FriedmanDrift

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 800
TARGETS = {"classification": "state", "regression": "price"}
LATE: dict[str, dict[str, Any]] = {
    "at once": {},
    "delayed": {"delay": 30},
    "timed": {"time": "when", "label_time": "told"},
}


def mixed_table(target: str) -> Any:
    """Numbers with gaps, categories, times, and some rows without a label or a target."""
    rng = np.random.default_rng(5)
    X, y = FriedmanDrift(seed=2).take(ROWS) if target == "price" else SEA(seed=2).take(ROWS)
    values: Any = y if target == "price" else np.where(y == 1, "wet", "dry")
    when = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(ROWS), unit="h")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    table.loc[rng.random(ROWS) < 0.05, "b"] = np.nan
    table["place"] = rng.choice(["north", "south", "<east>"], ROWS)
    table["when"] = when
    table["told"] = when + pd.to_timedelta(rng.integers(1, 50, ROWS), unit="h")
    table[target] = pd.Series(values).where(rng.random(ROWS) > 0.02, None)
    return table


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    return


def written_like(table: Any) -> list[list[str]]:
    """A table of predictions as the cells of CSV."""
    path = Path("kept.csv")
    from pyarrow import csv as arrow_csv

    arrow_csv.write_csv(table, path, arrow_csv.WriteOptions(quoting_style="needed"))
    with path.open(newline="") as lines:
        return list(csv.reader(lines))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("task", "late"),
    [
        ("classification", "delayed"),
        ("regression", "at once"),
        pytest.param("classification", "at once", marks=pytest.mark.slow),
        pytest.param("regression", "delayed", marks=pytest.mark.slow),
        *(pytest.param(task, "timed", marks=pytest.mark.slow) for task in TARGETS),
    ],
)
def test_it_is_the_run_of_the_command_line(
    task: str, late: str, in_folder: None, capsys: pytest.CaptureFixture[str]
) -> None:
    target = TARGETS[task]
    table = mixed_table(target)
    parquet.write_table(pa.Table.from_pandas(table), "table.parquet")
    options = {**LATE[late], "head": 300}
    if late == "delayed":
        options |= {"against": "frozen,retrained", "against_rows": 300}
    if late != "timed":
        options["drop"] = "told"
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert run(capsys, "run", "table.parquet", "--target", target, *flags, "--out", "out", "--quiet")[0] == 0
    model = thalweg.AutoRegressor() if task == "regression" else thalweg.AutoClassifier()
    result = evaluate.run(model, table, target, **options)
    expected, found = metrics(), result.metrics
    for each in (expected, found):
        del each["run"]
        del each["model"]["name"]
        del each["model"]["about"]
    assert found == expected
    with Path("out/predictions.csv").open(newline="") as lines:
        assert written_like(result.predictions) == list(csv.reader(lines))
    assert dumps(result.model) == Path("out/model.thalweg").read_bytes()
    assert not hasattr(model, "n_features_in_")  # it was cloned


def test_the_page_is_that_of_the_command_line(in_folder: None, capsys: pytest.CaptureFixture[str]) -> None:
    table = mixed_table("state")
    parquet.write_table(pa.Table.from_pandas(table), "table.parquet")
    assert run(capsys, "run", "table.parquet", "--target", "state", "--drop", "told", "--out", "out", "--quiet")[0] == 0
    result = evaluate.run("auto", table, "state", drop=["told"])
    result.metrics["run"] = metrics()["run"]
    assert result.report("page.html").read_bytes() == Path("out/report.html").read_bytes()


def test_rows_of_every_kind_are_the_same_rows() -> None:
    import polars as pl
    from scipy.sparse import csr_array

    X, y = SEA(seed=3).take(600)
    expected = evaluate.run("oldc", SEA(seed=3), rows=600).predictions
    names = list(SEA(seed=3).feature_names)
    columns = dict(zip(names, X.T, strict=True))
    same: list[tuple[Any, Any]] = [
        (X, y),
        (X.tolist(), y.tolist()),
        (pd.DataFrame(columns), pd.Series(y, name="side")),
        (pd.DataFrame(columns).assign(side=y), "side"),
        (pl.DataFrame(columns), pl.Series(y)),
        (pa.table(columns), pa.array(y)),
    ]
    for rows, labels in same:
        assert evaluate.run("oldc", rows, labels).predictions == expected
    sparse = evaluate.run("logistic", csr_array(X), y)
    assert sparse.model.encode([{"features": {0: 1.5}}])[[0], [0]].item() == 1.5
    assert sparse.summary["model"]["error"] < 0.4


def test_an_array_of_times_is_no_feature() -> None:
    X, y = SEA(seed=3).take(300)
    when = np.arange(300)
    timed = evaluate.run("oldc", X, y, time=when, label_time=when + 20)
    late = evaluate.run("oldc", X, y, delay=19)  # a label of time t comes before the row of time t is predicted
    assert timed.predictions == late.predictions
    pending = [each.metrics["rows"]["pending_rows"] for each in (timed, late)]
    assert pending == [[[281, 300]], [[282, 300]]]  # the label of time 300 would come before row 301
    assert [column.name for column in timed.model.encoder_.plan.columns] == ["x1", "x2", "x3"]
    assert not {"drop", "time"} & timed.model.notes["table"].get("parameters", {}).keys()


def test_a_comparison_goes_over_the_rows_once_and_counts_as_numpy_does() -> None:
    models = {"a": thalweg.OnlineLDC(0.02, counts="soft"), "b": "perceptron"}
    both = evaluate.compare(models, SEA(seed=3), rows=3000, delay=7)
    for name, model in models.items():
        alone = evaluate.run(model, SEA(seed=3), rows=3000, delay=7)
        assert both.results[name].predictions == alone.predictions
        assert both.results[name].metrics["scores"] == alone.metrics["scores"]
    frames = [each.to_frame() for each in both.results.values()]
    wrong = [(frame["prediction"] != frame["label"])[8:-7].to_numpy() for frame in frames]
    (pair,) = both.pairs
    assert pair.errors is not None
    assert pair.errors["error"].mean == pytest.approx(wrong[0].mean() - wrong[1].mean())
    assert pair.difference == pytest.approx(pair.errors["error"].mean)
    assert both.to_frame()["rows"].tolist() == [len(wrong[0])] * 2
    assert pair.rows is not None
    assert (pair.rows.only_first, pair.rows.only_second) == ((wrong[0] & ~wrong[1]).sum(), (wrong[1] & ~wrong[0]).sum())
    again = both.results["a"].compare(both.results["b"])
    assert again.pairs == both.pairs
    other = evaluate.run("oldc", SEA(seed=3), rows=2000)
    with pytest.raises(InvalidInput, match="do not belong together"):
        both.results["a"].compare(other)


@pytest.mark.parametrize("late", [{}, {"delay": 20}, {"delay": 20, "chunk": 7}])
def test_before_the_first_label_no_model_has_a_prediction(late: dict[str, Any]) -> None:
    river = pytest.importorskip("river.linear_model")
    models = {
        "ours": thalweg.OnlineLDC(),
        "scikit-learn": SGDClassifier(random_state=0),
        "river": from_river(river.LogisticRegression()),
        "sets": thalweg.PredictionSets(thalweg.StreamPipeline([thalweg.StandardScaler(), thalweg.OnlineLDC()])),
    }
    found = evaluate.compare(models, SEA(seed=3), rows=80, **late)
    delay = late.get("delay", 0)
    for result in found.results.values():
        assert result.to_frame()["prediction"].isna().tolist() == [True] * (delay + 1) + [False] * (79 - delay)
    assert found.to_frame()["rows"].tolist() == [79 - 2 * delay] * len(models)


def test_a_comparison_says_which_model_leaves_out_a_column() -> None:
    texts, labels = DriftingTopics(seed=0).take(300)
    table = pd.DataFrame({"number": np.arange(300.0) % 7, "<text>": np.ravel(texts)})
    models = {"all": "auto", "numbers": SGDClassifier(random_state=0), "words": "logistic"}
    with pytest.warns(UserWarning, match="column '<text>' is left out: .* which the model SGDClassifier"):
        found = evaluate.compare(models, table, labels)
    note = "numbers leaves out column '<text>', which all and words learn"
    assert found.notes == [note]
    assert note in repr(found)
    assert "numbers leaves out column &#x27;&lt;text&gt;&#x27;, which all and words learn." in found._repr_html_()
    (warned,) = found.results["numbers"].metrics["warnings"]
    assert warned.startswith("column '<text>' is left out")


@pytest.mark.parametrize("delay", [0, 5])
def test_intervals_are_put_around_the_last_step_of_a_pipeline(delay: int) -> None:
    line = thalweg.OnlineLinearRegression(solver="rls")
    given = thalweg.StreamPipeline([thalweg.StandardScaler(), line])
    X, y = FriedmanDrift(seed=2).take(300)
    ready = thalweg.StreamPipeline([thalweg.StandardScaler(), thalweg.PredictionIntervals(line)])
    found, wanted = (evaluate.run(model, X, y, delay=delay).to_frame() for model in (given, ready))
    pd.testing.assert_frame_equal(found, wanted)
    assert given.steps[-1] is line


def test_what_a_notebook_shows_is_escaped() -> None:
    X, y = SEA(seed=3).take(400)
    bad = "<script>alert(1)</script>"
    table = pd.DataFrame(X, columns=[bad, "b", "c"]).assign(**{bad + "2": np.where(y == 1, bad, "no")})
    result = evaluate.run("oldc", table, bad + "2")
    for shown in (result._repr_html_(), result.compare(evaluate.run("perceptron", table, bad + "2"))._repr_html_()):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda X, y: evaluate.run("oldc", X), "'y' parameter of run must be targets, or the name"),
        (lambda X, y: evaluate.run("oldc", X, y[:-1]), "y must have one value for each of the 50 rows of X, got 49"),
        (lambda X, y: evaluate.run("oldc", X, "label"), "name a column of X, which are 'x1', 'x2', 'x3', got 'label'"),
        (lambda X, y: evaluate.run("oldc", X[0], y), r"X must have the shape \(rows, columns\), got \(3,\)"),
        (lambda X, y: evaluate.run("oldc", X, y, colour=3), "be options of thalweg run"),
        (lambda X, y: evaluate.run(thalweg.OnlineLDC(), X, y, rate=0.1), "be left out where the model is given"),
        (lambda X, y: evaluate.run(object(), X, y), "be the name of a model, one of thalweg's"),
        (
            lambda X, y: evaluate.run(SGDRegressor(), X, X[:, 0]),
            r"be a regressor of thalweg, or a pipeline that ends in one.*got SGDRegressor\(\)",
        ),
        (lambda X, y: evaluate.run("oldc", SEA(), y), "be left out for a Stream"),
        (
            lambda X, y: evaluate.run("oldc", X, y, against="river"),
            "'against' parameter of run must be frozen",
        ),
        (lambda X, y: evaluate.compare(["oldc"], X, y), "at least two that differ"),
        (lambda X, y: evaluate.run("oldc", X[:0], y[:0]), "has a header but no rows"),
    ],
)
def test_what_is_wrong_is_said(call: Any, told: str) -> None:
    X, y = SEA(seed=3).take(50)
    with pytest.raises((InvalidParameter, InvalidInput), match=told):
        call(X, y)


def test_figures_are_drawn_by_name() -> None:
    pytest.importorskip("matplotlib")
    result = evaluate.run("oldc", SEA(seed=3), rows=500)
    assert result.plot().axes[0].get_title(loc="left") == "OnlineLDC on SEA: error over time"
    with pytest.raises(InvalidParameter, match=r"be one of error, .*confusion, calibration, got 'none'"):
        result.plot("none")


#: By the parameter that is refused: what is given, and what the message says of other options.
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "delay": ({"delay": 5, "time": "when", "label_time": "told"}, "label_time"),
    "rate": ({"rate": 0.1, "adaptive": True}, "adaptive"),
    "time": ({"sort": True}, "sort"),
    "hash-bits": ({"hash_bits": 99}, ""),
    "coverage": ({"coverage": 0.8}, ""),
    "alert": ({"alert": "error above"}, ""),
}


def test_errors_name_parameters_in_python_and_options_at_the_command_line(
    in_folder: None, capsys: pytest.CaptureFixture[str]
) -> None:
    table = mixed_table("state")
    parquet.write_table(pa.Table.from_pandas(table), "table.parquet")
    for name, (given, other) in REFUSED.items():
        with pytest.raises(
            InvalidParameter, match=f"^The '{name.replace('-', '_')}' parameter of run must .*{other}"
        ) as refused:
            evaluate.run("oldc", table, "state", **given)
        assert "--" not in str(refused.value)
        typed = [
            word
            for key, value in given.items()
            for word in (f"--{key.replace('_', '-')}", *([] if value is True else [str(value)]))
        ]
        code, _, said = run(capsys, "run", "table.parquet", "--target", "state", "--model", "oldc", "--quiet", *typed)
        assert (code, said.startswith(f"thalweg: --{name} must ")) == (2, True)
        assert not other or f"--{other.replace('_', '-')}" in said
    with pytest.raises(InvalidParameter, match=r"^The 'delay' parameter of compare must be a whole number"):
        evaluate.compare(["oldc", "pa"], table, "state", delay=-1)


def test_warnings_name_parameters_in_python(in_folder: None) -> None:
    table = mixed_table("state").assign(told=1.0)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = evaluate.run("oldc", table.assign(number=range(ROWS)).iloc[::-1], "state", ngrams="2")
    said = " ".join([*map(str, (each.message for each in warned)), *result.metrics["warnings"]])
    assert "drop='number' leaves it out" in said
    assert "time='when', sort=True sorts them" in said
    assert "ngrams='2' has no effect: no column is text; text names one" in said
    assert "--" not in said


def test_a_model_that_does_not_go_with_its_target_is_named() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2))
    told = "y holds 300 different numbers in the first 300 rows, and a classifier takes each for a class of its own"
    with pytest.warns(UserWarning, match=told):
        evaluate.run(thalweg.OnlineLDC(), X, X[:, 0])
    y = np.where(X[:, 0] + rng.normal(size=300) > 1, "fraud", "ok")
    costs, least = {"fp": 1, "fn": 30}, thalweg.OnlineLDC(0.05, counts="soft")
    with pytest.warns(UserWarning, match="takes 'ok' for the positive label, the run 'fraud'"):
        evaluate.run(thalweg.CostSensitive(least, costs), X, y, positive="fraud")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate.run(thalweg.CostSensitive(least, costs, positive="fraud"), X, y, positive="fraud")
        evaluate.run(thalweg.CostSensitive(least), X, y, positive="fraud")


def test_costs_decide_between_models_of_a_rare_label() -> None:
    """The model with fewer mistakes is the dearer one."""
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=3000) < 0.1, "fraud", "fine")
    X = rng.normal(size=(3000, 2)) + 1.2 * (y == "fraud")[:, None]
    costs, plain = {"fp": 1, "fn": 20}, thalweg.OnlineLDC()
    models = {"plain": plain, "careful": thalweg.CostSensitive(plain, costs, positive="fraud")}
    found = evaluate.compare(models, X, y, positive="fraud", costs=costs)
    first, second = (each.summary["model"]["error"] for each in found.results.values())
    assert first < second
    assert re.fullmatch(
        r"careful has the lowest cost: 0\.\d+ less a row than plain \(95 % interval: .*\)\.", found.verdict
    )
    assert found.plot().axes[0].get_legend_handles_labels()[1] == ["plain", "careful"]
    ranked = evaluate.compare({"plain": plain, "blind": thalweg.MajorityClass()}, X, y, positive="fraud")
    assert ranked.verdict.startswith("plain has the highest PR AUC: 0.")


def test_what_is_wrong_with_a_table_is_said_once() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"row": np.arange(300), "x": rng.normal(size=300)})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        evaluate.compare(["oldc", "logistic", "majority"], X, rng.integers(0, 2, 300))
    assert [str(each.message).split(" (")[0] for each in said] == ["column 'row' looks like a row number"]
