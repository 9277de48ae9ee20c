"""Tables larger than memory, chunk by chunk: the same rows whatever holds them, and never many at a time."""

from __future__ import annotations

import bz2
import gzip
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor

from thalweg import OnlineLDC, OnlineLinearRegression, StandardScaler
from thalweg.errors import DataUnavailable, InvalidInput, InvalidParameter, MissingExtra
from thalweg.evaluate import prequential, summarise
from thalweg.frames import chunks
from thalweg.store import dumps
from thalweg.streams import LinearResponse, MovingPlane, Table

pl = pytest.importorskip("polars")

X, SIDES = MovingPlane(seed=3).take(1000)
Y = np.where(SIDES == 1, "left", "right")
TABLE = pa.table({"a": X[:, 0], "side": Y, "b": X[:, 1]})
PIECES = pa.concat_tables([TABLE.slice(0, 130), TABLE.slice(130, 1), TABLE.slice(131)])


class Stranger:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return PIECES.__arrow_c_stream__(requested_schema)


def parquet(folder):
    pyarrow.parquet.write_table(TABLE, folder / "rows.parquet", row_group_size=170)
    return folder / "rows.parquet"


def ipc(folder, new):
    with new(folder / "rows", TABLE.schema) as writer:
        writer.write_table(PIECES)
    return str(folder / "rows")


def dataset(folder):
    pyarrow.dataset.write_dataset(TABLE, folder, format="parquet", max_rows_per_file=300, max_rows_per_group=300)
    return pyarrow.dataset.dataset(folder)


