"""``/openapi.json``: the protocol and its bodies, described for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from thalweg.catalogue import MODELS
from thalweg.client import protocol
from thalweg.client.protocol import ARROW, EVENTS, JSON, RequestBody
from thalweg.service.commands import HttpResponse
from thalweg.service.http.exchange import Request
from thalweg.service.service import Service

Described = dict[str, Any]


def ref(kind: type[msgspec.Struct]) -> Described:
    """The schema of a type of the protocol, by its name."""
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def schemas(most_rows: int) -> Described:
    """The JSON schemas of the protocol's types.

    They say what this service sends, so responses have no other fields than these, and all that it never leaves out.
    """
    named = vars(protocol).items()
    kinds = {name: each for name, each in named if isinstance(each, type(RequestBody)) and each.__struct_fields__}
    _, found = msgspec.json.schema_components(kinds.values(), ref_template="#/components/schemas/{name}")
    for name, schema in found.items():
        kind = kinds[name]
        schema["description"] = schema["description"].split("\n\n")[0]
        schema["additionalProperties"] = False
        if not issubclass(kind, RequestBody):
            for each in schema["properties"].values():
                each.pop("default", None)
        if not kind.__struct_config__.omit_defaults:
            schema["required"] = list(schema["properties"])
    predict, create = (found[kind.__name__] for kind in (protocol.PredictRequest, protocol.CreateRequest))
    predict["oneOf"] = [{"required": ["row"]}, {"required": ["rows"]}]
    predict["properties"]["rows"]["maxItems"] = most_rows
    found[protocol.LabelRequest.__name__]["properties"]["labels"]["maxItems"] = most_rows
    create["properties"]["kind"]["enum"] = list(dict.fromkeys(kind for kinds in MODELS.values() for kind in kinds))
    create["properties"]["task"]["anyOf"][0] |= {"enum": list(MODELS)}
    of_task = (("answer", "probabilities"), ("prediction", "lower", "upper"))
    found[protocol.Prediction.__name__]["oneOf"] = [{"required": list(each)} for each in of_task]
    # As plain items: schemathesis 4.32 rewrites a tuple's and then finds its own words invalid.
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    found[protocol.Comparison.__name__]["properties"]["interval"]["anyOf"][0] = pair
    create["properties"] |= {"parameters": ref(protocol.Parameters), "schema": ref(protocol.ModelSchema)}
    return found


async def show(service: Service, request: Request) -> HttpResponse:
    return HttpResponse(200, JSON, msgspec.json.encode(description(service.limits.rows)))


def description(most_rows: int) -> Described:
    """The whole of it; a request may have so many rows.

    Examples
    --------
    >>> sorted(description(1000)["paths"])[:3]
    ['/healthz', '/metrics', '/openapi.json']
    """
    from importlib.metadata import version

    return {
        "openapi": "3.1.0",
        "info": {
            "title": "thalweg serve",
            "version": version("thalweg"),
            "description": "A model that answers now and learns when the label comes: a class, or a number.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "paths": _paths(),
        "components": {
            "schemas": schemas(most_rows),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {
                "name": {
                    "name": "name",
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string"},
                    "example": "default",
                },
                "key": {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "description": "The same request with the same key is done once, and gets the first answer again.",
                    "schema": {"type": "string", "pattern": "^[ -~]{1,200}$"},
                },
            },
        },
        "security": [{}, {"token": []}],
    }


# ---------------------------------------------------------------------- paths

_KEY = {"$ref": "#/components/parameters/key"}


def _paths() -> Described:
    one = "/v1/models/{name}"
    rows = {"rows": [{"load": 1.5, "day": "mon"}, {"load": 2.5, "day": None}]}
    columns = {"columns": [{"name": "load", "kind": "number"}]}
    asked_by_arrow = [_query("model", "Of a body of Arrow, which model is asked.")]
    labelled_by_arrow = [*asked_by_arrow, _query("revise", "Of a body of Arrow.", enum=["true", "false"])]
    predict = _posted(protocol.PredictRequest, rows, parameters=asked_by_arrow)
    label = _posted(protocol.LabelRequest, {"labels": [{"id": "12-0", "label": "up"}]}, parameters=labelled_by_arrow)
    create = _posted(protocol.CreateRequest, {"name": "load", "kind": "oldc", "schema": columns}, arrow=False)
    promoted = {JSON: {"schema": ref(protocol.PromoteRequest), "example": {"expected": "oldc"}}}
    promote = _of_one(_KEY) | {"requestBody": {"required": False, "content": promoted}}
    last_event = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]+$"}}
    decision, text = _content(protocol.Decision), {"schema": {"type": "string"}}
    misfit, undecided = (404, 408, 409, 413, 415, 422), (404, 408, 409, 413, 422)
    said = {
        "predict": "Answer rows. Each gets an id, by which its label can be told later.",
        "label": "Tell the labels of rows, by their ids, in any order and at any time.",
        "archive": "Put a model away: it neither answers nor learns, and nothing is erased.",
        "promote": "Let a challenger and its champion change places; refused, unless forced, before a label has "
        "compared the two in their present places, or when the challenger errs more beyond doubt.",
        "compare": "The champion beside a challenger: an interval for the difference of their errors, valid at any "
        "time.",
        "events": "How a model goes: an event `point` whenever it has learned, whose id is the number of labels.",
    }
    return {
        "/v1/predict": {
            "post": _operation("predict", said["predict"], predict, _both(protocol.Predictions), refused=misfit)
        },
        "/v1/label": {"post": _operation("label", said["label"], label, _content(protocol.Receipt), refused=misfit)},
        "/v1/models": {
            "get": _operation("models", "All models and challengers.", {}, _content(protocol.Models)),
            "post": _operation(
                "create", "Make a model, or a challenger of one.", create, decision, status=201, refused=misfit
            ),
        },
        one: {"get": _operation("model", "One model.", _of_one(), _content(protocol.ModelDetails), refused=(404,))},
        f"{one}/archive": {"post": _operation("archive", said["archive"], _of_one(_KEY), decision, refused=undecided)},
        f"{one}/restore": {
            "post": _operation("restore", "Bring a model back.", _of_one(_KEY), decision, refused=undecided)
        },
        f"{one}/promote": {
            "post": _operation("promote", said["promote"], promote, decision, refused=(404, 409, 413, 415, 422))
        },
        f"{one}/compare": {
            "get": _operation("compare", said["compare"], _of_one(), _content(protocol.Comparison), refused=(404, 409))
        },
        f"{one}/course": {
            "get": _operation("course", "How a model went.", _of_one(), _content(protocol.Course), refused=(404,))
        },
        f"{one}/events": {
            "get": _operation("events", said["events"], _of_one(last_event), {EVENTS: text}, refused=(404,))
        },
        "/healthz": {"get": _open("healthz", "Whether the process answers.")},
        "/readyz": {"get": _open("readyz", "Whether the journal can be written.", refused=(503,))},
        "/metrics": {"get": _operation("metrics", "What is counted, for Prometheus.", {}, {"text/plain": text})},
        "/openapi.json": {
            "get": _operation("openapi", "This description.", {}, {JSON: {"schema": {"type": "object"}}})
        },
    }


def _operation(
    name: str,
    said: str,
    asked: Described,
    content: Described,
    *,
    status: int = 200,
    refused: tuple[int, ...] = (),
) -> Described:
    always = (401, 403, 421, 429, 503)
    answers = {str(status): {"description": "It is done.", "content": content}}
    for each in sorted({*refused, *always}):
        answers[str(each)] = {"description": "It is not done, and why.", "content": _content(protocol.ErrorBody)}
    for each in (429, 503):
        answers[str(each)]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "In seconds."}}
    return {"operationId": name, "summary": said, **asked, "responses": answers}


def _open(name: str, said: str, refused: tuple[int, ...] = ()) -> Described:
    """What everyone may ask, at any time."""
    found = {"200": {"description": "It is.", "content": _content(protocol.Status)}}
    found |= {str(each): {"description": "It is not.", "content": _content(protocol.ErrorBody)} for each in refused}
    return {"operationId": name, "summary": said, "security": [{}], "responses": found}


def _posted(kind: type[RequestBody], example: Described, *, arrow: bool = True, parameters: Any = ()) -> Described:
    content: Described = {JSON: {"schema": ref(kind), "example": example}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary", "contentMediaType": ARROW}}
    return {
        "parameters": [_KEY, *parameters],
        "requestBody": {"required": True, "content": content},
    }


def _of_one(*more: Described) -> Described:
    return {"parameters": [{"$ref": "#/components/parameters/name"}, *more]}


def _query(name: str, said: str, **more: Any) -> Described:
    return {"name": name, "in": "query", "description": said, "schema": {"type": "string", **more}}


def _content(kind: type[msgspec.Struct]) -> Described:
    return {JSON: {"schema": ref(kind)}}


def _both(kind: type[msgspec.Struct]) -> Described:
    return _content(kind) | {ARROW: {"schema": {"type": "string", "format": "binary"}}}
