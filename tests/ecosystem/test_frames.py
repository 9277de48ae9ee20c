"""Tables of other libraries go in wherever arrays do, give the same model, and are copied at most once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from thalweg import (
    CCIPCA,
    AutoClassifier,
    OnlineLDC,
    OnlineLinearRegression,
    OnlineLogistic,
    RandomFeatures,
    StandardScaler,
    StreamPipeline,
    TableClassifier,
)
from thalweg.errors import InvalidInput
from thalweg.learners.base.rows import as_rows
from thalweg.store import dumps
from thalweg.streams import Table

pl = pytest.importorskip("polars")

NAMES = ["demand", "price", "transfer"]
X = np.random.default_rng(0).normal(size=(60, 3))
WORDS = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
NUMBERS = X @ [1.0, -2.0, 0.5]


class Exporter:
    """What a library unknown to us gives: the memory of a table by Arrow's C interface, and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class BatchExporter:
    """The same with the interface for a single batch."""

    def __init__(self, table: pa.Table) -> None:
        (self._batch,) = table.to_batches()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._batch.__arrow_c_array__(requested_schema)


def table(values: np.ndarray) -> pa.Table:
    return pa.table({name: values[:, place] for place, name in enumerate(NAMES)})


def in_pieces(values: np.ndarray) -> pa.Table:
    return pa.concat_tables([table(values[:7]), table(values[7:8]), table(values[8:])])


FRAMES = {
    "pandas": lambda values: pd.DataFrame(values, columns=NAMES),
    "pandas, in rows": lambda values: pd.DataFrame(values, columns=NAMES, copy=False),
    "pandas, nullable": lambda values: pd.DataFrame(values, columns=NAMES).convert_dtypes(),
    "pandas, Arrow inside": lambda values: pd.DataFrame(values, columns=NAMES).astype(pd.ArrowDtype(pa.float64())),
    "pandas, objects": lambda values: pd.DataFrame(values, columns=NAMES).astype(object),
    "polars": lambda values: pl.DataFrame(values, schema=NAMES),
    "polars, in pieces": lambda values: pl.from_arrow(in_pieces(values), rechunk=False),
    "Arrow table": table,
    "Arrow table in pieces": in_pieces,
    "Arrow batch": lambda values: table(values).to_batches()[0],
    "Arrow reader": lambda values: in_pieces(values).to_reader(),
    "Arrow stream of a stranger": lambda values: Exporter(in_pieces(values)),
    "Arrow batch of a stranger": lambda values: BatchExporter(table(values)),
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)

LABELS = {
    "pandas": lambda words: pd.Series(words),
    "pandas category": lambda words: pd.Series(words, dtype="category"),
    "pandas categorical": lambda words: pd.Categorical(words),
    "pandas index": lambda words: pd.Index(words),
    "pandas string": lambda words: pd.Series(words, dtype="string"),
    "pandas, Arrow inside": lambda words: pd.Series(words).astype(pd.ArrowDtype(pa.string())),
    "polars": lambda words: pl.Series(words),
    "polars Categorical": lambda words: pl.Series(words, dtype=pl.Categorical),
    "polars Enum": lambda words: pl.Series(words, dtype=pl.Enum(["up", "never", "down"])),
    "Arrow": lambda words: pa.array(words),
    "Arrow chunked": lambda words: pa.chunked_array([words[:9], words[9:]]),
    "Arrow dictionary": lambda words: pa.array(words).dictionary_encode(),
    "Arrow chunked dictionary": lambda words: pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (words[:1], words[1:])]
    ),
}


