"""The JSON bodies of protocols that others have defined: the Open Inference Protocol (version 2) and MLflow's scoring.

Fields that are not used here are ignored, as their clients expect.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from thalweg.client.protocol import Name, RequestBody, ResponseBody, field_rule

Shape = list[int]


class InputTensor(RequestBody, frozen=True, forbid_unknown_fields=False):
    """A column of rows, or as the only input rows of numbers in the order of the model's columns."""

    name: str
    shape: Shape
    datatype: str
    data: Annotated[
        list[Any] | UnsetType, field_rule("", description="Flat or nested; left out where the values are binary.")
    ] = UNSET
    parameters: dict[str, Any] | None = None


class RequestedOutput(RequestBody, frozen=True, forbid_unknown_fields=False):
    """An output by its name."""

    name: str


class InferRequest(RequestBody, frozen=True, forbid_unknown_fields=False):
    """Rows to predict, as tensors."""

    inputs: Annotated[
        list[InputTensor],
        field_rule(
            "inputs must be a list of tensors",
            "input {}: it must be an object with a name, a shape, a datatype and data",
            minItems=1,
        ),
    ]
    id: Annotated[str | None, field_rule("id must be a text")] = None
    outputs: Annotated[
        list[RequestedOutput] | None,
        field_rule("outputs must be a list", "output {}: it must be an object with a name"),
    ] = None
    parameters: Annotated[dict[str, Any] | None, field_rule("parameters must be an object")] = None


class OutputTensor(ResponseBody, frozen=True, omit_defaults=True):
    """What is predicted for each row."""

    name: str
    shape: Shape
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] | UnsetType = UNSET


class InferResponse(ResponseBody, frozen=True, omit_defaults=True):
    """The predictions for the rows of a request, in their order."""

    model_name: Name
    model_version: str
    outputs: list[OutputTensor]
    id: str | UnsetType = UNSET


class TensorDescription(ResponseBody, frozen=True):
    """A tensor of a model; its first dimension is that of the rows."""

    name: str
    datatype: str
    shape: Shape


class InferModel(ResponseBody, frozen=True):
    """A model of the Open Inference Protocol."""

    name: Name
    versions: list[str]
    platform: str
    inputs: list[TensorDescription]
    outputs: list[TensorDescription]


class InferServer(ResponseBody, frozen=True):
    """The service, for the Open Inference Protocol."""

    name: str
    version: str
    extensions: list[str]


class InferLive(ResponseBody, frozen=True):
    """Whether the process answers."""

    live: bool


class InferReady(ResponseBody, frozen=True):
    """Whether the service, or a model, can be asked."""

    ready: bool


class SplitFrame(RequestBody, frozen=True, forbid_unknown_fields=False):
    """A frame as pandas writes it with ``orient="split"``; its index is not used."""

    columns: list[str]
    data: list[list[Any]]


class Invocation(RequestBody, frozen=True, forbid_unknown_fields=False):
    """Rows to predict, in one of the four forms that MLflow has."""

    one_of = ("dataframe_split", "dataframe_records", "instances", "inputs")
    dataframe_split: Annotated[
        SplitFrame | UnsetType, field_rule("dataframe_split must be an object with columns and data, a list of rows")
    ] = UNSET
    dataframe_records: Annotated[
        list[dict[str, Any]] | UnsetType,
        field_rule("dataframe_records must be a list of rows", "record {}: it must be an object of columns and values"),
    ] = UNSET
    instances: Annotated[list[Any] | UnsetType, field_rule("instances must be a list of rows")] = UNSET
    inputs: Annotated[
        list[Any] | dict[str, Any] | UnsetType, field_rule("inputs must be a list of rows, or lists by column")
    ] = UNSET
    params: Annotated[
        dict[str, Any] | None,
        field_rule(
            "params must be an object", description="`model` names the model that is asked; others are ignored."
        ),
    ] = None


class InvocationResponse(ResponseBody, frozen=True):
    """What is predicted for each row, and the ids under which labels can be given."""

    predictions: list[str | float | None]
    ids: list[str]
