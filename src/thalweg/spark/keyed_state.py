"""The two ways in which Spark keeps a state for each key, over one way to learn a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from thalweg.spark.group import Group
from thalweg.spark.packing import KEY, ROWS, SPARK_STATE, VARIABLE, KeyState


class GroupProcessor(StatefulProcessor):
    """For ``transformWithStateInPandas``: state on RocksDB, and a timer for a key that has something to wait for."""

    def __init__(self, group: Group, timed: bool) -> None:
        self._group = group
        self._timed = timed
        self._looked = False

    def init(self, handle: Any) -> None:
        self._handle = handle
        self._state = handle.getValueState(VARIABLE, SPARK_STATE)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802
        """Rows of a key: predicted, learned, kept."""
        watermark = max(0, timerValues.getCurrentWatermarkInMs()) * 1000
        cells = [cell for frame in rows for cell in frame[ROWS]]
        before = self._before()
        after, reply = self._group.take(before, cells, lambda newest: watermark)
        self._keep(after, 0 if before is None else before.wake)
        yield from _as_frame(key, reply)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802
        before = self._before()
        if before is None or expiredTimerInfo.getExpiryTimeInMs() != before.wake:
            return  # a timer that an earlier one has replaced
        after, reply = self._group.wake(before, timerValues.getCurrentWatermarkInMs() * 1000)
        if after is None:
            self._state.clear()
        else:
            self._keep(after, 0)
        yield from _as_frame(key, reply)

    def _before(self) -> KeyState | None:
        stored = self._state.get()
        if stored is None:
            return None
        state = KeyState.from_spark(stored)
        if not self._looked:  # one key is enough: all were begun by one query
            self._group.require_begun(state)
            self._looked = True
        return state

    def _keep(self, state: KeyState, set_for: int) -> None:
        """Write the state; a timer that is set early enough stays, and is set anew once it has fired."""
        if self._timed and state.wake and not (set_for and set_for <= state.wake):
            self._handle.registerTimer(state.wake)
        elif set_for:
            state = replace(state, wake=set_for)
        self._state.update(state.to_spark())


def group_function(group: Group, lateness: int) -> Callable[[Any, Iterator[Any], Any], Iterator[Any]]:
    """For ``applyInPandasWithState``: a key looks at its own clock, when something comes for it."""
    looked = False

    def learn(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
        nonlocal looked
        cells = [cell for frame in frames for cell in frame[ROWS]]
        before = KeyState.from_spark(state.get) if state.exists else None
        if before is not None and not looked:
            group.require_begun(before)
            looked = True
        after, reply = group.take(before, cells, lambda newest: newest - lateness)
        state.update(after.to_spark())
        yield from _as_frame(key, reply)

    return learn


def _as_frame(key: Any, rows: bytes) -> Iterator[Any]:
    if rows:
        yield pd.DataFrame({KEY: [key[0]], ROWS: [rows]})
