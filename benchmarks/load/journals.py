"""Journals of any length, written without a service: rows and their labels, of a stream that drifts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from benchmarks.load.rows import FEATURES
from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import LabelBody, LabelLink, PredictBody, Predicted, Record
from thalweg.service.learning import schema
from thalweg.service.options import ServeOptions
from thalweg.service.server import make_first

#: Microseconds since 1970 at which the rows begin, and between two requests.
BEGIN, PAUSE = 1_790_000_000_000_000, 1_000_000
#: Pairs of requests that are committed together.
_COMMIT = 2000


def write_journal(folder: Path, requests: int, *, rows: int = 1, kind: str = "oldc") -> int:
    """Write so many requests of some rows, each with a request of their labels after it; the last record."""
    journal = open_journal(folder, None)
    try:
        journal.prepare()
        make_first(journal, ServeOptions(new=kind))
        columns = [{"name": f"x{i}", "kind": "number"} for i in range(FEATURES)]
        encoder = schema.as_described({"columns": columns})
        with journal.transaction():
            journal.write([Record(2, "default", "schema", BEGIN, 0, orjson.dumps(encoder.to_json()))])
        for begin in range(0, requests, _COMMIT):
            pairs = list(_pairs(begin, min(begin + _COMMIT, requests), rows, len(encoder.plan.feature_names)))
            with journal.transaction():
                journal.write(
                    [record for asked, labelled in pairs for record in (asked, labelled)],
                    [LabelLink(asked.seq, labelled.seq, rows) for asked, labelled in pairs],
                )
        return journal.last()[0]
    finally:
        journal.close()


def _pairs(begin: int, end: int, rows: int, width: int) -> Iterator[tuple[Record, Record]]:
    """Records of rows and of their labels, without what a model would have said."""
    random = np.random.default_rng(begin)
    for at in range(begin, end):
        X = np.zeros((rows, width))
        X[:, :FEATURES] = random.normal(size=(rows, FEATURES)).round(4)
        seq, time = 3 + 2 * at, BEGIN + PAUSE * at
        predicted = Predicted({"prediction": np.zeros(rows, np.int16)}, ["down", "up"])
        body = PredictBody(X, {"default": predicted}, "up", seq - 1)
        up = X[:, 0] * np.cos(at / 1e5) + X[:, 1] * np.sin(at / 1e5) > 0
        labels = [(seq, row, "up" if is_up else "down") for row, is_up in enumerate(up.tolist())]
        yield (
            Record(seq, "default", "predict", time, rows, body.to_bytes()),
            Record(seq + 1, "default", "label", time, rows, LabelBody(labels, []).to_bytes()),
        )
