"""MLflow's scoring protocol: ``/ping`` and ``/invocations``."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from thalweg.client.protocol import DEFAULT_MODEL
from thalweg.service.commands import HttpResponse, Key, Predict, Refused
from thalweg.service.http.exchange import Request, as_json, done_once
from thalweg.service.http.foreign_bodies import Invocation, InvocationResponse
from thalweg.service.http.unnamed_rows import as_rows, require_row_count
from thalweg.service.service import Service

_FORMS = ("dataframe_split", "dataframe_records", "instances", "inputs")


async def invoke(service: Service, request: Request) -> HttpResponse:
    """Rows in one of MLflow's forms; the model is that of the query or of the parameters."""
    name, rows = await request.apart(_rows, service, request)
    require_row_count(service, len(rows))
    request.rows = len(rows)

    async def act(key: Key | None) -> Predict:
        return await service.predict(name, rows, key, must_record=False)

    return await done_once(service, request, act, _invoked)


def _rows(service: Service, request: Request) -> tuple[str, list[dict[str, Any]]]:
    given = request.decoded(Invocation, service.limits)
    name = (given.params or {}).get("model", request.asked_once("model", DEFAULT_MODEL))
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    service.model(name)
    forms = [form for form in _FORMS if getattr(given, form) is not UNSET]
    if len(forms) != 1:
        raise Refused(422, f"there must be one of {', '.join(_FORMS)}")
    if given.dataframe_records is not UNSET:
        return name, given.dataframe_records
    if given.dataframe_split is not UNSET:
        frame = given.dataframe_split
        for at, row in enumerate(frame.data):
            if len(row) != len(frame.columns):
                raise Refused(422, f"row {at}: it must have {len(frame.columns)} values, got {len(row)}")
        return name, [dict(zip(frame.columns, row, strict=True)) for row in frame.data]
    values: Any = given.instances if given.inputs is UNSET else given.inputs
    return name, _by_column(values) if isinstance(values, dict) else _by_row(service, name, values)


def _by_column(values: dict[str, Any]) -> list[dict[str, Any]]:
    lengths = {len(column) if isinstance(column, list) else -1 for column in values.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise Refused(422, "inputs by column must be lists of the same length")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _by_row(service: Service, name: str, values: list[Any]) -> list[dict[str, Any]]:
    if all(isinstance(row, dict) for row in values):
        return values
    return as_rows(service, name, values)


def _invoked(command: Predict) -> HttpResponse:
    found = command.response.predictions(command.seq)
    return as_json(InvocationResponse([each.prediction for each in found], [each.id for each in found]))
