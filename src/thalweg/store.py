"""Save and load models: arrays and a JSON header in one safetensors file, never a pickle.

A file is a safetensors container whose only metadata entry, ``thalweg``, is a JSON object::

    protocol     the number of this format, 1; a reader refuses another one
    class        one of the names below and nothing else: a file cannot name code
    parameters   the constructor's arguments; a rate is {"rate": name, …its fields}, a learner inside another
                 {"class": name, "parameters": …}, a scikit-learn classifier {"scikit-learn": name, "parameters": …}, a
                 tuple {"tuple": […]}
    features     how many, and their names where they have any
    labels       of a classifier: their kind and the sorted values
    key_place    of a `KeyedClassifier` whose key is a name: which feature it is
    targets      of a regressor: how many columns y has, null for a one-dimensional one
    part         of a `Part` and not a model: its columns, its labels, and whether its rows come later
    notes        what else the writer wants kept with the model, as JSON. Of a `TableModel` the rest of the file is the
                 learner, and the encoder is here, under "table"; features from earlier rows have arrays "history …"
    sha256       over the header without this entry and over every array: safetensors does not notice changed numbers

The arrays are the compiled core's state, so that a loaded model continues bit for bit. Files are written to a temporary
neighbour, flushed to the disk and renamed: a reader sees the old file or the new one.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save as save_arrays

from thalweg import fleet, learners, pipeline, rates, transforms
from thalweg.container import digest, open_container
from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.files import write_atomically
from thalweg.history.history import History
from thalweg.history.planning import encoder_from
from thalweg.label_budget.model import LabelBudget
from thalweg.learners.base import sklearn_state
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.part import Part
from thalweg.table_model import TableClassifier, TableModel, TableRegressor

__all__ = ["dumps", "load", "loads", "read_notes", "save"]

PROTOCOL = 1
#: A core of so many features is made without asking whether the file holds as many numbers.
_FEW_FEATURES = 8192
#: Of a baseline, which keeps nothing of them.
_MOST_FEATURES = 2**24
_ELSEWHERE, _HISTORY, _BUDGET = "elsewhere", "history ", "label_budget"
_CLASSES: dict[str, type[StreamEstimator]] = {
    name: value
    for home in (learners, transforms, pipeline)
    for name, value in ((name, getattr(home, name)) for name in home.__all__)
    if issubclass(value, StreamEstimator)
} | {kind.__name__: kind for kind in (fleet.Fleet, fleet.RegressorFleet, fleet.KeyedClassifier)}
_RATES: dict[str, type[rates.Rate]] = {
    kind.__name__: kind for kind in (rates.Constant, rates.InverseSqrt, rates.ErrorDriven)
}


def save(model: StreamEstimator | Part | TableModel | LabelBudget, path: str | os.PathLike[str]) -> None:
    """Write a model, or a part of one, to a file, atomically.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thalweg import OnlineLDC, load, save
    >>> model = OnlineLDC().partial_fit([[0.0], [1.0], [0.1], [0.9]], ["low", "high", "low", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder) / "model.thalweg")
    ...     print(load(pathlib.Path(folder) / "model.thalweg").predict([[0.2]]))
    ['low']
    """
    content = dumps(model)
    try:
        write_atomically(Path(path), content)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror or error}") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model of any class from a file written by `save` or by `thalweg run`.

    The model of a run is a `TableClassifier` or a `TableRegressor`: it takes the columns that the run took.

    Examples
    --------
    >>> import tempfile
    >>> from thalweg import NoChange, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(NoChange().learn_one([0.0], "dry"), f"{folder}/model.thalweg")
    ...     load(f"{folder}/model.thalweg").predict_one([1.0])
    'dry'
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    return loads(content, name=os.fspath(path))


def dumps(
    model: StreamEstimator | Part | TableModel | LabelBudget,
    notes: dict[str, Any] | None = None,
    *,
    history: History | None = None,
) -> bytes:
    """A model, or a part of one, as bytes; equal models with equal notes give equal bytes.

    ``history`` is what the table of the notes remembers of earlier rows.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> dumps(NoChange().learn_one([0.0], "dry")) == dumps(NoChange().learn_one([0.0], "dry"))
    True
    """
    if isinstance(model, LabelBudget):
        own = {name: value for name, value in plain_parameters(model).items() if name != "learner"}
        begun = model.__sklearn_is_fitted__()
        state = json.loads(json.dumps(model.state(), default=np.ndarray.tolist)) if begun else None
        inside = model.learner_ if begun else model.learner
        return dumps(inside, {**(notes or {}), _BUDGET: {"parameters": own, "state": state}})
    if isinstance(model, TableModel):
        own, history = model.notes, model.encoder_.history
        learner: StreamEstimator = model.learner_
        model, notes = learner, {**own, **(notes or {}), "table": own["table"]}
    whole = model.model if isinstance(model, Part) else model
    name = type(whole).__name__
    if _CLASSES.get(name) is not type(whole):
        raise ModelFileError(
            f"a {name} cannot be saved: only models of thalweg can, also as steps of a thalweg.pipeline.StreamPipeline "
            "(joblib saves pipelines of scikit-learn)"
        )
    arrays: dict[str, NDArray[Any]] = {}
    header: dict[str, Any] = {
        "protocol": PROTOCOL,
        "class": name,
        "parameters": plain_parameters(whole),
    }
    if isinstance(model, Part):
        arrays, header["part"] = model._arrays(), model._header()
    elif model.__sklearn_is_fitted__():
        try:
            arrays = model._core.state() | _learned_elsewhere(model)
        except ValueError as error:  # its numbers have overflowed
            raise ModelFileError(f"a {name} cannot be saved: {error}") from error
        names = getattr(model, "feature_names_in_", None)
        header["features"] = {"count": model.n_features_in_, "names": None if names is None else names.tolist()}
        header.update(model._header())
    if notes is not None:
        header["notes"] = notes
    if history is not None:
        arrays |= {_HISTORY + name: array for name, array in history.arrays().items()}
    header["sha256"] = digest(header, arrays)
    return save_arrays(arrays, metadata={"thalweg": json.dumps(header, sort_keys=True)})


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The notes kept with a model in a file; empty where there are none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from thalweg import NoChange
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.thalweg")
    ...     _ = path.write_bytes(dumps(NoChange(), notes={"trained on": "prices.csv"}))
    ...     read_notes(path)
    {'trained on': 'prices.csv'}
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    header, arrays = _open(content, os.fspath(path))
    if header.pop("sha256", None) != digest(header, arrays):
        raise ModelFileError(f"{path} is damaged: its contents do not match its SHA-256")
    notes = header.get("notes", {})
    return notes if isinstance(notes, dict) else {}


def loads(content: bytes, name: str = "this model") -> Any:
    """The model that `dumps` turned into these bytes.

    Examples
    --------
    >>> from thalweg import NoChange
    >>> loads(dumps(NoChange().learn_one([0.0], "dry"))).predict_one([1.0])
    'dry'
    """
    header, arrays = _open(content, name)
    if header.get("protocol") != PROTOCOL:
        raise ModelFileError(
            f"{name} has protocol {header.get('protocol')!r}; this version of thalweg reads {PROTOCOL}"
        )
    if header.pop("sha256", None) != digest(header, arrays):
        raise ModelFileError(f"{name} is damaged: its contents do not match its SHA-256")
    try:
        return _build(header, arrays)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        ArithmeticError,
        MemoryError,
        RecursionError,
    ) as error:
        raise ModelFileError(f"{name} is not a valid model: {error}") from error


def _open(content: bytes, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        header, arrays = open_container(content, "thalweg")
    except (SafetensorError, KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{name} is not a thalweg model, or is cut or damaged") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{name} is not a thalweg model")
    return header, arrays


def _build(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> StreamEstimator | Part | TableModel | LabelBudget:
    notes = header.get("notes")
    if isinstance(notes, dict) and _BUDGET in notes:
        own, others = notes[_BUDGET], {name: value for name, value in notes.items() if name != _BUDGET}
        inside = _build({**header, "notes": others}, arrays)
        parameters = {name: _rich(value) for name, value in own["parameters"].items()}
        if own["state"] is None:
            return LabelBudget(inside, **parameters)
        return LabelBudget.of_learned(inside, parameters, own["state"])
    past = {name.removeprefix(_HISTORY): arrays.pop(name) for name in [*arrays] if name.startswith(_HISTORY)}
    model = _build_learner(header, arrays)
    notes = header.get("notes")
    table = notes.get("table") if isinstance(notes, dict) else None
    # Notes are free: others than a run's may have something else under this name.
    has_encoder = isinstance(table, dict) and {"plan", "encoder", "missing"} <= table.keys()
    if table is None or not has_encoder or not isinstance(model, StreamClassifier | StreamRegressor):
        return model
    of_table = TableClassifier if isinstance(model, StreamClassifier) else TableRegressor
    return of_table.of_learned(model, encoder_from(table, past), notes=notes)


def _build_learner(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> StreamEstimator | Part:
    model = _unlearned(header)
    if "part" in header:
        return Part._of_file(model, header["part"], arrays)
    if "features" in header:
        _check_features(header["features"]["count"], arrays, model)
        _check_components(header["parameters"], sum(array.size for array in arrays.values()))
        state: dict[str, Any] = {
            "_core": arrays,
            "n_features_in_": int(header["features"]["count"]),
            "_learned_elsewhere": _by_adapter(arrays),
        }
        if header["features"]["names"] is not None:
            state["feature_names_in_"] = np.array(header["features"]["names"], dtype=object)
        state.update(model._attributes_from(header, arrays))
        model.__setstate__({**model.get_params(deep=False), **state})
    return model


def _check_features(count: int, arrays: dict[str, NDArray[Any]], model: StreamEstimator) -> None:
    """A forged number of features is refused before a core of that width takes all memory.

    The core of a model of sparse rows has no width: it holds the features that were seen.
    """
    seen = [ids for name, ids in arrays.items() if name.endswith("feature_ids")]
    if seen:
        if not all(ids.dtype.kind == "i" and (ids < count).all() for ids in seen) or count < 1:
            raise ModelFileError(f"its numbers cannot be those of {count} features")
        return
    sizes = (array.size for array in arrays.values())
    most = max(_FEW_FEATURES, *sizes) if model._uses_features else _MOST_FEATURES
    if not 1 <= count <= most:
        raise ModelFileError(f"its numbers cannot be those of {count} features")


def _check_components(parameters: Any, numbers: int) -> None:
    """A forged number of components, here or in a learner inside, is refused before as many are drawn."""
    inside = parameters.items() if isinstance(parameters, dict) else enumerate(parameters)
    for name, value in inside:
        if isinstance(value, dict | list):
            _check_components(value, numbers)
        elif name == "n_components" and isinstance(value, int) and value > numbers:
            raise ModelFileError(f"its numbers cannot be those of {value} components")


def _learned_elsewhere(model: StreamEstimator) -> dict[str, NDArray[Any]]:
    """What members with cores in Python learned, by their number; others than ours are refused."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, adapter in enumerate(model._adapters()):
        learned = adapter.learned()
        if not isinstance(learned, dict):
            raise ModelFileError(
                f"a {type(model).__name__} with a member that learns by scikit-learn's partial_fit cannot be saved"
            )
        arrays |= {f"{_ELSEWHERE}{number}_{name}": array for name, array in learned.items()}
    return arrays


