"""Columns of every type that Arrow, pandas and polars have are read, left out or refused in words."""

from __future__ import annotations

import datetime as dt
import uuid
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

from pyarrow import parquet  # noqa: E402
from tests.cli.calls import metrics, run  # noqa: E402

from thalweg import evaluate  # noqa: E402
from thalweg.errors import InvalidInput  # noqa: E402
from thalweg.tables import Chunk, Target, open_source  # noqa: E402
from thalweg.tables.rows import Piece  # noqa: E402

ROWS = 60
R = range(ROWS)
START = dt.datetime(2024, 1, 1)
NUMBERS = [i % 4 for i in R]
WORDS = [f"w{i % 4}" for i in R]
LISTS = [[i, 1] for i in R]
TIMES = [START + dt.timedelta(hours=i) for i in R]
IDS = [uuid.UUID(int=i % 4) for i in R]
PERIODS = pd.Series(pd.period_range("2024-01", periods=ROWS, freq="Q"))
CUT = pd.Series(pd.cut(np.arange(float(ROWS)), 4))


def stored(kind: Any, values: Any) -> Any:
    return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))


def arrow_columns() -> dict[str, dict[str, Any]]:
    """By the kind that each column must have as a feature; "–" is left out."""
    whole = (pa.int8, pa.int16, pa.int32, pa.int64, pa.uint8, pa.uint16, pa.uint32, pa.uint64, pa.float32, pa.float64)
    decimals = (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(20, 3), pa.decimal256(50, 3))
    units = ("s", "ms", "us", "ns")
    return {
        "number": {str(kind()): pa.array(NUMBERS, kind()) for kind in whole}
        | {str(kind): pa.array(map(Decimal, NUMBERS), kind) for kind in decimals}
        | {"half": pa.array(np.float16(NUMBERS)), "opaque": stored(pa.opaque(pa.int64(), "a", "b"), NUMBERS)}
        | {"runs": pa.RunEndEncodedArray.from_arrays(pa.array([30, ROWS], pa.int32()), pa.array([1, 2]))},
        "category": {str(kind()): pa.array(WORDS, kind()) for kind in (pa.string, pa.large_string, pa.string_view)}
        | {"codes": pa.array(NUMBERS).dictionary_encode(), "words": pa.array(WORDS).dictionary_encode()}
        | {"decimal codes": pa.array([i + 0.5 for i in NUMBERS]).dictionary_encode()}
        | {"hours": pa.array(TIMES[:4] * 15).dictionary_encode(), "bool": pa.array([True, False] * 30)}
        | {"bool8": stored(pa.bool8(), [0, 1] * 30), "uuid": pa.array(IDS), "interval": pa.array(CUT)}
        | {"intervals": pa.array(pd.Series(pd.arrays.IntervalArray.from_breaks(range(ROWS + 1))))},
        "time": {f"at {unit}": pa.array(TIMES, pa.timestamp(unit)) for unit in units}
        | {f"zone {unit}": pa.array(TIMES, pa.timestamp(unit, "Europe/Berlin")) for unit in units}
        | {f"day {kind()}": pa.array([each.date() for each in TIMES], kind()) for kind in (pa.date32, pa.date64)}
        | {f"t {u}": pa.array([each.time() for each in TIMES], pa.time32(u)) for u in ("s", "ms")}
        | {f"t {u}": pa.array([each.time() for each in TIMES], pa.time64(u)) for u in ("us", "ns")}
        | {"period": pa.array(PERIODS)},
        "duration": {f"for {unit}": pa.array([dt.timedelta(hours=i) for i in R], pa.duration(unit)) for unit in units},
        "map": {"map": pa.array([[("a", 1.0)]] * ROWS, pa.map_(pa.string(), pa.float64()))},
        "–": {"null": pa.nulls(ROWS), "json": stored(pa.json_(), ['{"a": 1}'] * ROWS)}
        | {str(kind()): pa.array([b"\xff"] * ROWS, kind()) for kind in (pa.binary, pa.large_binary, pa.binary_view)}
        | {"fixed": pa.array([b"abc"] * ROWS, pa.binary(3)), "list": pa.array(LISTS)}
        | {f"{kind} list": pa.array(LISTS, kind(pa.int64())) for kind in (pa.large_list, pa.list_view)}
        | {"pair": pa.array(LISTS, pa.list_(pa.int64(), 2)), "struct": pa.array([{"a": i} for i in R])}
        | {"words by number": pa.array([[(1, "x")]] * ROWS, pa.map_(pa.int32(), pa.string()))}
        | {"tensor": stored(pa.fixed_shape_tensor(pa.int64(), [2]), LISTS)}
        | {"union": pa.UnionArray.from_sparse(pa.array([0, 1] * 30, pa.int8()), [pa.array(NUMBERS), pa.array(WORDS)])}
        | {"months": pa.array([pa.MonthDayNano([1, i, 0]) for i in R])},
    }


