"""``/openapi.json``: the protocol and its bodies, described for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.client import column_responses, history_responses, model_responses, protocol
from thalweg.client.protocol import ARROW, BYTES, EVENTS, JSON, RequestBody
from thalweg.service.commands import HttpResponse
from thalweg.service.http import foreign_bodies
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
    modules = (protocol, model_responses, history_responses, column_responses, foreign_bodies)
    named = [item for module in modules for item in vars(module).items()]
    kinds = {name: each for name, each in named if isinstance(each, type(RequestBody)) and each.__struct_fields__}
    _, found = msgspec.json.schema_components(kinds.values(), ref_template="#/components/schemas/{name}")
    for name, schema in found.items():
        kind = kinds[name]
        schema["description"] = schema["description"].split("\n\n")[0]
        schema["additionalProperties"] = (
            issubclass(kind, RequestBody) and not kind.__struct_config__.forbid_unknown_fields
        )
        if not issubclass(kind, RequestBody):
            for each in schema["properties"].values():
                each.pop("default", None)
        if not kind.__struct_config__.omit_defaults:
            schema["required"] = list(schema["properties"])
    predict, create = (found[kind.__name__] for kind in (protocol.PredictRequest, protocol.CreateRequest))
    predict["oneOf"] = [{"required": ["row"]}, {"required": ["rows"]}]
    predict["properties"]["rows"]["maxItems"] = most_rows
    found[protocol.LabelRequest.__name__]["properties"]["labels"]["maxItems"] = most_rows
    for named_rows in (protocol.VoidRequest, protocol.EraseRequest):
        found[named_rows.__name__]["properties"]["ids"]["maxItems"] = most_rows
    create["properties"]["kind"]["enum"] = list(dict.fromkeys(kind for kinds in MODELS.values() for kind in kinds))
    create["properties"]["task"]["anyOf"][0] |= {"enum": list(MODELS)}
    of_task = (("probabilities",), ("lower", "upper"))
    found[protocol.RowPrediction.__name__]["oneOf"] = [{"required": list(each)} for each in of_task]
    # As plain items: schemathesis 4.32 rewrites a tuple's and then finds its own words invalid.
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    found[model_responses.Comparison.__name__]["properties"]["interval"]["anyOf"][0] = pair
    create["properties"] |= {"parameters": ref(protocol.Parameters), "schema": ref(protocol.ModelSchema)}
    return found


async def show(service: Service, request: Request) -> HttpResponse:
    return HttpResponse(200, JSON, msgspec.json.encode(description(service.limits.rows)))


def description(most_rows: int) -> Described:
    """The whole of it; a request may have so many rows.

    Examples
    --------
    >>> sorted(description(1000)["paths"])[:3]
    ['/healthz', '/invocations', '/metrics']
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "thalweg serve",
            "version": __version__,
            "description": "A model that predicts rows at once and learns when their labels arrive.",
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
                    "description": "The same request with the same key is done once and gets the first response again.",
                    "schema": {"type": "string", "pattern": "^[ -~]{1,200}$"},
                },
            },
        },
        "security": [{}, {"token": []}],
    }


# ---------------------------------------------------------------------- paths

_KEY = {"$ref": "#/components/parameters/key"}
_NAMED_KEY = {
    "name": "key",
    "in": "path",
    "required": True,
    "description": "A key as text: a whole number by its digits.",
    "schema": {"type": "string"},
    "example": "pump 3",
}


