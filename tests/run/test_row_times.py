"""The times of rows and labels that a report shows, beside those of a plain loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.container import packed, unpacked
from thalweg.run.label_findings import MOST_POINTS, RowTimes
from thalweg.tables.clock import Clock
from thalweg.tables.late_labels import LateLabels

MICROSECONDS = 10**6


def follow(times: np.ndarray, known: np.ndarray, delay: int, cuts: list[int]) -> RowTimes:
    """In chunks, with a checkpoint after each."""
    late, found = LateLabels(delay=delay), RowTimes()
    for begin, end in zip([0, *cuts], [*cuts, len(times)], strict=True):
        rows = np.arange(begin, end)
        batch = late.plan(np.zeros((len(rows), 1)), rows + 1, known[rows], rows + 1)
        found.add(batch, times[rows])
        late.keep(batch, {})
        resumed = RowTimes()
        resumed.restore(unpacked(packed(found.state())))
        found = resumed
    return found


@given(
    rows=st.integers(1, 3000),
    delay=st.integers(0, 40),
    seed=st.integers(0, 99),
    cuts=st.lists(st.integers(0, 3000), max_size=4),
)
def test_times_are_those_of_the_latest_row_when_a_label_came(rows: int, delay: int, seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    times = 1_700_000_000 * MICROSECONDS + np.cumsum(rng.integers(0, 10, rows)) * MICROSECONDS
    known = rng.random(rows) < 0.9
    found = follow(times, known, delay, sorted(min(cut, rows) for cut in cuts)).metrics("when", Clock())
    assert found is not None
    came = [row + delay for row in range(rows) if known[row] and row + delay < rows]  # the row at which a label came
    points = list(zip(found["labels"], found["rows"], found["times"], strict=True))
    assert points[0][1:] == (1, times[0] // MICROSECONDS)
    assert points[-1] == (len(came), rows, times[-1] // MICROSECONDS)
    for labels, read, time in points[1:-1]:
        assert read == came[labels - 1] + 1
        assert time == times[read - 1] // MICROSECONDS
    assert min(len(came) // 2, MOST_POINTS // 2) <= len(points) <= MOST_POINTS + 2


def test_a_counter_is_shown_as_numbers() -> None:
    for form, unit in (("whole numbers", 1), ("numbers", MICROSECONDS), ("durations", MICROSECONDS)):
        found = follow(np.arange(7, 57) * unit // 2, np.ones(50, dtype=bool), 0, []).metrics("step", Clock(form))
        assert found is not None
        assert (found["kind"], found["times"][0], found["times"][-1]) == ("counter", 3 if unit == 1 else 3.5, 28)


def test_rows_in_another_order_have_no_times() -> None:
    times = np.random.default_rng(0).permutation(500) * MICROSECONDS
    assert follow(times, np.ones(500, dtype=bool), 0, []).metrics("when", Clock()) is None