@frames
def test_a_classifier_takes_a_frame_in_every_method(frame):
    named, plain = OnlineLDC(rate=0.1), OnlineLDC(rate=0.1)
    order = np.column_stack([np.arange(60), ~np.arange(60)]).ravel()
    tests, answers = X[:, np.newaxis], WORDS[:, np.newaxis]
    named.fit(frame(X), WORDS)
    plain.fit(X, WORDS)
    assert named.feature_names_in_.tolist() == NAMES
    named.partial_fit(frame(X), WORDS)
    plain.partial_fit(X, WORDS)
    assert (named.predict_then_learn(frame(X), WORDS) == plain.predict_then_learn(X, WORDS)).all()
    assert (named.follow(frame(X), WORDS, order)[0] == plain.follow(X, WORDS, order)[0]).all()
    counts = named.learn_then_test(frame(X), WORDS, tests, answers), plain.learn_then_test(X, WORDS, tests, answers)
    assert (counts[0] == counts[1]).all()
    for method in ("predict", "predict_proba", "decision_function"):
        assert (getattr(named, method)(frame(X)) == getattr(plain, method)(X)).all()
    assert named.score(frame(X), WORDS) == plain.score(X, WORDS)
    assert named._core.state().keys() == plain._core.state().keys()
    assert all((array == plain._core.state()[key]).all() for key, array in named._core.state().items())


@frames
def test_a_frame_is_a_stream(frame):
    stream = Table(frame(X), pl.Series(WORDS))
    assert stream.feature_names == tuple(NAMES)
    assert stream.classes.tolist() == ["down", "up"]
    assert (stream.take()[0] == X).all()


@frames
def test_a_regressor_and_its_targets(frame):
    targets = frame(np.column_stack([NUMBERS, X[:, :2]]))
    expected = OnlineLinearRegression(solver="rls").fit(X, np.column_stack([NUMBERS, X[:, :2]]))
    several = OnlineLinearRegression(solver="rls").fit(frame(X), targets)
    assert (several.predict(frame(X)) == expected.predict(X)).all()
    answers = OnlineLinearRegression(solver="rls").predict_then_learn(frame(X), pl.Series(NUMBERS))
    assert (answers == OnlineLinearRegression(solver="rls").predict_then_learn(X, NUMBERS)).all()


@frames
@pytest.mark.parametrize("transformer", [StandardScaler(), CCIPCA(2), RandomFeatures(8, sigma=1.0)], ids=repr)
def test_a_transformer(frame, transformer):
    expected = transformer.fit(X).transform(X)
    assert (transformer.fit(frame(X)).transform(frame(X)) == expected).all()
    assert transformer.feature_names_in_.tolist() == NAMES
    assert transformer.partial_fit(frame(X)).transform_then_learn(frame(X)).shape == expected.shape


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("frame", [FRAMES["pandas"], FRAMES["polars"], table], ids=["pandas", "polars", "Arrow"])
def test_set_output_names_the_columns_whatever_came_in(library, frame):
    for transformer in (StandardScaler(), CCIPCA(2), StreamPipeline([StandardScaler(), CCIPCA(2)])):
        transformer.set_output(transform=library)
        given = transformer.fit(frame(X)).transform(frame(X))
        assert type(given).__module__.startswith(library)
        assert list(given.columns) == transformer.get_feature_names_out().tolist()


@pytest.mark.parametrize("model", [AutoClassifier(), StreamPipeline([StandardScaler(), OnlineLogistic()])], ids=repr)
def test_a_stream_in_chunks_of_different_libraries_is_one_stream(model):
    whole = dumps(model.fit(table(X[:1]), WORDS[:1]).partial_fit(table(X[1:]), WORDS[1:]))
    model.fit(FRAMES["pandas"](X[:1]), LABELS["polars"](WORDS[:1]))
    for start, stop, frame, labels in zip(
        [1, 20, 40], [20, 40, 60], ["polars", "Arrow batch", "pandas, nullable"], LABELS.values(), strict=False
    ):
        model.partial_fit(FRAMES[frame](X[start:stop]), labels(WORDS[start:stop]))
    assert dumps(model) == whole


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels(labels):
    assert dumps(OnlineLDC().fit(X, labels(WORDS))) == dumps(OnlineLDC().fit(X, WORDS))


