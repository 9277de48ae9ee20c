"""``/openapi.json``: the protocol and its bodies, described for programs."""

from __future__ import annotations

from typing import Any

from thalweg.catalogue import MODELS
from thalweg.service.commands import Answer
from thalweg.service.http.exchange import ARROW, EVENTS, JSON, Request, as_json
from thalweg.service.learning.schema import MOST_COLUMNS, MOST_TEXT
from thalweg.service.service import Service

Described = dict[str, Any]

NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"}
_TEXT = {"type": "string", "minLength": 1, "maxLength": MOST_TEXT}
_ID = {"type": "string", "examples": ["12-0"]}
_NUMBER: Described = {"type": ["number", "null"]}
_NUMBERS: Described = {"type": "array", "items": _NUMBER}
_COUNT = {"type": "integer", "minimum": 0}
_CELL: Described = {"anyOf": [{"type": "number"}, {"type": "string", "maxLength": MOST_TEXT}, {"type": "null"}]}
_LABEL: Described = {"anyOf": [_TEXT, {"type": "number"}, {"type": "boolean"}]}


def ref(name: str) -> Described:
    """By its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def predict_body(most_rows: int) -> Described:
    """What is asked."""
    row = ref("Row")
    rows = {"type": "array", "items": row, "minItems": 1, "maxItems": most_rows}
    return {
        "oneOf": [
            _object({"model": NAME, "rows": rows}, required=["rows"]),
            _object({"model": NAME, "row": row}, required=["row"]),
        ]
    }


def label_body(most_rows: int) -> Described:
    """What is told."""
    label = _object({"id": _ID, "label": _LABEL})
    labels = {"type": "array", "items": label, "minItems": 1, "maxItems": most_rows}
    return _object({"model": NAME, "labels": labels, "revise": {"type": "boolean"}}, required=["labels"])


def _object(properties: Described, *, required: list[str] | None = None) -> Described:
    """An object that has no other fields; all of them are there unless told."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def _by_name(of: Described) -> Described:
    return {"type": "object", "additionalProperties": of}


