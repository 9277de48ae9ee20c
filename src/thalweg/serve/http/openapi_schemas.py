"""The bodies of requests and answers, for the description of the protocol."""

from __future__ import annotations

from typing import Any

from thalweg.run.models import MODELS
from thalweg.serve.schema import MOST_COLUMNS, MOST_TEXT

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
