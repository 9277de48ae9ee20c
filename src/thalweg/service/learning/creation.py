"""What a model is made of: a kind with its parameters, or a file that `thalweg run` wrote."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import orjson
from msgspec import ValidationError, convert
from msgspec.structs import replace

from thalweg.catalogue import MODELS, TASKS, make_model
from thalweg.client.protocol import CreateRequest, Parameters, prepared
from thalweg.errors import InvalidInput, InvalidParameter, ModelFileError
from thalweg.fleet.keyed_classifier import KeyedClassifier
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.pipeline.pipeline import learner_name
from thalweg.service.commands import Refused
from thalweg.service.learning import schema
from thalweg.service.learning.classification import Classification
from thalweg.service.learning.label_budget import settings_of
from thalweg.service.learning.regression import COVERAGE, Regression
from thalweg.service.learning.task import ModelTask
from thalweg.store import loads
from thalweg.tables.plan import Plan

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)


def task_kind(description: dict[str, Any]) -> type[Classification] | type[Regression]:
    """The task that a record or a snapshot names; those without a name are of classification."""
    return Regression if description.get("task") == Regression.name else Classification


def record_of(given: CreateRequest, champion: ModelTask | None, columns: Plan | None = None) -> dict[str, Any]:
    """The record that makes a model, or a challenger of one; `Refused` where that cannot be.

    ``champion`` is the task of the one that is challenged, ``columns`` what its columns are, if that is known.
    """
    require_name(given.name)
    if champion is None:
        task = _task_of(given)
        limit = settings_of(given.label_budget, given.labels_of, given.explore)
        if limit.get("label_budget", {}).get("labels_of") in ("rare", "flagged") and given.positive is None:
            raise Refused(422, "labels_of rare and flagged need a positive label")
        body = _kind_record(given, task) | task.record() | limit
        return body if given.schema is None else body | _schema_record(given.schema, task, given.kind)
    if given.schema is not None:
        raise Refused(422, "a challenger has the schema of the model that it challenges: leave it out")
    if given.positive is not None or given.costs is not None:
        raise Refused(422, "a challenger has the positive label and the costs of its champion: leave them out")
    if given.task not in (None, champion.name) or given.coverage is not None:
        raise Refused(422, "a challenger has the task and the coverage of its champion: leave them out")
    if (given.label_budget, given.labels_of, given.explore) != (None, None, None):
        raise Refused(422, "a challenger has the label budget of its champion: leave it out")
    if given.key is not None or given.key_memory is not None:
        raise Refused(422, "a challenger has the keys of its champion: leave key and key_memory out")
    if given.features is not None or given.time is not None:
        raise Refused(422, "a challenger has the features of its champion: leave features and time out")
    body = {"name": given.name} | _kind_record(given, champion)
    if columns is not None:
        champion.check_columns(columns, [given.kind])
    return body


def require_name(name: str) -> None:
    """`Refused` of what cannot be the name of a model or of a version."""
    if not _NAME.fullmatch(name):
        raise Refused(422, "a name must have at most 64 letters, digits, dots, dashes or underscores")


def _task_of(given: CreateRequest) -> ModelTask:
    """The task of a new model, with what is asked of it."""
    if given.key_memory is not None and given.key is None:
        raise Refused(422, "key_memory needs a key, the column that holds the keys")
    if given.key is not None and not given.key:
        raise Refused(422, "key must be the name of a column")
    if given.time is not None and not given.features:
        raise Refused(422, "time is the column that features from earlier rows go by: give features, too")
    features = None if not given.features else [str(feature) for feature in schema.parsed_features(given.features)]
    if given.task not in (None, *TASKS):
        raise Refused(422, f"the task must be one of {', '.join(TASKS)}")
    if given.task == Regression.name:
        if given.positive is not None or given.costs is not None:
            raise Refused(422, "a regression model has no positive label and no costs: leave them out")
        if given.key is not None:
            raise Refused(422, "a regression model has no keys: leave key out")
        return Regression(COVERAGE if given.coverage is None else given.coverage, features, given.time)
    if given.coverage is not None:
        raise Refused(422, "coverage is that of the intervals of a regression model: leave it out")
    if given.costs is not None and given.positive is None:
        raise Refused(422, "costs need a positive label")
    costs = None if given.costs is None else {"fp": given.costs.fp, "fn": given.costs.fn}
    return Classification(given.positive, costs, given.key, given.key_memory, features, given.time)


def _kind_record(given: CreateRequest, task: ModelTask) -> dict[str, Any]:
    """Kind and parameters; `Refused` where there is no such kind for the task, or a parameter breaks its rule."""
    kind, parameters = given.kind, given.parameters or {}
    if kind not in MODELS[task.name]:
        raise Refused(422, f"the kind must be one of {', '.join(MODELS[task.name])}")
    for name, value in parameters.items():
        if name not in Parameters.__struct_fields__:
            raise Refused(422, f"there is no parameter {name!r}; there are {', '.join(Parameters.__struct_fields__)}")
        try:
            convert({name: value}, prepared(Parameters))
        except ValidationError as error:
            raise Refused(422, f"the parameter {name!r} cannot be {value!r}") from error
    try:
        model = make_model(kind, task=task.name, **parameters)
        task.check(model)
    except (InvalidParameter, InvalidInput) as error:
        raise Refused(422, str(error).removeprefix("--")) from error  # it may speak of an option of `thalweg run`
    if getattr(model, "_needs_labels_at_once", False):
        raise Refused(422, f"a model of kind {kind!r} needs every label before the next row, which may come late here")
    return {"kind": kind, "parameters": parameters}


def _schema_record(described: dict[str, Any], task: ModelTask, kind: str) -> dict[str, Any]:
    encoder, labels = schema.as_described(described, task.key_column), schema.allowed_labels(described)
    encoder = schema.with_earlier_rows(encoder, task)
    if labels is not None and not task.has_classes:
        raise Refused(422, "the labels of a regression model are numbers: leave 'labels' out of the schema")
    task.check_columns(encoder.plan, [kind])
    return {"schema": encoder.to_json()} | ({} if labels is None else {"labels": labels})


def new(given: CreateRequest, described: Path | None) -> dict[str, Any]:
    """The record that makes the first model, with the columns of a file; an `InvalidParameter` where that cannot be."""
    try:
        columns = None if described is None else orjson.loads(described.read_bytes()) or {}
        return record_of(replace(given, schema=columns), None)
    except Refused as refused:
        raise InvalidParameter(refused.sentence) from refused
    except OSError as error:
        raise InvalidParameter(f"--schema {described} cannot be read: {error.strerror or error}") from error
    except orjson.JSONDecodeError as error:
        raise InvalidParameter(f"--schema {described} is not JSON: {error}") from error


def from_file(path: Path) -> dict[str, Any]:
    """The record that makes a model from a file; a `ModelFileError` where it is not one that can be served."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    return from_content(content, str(path))


