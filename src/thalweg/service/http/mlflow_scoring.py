"""MLflow's scoring protocol: ``/ping`` and ``/invocations``."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct

from thalweg.client.protocol import DEFAULT_MODEL, Status
from thalweg.service.commands import Predict, Refused
from thalweg.service.http.exchange import Once, Request
from thalweg.service.http.foreign_bodies import Invocation, InvocationResponse
from thalweg.service.http.operation import readiness
from thalweg.service.http.routes import get, post
from thalweg.service.http.unnamed_rows import as_rows
from thalweg.service.service import Service


@get("/ping", None, refused=(503,))
async def ping(service: Service) -> Status:
    """Whether the journal can be written."""
    return readiness(service)


class InvocationQuery(Struct, frozen=True):
    model: Annotated[str, Meta(description="Which one is asked.")] = DEFAULT_MODEL


@post(
    "/invocations",
    "learn",
    example={"dataframe_split": {"columns": ["load", "day"], "data": [[1.5, "mon"], [2.5, None]]}},
    predicts=True,
)
async def invocations(
    service: Service, request: Request, query: InvocationQuery, body: Invocation
) -> Once[InvocationResponse]:
    """Predict rows in one of MLflow's forms: dataframe_split, dataframe_records, instances or inputs."""
    name = (body.params or {}).get("model", query.model)
    if not isinstance(name, str):
        raise Refused(422, "the model must be a name")
    rows = await request.apart(_rows, service, name, body)
    request.count(len(rows), "rows", service.limits)
    return Once(partial(service.predict, name, rows, must_record=False), _invoked)


def _rows(service: Service, name: str, given: Invocation) -> list[dict[str, Any]]:
    service.models.model(name)
    if given.dataframe_records is not UNSET:
        return given.dataframe_records
    if given.dataframe_split is not UNSET:
        frame = given.dataframe_split
        for at, row in enumerate(frame.data):
            if len(row) != len(frame.columns):
                raise Refused(422, f"row {at}: it must have {len(frame.columns)} values, got {len(row)}")
        return [dict(zip(frame.columns, row, strict=True)) for row in frame.data]
    values: Any = given.instances if given.inputs is UNSET else given.inputs
    return _by_column(values) if isinstance(values, dict) else _by_row(service, name, values)


def _by_column(values: dict[str, Any]) -> list[dict[str, Any]]:
    lengths = {len(column) if isinstance(column, list) else -1 for column in values.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise Refused(422, "inputs by column must be lists of the same length")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _by_row(service: Service, name: str, values: list[Any]) -> list[dict[str, Any]]:
    if all(isinstance(row, dict) for row in values):
        return values
    return as_rows(service, name, values)


def _invoked(command: Predict) -> InvocationResponse:
    found = command.response.predictions(command.seq)
    return InvocationResponse([each.prediction for each in found], [each.id for each in found])