LABELS = pa.array(["p", "q", "q"] * (ROWS // 3))
NOISE = np.random.default_rng(0).normal(size=ROWS)
#: What pyarrow cannot write, or not so that it can read it.
NOT_IN = {"parquet": ("runs", "union", "months", "interval"), "arrow": ("interval",)}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_features_of_every_type_are_read(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = {name: kind for kind, several in arrow_columns().items() for name in several}
    columns = {name: column for several in arrow_columns().values() for name, column in several.items()}
    columns = {name: column for name, column in columns.items() if name not in NOT_IN[form]}
    if form == "parquet":
        parquet.write_table(pa.table(columns | {"y": LABELS}), "t.file")
    else:
        table = pa.table(columns | {"y": LABELS})
        with pa.OSFile("t.file", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    for sort in ((), ("--time", "at s", "--sort")):
        code, _, said = run(
            capsys, "run", "t.file", "--target", "y", "--model", "logistic", "--fresh", "--quiet", *sort
        )
        assert code == 0, said
        found = {name: kind for name, kind, _ in metrics("thalweg-run")["columns"]}
        assert found == {name: kinds[name] for name in columns} | {"y": "–"}
    assert run(capsys, "predict", "thalweg-run/model.thalweg", "t.file")[0] == 0


PANDAS = {
    "category": {
        "codes": pd.Series(pd.Categorical(NUMBERS)),
        "cut": CUT,
        "gap": pd.Series(pd.cut([np.nan, *map(float, R[1:])], 4)),
        "intervals": pd.Series(pd.interval_range(0, periods=ROWS)),
        "uuid": pd.Series([None, *IDS[1:]]),
        "mixed": pd.Series([1, "a"] * 30),
    },
    "number": {"sparse": pd.Series(pd.arrays.SparseArray(NUMBERS)), "Int64": pd.Series(NUMBERS, dtype="Int64")},
    "time": {"period": PERIODS, "clock": pd.Series([each.time() for each in TIMES])},
    "–": {"lists": pd.Series(LISTS), "bytes": pd.Series([b"a"] * ROWS), "none": pd.Series([None] * ROWS)},
}
POLARS = {
    "category": {
        "cat": pl.Series(list(map(str, NUMBERS)), dtype=pl.Categorical),
        "enum": pl.Series(list(map(str, NUMBERS)), dtype=pl.Enum(list("0123"))),
        "uuid": pl.Series(IDS, dtype=pl.Object),
    },
    "number": {"i128": pl.Series(NUMBERS, dtype=pl.Int128), "decimal": pl.Series(list(map(Decimal, NUMBERS)))},
    "time": {"clock": pl.Series([each.time() for each in TIMES]), "at": pl.Series(TIMES)},
    "duration": {"for": pl.Series([dt.timedelta(hours=i) for i in R])},
    "–": {"lists": pl.Series(LISTS), "struct": pl.Series([{"a": i} for i in R]), "null": pl.Series([None] * ROWS)},
}


@pytest.mark.parametrize(
    ("frame", "columns"), [(pd.DataFrame, PANDAS), (pl.DataFrame, POLARS), (pa.table, arrow_columns())]
)
def test_frames_give_features_and_targets_of_every_type(frame: Any, columns: dict[str, dict[str, Any]]) -> None:
    every = {name: column for several in columns.values() for name, column in several.items()}
    X = frame({"x": NOISE} | every)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluate.run("logistic", X, LABELS.to_pylist())
        kinds = {name: kind for kind, several in columns.items() for name in several}
        assert {name: kind for name, kind, _ in result.metrics["columns"]} == kinds | {"x": "number", "y": "–"}
        assert len(result.model.predict(X)) == ROWS
        for kind, several in columns.items():
            for name, column in several.items():
                rows = frame({"x": NOISE, "target": column})
                if kind in ("–", "map") and name not in ("null", "none", "json"):
                    with pytest.raises(InvalidInput, match="must hold labels or numbers, got values of type"):
                        evaluate.run("majority", rows, "target")
                else:
                    model = {} if kind == "category" else {"task": "classification"}
                    assert evaluate.run("majority", rows, "target", **model).metrics["rows"]["read"] == ROWS


@pytest.mark.parametrize("values", [NUMBERS, [i + 0.5 for i in NUMBERS]])
def test_categories_of_numbers_are_classes_and_keep_their_type(values: list[float], tmp_path: Path) -> None:
    for column in (pd.Series(pd.Categorical(values)), pa.array(values).dictionary_encode()):
        frame = (pd.DataFrame if isinstance(column, pd.Series) else pa.table)({"x": NOISE, "y": column})
        predicted = evaluate.run("logistic", frame, "y").model.predict(frame)
        assert set(predicted.tolist()) <= set(values)
    parquet.write_table(pa.table({"x": NOISE, "y": pa.array(values).dictionary_encode()}), tmp_path / "t.parquet")
    (block,) = open_source(tmp_path / "t.parquet").blocks()
    assert Target("y").quantity(Chunk([Piece(block, 0, ROWS)], [])) is None


def test_a_lone_surrogate_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.ndjson"
    table.write_text('{"a": 1, "s": "x\\ud83d\\ude00", "y": "p"}\n{"a": 2, "s": "x\\ud800", "y": "q"}\n' * 2)
    told = f"{table}, row 2, column 's': the text holds half of a character, a lone surrogate"
    code, _, said = run(capsys, "run", str(table), "--target", "y", "--out", str(tmp_path / "out"), "--quiet")
    assert (code, said.startswith(f"thalweg: {told}")) == (2, True)
    with pytest.raises(
        InvalidInput, match=r"^row 1, column 's': 'x\\ud800' holds half of a character, a lone surrogate$"
    ):
        evaluate.run("majority", pd.DataFrame({"s": ["a", "x\ud800"] * 9, "y": [0, 1] * 9}, dtype=object), "y")
