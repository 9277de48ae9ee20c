"""All that a run remembers, taken apart for a checkpoint and put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from thalweg.columns import Encoder, Plan
from thalweg.columns.clock import Clock
from thalweg.errors import InvalidParameter
from thalweg.run import folder
from thalweg.run.names import Names
from thalweg.run.predictions import PredictionsFile
from thalweg.run.schedule import Waiting
from thalweg.sources import Fingerprint
from thalweg.store import dumps, loads

if TYPE_CHECKING:
    from thalweg.run.learning import Run

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
    run.predictions = PredictionsFile(run.folder / folder.PREDICTIONS, length=int(plain["predictions"]))
