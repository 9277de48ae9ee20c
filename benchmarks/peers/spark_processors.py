"""What else could be done with the rows of a key on Spark: nothing at all, or a model written in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from thalweg.spark.group import Group
from thalweg.spark.packing import (
    CONFIDENCE,
    EVENT,
    ID,
    PREDICTION,
    ROWS,
    TARGET,
    TIME,
    Layout,
    batch_from_bytes,
    batch_to_bytes,
    concatenated,
)

PREDICTIONS = "key bigint, time bigint, prediction bigint"


class Nothing(StatefulProcessor):
    """Gives back the label of each row: what Spark itself costs."""

    def init(self, handle: Any) -> None:
        """Nothing is kept."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802
        for frame in rows:
            yield pd.DataFrame({"key": key[0], "time": frame["time"], "prediction": frame["target"]})


class NothingPacked(StatefulProcessor):
    """The same with rows packed and unpacked as ours are, and a state of the size of ours, read and written."""

    def __init__(self, layout: Layout, state: tuple[Any, ...], schema: str) -> None:
        self._layout, self._value, self._schema = layout, state, schema

    def init(self, handle: Any) -> None:
        self._state = handle.getValueState("state", self._schema)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802
        import numpy as np
        import pyarrow as pa

        incoming, outgoing = self._layout.incoming, self._layout.outgoing
        came = concatenated([batch_from_bytes(cell, incoming) for frame in rows for cell in frame[ROWS]], incoming)
        columns = {
            TIME: came.column(TIME),
            ID: came.column(ID),
            EVENT: pa.array(np.zeros(len(came), dtype=np.int8)),
            PREDICTION: came.column(TARGET),
            TARGET: came.column(TARGET),
            CONFIDENCE: pa.nulls(len(came), pa.float64()),
        }
        self._state.get()
        self._state.update(self._value)
        told = pa.RecordBatch.from_arrays([columns[name] for name in outgoing.names], schema=outgoing)
        yield pd.DataFrame({"key": [key[0]], ROWS: [batch_to_bytes(told)]})


class PlainPython(StatefulProcessor):
    """Logistic regression by gradient steps, row by row in Python: what most people write first."""

    RATE = 0.05

    def __init__(self, features: int) -> None:
        self._features = features

    def init(self, handle: Any) -> None:
        self._state = handle.getValueState("weights", "weights array<double>")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802
        found = self._state.get()
        weights = [0.0] * (self._features + 1) if found is None else list(found[0])
        for frame in rows:
            frame = frame.sort_values("time")
            predicted = []
            for row, label in zip(frame.iloc[:, 2:].to_numpy().tolist(), frame["target"].tolist(), strict=True):
                score = weights[-1] + sum(w * x for w, x in zip(weights, row, strict=False))
                predicted.append(int(score > 0))
                step = self.RATE * (label - 1 / (1 + math.exp(-max(-30.0, min(30.0, score)))))
                for place, value in enumerate(row):
                    weights[place] += step * value
                weights[-1] += step
            yield pd.DataFrame({"key": key[0], "time": frame["time"], "prediction": predicted})
        self._state.update((weights,))


def packed_state(group: Group, cell: bytes) -> tuple[Any, ...]:
    """What a key of ours keeps after some rows."""
    return group.take(None, [cell], lambda newest: 0)[0].to_spark()