def schemas() -> Described:
    """All that has a name."""
    time = {"type": "number", "description": "Seconds since 1970."}
    role = {"champion": {"const": True}, "challenger_of": NAME}
    summary: Described = {
        "name": NAME,
        "kind": {"type": "string"},
        "rows": _COUNT,
        "labels": _COUNT,
        "waiting": _COUNT,
        "error": _NUMBER,
        "created": time,
        "archived": {"type": "boolean"},
    }
    column = {
        "name": _TEXT,
        "kind": {"enum": ["number", "category", "time"]},
        "categories": {"type": "array", "items": _TEXT, "maxItems": 64, "uniqueItems": True},
        "missing": {"type": "boolean", "description": "Whether a missing number is marked by a feature of its own."},
    }
    details = {
        "parameters": {"type": "object"},
        "version": _COUNT,
        "labels_seen": {"type": "array", "items": {"type": "string"}},
        "schema": {"type": ["object", "null"]},
    }
    points = {
        **dict.fromkeys(("time", "labels", "error", "no_change", "waiting", "delay"), _NUMBERS),
        "rate": {"anyOf": [_NUMBERS, {"type": "null"}]},
        "memory": _by_name(_NUMBERS),
        "half_life": _by_name(_NUMBERS),
        "means": {"anyOf": [_by_name(_by_name(_NUMBERS)), {"type": "null"}]},
    }
    answer = {
        "id": _ID,
        "answer": {"type": ["string", "null"], "description": "Null before the first label."},
        "probabilities": _by_name({"type": "number"}),
    }
    listed = {"type": "array", "items": {"type": "string"}}
    return {
        "Refusal": _object({"error": {"type": "string"}}),
        "Status": _object({"status": {"type": "string"}}),
        "Row": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": _CELL,
            "description": "By column. A column that is not there, or null, is missing.",
        },
        "Predicted": _object(
            {"model": NAME, "version": _COUNT, "answers": {"type": "array", "items": _object(answer)}}
        ),
        "Labelled": _object(
            {
                "model": NAME,
                **dict.fromkeys(("seq", "learned", "revised", "repeated", "replayed"), _COUNT),
                **dict.fromkeys(("unknown", "expired", "conflicts"), listed),
            }
        ),
        "NewModel": _object(
            {
                "name": NAME,
                "kind": {"enum": list(MODELS)},
                "parameters": _object(
                    {
                        "rate": {"type": "number"},
                        "adaptive": {"type": "boolean"},
                        "window": {"type": ["string", "integer"]},
                        "seed": _COUNT,
                    },
                    required=[],
                ),
                "schema": ref("Schema"),
                "challenger_of": NAME,
            },
            required=["name", "kind"],
        ),
        "Schema": _object(
            {
                "columns": {
                    "type": "array",
                    "items": _object(column, required=["name", "kind"]),
                    "minItems": 1,
                    "maxItems": MOST_COLUMNS,
                },
                "labels": {"type": "array", "items": _TEXT, "minItems": 1},
            },
            required=["columns"],
        ),
        "Promotion": _object(
            {
                "expected": {"type": "string", "description": "The kind of the challenger; refused if it is another."},
                "force": {"type": "boolean"},
            },
            required=[],
        ),
        "Made": _object({"name": NAME, "seq": _COUNT}),
        "Summary": _object(summary | role, required=list(summary)),
        "Models": _object({"models": {"type": "array", "items": ref("Summary")}}),
        "Model": _object(summary | role | details, required=[*summary, *details]),
        "Comparison": _object(
            {
                "champion": NAME,
                "challenger": NAME,
                "labels": _COUNT,
                "difference": _NUMBER,
                "interval": {"anyOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
                "level": {"type": "number"},
                "winner": {"anyOf": [NAME, {"type": "null"}]},
            }
        ),
        "Course": _object(
            {
                "name": NAME,
                **dict.fromkeys(("rows", "labels", "waiting", "version"), _COUNT),
                "throughput": {"type": "number"},
                "points": _object(points),
                "changes": {"type": "array", "items": _object({"time": time, "labels": _COUNT})},
            }
        ),
    }


