"""Features from earlier rows against the slow oracle, however rows are cut, kept, restored and taken back."""

from __future__ import annotations

import itertools
import math
import pickle
from mmap import PAGESIZE
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.history.oracle import oracle
from thalweg.history.history import History
from thalweg.history.language import parse_features
from thalweg.kernels import compiled
from thalweg.tables.clock import Clock
from thalweg.tables.columns.number import NumberColumn
from thalweg.tables.rows import Block, Chunk, Piece

CALLS = [
    *("count(){}", "count(x){}", "sum(x){}", "mean(x){}", "std(x){}", "min(x){}", "max(x){}", "last(x){}"),
    *("last(word){}", "since_last(){}", "lag(x, 1){}", "lag(x, 3){}", "lag(word, 2){}", "lag(x, 20s){}"),
    *("distinct(word){}", "distinct(x){}"),
    *(
        f"{name}{{}} over {window}"
        for name in ("count()", "sum(x)", "mean(x)", "std(x)")
        for window in ("30s", "4 rows")
    ),
    *(f"{name}{{}} over {window}" for name in ("min(x)", "max(x)", "distinct(word)") for window in ("30s", "4 rows")),
    *(
        f"{name}{{}} fading {span}"
        for name in ("count(x)", "sum(x)", "mean(x)", "std(x)")
        for span in ("20s", "3 rows")
    ),
    *("count(target){}", "mean(target){}", "std(target){} over 40s", "max(target){} over 3 rows", "lag(target, 2){}"),
    *("last(target){}", "sum(target){} fading 30s", "mean(target){} fading 2 rows", "lag(target, 25s){}"),
    "x - mean(x){} over 25s",
]
BY = ("", " by key", " by key, word")
FEATURES = parse_features([f"f{at} = {call.format(by)}" for at, (call, by) in enumerate(itertools.product(CALLS, BY))])
#: Of a key at most so many rows are in a window: beyond, buckets are shared.
MOST_ROWS = 17
STATM = Path("/proc/self/statm")


def new_history(timed: bool, late: bool, delay: int) -> History:
    clock = Clock("seconds since 1970")
    return History(
        FEATURES,
        {name: NumberColumn(name, indicator=False) for name in ("x", "y")},
        target="y",
        time=("when", clock) if timed else None,
        label_time=("known", clock) if late else None,
        delay=delay,
    )


def chunk_of(rows: list[dict]) -> Chunk:
    types = {"x": pa.float64(), "key": pa.string(), "word": pa.string(), "when": pa.float64(), "known": pa.float64()}
    table = pa.table({name: pa.array([row[name] for row in rows], types.get(name, pa.float64())) for name in rows[0]})
    return Chunk([Piece(Block(table, "rows", 1, typed=True), 0, len(rows))], [])


def columns(history: History, rows: list[dict], **how) -> dict[str, list]:
    return {name: cells.to_pylist() for name, cells in history.extended(chunk_of(rows), **how).added.items()}


def agree(given: list, expected: list) -> bool:
    pairs = [(math.nan if a is None else a, b) for a, b in zip(given, expected, strict=True)]
    words = [pair for pair in pairs if any(isinstance(value, str) for value in pair)]
    numbers = np.array([pair for pair in pairs if pair not in words], dtype=float).reshape(-1, 2)
    return all(a == b for a, b in words) and np.allclose(*numbers.T, rtol=1e-9, atol=1e-7, equal_nan=True)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "x": st.none() | st.integers(-3, 3).map(float),
            "key": st.sampled_from(["a", "b", None]),
            "word": st.sampled_from(["up", "down", "3", None]),
            "when": st.none() | st.integers(0, 90).map(float),
            "known": st.none() | st.integers(0, 150).map(float),
            "y": st.none() | st.integers(0, 4).map(float),
        }
    ),
    min_size=1,
    max_size=MOST_ROWS,
)


@given(ROWS, st.booleans(), st.booleans(), st.integers(0, 3), st.integers(1, 6), st.integers(0, 16))
def test_every_function_is_that_of_a_double_loop(rows, timed, late, delay, size, cut):
    late, delay = late and timed, 0 if late and timed else delay
    expected = oracle(
        FEATURES,
        rows,
        times=[row["when"] for row in rows] if timed else None,
        target=[row["y"] for row in rows],
        due=[row["known"] for row in rows] if late else None,
        delay=delay,
        name="y",
    )
    whole = columns(new_history(timed, late, delay), rows, learn=True)
    for feature in FEATURES:
        assert agree(whole[feature.name], expected[feature.name]), str(feature)
    history, parts = new_history(timed, late, delay), []
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        if start <= cut < start + size:  # kept and restored, and what is refused or only predicted leaves no trace
            history = pickle.loads(pickle.dumps(history))
            marked = history.mark()
            history.extended(chunk_of(piece), learn=True)
            history.undo(marked)
            before = pickle.dumps(history)
            predicted = columns(history, piece, learn=False)
            assert pickle.dumps(history) == before
            assert [value for name in ("f0", "f1") for value in predicted[name]] == [
                value for name in ("f0", "f1") for value in whole[name][start : start + size]
            ]
        parts.append(columns(history, piece, learn=True))
    for name, values in whole.items():
        assert repr([value for part in parts for value in part[name]]) == repr(values)


def resident() -> int:
    return int(STATM.read_text().split()[1]) * PAGESIZE


@pytest.mark.memory
@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="the memory in use is read from /proc")
def test_memory_is_flat_over_ten_million_rows_of_a_million_keys():
    """The table has room for half of the keys; it is full after the first million rows or so."""
    features = parse_features(["count() by key fading 100 rows", "mean(x) by key fading 50 rows", "lag(x, 1) by key"])
    history = History(features, {"x": NumberColumn("x", indicator=False)})
    rng, rows, held = np.random.default_rng(0), 100_000, []
    for _ in range(100):
        keys = pa.array(rng.integers(0, 1_000_000, rows)).cast(pa.string())
        table = pa.table({"key": keys, "x": rng.normal(size=rows)})
        history.extended(Chunk([Piece(Block(table, "rows", 1, typed=True), 0, rows)], []), learn=True)
        held.append(resident())
    [table] = history._tables
    assert table.keys == table.most_keys < 600_000
    assert max(held[20:]) - held[20] < 20_000_000


@pytest.mark.memory
@pytest.mark.skipif(not STATM.exists(), reason="the memory in use is read from /proc")
def test_what_was_taken_back_is_no_longer_logged():
    """A service that has explained a row once is not to keep a log of all rows that come after."""
    table = compiled.PastTable([("count", "ever", -1, False, 0.0, 0, 17)], 1 << 26)
    keys = np.arange(1 << 20) % 2 + 1
    clock, out = np.zeros(len(keys), np.int64), np.empty((len(keys), 1))

    def follow() -> None:
        table.follow(keys, np.empty((len(keys), 0)), clock, np.arange(len(keys)), 0, out)

    follow()
    table.mark()
    table.undo()
    before = resident()
    follow()
    assert resident() - before < 10_000_000
