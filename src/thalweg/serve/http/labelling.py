"""``POST /v1/label``: labels by id, whenever they come."""

from __future__ import annotations

from typing import Any

from thalweg.columns.target import plain_label
from thalweg.serve.http import arrow
from thalweg.serve.http.exchange import ARROW, Request, as_json, done_once
from thalweg.serve.refusal import Refused
from thalweg.serve.schema import MOST_TEXT
from thalweg.serve.service import DEFAULT, Service
from thalweg.serve.work import Answer, Key, Label
from thalweg.sources.texts import text_of


async def label(service: Service, request: Request) -> Answer:
    """Labels of JSON, or a stream of Arrow."""
    name: Any
    if request.media == ARROW:
        name = request.asked_once("model", DEFAULT)
        revise: Any = {"true": True, "false": False}.get(request.asked_once("revise", "false"))
        given = arrow.read_labels(request.body, service.limits)
    else:
        fields = request.fields("model", "labels", "revise")
        name, revise = fields.get("model", DEFAULT), fields.get("revise", False)
        given = _labels(fields.get("labels"))
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    if not isinstance(revise, bool):
        raise Refused(422, "revise must be true or false")
    if not 0 < len(given) <= service.limits.rows:
        raise Refused(413 if given else 422, f"a request must have 1 to {service.limits.rows} labels, got {len(given)}")
    labels = [(row, label_text(value, at)) for at, (row, value) in enumerate(given)]

    async def act(key: Key | None) -> Label:
        return await service.label(name, labels, revise, key)

    return await done_once(service, request, act, _labelled)


def _labels(given: Any) -> list[tuple[str, Any]]:
    if not isinstance(given, list):
        raise Refused(422, "labels must be a list")
    found = []
    for at, each in enumerate(given):
        if not isinstance(each, dict) or each.keys() != {"id", "label"} or not isinstance(each["id"], str):
            raise Refused(422, f"label {at}: it must be an object with an id, which is text, and a label")
        found.append((each["id"], each["label"]))
    return found


def label_text(value: Any, at: int) -> str:
    """A label as text, by the rules of a column of labels: 1 and 1.0 are one class.

    Examples
    --------
    >>> label_text(" up ", 0), label_text(1.0, 0), label_text(True, 0)
    ('up', '1', 'true')
    """
    if value is None or isinstance(value, list | dict) or value != value:
        raise Refused(422, f"label {at}: it must be a text, a number, true or false")
    text = plain_label(text_of(value).strip())
    if not 0 < len(text) <= MOST_TEXT:
        raise Refused(422, f"label {at}: it must have 1 to {MOST_TEXT} letters")
    return text


def _labelled(work: Label) -> Answer:
    found = work.outcome
    assert found is not None
    return as_json(
        {
            "model": work.model,
            "seq": work.seq,
            "learned": len(found.learned),
            "revised": len(found.revised),
            "repeated": found.repeated,
            "replayed": work.replayed,
            "unknown": found.unknown,
            "expired": found.expired,
            "conflicts": found.conflicts,
        }
    )
