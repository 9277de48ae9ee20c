"""The whole state of a run in one file, replaced as a whole: what a killed run resumes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.container import packed, unpacked
from thalweg.errors import InvalidParameter, ModelFileError
from thalweg.files import write_atomically
from thalweg.run.importance import ImportanceSampler
from thalweg.tables import Fingerprint, Plan
from thalweg.tables.clock import Clock

if TYPE_CHECKING:
    from thalweg.run.runner import Run


def write(path: Path, state: dict[str, Any]) -> None:
    """Replace the checkpoint; an `OSError` leaves the old one."""
    write_atomically(path, packed(state))


def read(path: Path) -> dict[str, Any]:
    """The state that `write` wrote; a `ModelFileError` where the file is damaged."""
    try:
        state: dict[str, Any] = unpacked(path.read_bytes())
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: start over with --fresh") from error
    except ModelFileError as error:
        raise ModelFileError(f"{path} {error}: start over with --fresh") from error
    return state


def state_of(run: Run) -> dict[str, Any]:
    """All that a run in progress must remember."""
    assert run.encoder is not None
    assert run.predictions is not None
    assert run.importance is not None
    run.watch.flush()
    return {
        "options": run.options.resolved(),
        "chunks": run.chunks_done,
        "fingerprint": run.fingerprint.sums,
        "counts": [run.read, run.processed, run.learned, run.unlabelled, run.skipped, run.unpredicted],
        "notices": run.notices.state(),
        "plan": run.encoder.plan.to_json(),
        "encoder": run.encoder.state(),
        "task": [run.task.name, run.task.state()],
        "against": None if run.against is None else run.against.state(),
        "history": run.history.state(),
        "joined": run.importance.joined,
        "importance": run.importance.state(),
        "inputs": [run.watch.state(), run.watch.arrays()],
        "alerts": run.alerts.state(),
        "row_times": None if run.row_times is None else run.row_times.state(),
        "late": run.late.state(),
        "clocks": {name: clock.form for name, clock in run.clocks.items()},
        "predictions": run.predictions.synced(),
    }


def restore(run: Run, state: dict[str, Any]) -> None:
    """Bring a run that has not begun to where `state_of` was; it must have the same options."""
    # Files may have moved since: the rows themselves are compared with those that were learned.
    if changed := run.options.first_other(state["options"], besides=("source", "model_out")):
        raise InvalidParameter(
            f"the run in {run.folder} was started with {changed}: resume it with the same options, "
            "or start over with --fresh"
        )
    run.chunks_done = state["chunks"]
    run.fingerprint = Fingerprint(state["fingerprint"])
    run.read, run.processed, run.learned, run.unlabelled, run.skipped, run.unpredicted = state["counts"]
    run.notices.restore(state["notices"])
    plan = Plan.from_json(state["plan"])
    run.encoder = run.new_encoder(plan)
    run.encoder.restore(state["encoder"])
    name, own = state["task"]
    run.task = run.tasks.named(name)
    run.task.restore(own)
    run.against = run.new_against(plan)
    if run.against is not None:
        run.against.restore(state["against"])
    run.history.restore(state["history"])
    run.importance = ImportanceSampler(plan, run.options.seed, state["joined"])
    run.importance.restore(state["importance"])
    run.watch.restore(*state["inputs"])
    run.alerts.restore(state["alerts"])
    if run.row_times is not None:
        run.row_times.restore(state["row_times"])
    run.late.restore(state["late"])
    run.clocks = {name: Clock(form, run.options.na) for name, form in state["clocks"].items()}
    run.predictions = run.predictions_file(state["predictions"])
