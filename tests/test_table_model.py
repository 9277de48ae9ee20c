"""The model of a run in Python: what it says of a frame is what `thalweg predict` says of the file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.calls import run
from tests.examples import examples
from thalweg import OnlineLDC, OnlineLinearRegression, StandardScaler, TableClassifier, cli, evaluate, load, save
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.evaluate import prequential
from thalweg.run.predict import model_for_tables, predict_table
from thalweg.store import dumps, loads

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NAMES = ["load", "wind", "sunny", "when", "count"]
ROWS = 1400


def write_table(path: Path, rows: list[tuple[str, ...]], *more: str) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([(*NAMES, *more), *rows])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of numbers, gaps, categories, text booleans and times; a run over it, and one over its first rows."""
    into = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, ROWS)
    rows = [
        (
            "" if i % 17 == 3 else f"{rng.normal() + truth[i]:.3f}",
            "" if i % 29 == 5 else str(rng.choice(["north", "south"] if i < 1100 else ["east", "calm"])),
            str(bool(truth[i] ^ (i % 5 == 0))),
            str(np.datetime64("2024-01-01T00") + 7 * i),
            str(rng.integers(0, 9)),
            str(bool(truth[i])),
        )
        for i in range(ROWS)
    ]
    write_table(into / "rows.csv", rows, "wet")
    write_table(into / "first.csv", rows[:1050], "wet")
    for name in ("rows", "first"):
        options = ["--target", "wet", "--model", "oldc", "--out", str(into / name), "--quiet"]
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", str(into / f"{name}.csv"), *options])
        assert not ended.value.code
    return into


def frames(path: Path) -> dict[str, Any]:
    """A file as several libraries read it, with the types that they find, and as text."""
    from pyarrow import csv as arrow_csv

    as_text = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {
        "pandas": pd.read_csv(path, float_precision="round_trip"),
        "pandas, nullable": pd.read_csv(path, float_precision="round_trip").convert_dtypes(),
        "pandas, text": as_text,
        "pandas, categories": as_text.astype("category"),
        "polars": pl.read_csv(path, try_parse_dates=True),
        "pyarrow": arrow_csv.read_csv(path),
        "dicts of text": as_text.to_dict("records"),
        "dicts": pl.read_csv(path).to_dicts(),
    }


numbers = st.one_of(st.floats(-1e6, 1e6).map(repr), st.integers(-9, 9).map(str), st.sampled_from(["", "NA", "?"]))
times = st.one_of(st.datetimes(pd.Timestamp("1990-01-01"), pd.Timestamp("2040-01-01")).map(str), st.just(""))
cells = st.tuples(
    numbers,
    st.sampled_from(["north", "south", "calm", "never seen", "7", " north ", ""]),
    st.sampled_from(["True", "False", "TRUE", "false", ""]),
    times,
    st.integers(0, 9).map(str),
)


@pytest.mark.slow
@given(rows=st.lists(cells, min_size=1, max_size=12))
@examples(200)
def test_a_frame_is_predicted_as_its_file(folder: Path, rows: list[tuple[str, ...]]) -> None:
    path = write_table(folder / "new.csv", rows)
    told = list(predict_table(model_for_tables(folder / "rows" / "model.thalweg"), str(path)))
    model = load(folder / "rows" / "model.thalweg")
    before = dumps(model)
    for name, frame in frames(path).items():
        assert model.predict(frame).tolist() == [label for part in told for label in part.predictions], name
        np.testing.assert_array_equal(model.predict_proba(frame), np.concatenate([part.proba for part in told]), name)
    for label, row in zip(told[0].predictions, frames(path)["dicts"], strict=True):
        assert model.predict_one(row) == label
    assert dumps(model) == before == (folder / "rows" / "model.thalweg").read_bytes()


def test_the_command_and_python_say_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, _ = run(capsys, "predict", str(folder / "rows" / "model.thalweg"), str(folder / "rows.csv"))
    assert code == 0
    told = list(csv.DictReader(said.splitlines()))
    model, frame = load(folder / "rows" / "model.thalweg"), pd.read_csv(folder / "rows.csv")
    assert [line["prediction"] for line in told] == model.predict(frame).tolist()
    given = [float(line["probability"]) for line in told]
    np.testing.assert_allclose(given, model.predict_proba(frame).max(axis=1), rtol=0, atol=5.1e-7)
    learner = model.learner_
    np.testing.assert_array_equal(learner.predict_proba(model.encode(frame)), model.predict_proba(frame))
    assert model.encode(frame).shape[1] == len(model.encoder_.feature_names()) == learner.n_features_in_
    assert [name for name, _, _ in model.columns_] == [*NAMES, "wet"]
    assert "sunny = True" in model.encoder_.feature_names()


