"""``/openapi.json``: all routes and their bodies, described for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from thalweg import __version__
from thalweg.catalogue import MODELS
from thalweg.client import model_responses, protocol
from thalweg.client.protocol import ARROW, BYTES, EVENTS, JSON, MOST_ROWS, RequestBody
from thalweg.service.commands import HttpResponse
from thalweg.service.http import handlers, other_protocols, uploads  # noqa: F401 - they have routes
from thalweg.service.http.arrow import ArrowTable
from thalweg.service.http.routes import ROUTES as ROUTES
from thalweg.service.http.routes import Route, get
from thalweg.service.service import Service

Described = dict[str, Any]
_REFERENCE = "#/components/schemas/{name}"


@get("/openapi.json", "read", media=JSON)
async def openapi(service: Service) -> HttpResponse:
    """The description of all requests, of OpenAPI."""
    return HttpResponse(200, JSON, msgspec.json.encode(description(service.options.max_rows)))


def ref(kind: type[msgspec.Struct]) -> Described:
    """The schema of a type of the protocol, by its name."""
    return {"$ref": _REFERENCE.format(name=kind.__name__)}


def schemas(most_rows: int) -> Described:
    """The JSON schemas of the protocol's types.

    They say what this service sends, so responses have no other fields than these, and all that it never leaves out.
    """
    asked = {kind for route in ROUTES for kind in (*route.bodies, *route.replies) if _is_struct(kind)}
    asked |= {protocol.ErrorBody, protocol.Parameters, protocol.ModelSchema}
    _, types = msgspec.json.schema_components(sorted(asked, key=lambda kind: kind.__name__), ref_template=_REFERENCE)
    kinds = {kind.__name__: kind for kind in _subclasses(msgspec.Struct)}
    for name, schema in types.items():
        kind = kinds[name]
        is_request = issubclass(kind, RequestBody)
        schema["description"] = schema["description"].split("\n\n")[0]
        schema["additionalProperties"] = is_request and not kind.__struct_config__.forbid_unknown_fields
        for property_schema in schema["properties"].values():
            if not is_request:
                property_schema.pop("default", None)
            if property_schema.get("maxItems") == MOST_ROWS:
                property_schema["maxItems"] = most_rows
        if not kind.__struct_config__.omit_defaults:
            schema["required"] = list(schema["properties"])
        if is_request and kind.one_of:
            schema["oneOf"] = [{"required": [field]} for field in kind.one_of]
    create = types[protocol.CreateRequest.__name__]["properties"]
    create["kind"]["enum"] = list(dict.fromkeys(kind for kinds in MODELS.values() for kind in kinds))
    create["task"]["anyOf"][0] |= {"enum": list(MODELS)}
    of_task = (("probabilities",), ("lower", "upper"))
    types[protocol.RowPrediction.__name__]["oneOf"] = [{"required": list(fields)} for fields in of_task]
    # As plain items: schemathesis 4.32 rewrites a tuple's and then finds its own words invalid.
    pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    types[model_responses.Comparison.__name__]["properties"]["interval"]["anyOf"][0] = pair
    create |= {"parameters": ref(protocol.Parameters), "schema": ref(protocol.ModelSchema)}
    return types


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _subclasses(kind: type[Any]) -> set[type[Any]]:
    return {kind}.union(*map(_subclasses, kind.__subclasses__()))


def description(most_rows: int) -> Described:
    """The whole of it; a request may have so many rows."""
    paths: Described = {}
    for route in ROUTES:
        paths.setdefault(route.path.replace(":path}", "}"), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "thalweg serve",
            "version": __version__,
            "description": "A model that predicts rows at once and learns when their labels arrive.",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "paths": paths,
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


def _operation(route: Route) -> Described:
    operation: Described = {"operationId": route.name, "summary": route.summary}
    if route.scope is None:
        operation["security"] = [{}]
    else:
        operation["x-scope"] = route.scope
    if parameters := list(_parameters(route)):
        operation["parameters"] = parameters
    if route.bodies:
        operation["requestBody"] = {"required": not route.is_optional, "content": _content(route, route.bodies)}
        if route.example is not None:
            operation["requestBody"]["content"][JSON]["example"] = route.example
    replies = {EVENTS: {"schema": {"type": "string"}}} if route.streams else _content(route, route.replies)
    operation["responses"] = {str(route.status): {"description": "It is done.", "content": replies}}
    for status in route.refusals:
        refusal: Described = {
            "description": "It is not done, and why.",
            "content": {JSON: {"schema": ref(protocol.ErrorBody)}},
        }
        if status in (429, 503) and route.scope is not None:
            refusal["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "In seconds."}}
        operation["responses"][str(status)] = refusal
    return operation


def _parameters(route: Route) -> Iterator[Described]:
    """Of the path, the headers and the query."""
    for name, kind in route.parts.items():
        known = {"$ref": "#/components/parameters/name"}
        yield known if name == "name" else _parameter(name, "path", msgspec.json.schema(kind)) | {"required": True}
    if route.once:
        yield {"$ref": "#/components/parameters/key"}
    if route.streams:
        yield {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string", "pattern": "^[0-9]+$"}}
    if route.query is not None:
        [schema] = msgspec.json.schema_components([route.query])[1].values()
        for name, property_schema in schema["properties"].items():
            yield _parameter(name, "query", property_schema)


def _parameter(name: str, place: str, schema: Described) -> Described:
    parameter = {"name": name, "in": place, "description": schema.pop("description")}
    if "examples" in schema:
        parameter["example"] = schema.pop("examples")[0]
    return parameter | {"schema": schema}


def _content(route: Route, kinds: Sequence[Any]) -> Described:
    """By media type, the schemas of what a body or a response may be."""
    content: Described = {}
    for kind in kinds:
        if _is_struct(kind):
            content[JSON] = {"schema": ref(kind)}
        else:
            media = {ArrowTable: ARROW, bytes: BYTES}.get(kind, route.media).split(";")[0]
            binary = {"format": "binary", "contentMediaType": media} if media in (ARROW, BYTES) else {}
            content[media] = {"schema": {"type": "object" if media == JSON else "string", **binary}}
    return content