async def show(service: Service, request: Request) -> Answer:
    """The description."""
    return as_json(description(service.limits.rows))


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
            "description": "A model that answers now and learns when the label comes.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "paths": _paths(most_rows),
        "components": {
            "schemas": schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {
                "name": {"name": "name", "in": "path", "required": True, "schema": NAME, "example": "default"},
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


def _paths(most_rows: int) -> Described:
    one = "/v1/models/{name}"
    example = {"rows": [{"load": 1.5, "day": "mon"}, {"load": 2.5, "day": None}]}
    asked_by_arrow = [_query("model", "Of a body of Arrow, which model is asked.")]
    labelled_by_arrow = [*asked_by_arrow, _query("revise", "Of a body of Arrow.", enum=["true", "false"])]
    return {
        "/v1/predict": {
            "post": _operation(
                "predict",
                "Answer rows. Each gets an id, by which its label can be told later.",
                _posted(predict_body(most_rows), example, parameters=asked_by_arrow),
                _both("Predicted"),
                refused=(404, 408, 409, 413, 415, 422),
            )
        },
        "/v1/label": {
            "post": _operation(
                "label",
                "Tell the labels of rows, by their ids, in any order and at any time.",
                _posted(
                    label_body(most_rows),
                    {"labels": [{"id": "12-0", "label": "up"}]},
                    parameters=labelled_by_arrow,
                ),
                _content("Labelled"),
                refused=(404, 408, 409, 413, 415, 422),
            )
        },
        "/v1/models": {
            "get": _operation("models", "All models and challengers.", {}, _content("Models")),
            "post": _operation(
                "create",
                "Make a model, or a challenger of one.",
                _posted(
                    ref("NewModel"),
                    {"name": "load", "kind": "oldc", "schema": {"columns": [{"name": "load", "kind": "number"}]}},
                    arrow=False,
                ),
                _content("Made"),
                status=201,
                refused=(404, 408, 409, 413, 415, 422),
            ),
        },
        one: {"get": _operation("model", "One model.", _of_one(), _content("Model"), refused=(404,))},
        **{
            f"{one}/{what}": {
                "post": _operation(
                    what,
                    said,
                    _of_one({"$ref": "#/components/parameters/key"}),
                    _content("Made"),
                    refused=(404, 408, 409, 413, 422),
                )
            }
            for what, said in (
                ("archive", "Put a model away: it neither answers nor learns, and nothing is erased."),
                ("restore", "Bring a model back."),
            )
        },
        f"{one}/promote": {
            "post": _operation(
                "promote",
                "Let a challenger and its champion change places; refused, unless forced, before a label has compared "
                "the two in their present places, or when the challenger errs more beyond doubt.",
                _of_one({"$ref": "#/components/parameters/key"})
                | {
                    "requestBody": {
                        "required": False,
                        "content": {JSON: {"schema": ref("Promotion"), "example": {"expected": "oldc"}}},
                    }
                },
                _content("Made"),
                refused=(404, 409, 413, 415, 422),
            )
        },
        f"{one}/compare": {
            "get": _operation(
                "compare",
                "The champion beside a challenger: an interval for the difference of their errors, valid at any time.",
                _of_one(),
                _content("Comparison"),
                refused=(404, 409),
            )
        },
        f"{one}/course": {
            "get": _operation("course", "How a model went.", _of_one(), _content("Course"), refused=(404,))
        },
        f"{one}/events": {
            "get": _operation(
                "events",
                "How a model goes: an event `point` whenever it has learned, whose id is the number of labels.",
                _of_one({"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]+$"}}),
                {EVENTS: {"schema": {"type": "string"}}},
                refused=(404,),
            )
        },
        "/healthz": {"get": _open("healthz", "Whether the process answers.")},
        "/readyz": {"get": _open("readyz", "Whether the journal can be written.", refused=(503,))},
        "/metrics": {
            "get": _operation(
                "metrics", "What is counted, for Prometheus.", {}, {"text/plain": {"schema": {"type": "string"}}}
            )
        },
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
        answers[str(each)] = {"description": "It is not done, and why.", "content": _content("Refusal")}
    for each in (429, 503):
        answers[str(each)]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "In seconds."}}
    return {"operationId": name, "summary": said, **asked, "responses": answers}


def _open(name: str, said: str, refused: tuple[int, ...] = ()) -> Described:
    """What everyone may ask, at any time."""
    found = {"200": {"description": "It is.", "content": _content("Status")}}
    found |= {str(each): {"description": "It is not.", "content": _content("Refusal")} for each in refused}
    return {"operationId": name, "summary": said, "security": [{}], "responses": found}


def _posted(schema: Described, example: Described, *, arrow: bool = True, parameters: Any = ()) -> Described:
    content: Described = {JSON: {"schema": schema, "example": example}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary", "contentMediaType": ARROW}}
    return {
        "parameters": [{"$ref": "#/components/parameters/key"}, *parameters],
        "requestBody": {"required": True, "content": content},
    }


def _of_one(*more: Described) -> Described:
    return {"parameters": [{"$ref": "#/components/parameters/name"}, *more]}


def _query(name: str, said: str, **more: Any) -> Described:
    return {"name": name, "in": "query", "description": said, "schema": {"type": "string", **more}}


def _content(name: str) -> Described:
    return {JSON: {"schema": ref(name)}}


def _both(name: str) -> Described:
    return _content(name) | {ARROW: {"schema": {"type": "string", "format": "binary"}}}
