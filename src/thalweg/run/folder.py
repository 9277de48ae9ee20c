"""The folder of a run: whether it holds one that is finished or was cut off, and how that was begun."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

OPTIONS, METRICS, CHECKPOINT, PREDICTIONS = "options.toml", "metrics.json", "checkpoint", "predictions.csv"
MODEL, REPORT = "model.thalweg", "report.html"

Holds = Literal["no run", "a finished run", "a run that was cut off"]


def what_is_in(folder: Path) -> Holds:
    """What a folder holds; a run that was killed before its first checkpoint is none."""
    if (folder / CHECKPOINT).exists():
        return "a run that was cut off"
    return "a finished run" if (folder / METRICS).exists() else "no run"


def clear(folder: Path) -> None:
    """Take away the results of a run, the checkpoint last: nothing that is left looks like a run."""
    for name in (METRICS, REPORT, MODEL, PREDICTIONS, OPTIONS, CHECKPOINT):
        (folder / name).unlink(missing_ok=True)
    clear_unfinished(folder)


def clear_unfinished(folder: Path) -> None:
    """Take away files that a kill left unfinished."""
    for unfinished in folder.glob(".*.part"):
        unfinished.unlink(missing_ok=True)
