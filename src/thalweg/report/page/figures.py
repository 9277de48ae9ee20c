"""The figures of a run as files, PNG and SVG, for slides and papers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.report import calibration, class_memory, confusion_matrix, mean_paths, member_weights, over_time, style
from thalweg.report.page.answers import merged_confusion
from thalweg.report.page.content import Metrics, Series, as_metrics
from thalweg.report.page.series import members, remembered

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(metrics: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the run has, into a folder that is made if need be; the paths written.

    Raises `MissingExtra` where matplotlib is not installed; nothing is written then.

    Parameters
    ----------
    metrics : mapping
        What ``metrics.json`` holds.
    folder : Path
        Where the figures go.
    """
    style.require_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with warnings.catch_warnings():
        # Labels may be of any script; the font draws a box for what it lacks.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        for stem, figure in _drawn(as_metrics(metrics)):
            written += style.save(figure, folder, stem)
    return written


def _drawn(metrics: Metrics) -> Iterator[tuple[str, Figure]]:
    curve, course = metrics["curve"], metrics["course"]
    what = style.label(f"{metrics['model']['title']} on {metrics['run']['source']}", 60)
    changes = [float(change["row"]) for change in metrics["changes"]]
    rows = np.array(curve["rows"], dtype=np.int64)
    if len(rows):
        errors = {
            metrics["model"]["title"]: _array(curve["error"]["model"]),
            "No change": _array(curve["error"]["no_change"]),
            "Majority class": _array(curve["error"]["majority"]),
        }
        looks = np.array(course["rows"], dtype=np.int64)
        rate = None if course["rate"] is None else (looks, _array(course["rate"]))
        window = min(curve["window"], metrics["rows"]["scored"])
        yield "error", over_time.draw(rows, errors, rate, title=what, window=window, changes=changes)
        if course["effective_rows"]:
            by_class, remembered_rows = remembered(metrics)
            memory = {name: _array(values) for name, values in remembered_rows.items()}
            title = f"{what}: memory{' of each class' if by_class else ''}"
            yield "memory", class_memory.draw(looks, memory, title=title, changes=changes)
        committee = members(metrics)
        if committee is not None:
            smoothed = {style.label(line.name): _array(line.values) for line in committee.views[0].lines}
            yield "members", member_weights.draw(looks, smoothed, title=f"{what}: whose voice counts", changes=changes)
        means = course.get("means")
        if means:
            forecast = means.get("forecast")
            yield (
                "means",
                mean_paths.draw(
                    looks,
                    means["features"],
                    _paths(means["classes"]),
                    _paths(forecast) if forecast else None,
                    title=f"{what}: where the class means went{', forecasts dashed' if forecast else ''}",
                    changes=changes,
                ),
            )
    if metrics["rows"]["scored"]:
        classes, counts = merged_confusion(metrics)
        yield "confusion", confusion_matrix.draw(classes, counts, title="Confusion, in % of each truth")
    bins = metrics["calibration"]
    if bins is not None and any(bins["rows"]):
        kept = [at for at, seen in enumerate(bins["rows"]) if seen]
        confidence, accuracy = (_array(bins["confidence"])[kept], _array(bins["accuracy"])[kept])
        yield "calibration", calibration.draw(confidence, accuracy, title="Calibration")


def _array(values: Series) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)


def _paths(by_class: dict[str, list[Series]]) -> dict[str, NDArray[np.float64]]:
    return {label: np.array(values, dtype=np.float64) for label, values in by_class.items()}
