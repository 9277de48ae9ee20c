"""Protocols that others have defined: the Open Inference Protocol, version 2, and MLflow's scoring.

KServe, Triton and MLServer speak the first. An input is a column of rows; a single input with several columns has them
in the order of the model's. Values may come as JSON or, as Triton's client sends them, in binary behind the JSON.
Outputs are JSON.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Meta, Struct

from thalweg import __version__
from thalweg.client.protocol import DEFAULT_MODEL, RowPrediction, Status
from thalweg.service.commands import Predict, Refused, require_active
from thalweg.service.http.exchange import Once, Request, parsed
from thalweg.service.http.handlers import readiness
from thalweg.service.http.other_bodies import (
    InferLive,
    InferModel,
    InferReady,
    InferRequest,
    InferResponse,
    InferServer,
    InputTensor,
    Invocation,
    InvocationResponse,
    OutputTensor,
    TensorDescription,
)
from thalweg.service.http.routes import get, post
from thalweg.service.service import Service

_SIZES = {"BOOL": "?"} | {
    f"{name}{8 * size}": f"<{kind}{size}"
    for name, kind, sizes in (("UINT", "u", (1, 2, 4, 8)), ("INT", "i", (1, 2, 4, 8)), ("FP", "f", (2, 4, 8)))
    for size in sizes
}
_DATATYPES = (*_SIZES, "BYTES")
_JSON_LENGTH = b"inference-header-content-length"


@get("/v2/health/live", None)
async def v2_live(service: Service) -> InferLive:
    """Whether the process answers."""
    return InferLive(True)


@get("/v2/health/ready", None, refused=(503,))
async def v2_ready(service: Service) -> InferReady:
    """Whether the journal can be written."""
    readiness(service)
    return InferReady(True)


@get("/v2", "read")
async def v2(service: Service) -> InferServer:
    """The service, for clients of the Open Inference Protocol."""
    return InferServer("thalweg", __version__, ["binary_tensor_data"])


@get("/v2/models/{name}/ready", "read", refused=(409,))
async def v2_model_ready(service: Service, name: str) -> InferReady:
    """Whether it can be asked."""
    require_active(name, service.models.model(name).state.learners[name].archived)
    readiness(service)
    return InferReady(True)


@get("/v2/models/{name}", "read", refused=(409,))
async def v2_model(service: Service, name: str) -> InferModel:
    """A model by its tensors."""
    encoder, state = service.models.model(name).encoder, service.models.state(name)
    columns = {} if encoder is None else {column.name: column for column in encoder.plan.columns}
    inputs = [
        TensorDescription(column, "FP64" if column in columns and columns[column].is_number else "BYTES", [-1])
        for column in (() if encoder is None else encoder.sources)
        if column not in columns or not columns[column].nested
    ]
    labels = len(state.labels.get(name, ()))
    shapes = {"probabilities": [-1, labels or -1]}
    texts = ("id", "prediction") if state.task.has_classes else ("id",)
    outputs = [
        TensorDescription(output, "BYTES" if output in texts else "FP64", shapes.get(output, [-1]))
        for output in _outputs(service, name)
    ]
    return InferModel(name, [str(state.version)], "thalweg", inputs, outputs)


def _outputs(service: Service, name: str) -> tuple[str, ...]:
    numbers = ("id", "prediction", "lower", "upper")
    return ("id", "prediction", "probabilities") if service.models.state(name).task.has_classes else numbers


@post(
    "/v2/models/{name}/infer",
    "learn",
    reads=InferRequest,
    example={"inputs": [{"name": "load", "shape": [2], "datatype": "FP64", "data": [1.5, 2.5]}]},
    predicts=True,
)
async def infer(service: Service, request: Request, name: str) -> Once[InferResponse]:
    """Predict rows as tensors: one for each column, or a single one with all columns in their order."""
    given, rows = await request.apart(_rows, service, name, request)
    return Once(partial(service.predict, name, rows, must_record=False), partial(_inferred, given))


def _rows(service: Service, name: str, request: Request) -> tuple[InferRequest, list[dict[str, Any]]]:
    """The request, and its rows."""
    length = request.headers.get(_JSON_LENGTH)
    if length is None:
        end = len(request.body)
    elif length.isdigit() and len(length) < 18 and int(length) <= len(request.body):
        end = int(length)
    else:
        raise Refused(422, "Inference-Header-Content-Length must be the length of the JSON in the body")
    given = parsed(request.body[:end], InferRequest, service.options)
    if not given.inputs:
        raise Refused(422, "inputs must be a list of tensors, at least one")
    known, outputs = columns_of(service, name), _outputs(service, name)
    if strange := [output.name for output in given.outputs or () if output.name not in outputs]:
        raise Refused(422, f"there is no output {strange[0]!r}; there are {', '.join(outputs)}")
    widths = [_width(service, request, tensor) for tensor in given.inputs]
    values = list(_values(given.inputs, request.body[end:]))
    if {tensor.shape[0] for tensor in given.inputs} != {given.inputs[0].shape[0]}:
        raise Refused(422, "all inputs must have the same number of rows, their first dimension")
    names = [tensor.name for tensor in given.inputs]
    by_column = set(widths) == {1} and (known is None or len(names) > 1 or names[0] in known)
    if by_column:
        return given, [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    if len(names) > 1:
        wide = names[next(at for at, width in enumerate(widths) if width != 1)]
        raise Refused(422, f"input {wide!r}: of several inputs each must be one column, of shape [rows] or [rows, 1]")
    width = widths[0]
    return given, as_rows(service, name, [values[0][at : at + width] for at in range(0, len(values[0]), width)])


def _width(service: Service, request: Request, tensor: InputTensor) -> int:
    """How many columns a tensor has; `Refused` where it has none, or too many rows."""
    if tensor.datatype not in _DATATYPES:
        raise Refused(422, f"input {tensor.name!r}: the datatype must be one of {', '.join(_DATATYPES)}")
    if len(tensor.shape) not in (1, 2) or min(tensor.shape) < 1:
        raise Refused(422, f"input {tensor.name!r}: the shape must be [rows] or [rows, columns], got {tensor.shape}")
    request.count(tensor.shape[0], "rows", service.options)
    return 1 if len(tensor.shape) == 1 else tensor.shape[1]


def _values(tensors: list[InputTensor], binary: bytes) -> Iterator[list[Any]]:
    """The values of each tensor, as cells of rows."""
    begin = 0
    for tensor in tensors:
        size = (tensor.parameters or {}).get("binary_data_size")
        if size is None:
            nested = [] if tensor.data is UNSET else tensor.data  # rows of two dimensions at the most
            values = [value for row in nested for value in (row if isinstance(row, list) else [row])]
        elif isinstance(size, int) and 0 <= size <= len(binary) - begin:
            values = _from_binary(tensor, binary[begin : begin + size])
            begin += size
        else:
            raise Refused(422, f"input {tensor.name!r}: binary_data_size must be that of its values in the body")
        if len(values) != math.prod(tensor.shape):
            raise Refused(422, f"input {tensor.name!r}: a shape of {tensor.shape} does not fit {len(values)} values")
        yield [_cell(value) for value in values]
    if begin != len(binary):
        raise Refused(422, f"{len(binary) - begin} bytes of the body belong to no input")


def _from_binary(tensor: InputTensor, content: bytes) -> list[Any]:
    wrong = Refused(422, f"input {tensor.name!r}: its bytes are no values of datatype {tensor.datatype}")
    if tensor.datatype != "BYTES":
        kind = np.dtype(_SIZES[tensor.datatype])
        if len(content) % kind.itemsize:
            raise wrong
        values: list[Any] = np.frombuffer(content, kind).tolist()
        return values
    texts, at = [], 0
    while at < len(content):
        begin = at + 4
        at = begin + int.from_bytes(content[at:begin], "little")
        if at > len(content):
            raise wrong
        try:
            texts.append(content[begin:at].decode())
        except UnicodeDecodeError as error:
            raise wrong from error
    return texts


def _cell(value: Any) -> Any:
    """A value as the cell of a row: NaN is missing, and a truth value 1 or 0."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return int(value) if isinstance(value, bool) else value


