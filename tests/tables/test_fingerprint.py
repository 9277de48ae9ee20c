"""The checksum of rows depends on what they hold, and not on how they are cut."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

from tests.examples import examples  # noqa: E402

from thalweg.tables import BadRow, Block, Fingerprint, chunks  # noqa: E402


def sums(table: Any, cuts: list[int], size: int, *, typed: bool = False, bad: tuple[BadRow, ...] = ()) -> Any:
    """Of a table cut into blocks at these places, and into chunks of this size."""
    edges = [0, *sorted(cuts), len(table)]
    blocks = [
        Block(table.slice(begin, end - begin), "rows", begin + 1, list(bad) if begin == 0 else [], typed)
        for begin, end in itertools.pairwise(edges)
    ]
    found = Fingerprint()
    for chunk in chunks(blocks, size):
        found = Fingerprint(found.sums)  # as after a checkpoint
        found.take(chunk)
    return found.sums


cells = st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), min_size=1, max_size=20)


@examples(100)
@given(rows=cells, other=cells, data=st.data())
def test_text_is_told_apart_however_it_is_cut(rows: list[Any], other: list[Any], data: Any) -> None:
    def table(of: list[Any]) -> Any:
        return pa.table({name: pa.array([row[i] for row in of], pa.string()) for i, name in enumerate("ab")})

    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    whole = sums(table(rows), [], 1000)
    assert sums(table(rows), cuts, data.draw(st.integers(1, 20))) == whole
    assert (sums(table(other), [], 1000) == whole) == (rows == other)


def test_numbers_of_json_are_the_same_beside_a_word() -> None:
    """Which a block is read as depends on where it ends."""
    assert sums(pa.table({"a": [1.0, 2.5, None]}), [], 9) == sums(pa.table({"a": ["1", "2.5", None]}), [], 9)


maps = st.one_of(
    st.none(), st.lists(st.tuples(st.text(max_size=2), st.one_of(st.none(), st.integers(0, 3))), max_size=3)
)


@examples(100)
@given(rows=st.lists(maps, min_size=1, max_size=12), other=st.lists(maps, min_size=1, max_size=12), data=st.data())
def test_maps_are_told_apart_however_they_are_cut(rows: list[Any], other: list[Any], data: Any) -> None:
    def table(of: list[Any]) -> Any:
        return pa.table({"a": pa.array(of, pa.map_(pa.string(), pa.float64()))})

    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    whole = sums(table(rows), [], 1000, typed=True)
    assert sums(table(rows), cuts, data.draw(st.integers(1, 20)), typed=data.draw(st.booleans())) == whole
    assert (sums(table(other), [], 1000, typed=True) == whole) == (rows == other)


KINDS = {
    "float": pa.array([1.5, None, 3.0]),
    "whole": pa.array([1, 2, None]),
    "truth": pa.array([True, None, False]),
    "time": pa.array([1, None, 3], pa.timestamp("us")),
    "day": pa.array([1, None, 3], pa.date32()),
    "span": pa.array([1, None, 3], pa.duration("s")),
    "words": pa.array(["a", None, "b"]).dictionary_encode(),
    "large": pa.array(["a", None, "b"], pa.large_string()),
    "bytes": pa.array([b"\xff", None, b"a"]),
    "list": pa.array([[1], None, [2, 3]]),
    "decimal": pa.array([1, None, 3]).cast(pa.decimal128(30, 2)),
    "nothing": pa.nulls(3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_every_type_are_taken(kind: str) -> None:
    column = KINDS[kind]
    whole = sums(pa.table({"a": column}), [], 1000, typed=True)
    assert sums(pa.table({"a": column}).take([0, 1, 2]), [], 1000, typed=True) == whole
    if kind != "nothing":
        assert sums(pa.table({"a": column}).take([2, 1, 0]), [], 1000, typed=True) != whole
        assert sums(pa.table({"a": column}).take([0, 0, 2]), [], 1000, typed=True) != whole


def test_bad_rows_and_names_of_columns_count() -> None:
    table = pa.table({"a": ["1", "2"]})
    whole = sums(table, [], 9)
    assert sums(table.rename_columns(["b"]), [], 9) != whole
    assert sums(table, [], 9, bad=(BadRow("rows", 2, None, "it has 4 cells"),)) != whole