SOURCES = {
    "Parquet": parquet,
    "a folder": lambda folder: parquet(folder).parent,
    "Arrow file": lambda folder: ipc(folder, pa.ipc.new_file),
    "Arrow stream": lambda folder: ipc(folder, pa.ipc.new_stream),
    "data set": dataset,
    "reader": lambda folder: PIECES.to_reader(),
    "table": lambda folder: PIECES,
    "batch": lambda folder: TABLE.to_batches()[0],
    "pandas": lambda folder: TABLE.to_pandas(),
    "polars": lambda folder: pl.from_arrow(PIECES),
    "a stranger's stream": lambda folder: Stranger(),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_same_rows_whatever_holds_them(source, tmp_path):
    model = OnlineLDC(0.1, counts="soft")
    sizes = []
    for features, labels in chunks(source(tmp_path), "side", size=192):
        model.partial_fit(features, labels)
        sizes.append(len(labels))
    assert sizes == [192] * 5 + [40]
    assert dumps(model) == dumps(OnlineLDC(0.1, counts="soft").partial_fit(pd.DataFrame(X, columns=["a", "b"]), Y))


def answers(records):
    return np.concatenate([record.predictions for record in records])


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_evaluation_walks_chunks_as_it_walks_a_stream(source, tmp_path):
    given = source(tmp_path)
    told = {"classes": ["right", "left"]} if isinstance(given, pa.RecordBatchReader) else {}
    records = list(prequential(OnlineLDC(), chunks(given, "side", size=150), chunk=64, **told))
    assert [len(record) for record in records[:4]] == [64, 64, 22, 64]
    assert summarise(records).rows == 1000
    assert (answers(records) == answers(prequential(OnlineLDC(), Table(X, Y)))).all()


@pytest.mark.parametrize("delay", [0, 5])
def test_other_models_and_late_labels_walk_frames_too(delay):
    model = OnlineLDC(0.1) if delay else SGDClassifier(random_state=0)
    walked = prequential(clone(model), chunks(TABLE, "side", size=100), rows=250, delay=delay)
    assert (answers(walked) == answers(prequential(model, Table(X, Y), rows=250, delay=delay))).all()


@pytest.mark.parametrize("model", [OnlineLinearRegression(solver="rls"), SGDRegressor(random_state=0)], ids=repr)
def test_regression_walks_chunks(model):
    stream = LinearResponse(seed=1)
    features, targets = stream.take(300)
    table = pl.DataFrame(features, schema=list(stream.feature_names)).with_columns(y=targets)
    walked = prequential(clone(model), chunks(table, "y", size=77))
    assert (answers(walked) == answers(prequential(model, stream, rows=300))).all()


def test_any_pairs_are_chunks():
    pairs = [(X[:400], Y[:400]), (pl.DataFrame(X[400:]), pl.Series(Y[400:]))]
    assert summarise(prequential(OnlineLDC(), pairs[:1])).rows == 400
    with pytest.warns(UserWarning, match="feature names"):
        assert summarise(prequential(OnlineLDC(), pairs, rows=900)).rows == 900
    with pytest.raises(InvalidParameter, match="gone through only once"):
        prequential(OnlineLDC(), iter(pairs))
    with pytest.raises(InvalidParameter, match="left out for a Stream"):
        prequential(OnlineLDC(), MovingPlane(), classes=[0, 1])


def test_features_are_chosen_and_transformers_need_no_target():
    for features, labels in chunks(TABLE, None, columns=["b", "a"], size=300):
        assert labels is None
        model = StandardScaler().partial_fit(features, labels)
    assert model.feature_names_in_.tolist() == ["b", "a"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("opened", [str, pyarrow.dataset.dataset], ids=["file", "data set"])
def test_a_file_is_never_in_memory_as_a_whole(opened, tmp_path):
    rows = 1_000_000  # what pyarrow reads ahead does not grow with the file: 13 to 22 MB of its 88
    wide = {f"c{place}": np.random.default_rng(place).normal(size=rows) for place in range(10)}
    whole = pa.table({**wide, "y": np.arange(rows) % 2})
    pyarrow.parquet.write_table(whole, tmp_path / "large.parquet", row_group_size=10_000)
    size, before, most, passed = whole.nbytes, pa.total_allocated_bytes(), 0, 0
    for features, _ in chunks(opened(tmp_path / "large.parquet"), "y"):
        most = max(most, pa.total_allocated_bytes() - before)
        passed += len(features)
    assert passed == rows
    assert 0 < most < 0.5 * size


def test_what_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("a,side\n1,left\n")
    with pytest.raises(InvalidInput, match=r"rows.csv holds text.*open_csv"):
        list(chunks(tmp_path / "rows.csv", "side"))
    with pytest.raises(InvalidInput, match="must have a column 'sides', its columns are 'a', 'side', 'b'"):
        list(chunks(TABLE, "sides"))
    with pytest.raises(InvalidInput, match="collect it"):
        list(chunks(pl.DataFrame({"a": [1]}).lazy(), "a"))
    with pytest.raises(DataUnavailable):
        list(chunks(tmp_path / "none.parquet", "side"))
    with pytest.raises(InvalidInput, match="cannot be read as a table"):
        list(chunks(object(), "side"))
    for wrong in (0, True, 1.5):
        with pytest.raises(InvalidParameter, match="size"):
            chunks(TABLE, "side", size=wrong)
    with pytest.raises(InvalidParameter, match="columns"):
        chunks(TABLE, "side", columns="ab")
    with pytest.raises(InvalidParameter, match=r"'columns' .* leave out the target, 'side'"):
        chunks(TABLE, "side", columns=["a", "side"])


@pytest.mark.parametrize("text", [b"a,side\n1,left\n", b'{"a": 1, "side": "left"}\n'])
@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress], ids=["gzip", "bz2"])
def test_packed_text_is_text(text, packed, tmp_path):
    (tmp_path / "rows").write_bytes(packed(text))
    with pytest.raises(InvalidInput, match="rows holds text"):
        list(chunks(tmp_path / "rows", "side"))


@pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["nothing", "nothing packed"])
def test_an_empty_file_is_called_so(content, tmp_path):
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"rows.parquet is empty"):
        list(chunks(tmp_path / "rows.parquet", "side"))


@pytest.mark.parametrize("source", ["rows.parquet", Stranger()])
def test_without_pyarrow_it_says_what_to_install(source, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"reading (files|a Stranger) needs pyarrow: pip install 'thalweg\[files\]'"):
        list(chunks(source, "side"))