def from_content(content: bytes, path: str) -> dict[str, Any]:
    """As `from_file`; the file is spoken of as ``path``."""
    model = loads(content, name=path)
    if not hasattr(model, "encoder_"):
        raise ModelFileError(f"{path} was not written by `thalweg run`: it does not say what its columns are")
    if model.encoder_.history is not None:
        model.encoder_.history.come_by_themselves()
    if getattr(model.learner_, "_needs_labels_at_once", False):
        raise ModelFileError(f"{path} cannot be served: its model needs every label before the next row")
    if not all(isinstance(label, str) for label in getattr(model.learner_, "classes_", ())):
        raise ModelFileError(f"{path} cannot be served: its labels must be text, as those of `thalweg run` are")
    body = {
        "kind": learner_name(model.learner_),
        "schema": model.encoder_.to_json(),
        "file": base64.b64encode(content).decode(),
    }
    if isinstance(model.learner_, KeyedClassifier):
        key = model.encoder_.plan.key
        if key is None:
            raise ModelFileError(f"{path} cannot be served: it has keys, and no column that holds them")
        body |= {"key": key.name, "key_memory": model.learner_.max_bytes}
    if not isinstance(model.learner_, StreamRegressor):
        return body
    task = Regression(getattr(model.learner_, "coverage", COVERAGE))
    try:
        task.check_columns(model.encoder_.plan, ())
    except Refused as refused:
        raise ModelFileError(f"{path} cannot be served: {refused.sentence}") from refused
    return body | task.record()