@pytest.mark.parametrize("size", [1, 97, ROWS])
def test_learning_frames_continues_the_run(folder: Path, size: int) -> None:
    """Categories that are new, gaps, and booleans that pandas does not write as the file does."""
    model, whole = load(folder / "first" / "model.thalweg"), load(folder / "rows" / "model.thalweg")
    rest = pd.read_csv(folder / "rows.csv", float_precision="round_trip")[1050:]
    assert rest["sunny"].dtype == rest["wet"].dtype == bool
    for start in range(0, len(rest), size):
        part = rest[start : start + size]
        if size == 1:
            model.learn_one(part.iloc[0].to_dict(), part["wet"].iloc[0])
        else:
            model.partial_fit(part, part["wet"])
    assert dumps(model.learner_) == dumps(whole.learner_)
    assert model.encoder_.to_json() == whole.encoder_.to_json()
    assert loads(dumps(model)).notes == model.notes


def test_what_is_refused_says_why_and_changes_nothing(folder: Path) -> None:
    model = load(folder / "rows" / "model.thalweg")
    frame = pd.read_csv(folder / "rows.csv")[:5]
    before = dumps(model)
    model.encoder_.bad_rows = "skip"  # as after a run that skips rows; here each needs a label
    wrong = {
        "got a ndarray: model.learner_ takes rows that are encoded already": model.encode(frame),
        "got a list": [[1.0, 2.0]],
        "X lacks the column 'wind' that the model learned from": frame.drop(columns="wind"),
        "X, row 3, column 'load': 'much' is not a number": frame.assign(load=["1", "", "2.5", "much", "3"]),
        "X, row 0, column 'load': 'true' is not a number": frame.assign(load=True),
        "X, row 0, column 'when': 'soon' is not a time such as": frame.assign(when="soon"),
        "column 'wind': values of type list<item: int64> cannot be read as text": frame.assign(wind=[[1]] * 5),
        "got 'wind' more than once": pd.concat([frame, frame[["wind"]]], axis=1),
    }
    for words, X in wrong.items():
        for method in (model.predict, model.predict_proba, lambda X: model.partial_fit(X, ["True"] * 5)):
            with pytest.raises(InvalidInput) as refused:
                method(X)
            assert words in str(refused.value)
    with pytest.raises(InvalidInput, match="the row lacks the column 'wind'"):
        model.predict_one({"load": 1.0})
    for one in (model.encode(frame)[0], [1.0, 2.0]):
        with pytest.raises(
            InvalidInput, match=r"a row must be a dict of column name to cell, .* model\.learner_ takes"
        ):
            model.predict_one(one)
    assert model.predict_one(frame.iloc[2]) == model.predict(frame)[2]
    for y, words in (
        (["True"] * 4, "one label for each of the 5 rows of X, got 4"),
        (["True", "", "True", "True", "True"], "a missing one at row 1"),
        ([True, None, True, True, True], "a missing one at row 1"),
    ):
        with pytest.raises(InvalidInput, match=words):
            model.partial_fit(frame, y)
    assert dumps(model) == before
    with pytest.raises(AttributeError, match=r"model\.learner_\.rate_"):
        _ = model.rate_
    assert (model.predict(frame[:0]).tolist(), model.predict_proba(frame[:0]).shape) == ([], (0, 2))


def test_a_learner_that_knows_its_columns_reads_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the models of Spark do: other columns are there, too, and truth values are 1 and 0."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"a": rng.normal(size=300).round(3), "up": rng.random(300) < 0.5, "b": rng.integers(0, 5, 300)}
    )
    labels = (frame["a"] + frame["up"] > 0.5).astype(int)
    learner = OnlineLDC().partial_fit(frame, labels)
    expected = learner.predict(frame)
    save(learner, tmp_path / "model.thalweg")
    other = frame.assign(name="x")[["name", "b", "a", "up"]]
    other.to_csv(tmp_path / "rows.csv", index=False)
    code, said, complaint = run(capsys, "predict", str(tmp_path / "model.thalweg"), str(tmp_path / "rows.csv"))
    assert (code, complaint) == (0, "")
    assert [line["prediction"] for line in csv.DictReader(said.splitlines())] == [str(label) for label in expected]
    model = TableClassifier.of_learned(learner)
    for X in (other, pl.from_pandas(other), pa.Table.from_pandas(other), other.to_dict("records")):
        np.testing.assert_array_equal(model.predict(X), expected)
    save(model, tmp_path / "model.thalweg")
    again = load(tmp_path / "model.thalweg")
    np.testing.assert_array_equal(again.predict(pd.read_csv(tmp_path / "rows.csv")), expected)
    again.partial_fit(other, labels)
    assert dumps(again.learner_) == dumps(learner.partial_fit(frame, labels))
    with pytest.raises(InvalidInput, match="X, row 2, column 'a': the value is missing"):
        model.predict(other.assign(a=other["a"].where(other.index != 2)))


