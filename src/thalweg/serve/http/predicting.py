"""``POST /v1/predict``: rows in, an answer and an id for each out."""

from __future__ import annotations

import asyncio
from typing import Any

from thalweg.serve.http import arrow
from thalweg.serve.http.exchange import ARROW, Request, as_json, done_once
from thalweg.serve.journal.bodies import NO_ANSWER
from thalweg.serve.ledger import row_id
from thalweg.serve.refusal import Refused
from thalweg.serve.service import DEFAULT, Service
from thalweg.serve.work import Answer, Key, Predict

#: Rows beyond which an answer takes its time.
_MANY = 1000


async def predict(service: Service, request: Request) -> Answer:
    """Rows of JSON, or a stream of Arrow."""
    name: Any
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT)
        rows = await asyncio.to_thread(arrow.read, request.body, service.limits)
        written = arrow.predicted
    else:
        given = request.fields("model", "row", "rows")
        name = given.get("model", DEFAULT)
        rows = _rows(given)
        written = _predicted
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    if not 0 < len(rows) <= service.limits.rows:
        raise Refused(
            413 if len(rows) else 422, f"a request must have 1 to {service.limits.rows} rows, got {len(rows)}"
        )

    async def act(key: Key | None) -> Predict:
        return await service.predict(name, rows, key)

    return await done_once(service, request, act, written, at_length=len(rows) > _MANY)


def _rows(given: dict[str, Any]) -> list[dict[str, Any]]:
    if ("row" in given) == ("rows" in given):
        raise Refused(422, "there must be either a row or rows")
    rows = [given["row"]] if "row" in given else given["rows"]
    if not isinstance(rows, list):
        raise Refused(422, "rows must be a list")
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Refused(422, f"row {at}: it must be an object of columns and values")
    return rows


def _predicted(work: Predict) -> Answer:
    asked = work.asked
    own = asked.answers[work.model]
    likely = [None] * len(asked.X) if work.proba is None else work.proba.tolist()
    return as_json(
        {
            "model": work.model,
            "version": asked.version,
            "answers": [
                {
                    "id": row_id(work.seq, row),
                    "answer": None if code == NO_ANSWER else own.labels[code],
                    "probabilities": {} if shares is None else dict(zip(own.labels, shares, strict=True)),
                }
                for row, (code, shares) in enumerate(zip(own.codes.tolist(), likely, strict=True))
            ],
        }
    )
