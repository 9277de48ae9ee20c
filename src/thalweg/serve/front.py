"""What the answering side knows of a model: columns, the encoder as it is now, and copies to answer by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.columns.encoder import Encoder
from thalweg.serve import cells, schema
from thalweg.serve.encoding import Encoded, encode
from thalweg.serve.journal.bodies import NO_ANSWER, Answers
from thalweg.serve.live_model import LiveModel
from thalweg.serve.published import Published

Rows = list[dict[str, Any]]


@dataclass
class Front:
    """Of one model. Its encoder is ahead of the journal by what is being committed."""

    name: str
    encoder: Encoder | None
    published: Published
    allowed: frozenset[str] | None
    archived: bool
    #: The number of failures of the journal that it knows of.
    epoch: int

    @classmethod
    def of(cls, model: LiveModel, epoch: int) -> Front:
        """As the journal says the model is."""
        encoder = None if model.follower is None else schema.from_json(schema.to_json(model.follower.encoder()))
        allowed = None if model.allowed is None else frozenset(model.allowed)
        return cls(model.name, encoder, model.publish(), allowed, model.archived[model.name], epoch)

    def settle(self, rows: Any) -> dict[str, Any]:
        """Take the columns from the first rows, a list of JSON or a table of Arrow; the schema for the journal."""
        self.encoder = schema.of_table(cells.as_table(rows) if isinstance(rows, list) else rows)
        return schema.to_json(self.encoder)

    def encode(self, rows: Any) -> Encoded:
        """The features of the rows; `Refused` changes nothing."""
        assert self.encoder is not None
        found = (cells.of_rows if isinstance(rows, list) else cells.of_table)(rows, self.encoder)
        return encode(self.encoder, found, len(rows))


def answer(
    published: Published, name: str, X: NDArray[np.float64]
) -> tuple[dict[str, Answers], NDArray[np.float64] | None]:
    """What every learner says to the rows, and how probable the one that is asked finds each of its labels."""
    found: dict[str, Answers] = {}
    proba = None
    for each, model in published.models.items():
        if not published.labels[each]:
            found[each] = Answers([], np.full(len(X), NO_ANSWER, dtype=np.int16))
            continue
        codes, likely = model._answers(X)
        found[each] = Answers(published.labels[each], codes.astype(np.int16))
        if each == name:
            proba = likely
    return found, proba