@pytest.mark.parametrize(
    "labels",
    [
        lambda whole: pd.Series(whole, dtype="Int64"),
        lambda whole: pd.Series(whole, dtype="UInt8"),
        lambda whole: pd.Series(whole, dtype="category"),
        lambda whole: pd.Series(whole).astype(pd.ArrowDtype(pa.int8())),
        lambda whole: pl.Series(whole, dtype=pl.UInt16),
        lambda whole: pa.array(whole, type=pa.int32()).dictionary_encode(),
        lambda whole: Exporter(pa.table({"y": whole})),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_labels_that_are_integers_stay_integers(labels):
    whole = (WORDS == "up").astype(np.int64)
    assert dumps(OnlineLDC().fit(X, labels(whole))) == dumps(OnlineLDC().fit(X, whole))


@pytest.mark.parametrize("column", [pl.DataFrame({"y": WORDS}), pa.table({"y": WORDS}), pd.DataFrame({"y": WORDS})])
def test_a_table_of_one_column_is_a_column_of_labels(column):
    with pytest.warns(DataConversionWarning):
        model = OnlineLDC().fit(X, column)
    assert model.classes_.tolist() == ["down", "up"]


@pytest.mark.parametrize(
    "kind",
    [np.float16, np.float32, np.longdouble, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.bool_],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_of_any_type_and_order(kind, order):
    values = np.asarray(np.abs(X) * 3, dtype=kind, order=order)
    assert dumps(OnlineLogistic().fit(values, WORDS)) == dumps(OnlineLogistic().fit(values.astype(np.float64), WORDS))
    assert dumps(OnlineLogistic().fit(values[::2, ::-1], WORDS[::2])) == dumps(
        OnlineLogistic().fit(values[::2, ::-1].astype(np.float64), WORDS[::2])
    )


# ---------------------------------------------------------------------- what is refused


def refusal(call):
    with pytest.raises(InvalidInput) as caught:
        call()
    return str(caught.value)


@frames
def test_the_first_column_that_differs_is_named(frame):
    model = OnlineLDC().fit(frame(X), WORDS)
    before = dumps(model)
    swapped, short = pa.table(frame(X)).select([0, 2, 1]), pa.table(frame(X)).select([0, 1])
    for call in (model.predict, lambda other: model.partial_fit(other, WORDS)):
        assert refusal(lambda call=call: call(swapped)).startswith("Column 1 of X must be 'price'")
        assert "Column 2 of X must be 'transfer', as when learning began, got no column" in refusal(
            lambda call=call: call(short)
        )
    assert dumps(model) == before


MISSING = {
    "pandas": pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, np.nan]}),
    "pandas, nullable": pd.DataFrame({"a": [1, 2], "b": pd.array([3, None], dtype="Int64")}),
    "pandas, boolean": pd.DataFrame({"a": [1, 2], "b": pd.array([True, None], dtype="boolean")}),
    "pandas, objects": pd.DataFrame({"a": [1, 2], "b": pd.Series([3, None], dtype=object)}),
    "polars": pl.DataFrame({"a": [1, 2], "b": [3, None]}),
    "polars, boolean": pl.DataFrame({"a": [1, 2], "b": [True, None]}),
    "polars, NaN": pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, float("nan")]}),
    "Arrow": pa.table({"a": [1, 2], "b": pa.array([3, None])}),
    "Arrow, boolean": pa.table({"a": [1, 2], "b": pa.array([True, None])}),
    "Arrow, dictionary": pa.table({"a": [1, 2], "b": pa.array([3, None]).dictionary_encode()}),
    "Arrow, stranger": Exporter(pa.table({"a": [1, 2], "b": pa.array([3, None], type=pa.float64())})),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_value_is_named_by_row_and_column(kind):
    said = refusal(lambda: OnlineLDC().fit(MISSING[kind], ["x", "y"]))
    assert "at row 1, column 'b'" in said
    assert ("NaN" in said) != ("a missing value" in said)
    assert ("NaN" in said) == (kind in ("pandas", "polars, NaN"))


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(["x", None], name="label"),
        pd.Series(["x", None], name="label", dtype="category"),
        pd.Series([1, None], name="label", dtype="Int64"),
        pl.Series("label", ["x", None]),
        pl.Series("label", ["x", None], dtype=pl.Categorical),
        pl.Series("label", [1, None]),
    ],
)
def test_a_missing_label_is_named_by_row_and_column(labels):
    assert "got a missing one at row 1, column 'label': learn only" in refusal(lambda: OnlineLDC().fit(X[:2], labels))


@pytest.mark.parametrize("labels", [pa.array([1, None]), pa.chunked_array([["x"], [None]])])
def test_a_missing_label_without_a_name(labels):
    assert "got a missing one at row 1: learn only" in refusal(lambda: OnlineLDC().fit(X[:2], labels))


