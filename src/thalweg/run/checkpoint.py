"""The whole state of a run in one file, replaced as a whole: what a killed run resumes from.

A safetensors container: the models as bytes of their own files, the rows that wait for their labels as arrays, the
rest as JSON, and a SHA-256 over all of it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.files import write_atomically
from thalweg.run import options
from thalweg.run.predictions import Names, PredictionsFile
from thalweg.run.schedule import Waiting
from thalweg.store import dumps, loads
from thalweg.tables import Encoder, Fingerprint, Plan
from thalweg.tables.clock import Clock

if TYPE_CHECKING:
    from thalweg.run.runner import Run

_KEY = "thalweg-run"
_PROTOCOL = 2


def write(path: Path, plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> None:
    """Replace the checkpoint; an `OSError` leaves the old one."""
    held = dict(arrays) | {f"model {name}": np.frombuffer(content, np.uint8) for name, content in models.items()}
    texts = {name: array for name, array in held.items() if array.dtype.kind == "U"}
    header = {"protocol": _PROTOCOL, "plain": plain, "texts": {name: array.tolist() for name, array in texts.items()}}
    numbers = {name: np.ascontiguousarray(array) for name, array in held.items() if name not in texts}
    header["sha256"] = _digest(header, numbers)
    write_atomically(path, save_arrays(numbers, metadata={_KEY: json.dumps(header)}))


def read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, bytes]]:
    """The state that `write` wrote; a `ModelFileError` where the file is damaged."""
    try:
        content = path.read_bytes()
        arrays = load_arrays(content)
        length = int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][_KEY])
    except (OSError, SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelFileError(f"{path} is not a checkpoint of a run: begin anew with --fresh") from error
    if header.pop("sha256", None) != _digest(header, arrays) or header.get("protocol") != _PROTOCOL:
        raise ModelFileError(f"{path} is damaged, or of another version: begin anew with --fresh")
    models = {name[6:]: array.tobytes() for name, array in arrays.items() if name.startswith("model ")}
    others: dict[str, NDArray[Any]] = {name: array for name, array in arrays.items() if not name.startswith("model ")}
    others |= {name: np.array(values, dtype=np.str_) for name, values in header["texts"].items()}
    return header["plain"], others, models


def _digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    content = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        content.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        content.update(np.ascontiguousarray(arrays[name]).tobytes())
    return content.hexdigest()


#: What JSON holds, arrays, and models as their own files.
Parts = tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, bytes]]


def state_of(run: Run) -> Parts:
    """Everything the run needs to go on."""
    assert run.encoder is not None
    assert run.predictions is not None
    arrays: dict[str, NDArray[Any]] = {}
    waiting = run.schedule.waiting
    if waiting is not None:
        arrays = {"X": waiting.X, "labels": waiting.labels, "due": waiting.due, "number": waiting.number}
        arrays |= {f"answered {name}": values for name, values in waiting.answered.items()}
    plain = {
        "options": run.options.resolved(),
        "chunks": run.chunks_done,
        "fingerprint": run.fingerprint.sums,
        "counts": [run.read, run.answered, run.learned, run.unlabelled, run.skipped],
        "complaints": run.complaints,
        "plan": run.encoder.plan.to_json(),
        "encoder": run.encoder.state(),
        "names": run.names.known,
        "board": run.board.state(),
        "detector": run.detector.state(),
        "course": run.course.state(),
        "clock": run.schedule.clock,
        "clocks": {name: clock.form for name, clock in run.clocks.items()},
        "times": [run.last_time, run.steps_back],
        "predictions": run.predictions.synced(),
    }
    models = {name: dumps(model) for name, model in {"model": run.model, **run.baselines}.items()}
    return plain, arrays, models


def restore(run: Run, plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> None:
    """Bring a run that has not begun to where `state_of` was; it must have been asked for the same."""
    # Where things are may change: what the source holds is looked at, row by row.
    if changed := run.options.first_other(plain["options"], besides=("source", "model_out")):
        raise InvalidParameter(
            f"the run in {run.folder} was begun with {changed}: go on with what it was begun with, "
            "or begin anew with --fresh"
        )
    run.chunks_done = int(plain["chunks"])
    run.fingerprint = Fingerprint(plain["fingerprint"])
    run.read, run.answered, run.learned, run.unlabelled, run.skipped = plain["counts"]
    run.complaints = list(plain["complaints"])
    run.encoder = Encoder(Plan.from_json(plain["plan"]), bad_rows=run.options.bad_rows, missing=run.options.missing)
    run.encoder.restore(plain["encoder"])
    run.names = Names(plain["names"])
    run.board.restore(plain["board"])
    run.detector.restore(plain["detector"])
    run.course.restore(plain["course"])
    run.schedule.clock = int(plain["clock"])
    run.clocks = {name: Clock(form) for name, form in plain["clocks"].items()}
    run.last_time, run.steps_back = plain["times"]
    if "X" in arrays:
        answered = {name[9:]: values for name, values in arrays.items() if name.startswith("answered ")}
        run.schedule.waiting = Waiting(arrays["X"], arrays["labels"], arrays["due"], arrays["number"], answered)
    run.model = loads(models["model"])
    run.baselines = {name: loads(models[name]) for name in run.baselines}
    run.predictions = PredictionsFile(run.folder / options.PREDICTIONS, length=int(plain["predictions"]))
