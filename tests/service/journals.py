"""Journals that are written without a service: one row and its label after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson

from thalweg.service.journal.databases import open_journal
from thalweg.service.journal.records import LabelBody, LabelLink, PredictBody, Predicted, Record
from thalweg.service.journal.sql import SqlJournal
from thalweg.service.learning import schema
from thalweg.service.options import ServeOptions
from thalweg.service.server import make_first

BEGIN = 1_790_000_000_000_000  # microseconds


def written(folder: Path, pairs: int, kind: str = "oldc", pause: int = 1000) -> SqlJournal:
    """An open journal of one model with one column, x, after so many rows and labels, each by itself.

    ``pause`` is the time between two rows, in microseconds.
    """
    journal = open_journal(folder, None)
    journal.prepare()
    make_first(journal, ServeOptions(new=kind))
    encoder = schema.as_described({"columns": [{"name": "x", "kind": "number"}]})
    records = [Record(2, "default", "schema", BEGIN, 0, orjson.dumps(encoder.to_json()))]
    links = []
    numbers = np.random.default_rng(0).normal(size=pairs)
    for at, x in enumerate(numbers.tolist()):
        asked, time = 3 + 2 * at, BEGIN + pause * at
        predicted = Predicted({"prediction": np.zeros(1, np.int16)}, ["high", "low"])
        body = PredictBody(
            np.array([[x] + [0.0] * (len(encoder.plan.feature_names) - 1)]), {"default": predicted}, "low", asked - 1
        )
        records.append(Record(asked, "default", "predict", time, 1, body.to_bytes()))
        labelled = LabelBody([(asked, 0, "high" if x > 0 else "low")], [])
        records.append(Record(asked + 1, "default", "label", time, 1, labelled.to_bytes()))
        links.append(LabelLink(asked, asked + 1, 1))
    with journal.transaction():
        journal.write(records, links)
    return journal
