"""What a model is made of: a kind with its parameters, or a file that `thalweg run` wrote."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import orjson

from thalweg.catalogue import MODELS, ask_of, make_model
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.pipeline.pipeline import learner_name
from thalweg.service.commands import Refused
from thalweg.service.learning.schema import at_creation
from thalweg.store import load
from thalweg.table_model import TableClassifier

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)
#: The edition of the catalogue that a record's kind refers to. Since the second, ``auto`` has curved members; since the
#: third, rows that were predicted before any label was known are not scored; since the fourth, models that decide take
#: the positive label and the costs.
_CATALOGUE = 4
_KINDS_BEFORE = {"auto": "auto-linear"}
_PARAMETERS = {"rate": (int, float), "adaptive": (bool,), "window": (str, int), "seed": (int,)}


def require_name(name: str) -> None:
    """`Refused` where a model cannot be called so."""
    if not _NAME.fullmatch(name):
        raise Refused(422, "a name must have at most 64 letters, digits, dots, dashes or underscores")


def parameters_of(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a kind of model; `Refused` where there is no such kind, or one of them breaks its rule."""
    if kind not in MODELS["classification"]:
        raise Refused(422, f"the kind must be one of {', '.join(MODELS['classification'])}")
    for name, value in given.items():
        if name not in _PARAMETERS:
            raise Refused(422, f"there is no parameter {name!r}; there are {', '.join(_PARAMETERS)}")
        if not isinstance(value, _PARAMETERS[name]) or (isinstance(value, bool) and name != "adaptive"):
            raise Refused(422, f"the parameter {name!r} cannot be {value!r}")
    try:
        model = make_model(kind, **given)
        model._make_core(2)  # where parameters are looked at
    except (InvalidParameter, InvalidInput) as error:
        raise Refused(422, str(error).removeprefix("--")) from error  # it may speak of an option of `thalweg run`
    if getattr(model, "_needs_labels_at_once", False):
        raise Refused(422, f"a model of kind {kind!r} needs every label before the next row, which may come late here")
    return given


def kind_record(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """What the record of a new model says of its kind."""
    return {"kind": kind, "parameters": parameters, "catalogue": _CATALOGUE}


def made(body: dict[str, Any], positive: str | None, costs: dict[str, float] | None) -> Any:
    """The model that a record describes, as it was when the record was written."""
    kind, edition = body["kind"], body.get("catalogue", 1)
    if edition < 2:
        kind = _KINDS_BEFORE.get(kind, kind)
    model = make_model(kind, **body["parameters"])
    return model if edition < 4 else ask_of(model, costs=costs, positive=positive)


def scores_only_predictions(body: dict[str, Any]) -> bool:
    """Whether rows without a prediction are left out of the scores of the model that a record made."""
    return bool(body.get("catalogue", 1) >= 3)


def new(kind: str, schema: Path | None) -> dict[str, Any]:
    """The record that makes a new model; an `InvalidParameter` where that cannot be."""
    try:
        body = kind_record(kind, parameters_of(kind, {}))
        return body if schema is None else body | at_creation(orjson.loads(schema.read_bytes()))
    except Refused as refused:
        raise InvalidParameter(refused.sentence) from refused
    except OSError as error:
        raise InvalidParameter(f"--schema {schema} cannot be read: {error.strerror or error}") from error
    except orjson.JSONDecodeError as error:
        raise InvalidParameter(f"--schema {schema} is not JSON: {error}") from error


def from_file(path: Path) -> dict[str, Any]:
    """The record that makes a model from a file; a `ModelFileError` where it is not one that can be served."""
    model = load(path)
    if not isinstance(model, TableClassifier):
        raise ModelFileError(f"{path} was not written by `thalweg run`: it does not say what its columns are")
    return {
        "kind": learner_name(model.learner),
        "schema": model.encoder.to_json(),
        "file": base64.b64encode(path.read_bytes()).decode(),
    }