def test_other_models_have_no_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = np.arange(8.0).reshape(4, 2), ["a", "b", "a", "b"]
    model = OnlineLDC().partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="the learner knows no names"):
        TableClassifier.of_learned(model)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    for other, words in (
        (model, "does not say what its columns are"),
        (StandardScaler().partial_fit(X), "holds a StandardScaler, which predicts nothing"),
        (OnlineLinearRegression(solver="rls").partial_fit(X, X[:, 0]), "does not say what its columns are"),
    ):
        save(other, tmp_path / "model.thalweg")
        code, said, complaint = run(capsys, "predict", str(tmp_path / "model.thalweg"), str(tmp_path / "rows.csv"))
        assert (code, said, words in complaint) == (2, "", True)


def test_notes_of_others_are_not_taken_for_columns() -> None:
    model = OnlineLDC().partial_fit([[0.0], [1.0]], ["a", "b"])
    for notes in ({"table": "prices.csv"}, {"table": {"plan": "B"}}):
        assert dumps(loads(dumps(model, notes=notes)), notes=notes) == dumps(model, notes=notes)


def test_a_forged_table_is_refused(folder: Path) -> None:
    model = load(folder / "rows" / "model.thalweg")
    table = model.notes["table"]
    load_, wind, *others = table["plan"]["columns"]
    for part, forged in (
        ("encoder", {}),
        ("encoder", {**table["encoder"], "load": {"sum": "much", "count": 1}}),
        ("encoder", {**table["encoder"], "wind": {"categories": list("abcdefghijklm")}}),
        ("plan", {**table["plan"], "columns": [load_, {**wind, "room": 10**12}, *others]}),
        ("plan", {**table["plan"], "columns": [load_, *others]}),
        ("plan", {**table["plan"], "columns": [{**load_, "form": "lunar"}, wind, *others]}),
    ):
        with pytest.raises(ModelFileError, match="not a valid model"):
            loads(dumps(model.learner_, notes={"table": {**table, part: forged}}))


@pytest.mark.parametrize("chunk", [350, 33])
def test_prequential_goes_on_as_the_run_did(folder: Path, chunk: int) -> None:
    frame = pd.read_csv(folder / "rows.csv", dtype=str)[1050:]
    model, whole = load(folder / "first" / "model.thalweg"), load(folder / "rows" / "model.thalweg")
    stream = [(frame[NAMES], frame["wet"].to_numpy())]
    records = list(prequential(model, stream, chunk=chunk))
    with (folder / "rows" / "predictions.csv").open(newline="") as lines:
        told = [row["prediction"] for row in csv.DictReader(lines)][1050:]
    assert [str(label) for record in records for label in record.classes[record.predictions]] == told
    assert dumps(model.learner_) == dumps(whole.learner_)
    assert model.encoder_.to_json() == whole.encoder_.to_json()
    late = [record.predictions for record in prequential(load(folder / "first" / "model.thalweg"), stream, delay=50)]
    assert (np.concatenate(late) >= 0).all()
    before = dumps(model)
    with pytest.raises(InvalidInput, match="label"):
        list(prequential(model, [(frame[NAMES], np.arange(len(frame)))]))
    with pytest.raises(InvalidInput, match="X lacks the column 'load'"):
        list(prequential(model, [(frame[["wind"]], frame["wet"].to_numpy())]))
    assert dumps(model) == before


@pytest.mark.parametrize("labels", [[-8, 2], [10, 9], [False, True], [0.0, 1.0], ["low", "high"]], ids=str)
def test_labels_come_back_as_they_were_given(labels: list[Any]) -> None:
    """A run has them as text; its model returns them as the caller has them, also from a file."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"level": rng.normal(size=300), "wind": rng.choice(["north", "south"], 300)})
    y = np.array(labels)[(rows["level"] + 0.1 * rng.normal(size=300) > 0).to_numpy().astype(int)]
    model = loads(dumps(evaluate.run(OnlineLDC(), rows, y).model))
    predicted = model.predict(rows)
    assert predicted.dtype == model.classes_.dtype == y.dtype
    assert (predicted == y).mean() > 0.9
    assert model.classes_.tolist() == sorted(labels)
    assert (model.classes_[model.predict_proba(rows).argmax(axis=1)] == predicted).all()
    first = {"level": rows["level"][0], "wind": rows["wind"][0]}
    assert (model.predict_one(first), type(model.predict_one(first))) == (predicted[0].item(), type(labels[0]))
    model.partial_fit(rows, y)
    before = dumps(model)
    if not isinstance(labels[0], str):
        with pytest.raises(InvalidInput, match="s like the labels learned so far, got 'perhaps' at row 1"):
            model.partial_fit(rows[:2], [str(labels[0]).lower(), "perhaps"])
    assert dumps(model) == before