def _paths() -> Described:
    one = "/v1/models/{name}"
    rows = {"rows": [{"load": 1.5, "day": "mon"}, {"load": 2.5, "day": None}]}
    columns = {"columns": [{"name": "load", "kind": "number"}]}
    asked_by_arrow = [_query("model", "Of a body of Arrow, which model is asked.")]
    labelled_by_arrow = [*asked_by_arrow, _query("revise", "Of a body of Arrow.", enum=["true", "false"])]
    explain = _query(
        "explain", "Of a body of JSON: whether to explain each prediction.", enum=["true", "false", "1", "0"]
    )
    predict = _posted(protocol.PredictRequest, rows, parameters=[*asked_by_arrow, explain])
    label = _posted(protocol.LabelRequest, {"labels": [{"id": "12-0", "label": "up"}]}, parameters=labelled_by_arrow)
    create = _posted(protocol.CreateRequest, {"name": "load", "kind": "oldc", "schema": columns}, arrow=False)
    promoted = {JSON: {"schema": ref(protocol.PromoteRequest), "example": {"expected": "oldc"}}}
    withdrawn = {JSON: {"schema": ref(protocol.VoidRequest), "example": {"ids": ["12-0"]}}}
    void = _of_one(_KEY) | {"requestBody": {"required": True, "content": withdrawn}}
    subject = {JSON: {"schema": ref(protocol.EraseRequest), "example": {"ids": ["12-0"]}}}
    erase = _of_one(_KEY) | {"requestBody": {"required": True, "content": subject}}
    promote = _of_one(_KEY) | {"requestBody": {"required": False, "content": promoted}}
    named = {JSON: {"schema": ref(protocol.VersionRequest), "example": {"version": "before-holidays"}}}
    name_version = _of_one(_KEY) | {"requestBody": {"required": True, "content": named}}
    returned = {JSON: {"schema": ref(protocol.RollbackRequest), "example": {"version": "before-holidays"}}}
    roll_back = _of_one(_KEY) | {"requestBody": {"required": True, "content": returned}}
    example = {"add": {"wind": 0.0}, "retire": ["day"], "rename": {"load": "demand"}}
    columns_changed = {JSON: {"schema": ref(protocol.ColumnsRequest), "example": example}}
    change_columns = _of_one(_KEY) | {"requestBody": {"required": True, "content": columns_changed}}
    file = {BYTES: {"schema": {"type": "string", "format": "binary", "contentMediaType": BYTES}}}
    upload = _of_one(_KEY) | {"requestBody": {"required": True, "content": file}}
    download = _of_one(
        _query("version", "The name of an older state."), _query("seq", "The record of one.", pattern="^[0-9]{1,17}$")
    )
    last_event = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]+$"}}
    infer = "/v2/models/{name}"
    tensor = {"name": "load", "shape": [2], "datatype": "FP64", "data": [1.5, 2.5]}
    tensors = {JSON: {"schema": ref(foreign_bodies.InferRequest), "example": {"inputs": [tensor]}}}
    inferring = _of_one(_KEY) | {"requestBody": {"required": True, "content": tensors}}
    infer_server, infer_ready = _content(foreign_bodies.InferServer), _content(foreign_bodies.InferReady)
    frame = {"dataframe_split": {"columns": ["load", "day"], "data": [[1.5, "mon"], [2.5, None]]}}
    invoke = _posted(foreign_bodies.Invocation, frame, arrow=False, parameters=[_query("model", "Which one is asked.")])
    invoked = _content(foreign_bodies.InvocationResponse)
    decision, text = _content(model_responses.Decision), {"schema": {"type": "string"}}
    misfit, undecided = (404, 408, 409, 413, 415, 422), (404, 408, 409, 413, 422)
    said = {
        "predict": "Predict rows. Each gets an id, by which its label can be sent later.",
        "label": "Tell the labels of rows, by their ids, in any order and at any time.",
        "archive": "Put a model away: it neither predicts nor learns, and nothing is erased.",
        "void": "Withdraw rows: the model ends as if their labels had never come, and later ones are refused.",
        "erase": "Erase the values and labels of rows from the journal. The model stays as it is, a replay from before "
        "leaves the rows out, and later labels are refused.",
        "promote": "Let a challenger and its champion change places; refused, unless forced, before a label has "
        "compared the two in their present places, or when the challenger errs more beyond doubt.",
        "rollback": "Return a model to an older state, a named version or that after a record. It predicts and learns "
        "from that state on; the history of its scores stays.",
        "columns": "Add, retire or rename columns. Rows without an added column have its default. Where columns are "
        "added, the model learns the rows that the journal keeps again.",
        "version": "Name the state of a model and its challengers after this record.",
        "download": "The file of a model, which `thalweg.load` reads: as it is, or as it was.",
        "upload": "Make a model from the file of one.",
        "infer": "Predict rows as tensors: one for each column, or a single one with all columns in their order.",
        "invoke": "Predict rows in one of MLflow's forms: dataframe_split, dataframe_records, instances or inputs.",
        "importance": "Which columns a model relies on, and how that changed.",
        "inputs": "The columns of a model's rows then and now, which of them changed, and why the error rose.",
        "key": "How a key of a model with keys does.",
        "compare": "The champion beside a challenger: an interval for the difference of their errors, valid at any "
        "time.",
        "events": "How a model goes: an event `point` whenever it has learned, whose id is the number of labels.",
    }
    return {
        "/v1/predict": {
            "post": _operation("predict", said["predict"], predict, _both(protocol.PredictResponse), refused=misfit)
        },
        "/v1/label": {"post": _operation("label", said["label"], label, _content(protocol.Receipt), refused=misfit)},
        "/v1/models": {
            "get": _operation("models", "All models and challengers.", {}, _content(model_responses.Models)),
            "post": _operation(
                "create", "Make a model, or a challenger of one.", create, decision, status=201, refused=misfit
            ),
        },
        one: {
            "get": _operation("model", "One model.", _of_one(), _content(model_responses.ModelDetails), refused=(404,))
        },
        f"{one}/keys/{{key}}": {
            "get": _operation(
                "key",
                said["key"],
                _of_one(_NAMED_KEY),
                _content(model_responses.KeyDetails),
                refused=(404, 409),
            )
        },
        f"{one}/archive": {"post": _operation("archive", said["archive"], _of_one(_KEY), decision, refused=undecided)},
        f"{one}/restore": {
            "post": _operation("restore", "Bring a model back.", _of_one(_KEY), decision, refused=undecided)
        },
        f"{one}/void": {"post": _operation("void", said["void"], void, _content(protocol.VoidReceipt), refused=misfit)},
        f"{one}/erase": {
            "post": _operation("erase", said["erase"], erase, _content(protocol.EraseReceipt), refused=misfit)
        },
        f"{one}/promote": {
            "post": _operation("promote", said["promote"], promote, decision, refused=(404, 409, 413, 415, 422))
        },
        f"{one}/columns": {"post": _operation("columns", said["columns"], change_columns, decision, refused=misfit)},
        f"{one}/rollback": {"post": _operation("rollback", said["rollback"], roll_back, decision, refused=misfit)},
        f"{one}/versions": {
            "get": _operation(
                "versions", "States to return to.", _of_one(), _content(model_responses.Versions), refused=(404,)
            ),
            "post": _operation("version", said["version"], name_version, decision, status=201, refused=misfit),
        },
        f"{one}/file": {
            "get": _operation("download", said["download"], download, file, refused=(404, 409, 422)),
            "put": _operation("upload", said["upload"], upload, decision, status=201, refused=misfit),
        },
        f"{one}/compare": {
            "get": _operation(
                "compare", said["compare"], _of_one(), _content(model_responses.Comparison), refused=(404, 409)
            )
        },
        f"{one}/course": {
            "get": _operation(
                "course", "How a model went.", _of_one(), _content(history_responses.Course), refused=(404,)
            )
        },
        f"{one}/importance": {
            "get": _operation(
                "importance",
                said["importance"],
                _of_one(),
                _content(column_responses.ImportanceOverTime),
                refused=(404, 409),
            )
        },
        f"{one}/inputs": {
            "get": _operation("inputs", said["inputs"], _of_one(), _content(column_responses.Inputs), refused=(404,))
        },
        f"{one}/events": {
            "get": _operation("events", said["events"], _of_one(last_event), {EVENTS: text}, refused=(404,))
        },
        "/v2": {"get": _operation("v2", "The service, for clients of the Open Inference Protocol.", {}, infer_server)},
        "/v2/health/live": {"get": _open("v2_live", "Whether the process answers.", foreign_bodies.InferLive)},
        "/v2/health/ready": {
            "get": _open("v2_ready", "Whether the journal can be written.", foreign_bodies.InferReady, refused=(503,))
        },
        infer: {
            "get": _operation(
                "v2_model",
                "A model by its tensors.",
                _of_one(),
                _content(foreign_bodies.InferModel),
                refused=(404, 409),
            )
        },
        f"{infer}/ready": {
            "get": _operation("v2_model_ready", "Whether it can be asked.", _of_one(), infer_ready, refused=(404, 409))
        },
        f"{infer}/infer": {
            "post": _operation(
                "infer", said["infer"], inferring, _content(foreign_bodies.InferResponse), refused=undecided
            )
        },
        "/ping": {"get": _open("ping", "Whether the journal can be written.", refused=(503,))},
        "/invocations": {"post": _operation("invocations", said["invoke"], invoke, invoked, refused=misfit)},
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
    responses = {str(status): {"description": "It is done.", "content": content}}
    for each in sorted({*refused, *always}):
        responses[str(each)] = {"description": "It is not done, and why.", "content": _content(protocol.ErrorBody)}
    for each in (429, 503):
        responses[str(each)]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "In seconds."}}
    return {"operationId": name, "summary": said, **asked, "responses": responses}


def _open(
    name: str, said: str, kind: type[msgspec.Struct] = protocol.Status, refused: tuple[int, ...] = ()
) -> Described:
    """What everyone may ask, at any time."""
    found = {"200": {"description": "It is.", "content": _content(kind)}}
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
