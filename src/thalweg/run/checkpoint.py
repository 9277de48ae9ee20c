"""The whole state of a run in one file, replaced as a whole: what a killed run resumes from.

A safetensors container: the models as bytes of their own files, the rows that wait for their labels as arrays, the
rest as JSON, and a SHA-256 over all of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save as save_arrays

from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.evaluate.late_labels import Waiting
from thalweg.files import write_atomically
from thalweg.run.importance import WAITING, ImportanceSampler
from thalweg.store import digest, dumps, loads, open_container
from thalweg.tables import Fingerprint, Plan
from thalweg.tables.clock import Clock
from thalweg.tables.encoder import arrays_of, rows_of

if TYPE_CHECKING:
    from thalweg.run.runner import Run

_KEY = "thalweg-run"
_PROTOCOL = 1
#: What JSON holds, arrays, and models as their own files.
Parts = tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, bytes]]


def write(path: Path, plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> None:
    """Replace the checkpoint; an `OSError` leaves the old one."""
    write_atomically(path, packed(plain, arrays, models))


def packed(plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> bytes:
    """All of it in one container."""
    held = dict(arrays) | {f"model {name}": np.frombuffer(content, np.uint8) for name, content in models.items()}
    texts = {name: array for name, array in held.items() if array.dtype.kind == "U"}
    header = {"protocol": _PROTOCOL, "plain": plain, "texts": {name: array.tolist() for name, array in texts.items()}}
    numbers = {name: np.ascontiguousarray(array) for name, array in held.items() if name not in texts}
    header["sha256"] = digest(header, numbers)
    return save_arrays(numbers, metadata={_KEY: json.dumps(header)})


def read(path: Path) -> Parts:
    """The state that `write` wrote; a `ModelFileError` where the file is damaged."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: start over with --fresh") from error
    try:
        return unpacked(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}: start over with --fresh") from error


def unpacked(content: bytes) -> Parts:
    """Back from `packed`; a `ModelFileError`, the end of a sentence, where it is damaged."""
    try:
        header, arrays = open_container(content, _KEY)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise ModelFileError("is not a checkpoint of a run") from error
    if header.pop("sha256", None) != digest(header, arrays) or header.get("protocol") != _PROTOCOL:
        raise ModelFileError("is damaged, or of another version")
    models = {name[6:]: array.tobytes() for name, array in arrays.items() if name.startswith("model ")}
    others: dict[str, NDArray[Any]] = {name: array for name, array in arrays.items() if not name.startswith("model ")}
    others |= {name: np.array(values, dtype=np.str_) for name, values in header["texts"].items()}
    return header["plain"], others, models


def state_of(run: Run) -> Parts:
    """All that a run in progress must remember."""
    assert run.encoder is not None
    assert run.predictions is not None
    arrays: dict[str, NDArray[Any]] = {}
    waiting = run.late.waiting
    if waiting is not None:
        arrays = arrays_of("X", waiting.X)
        arrays |= {"labels": waiting.labels, "due": waiting.due, "number": waiting.number}
        arrays |= {f"predicted {name}": values for name, values in waiting.predicted.items()}
    run.watch.flush()
    own, own_arrays = run.task.state()
    assert run.importance is not None
    sampled, sampled_arrays = run.importance.state()
    arrays |= sampled_arrays | own_arrays | run.alerts.arrays() | run.watch.arrays()
    against, against_arrays = ({}, {}) if run.against is None else run.against.state()
    arrays |= against_arrays
    plain = {
        "options": run.options.resolved(),
        "chunks": run.chunks_done,
        "fingerprint": run.fingerprint.sums,
        "counts": [run.read, run.processed, run.learned, run.unlabelled, run.skipped],
        "unpredicted": run.unpredicted,
        **run.notices.state(),
        "plan": run.encoder.plan.to_json(),
        "encoder": run.encoder.state(),
        "task": run.task.name,
        **own,
        **({"against": against} if against else {}),
        "course": run.history.state(),
        "importance": sampled,
        "inputs": run.watch.state(),
        "alerts_fired": run.alerts.state(),
        **({} if run.row_times is None else {"row_times": run.row_times.state()}),
        "clock": run.late.clock,
        "clocks": {name: clock.form for name, clock in run.clocks.items()},
        "predictions": run.predictions.synced(),
    }
    models = {name: dumps(model) for name, model in run.task.models().items()}
    if run.importance.waiting is not None:
        models[WAITING] = dumps(run.importance.waiting[0])
    return plain, arrays, models


def restore(run: Run, plain: dict[str, Any], arrays: dict[str, NDArray[Any]], models: dict[str, bytes]) -> None:
    """Bring a run that has not begun to where `state_of` was; it must have the same options."""
    # Files may have moved since: the rows themselves are compared with those that were learned.
    if changed := run.options.first_other(plain["options"], besides=("source", "model_out")):
        raise InvalidParameter(
            f"the run in {run.folder} was started with {changed}: resume it with the same options, "
            "or start over with --fresh"
        )
    run.chunks_done = int(plain["chunks"])
    run.fingerprint = Fingerprint(plain["fingerprint"])
    run.read, run.processed, run.learned, run.unlabelled, run.skipped = plain["counts"]
    run.unpredicted = int(plain["unpredicted"])
    run.notices.restore(plain)
    plan = Plan.from_json(plain["plan"])
    run.encoder = run.new_encoder(plan)
    run.encoder.restore(plain["encoder"])
    run.task = run.tasks.named(plain["task"])
    loaded = {name: loads(content) for name, content in models.items()}
    run.task.restore(plain, arrays, loaded)
    run.against = run.new_against(plan)
    if run.against is not None:
        run.against.restore(plain["against"], arrays)
    run.history.restore(plain["course"])
    run.importance = ImportanceSampler(plan, run.options.seed, plain["importance"]["joined"])
    run.importance.restore(plain["importance"], arrays, loaded)
    run.watch.restore(plain["inputs"], arrays)
    run.alerts.restore(plain["alerts_fired"], arrays)
    if run.row_times is not None:
        run.row_times.restore(plain["row_times"])
    run.late.clock = int(plain["clock"])
    run.clocks = {name: Clock(form, run.options.na) for name, form in plain["clocks"].items()}
    if "due" in arrays:
        predicted = {name[10:]: values for name, values in arrays.items() if name.startswith("predicted ")}
        X = rows_of("X", arrays, plan.width)
        run.late.waiting = Waiting(X, arrays["labels"], arrays["due"], arrays["number"], predicted)
    run.predictions = run.predictions_file(int(plain["predictions"]))
