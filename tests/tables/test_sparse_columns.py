"""Maps as sparse features: hashed as scikit-learn does it, behind all other features, and the same by any cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction import FeatureHasher

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402
from tests.examples import examples  # noqa: E402

from thalweg.tables import Block, Encoder, Plan, chunks, ndjson_rows, open_source, plan_columns  # noqa: E402
from thalweg.tables.cells import BadCell  # noqa: E402
from thalweg.tables.columns.map import MapColumn  # noqa: E402
from thalweg.tables.encoder import stack_rows  # noqa: E402

NAMES = pa.map_(pa.string(), pa.float64())
INDICES = pa.map_(pa.int32(), pa.float64())
words = st.text("abcdé^ ", max_size=3)
values = st.integers(-1000, 1000).map(lambda value: value / 8)  # whose sums are exact in any order
cells = st.one_of(st.none(), st.dictionaries(words, values, max_size=30))


def same(one: Any, other: Any) -> bool:
    """Whether two sparse arrays agree to the last bit and are in canonical order."""
    assert isinstance(one, csr_array)
    assert one.has_canonical_format
    assert one.shape == other.shape
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("indptr", "indices", "data"))


def encoded(table: Any, size: int, plan: Plan | None = None) -> Any:
    parts, encoder = [], None
    for chunk in chunks([Block(table, "rows", 1, typed=True)], size):
        encoder = encoder or Encoder(plan or plan_columns(chunk, target="label"))
        parts.append(encoder.encode(chunk).X)
    return stack_rows(parts)


@examples(80)
@given(rows=st.lists(cells, min_size=1, max_size=12), bits=st.sampled_from([1, 3, 20, 30]), size=st.integers(1, 12))
def test_names_are_hashed_as_scikit_learn_hashes_them(rows: list[Any], bits: int, size: int) -> None:
    column = MapColumn("words", keys="name", hash_bits=bits)
    table = pa.table({"words": pa.array([None if row is None else list(row.items()) for row in rows], NAMES)})
    found = encoded(table, size, Plan((column,), {}, ("words",), marks_gaps=False))
    truth = FeatureHasher(2**bits).transform([row or {} for row in rows])
    truth.sum_duplicates()
    truth.eliminate_zeros()
    assert found.indices.dtype == np.int32
    assert same(found, csr_array(truth))
    quick = column.parse_values(rows)
    assert quick is not None
    assert same(encoded(table, 100, Plan((column,), {}, ("words",), False)), csr_array(quick_rows(quick, column)))
    assert quick.missing.tolist() == [row is None for row in rows]


def quick_rows(cells: Any, column: MapColumn) -> Any:
    indptr, indices, data = column.compressed(cells)
    return csr_array((data, indices, indptr), shape=(len(cells), column.width))


def mixed() -> Any:
    return pa.table(
        {
            "first": pa.array([[(2**31 - 2, 1.0), (0, 2.0)], None, [], [(5, 0.0), (3, 1.0), (3, 2.0)]], INDICES),
            "level": [1.5, 0.0, None, 3.0],
            "second": pa.array([[("a", 1)], [("a", 2), ("b", None)], None, []], pa.map_(pa.string(), pa.int16())),
            "label": ["x", "y", "x", "y"],
        }
    )


def test_sparse_columns_stand_behind_all_others(tmp_path: Path) -> None:
    parquet.write_table(mixed(), tmp_path / "rows")
    (chunk,) = chunks(open_source(tmp_path / "rows").blocks(), 100)
    plan = plan_columns(chunk, target="label")
    assert [line[1] for line in plan.describe()] == ["map", "number", "map", "–"]
    assert plan.feature_names == ("level", "level is missing", "any other is missing")
    assert plan.width == 3 + (2**31 - 1) + 2**20
    X = Encoder(plan).encode(chunk).X
    assert X.indices.dtype == np.int64
    assert X.shape == (4, plan.width)
    start = 3 + 2**31 - 1
    a = FeatureHasher(2**20).transform([{"a": 1}])
    at, sign = start + int(a.indices[0]), float(a.data[0])
    dense = [
        {0: 1.5, 3: 2.0, 2**31 + 1: 1.0, at: sign},
        {2: 1.0, at: 2 * sign},
        {0: 0.75, 1: 1.0, 2: 1.0},
        {0: 3.0, 6: 3.0},
    ]
    rows = [dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist(), strict=True)) for i in range(4)]
    assert rows == dense
    assert same(encoded(mixed(), 1, plan_columns(chunk, target="label")), X)
    assert same(encoded(mixed().slice(1), 2, plan_columns(chunk, target="label")).astype(float), encoded_tail(chunk))


def encoded_tail(chunk: Any) -> Any:
    """The rows but the first, encoded by an encoder that has not seen it."""
    return encoded(pa.table(mixed().to_pydict(), mixed().schema).slice(1), 100, plan_columns(chunk, target="label"))


def test_a_table_of_maps_alone_has_the_indices_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("1 7:2 3:1\n2 0:0\n1 2147483646:5\n")
    (chunk,) = chunks(open_source(tmp_path / "rows").blocks(), 100)
    plan = plan_columns(chunk, target="label", na=["1"])
    assert plan.describe()[1] == ("features", "map", "sparse features by their indices; a missing cell has none")
    X = Encoder(plan).encode(chunk).X
    assert X.shape == (3, 2**31 - 1)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert (X.indices.tolist(), X.data.tolist(), X.indptr.tolist()) == ([3, 7, 2147483646], [1, 2, 5], [0, 2, 2, 3])


def test_plans_are_written_and_forged_ones_refused() -> None:
    chunk = next(chunks([Block(mixed(), "rows", 1, typed=True)], 9))
    plan = plan_columns(chunk, target="label")
    again = Encoder.from_json(json.loads(json.dumps(Encoder(plan).to_json())))
    assert again.plan.describe() == plan.describe()
    assert same(again.encode(chunk).X, Encoder(plan).encode(chunk).X)
    for forged in (
        {"hash_bits": 0},
        {"hash_bits": 31},
        {"hash_bits": 10**9},
        {"keys": "all"},
        {"hash_bits": 20.5},
        {"x": 1},
    ):
        described = plan.to_json()
        described["columns"][2] |= forged
        with pytest.raises((ValueError, TypeError)):
            Plan.from_json(described)


BAD_MAPS = {
    "the index -1 is not between 0 and 2147483646": pa.array([[(1, 1.0)], [(0, 1.0), (-1, 1.0)]], INDICES),
    "the index 2147483647 is not between 0 and 2147483646": pa.array([[], [(2**31 - 1, 1.0)]], INDICES),
    "nan is beyond the numbers that can be learned": pa.array([[(1, 1.0)], [(2, float("nan"))]], INDICES),
    "the values of one feature add up to a number beyond those that can be learned": pa.array(
        [[], [(1, 9e49), (1, 9e49)]], INDICES
    ),
}


@pytest.mark.parametrize("what", BAD_MAPS)
def test_bad_cells_are_named_and_cost_their_row_alone(what: str) -> None:
    table = pa.table(
        {"m": pa.concat_arrays([BAD_MAPS[what], pa.array([[(4, 1.0)]], INDICES)]), "label": ["a", "b", "a"]}
    )
    (chunk,) = chunks([Block(table, "rows", 1, typed=True)], 9)
    found = Encoder(plan_columns(chunk, target="label"), bad_rows="skip").encode(chunk)
    assert [str(bad) for bad in found.bad] == [f"rows, row 2, column 'm': {what}"]
    assert found.kept.tolist() == [0, 2]
    assert found.X[[1]].indices.tolist() == [4]


def test_what_is_no_map_is_a_bad_cell() -> None:
    column = MapColumn("m", keys="index")
    with pytest.raises(BadCell, match="'free' is not an object of numbers"):
        column.parse(pa.chunked_array([["free"]]))
    assert column.parse(pa.chunked_array([pa.nulls(2)])).missing.all()
    assert column.parse_values([{"x": 1}]) is column.parse_values(["x"]) is column.parse_values([{1: "x"}]) is None
    indices = column.parse_values([{"7": True, 3: None}])
    assert indices is not None
    assert (indices.indices.tolist(), indices.values.tolist()) == ([7], [1.0])


# ------------------------------------------------------------------ NDJSON

HEAD = 4
entries = st.dictionaries(words, st.one_of(values, st.booleans(), st.none(), st.integers(-(10**9), 10**9)), max_size=4)
wrong = st.sampled_from(
    ["free", 3, True, [1], {"a": "b"}, {"a": [1]}, {"a": 1e51}, {"a": 10**400}, {"\ud800": 1}, {"a": {}}]
)
objects = st.lists(st.tuples(st.one_of(entries, st.none(), wrong), st.floats(-5, 5)), max_size=15)


def as_entries(cell: Any) -> list[tuple[str, float]] | None:
    """The entries of a cell, read slowly; ValueError where it is bad."""
    if cell is None:
        return None
    if not isinstance(cell, dict):
        raise ValueError
    found = []
    for key, value in cell.items():
        if value is None:
            continue
        if not isinstance(value, (bool, int, float)) or abs(value) > 1e50 or "\ud800" in key:
            raise ValueError
        found.append((key, float(value)))
    return found


@examples(80)
@given(rows=objects, lines=st.integers(1, 9), size=st.integers(1, 9))
def test_objects_of_numbers_in_ndjson(rows: list[Any], lines: int, size: int, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("objects") / "rows"
    rows = [({"free": 2, "money": True}, 0.5)] * HEAD + rows
    path.write_text(
        "".join(json.dumps({"label": i % 2, "words": row[0], "x": row[1]}) + "\n" for i, row in enumerate(rows))
    )
    told, bad, found, complaints = [], [], [], []
    for number, row in enumerate(rows, 1):
        try:
            told.append((as_entries(row[0]), row[1]))
        except ValueError:
            bad.append(number)
    with mock.patch.object(ndjson_rows, "_LINES", lines):
        for chunk in chunks(open_source(path, head=HEAD).blocks(), size, head=HEAD):
            complaints += chunk.bad
            if len(chunk):
                assert chunk.column("words").type == NAMES
                found += zip(chunk.column("words").to_pylist(), chunk.column("x").to_pylist(), strict=True)
    assert found == told
    assert [each.row for each in complaints] == bad
    assert {each.column for each in complaints} <= {"words"}


def test_objects_that_hold_other_things_are_left_out_as_before(tmp_path: Path) -> None:
    lines = [{"label": i % 2, "place": {"city": "Ulm", "zip": i}, "x": i} for i in range(9)]
    (tmp_path / "rows").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (chunk,) = chunks(open_source(tmp_path / "rows").blocks(), 100)
    plan = plan_columns(chunk, target="label")
    where = "where a value is no number, as that of place.city"
    assert plan.describe()[1][2].startswith(f"left out: objects of JSON cannot be learned {where}: write")
    assert not plan.sparse_columns


def test_columns_of_maps_stay_so_in_the_next_file(tmp_path: Path) -> None:
    (tmp_path / "1").write_text('{"label": 1, "words": {"a": 1}}\n')
    (tmp_path / "2").write_text('{"label": 1, "words": null}\n{"label": 2, "words": "b"}\n{"label": 2, "words": {}}\n')
    (chunk,) = chunks(open_source(tmp_path).blocks(), 100)
    assert chunk.column("words").to_pylist() == [[("a", 1.0)], None, []]
    assert [str(bad).rpartition("/")[2] for bad in chunk.bad] == [
        "2, row 2, column 'words': 'b' is not an object of numbers"
    ]