def _inferred(given: InferRequest, command: Predict) -> InferResponse:
    predictions = command.response.predictions(command.seq)
    tensors = {tensor.name: tensor for tensor in _tensors(predictions)}
    wanted = tensors if not given.outputs else [output.name for output in given.outputs]
    outputs = [tensors[name] for name in wanted if name in tensors]
    asked = UNSET if given.id is None else given.id
    return InferResponse(command.model, str(command.body.version), outputs, asked)


def _tensors(predictions: list[RowPrediction]) -> Iterator[OutputTensor]:
    """Before the first label a class is the empty text, and a number null."""
    rows = [len(predictions)]
    yield OutputTensor("id", rows, "BYTES", [row.id for row in predictions])
    if predictions[0].probabilities is UNSET:
        for name in ("prediction", "lower", "upper"):
            yield OutputTensor(name, rows, "FP64", [getattr(row, name) for row in predictions])
        return
    yield OutputTensor("prediction", rows, "BYTES", [row.prediction or "" for row in predictions])
    labels = list(predictions[0].probabilities or {})
    if labels:
        values = [share for row in predictions for share in (row.probabilities or {}).values()]
        yield OutputTensor("probabilities", [len(predictions), len(labels)], "FP64", values, {"labels": labels})


def columns_of(service: Service, name: str) -> tuple[str, ...] | None:
    """The columns of a model in their order; None before the first row."""
    encoder = service.models.model(name).encoder
    return None if encoder is None else encoder.accepted


def as_rows(service: Service, name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows of values by column; `Refused` where a row has another length."""
    columns = columns_of(service, name)
    if columns is None:
        raise Refused(409, f"{name!r} does not know its columns yet: send rows with names first, or give it a schema")
    for at, row in enumerate(values):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(columns):
            raise Refused(422, f"row {at}: it must have {len(columns)} values, those of {', '.join(columns)}")
    return [dict(zip(columns, row, strict=True)) for row in values]


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
    rows = await request.apart(_invocation_rows, service, name, body)
    request.count(len(rows), "rows", service.options)
    return Once(partial(service.predict, name, rows, must_record=False), _invoked)


def _invocation_rows(service: Service, name: str, given: Invocation) -> list[dict[str, Any]]:
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
    if isinstance(values, dict):
        return _by_column(values)
    return values if all(isinstance(row, dict) for row in values) else as_rows(service, name, values)


def _by_column(values: dict[str, Any]) -> list[dict[str, Any]]:
    lengths = {len(column) if isinstance(column, list) else -1 for column in values.values()}
    if len(lengths) != 1 or -1 in lengths:
        raise Refused(422, "inputs by column must be lists of the same length")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _invoked(command: Predict) -> InvocationResponse:
    predictions = command.response.predictions(command.seq)
    return InvocationResponse([row.prediction for row in predictions], [row.id for row in predictions])
