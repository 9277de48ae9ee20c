"""When rows are answered and learned, against a queue worked through row by row."""

from __future__ import annotations

import heapq

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from thalweg.tables.late_labels import LateLabels, Waiting


def by_hand_delayed(labelled: list[bool], delay: int) -> list[tuple[str, int]]:
    """Row i is learned once row i + delay has been answered."""
    events = []
    for i in range(len(labelled)):
        events.append(("answer", i))
        if i >= delay and labelled[i - delay]:
            events.append(("learn", i - delay))
    return events


def by_hand_timed(labelled: list[bool], now: list[int], label_time: list[int]) -> list[tuple[str, int]]:
    """Before each row, all labels that have come by then are learned, in the order of their times."""
    events: list[tuple[str, int]] = []
    queue: list[tuple[int, int]] = []
    clock = now[0] if now else 0
    for i in range(len(labelled)):
        clock = max(clock, now[i])
        while queue and queue[0][0] <= clock:
            events.append(("learn", heapq.heappop(queue)[1]))
        events.append(("answer", i))
        if labelled[i]:
            heapq.heappush(queue, (label_time[i], i))
    return events


def events_of(late: LateLabels, labelled, now, label_time, cuts, *, restored: bool) -> list[tuple[str, int]]:
    """What the late says when the rows come in pieces; each row is told by its feature and its label."""
    rows = len(labelled)
    X = np.arange(rows, dtype=np.float64)[:, None]
    labels = np.array([f"label {i}" for i in range(rows)])
    events = []
    for begin, end in zip([0, *cuts], [*cuts, rows], strict=True):
        part = slice(begin, end)
        times = (np.array(now, np.int64)[part], np.array(label_time, np.int64)[part]) if late.timed else ()
        number = np.arange(begin + 1, end + 1)
        batch = late.plan(X[part], labels[part], np.array(labelled, np.bool_)[part], number, *times)
        assert len(batch.X) == batch.carried + end - begin
        for step in batch.order.tolist():
            row = step if step >= 0 else ~step
            assert batch.labels[row] == f"label {int(batch.X[row, 0])}"
            events.append(("answer" if step >= 0 else "learn", int(batch.X[row, 0])))
        assert batch.learned.tolist() == [~step for step in batch.order if step < 0]
        given = np.array([f"answer {int(i)}" for i in batch.X[:, 0]])
        late.keep(batch, {"model": given})
        assert late.waiting is not None
        assert late.waiting.predicted["model"].tolist() == [f"answer {int(i)}" for i in late.waiting.X[:, 0]]
        if restored:
            kept, clock = late.waiting, late.clock
            late = LateLabels(delay=late.delay, timed=late.timed)
            late.clock = clock
            late.waiting = Waiting(kept.X, kept.labels, kept.due, kept.number, kept.predicted)
    return events


@st.composite
def streams(draw):
    rows = draw(st.integers(1, 25))
    labelled = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=5)))
    return labelled, cuts, draw(st.booleans())


@examples(300)
@given(stream=streams(), delay=st.integers(0, 30))
def test_labels_that_come_some_rows_later(stream, delay: int) -> None:
    labelled, cuts, restored = stream
    found = events_of(LateLabels(delay=delay), labelled, None, None, cuts, restored=restored)
    assert found == by_hand_delayed(labelled, delay)


@examples(500)
@given(stream=streams(), data=st.data())
def test_labels_that_come_at_times_of_their_own(stream, data: st.DataObject) -> None:
    """Out of order, at the same time, before their row, never; the rows' own clock may go back."""
    labelled, cuts, restored = stream
    times = st.lists(st.integers(0, 12), min_size=len(labelled), max_size=len(labelled))
    now, label_time = data.draw(times), data.draw(times)
    found = events_of(LateLabels(timed=True), labelled, now, label_time, cuts, restored=restored)
    assert found == by_hand_timed(labelled, now, label_time)
