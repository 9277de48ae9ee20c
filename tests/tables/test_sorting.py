"""Sorting by time: as Python sorts, whatever the runs on the disk; each row keeps the name of its place."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from tests.tables.test_forms import WRITTEN  # noqa: E402

from thalweg.tables.rows import BadRow, Block  # noqa: E402
from thalweg.tables.sorting import in_time_order  # noqa: E402


@pytest.mark.parametrize("run_bytes", [1, 20_000, 1 << 30])
@pytest.mark.parametrize("typed", [False, True])
def test_rows_are_sorted_as_python_sorts_them(run_bytes: int, typed: bool) -> None:
    rng = np.random.default_rng(1)
    blocks, expected = [], []
    for at in range(9):
        times = [None if rng.random() < 0.1 else int(time) for time in rng.integers(0, 40, 200)]
        texts = [f"{at}-{place}" for place in range(200)]
        column = pa.array(times) if typed or at % 2 else pa.array([None if t is None else str(t) for t in times])
        maps = pa.array([[(text, 1.0)] for text in texts], pa.map_(pa.string(), pa.float64()))
        words = pa.array(texts).dictionary_encode() if typed else texts
        table = pa.table({"when": column, "text": words, "map": maps})
        bad = [BadRow(f"{at // 3}.csv", at * 201 + 5, None, "ragged")]
        blocks.append(Block(table, f"{at // 3}.csv", at * 201 + 1, bad, typed=typed))
        numbers = [at * 201 + 1 + place + (place >= 4) for place in range(200)]
        expected += list(zip(times, texts, [f"{at // 3}.csv"] * 200, numbers, strict=True))
    unread, *found = in_time_order(blocks, "when", run_bytes)
    assert [bad.row for bad in unread.bad] == [at * 201 + 5 for at in range(9)]
    assert (len(found) > 1) == (run_bytes < 1 << 30)
    rows = [
        (text, block.file_of(place), block.number_of(place))
        for block in found
        for place, text in enumerate(block.table.column("text").to_pylist())
    ]
    assert [cell for block in found for cell in block.table.column("map").to_pylist()] == [
        [(row[0], 1.0)] for row in rows
    ]
    assert rows == [row[1:] for row in sorted(expected, key=lambda row: 1e9 if row[0] is None else row[0])]


@pytest.mark.parametrize("pattern", [each for several in WRITTEN.values() for each in several] + ["%s"])
def test_shuffled_rows_are_sorted_by_times_in_any_form(pattern: str) -> None:
    step = timedelta(hours=31) if "%d" in pattern or pattern == "%s" else timedelta(days=31)
    times = [datetime(2012, 1, 1, 0, 30) + step * at for at in range(60)]
    cells = np.array([f"{when:{pattern}}" for when in times])
    order = np.random.default_rng(3).permutation(len(cells))
    blocks = [
        Block(pa.table({"when": cells[part], "at": part}), "table.csv", 20 * i + 1)
        for i, part in enumerate(np.split(order, 3))
    ]
    found = pa.concat_tables(block.table for block in in_time_order(blocks, "when"))
    same = [cells[int(at)] for at in found.column("at").to_pylist()]  # days without hours may be there twice
    assert same == cells.tolist()