def _by_adapter(arrays: dict[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    arrays_of: dict[int, dict[str, NDArray[Any]]] = {}
    for name in [name for name in arrays if name.startswith(_ELSEWHERE)]:
        number, own_name = name.removeprefix(_ELSEWHERE).split("_", 1)
        arrays_of.setdefault(int(number), {})[own_name] = arrays.pop(name)
    return [arrays_of[number] for number in sorted(arrays_of)]


def plain_parameters(model: Any) -> dict[str, object]:
    """The constructor's arguments as JSON holds them."""
    owner = type(model).__name__
    parameters = sorted(model.get_params(deep=False).items())
    left_out: frozenset[str] = getattr(model, "_parameters_not_saved", frozenset())
    return {key: _plain(value, owner, key) for key, value in parameters if key not in left_out}


def _plain(value: object, owner: str, parameter: str) -> object:
    if _CLASSES.get(type(value).__name__) is type(value) or type(value) is transforms.TextHasher:
        return {"class": type(value).__name__, "parameters": plain_parameters(value)}
    if sklearn_state.is_known(value):
        return {"scikit-learn": type(value).__name__, "parameters": plain_parameters(value)}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item, owner, parameter) for item in value]}
    if isinstance(value, dict):
        pairs = [(_plain(key, owner, parameter), _plain(item, owner, parameter)) for key, item in value.items()]
        return {"mapping": sorted(pairs, key=repr)}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(item, owner, parameter) for item in value]
    if isinstance(value, rates.Constant | rates.InverseSqrt | rates.ErrorDriven):
        return {"rate": type(value).__name__, **dataclasses.asdict(value)}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidParameter.of(
        owner,
        parameter,
        "be a number, a string, a rate, a learner of thalweg "
        f"or a {', '.join(sorted(sklearn_state.KINDS))} of scikit-learn to be saved",
        value,
    )


def _rich(value: Any) -> Any:
    if isinstance(value, list):
        return [_rich(item) for item in value]
    if isinstance(value, dict) and value.get("class") == "TextHasher":
        return transforms.TextHasher(**{name: _rich(item) for name, item in value["parameters"].items()})
    if isinstance(value, dict) and "class" in value:
        return _unlearned(value)
    if isinstance(value, dict) and "tuple" in value:
        return tuple(_rich(item) for item in value["tuple"])
    if isinstance(value, dict) and "mapping" in value:
        return {_rich(key): _rich(item) for key, item in value["mapping"]}
    if isinstance(value, dict) and "scikit-learn" in value:
        parameters = {name: _rich(item) for name, item in value["parameters"].items()}
        return sklearn_state.class_named(value["scikit-learn"])(**parameters)
    if isinstance(value, dict):
        fields = dict(value)
        return _RATES[fields.pop("rate")](**fields)
    return value


def _unlearned(header: dict[str, Any]) -> StreamEstimator:
    if header["class"] not in _CLASSES:
        raise ModelFileError(f"the class {header['class']!r} is not one that thalweg loads")
    cls = _CLASSES[header["class"]]
    return cls(**{name: _rich(value) for name, value in header["parameters"].items()})