@pytest.mark.parametrize(
    "column",
    [
        pd.DataFrame({"a": [1.0, 2.0], "b": ["dry", "wet"]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.to_datetime(["2008-05-17", "2008-05-18"])}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.to_datetime(["2008-05-17", "2008-05-18"]).tz_localize("UTC")}),
        pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["dry", "wet"])}),
        pl.DataFrame({"a": [1.0, 2.0], "b": ["dry", "wet"]}),
        pa.table({"a": [1.0, 2.0], "b": ["1", "2"]}),
    ],
)
def test_a_column_that_holds_no_numbers_is_named(column):
    said = refusal(lambda: OnlineLDC().fit(column, [0, 1]))
    assert said.startswith("X must hold numbers, column 'b' does not")
    assert "TableClassifier(learner).fit(X, y)" in said


def test_what_the_refusal_of_text_suggests_works():
    frame = pd.DataFrame({"word": ["dry", "wet"] * 20, "level": np.arange(40.0)})
    labels = ["low", "high"] * 20
    assert "TableClassifier" in refusal(lambda: AutoClassifier().fit(frame, labels))
    model = TableClassifier(AutoClassifier()).fit(frame, labels)
    assert model.predict(frame[:2]).tolist() == ["low", "high"]


def test_a_plan_is_no_table():
    assert "collect it" in refusal(lambda: OnlineLDC().fit(pl.DataFrame(X).lazy(), WORDS))


@pytest.mark.parametrize("row", [pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0]), pa.array([1.0, 2.0])])
def test_a_series_is_no_table(row):
    assert "two-dimensional" in refusal(lambda: OnlineLDC().fit(row, [0, 1]))


# ---------------------------------------------------------------------- copies

LARGE = np.random.default_rng(1).normal(size=(100_000, 8))
COLUMNS = [f"c{place}" for place in range(8)]


IN_PLACE = {
    "NumPy": (LARGE, lambda given: given),
    "pandas, in rows": (pd.DataFrame(LARGE, columns=COLUMNS, copy=False), lambda given: LARGE),
    "pandas, a column": (pd.DataFrame({"a": LARGE[:, 0]}), lambda given: given["a"].to_numpy()),
    "polars, a column": (pl.DataFrame({"a": LARGE[:, 0]}), lambda given: given["a"].to_numpy(allow_copy=False)),
    "Arrow, a column": (pa.table({"a": LARGE[:, 0]}), lambda given: given["a"].chunk(0).to_numpy()),
}


@pytest.mark.parametrize(("given", "memory"), IN_PLACE.values(), ids=IN_PLACE)
def test_what_lies_in_rows_is_read_where_it_lies(given, memory):
    assert np.shares_memory(as_rows(given, OnlineLDC(), "X"), memory(given))


@pytest.mark.parametrize(
    "given",
    [
        np.asfortranarray(LARGE),
        LARGE.astype(np.float32),
        LARGE[:, ::-1],
        pd.DataFrame(LARGE, columns=COLUMNS, copy=True),
        pd.DataFrame(
            {
                name: LARGE[:, place].astype(np.float32 if place % 2 else np.float64)
                for place, name in enumerate(COLUMNS)
            }
        ),
        pl.DataFrame(LARGE, schema=COLUMNS),
        pl.DataFrame(LARGE.astype(np.float32), schema=COLUMNS),
        pa.table({name: LARGE[:, place] for place, name in enumerate(COLUMNS)}),
        pa.table({name: (LARGE[:, place] * 9).astype(np.int32) for place, name in enumerate(COLUMNS)}),
    ],
    ids=[
        "Fortran",
        "float32",
        "reversed",
        "pandas",
        "pandas mixed",
        "polars",
        "polars float32",
        "Arrow",
        "Arrow int32",
    ],
)
def test_what_lies_otherwise_is_copied_once(given):
    as_rows(given, OnlineLDC(), "X")  # what is imported on the way does not count
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        rows = as_rows(given, OnlineLDC(), "X")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rows.nbytes <= peak < 1.15 * rows.nbytes
    assert pa.total_allocated_bytes() == before
