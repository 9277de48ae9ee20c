"""Runs that were made before: read from their ``metrics.json``, named, and gathered by what they learned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg.errors import InvalidInput
from thalweg.report.page.content import SCHEMA, Metrics, as_metrics

METRICS, PREDICTIONS = "metrics.json", "predictions.csv"
#: Options that say where things are, not what is done.
_PLACES = frozenset({"source", "target", "out", "model", "model_out"})


@dataclass(frozen=True)
class RecordedRun:
    """A run, by what it left behind."""

    path: Path
    metrics: Metrics

    @property
    def source(self) -> str:
        """Where its rows came from."""
        return self.metrics["run"]["source"]

    @property
    def error(self) -> float:
        """The share of wrong answers."""
        error = self.metrics["scores"]["model"]["error"]
        assert error is not None  # looked at when it was read
        return error

    @property
    def predictions(self) -> Path:
        """Where its answers are, if they were kept."""
        return self.path.parent / PREDICTIONS


@dataclass(frozen=True)
class DataSet:
    """Runs over the same rows, by names that tell them apart."""

    source: str
    target: str
    rows: int
    runs: Mapping[str, RecordedRun]


def read_run(path: Path) -> RecordedRun:
    """A run from its ``metrics.json``, or from the folder that holds it."""
    file = path / METRICS if path.is_dir() else path
    try:
        metrics = as_metrics(json.loads(file.read_text(encoding="utf-8")))
        schema, scored = metrics["schema"], metrics["rows"]["scored"]
        _ = metrics["run"]["source"], metrics["run"]["options"], metrics["model"]["name"], metrics["curve"]["rows"]
        error = metrics["scores"]["model"]["error"]
    except (ValueError, KeyError, TypeError) as problem:  # a UnicodeDecodeError and a JSONDecodeError are ValueErrors
        raise InvalidInput(f"{file} is not the {METRICS} of a run") from problem
    if schema != SCHEMA:
        raise InvalidInput(f"{file} was written by another version of thalweg: its schema is {schema}, ours {SCHEMA}")
    if error is None or scored == 0:
        raise InvalidInput(f"{file} has nothing to compare: none of its rows had a label")
    return RecordedRun(file, metrics)


def gather(runs: Sequence[RecordedRun]) -> list[DataSet]:
    """Runs by data set; an `InvalidInput` names two that do not belong together.

    At least two runs over every data set, of the same rows, and the same models over all of them.
    """
    by_source: dict[str, list[RecordedRun]] = {}
    for run in runs:
        by_source.setdefault(run.source, []).append(run)
    for source, members in by_source.items():
        if len(members) < 2:
            others = [run for run in runs if run.source != source]
            besides = f", unlike {others[0].path}, which learned {others[0].source}" if others else ""
            raise InvalidInput(f"{members[0].path} is the only run over {source}{besides}: there is nothing to compare")
        for run in members[1:]:
            _require_same_rows(members[0], run)
    shown = {name for members in by_source.values() for name in _differing(members)}
    sets = [_data_set(source, members, shown) for source, members in by_source.items()]
    for each in sets[1:]:
        if missing := sorted(set(sets[0].runs) ^ set(each.runs)):
            having, lacking = (sets[0], each) if missing[0] in sets[0].runs else (each, sets[0])
            raise InvalidInput(
                f"{missing[0]} was run over {having.source} but not over {lacking.source}: "
                "a ranking needs every model over every data set"
            )
    return sets


def _require_same_rows(first: RecordedRun, other: RecordedRun) -> None:
    def deeds(run: RecordedRun) -> tuple[str, ...]:
        target, rows = run.metrics["run"]["target"], run.metrics["rows"]
        return f"learned the label {target}", f"read {rows['read']:,} rows", f"answered {rows['answered']:,} rows"

    for one, two in zip(deeds(first), deeds(other), strict=True):
        if one != two:
            raise InvalidInput(
                f"{first.path} and {other.path} do not belong together: the first {one}, the second {two}"
            )


def _differing(members: Sequence[RecordedRun]) -> set[str]:
    """The options in which runs of the same model over the same data differ."""
    found: set[str] = set()
    for first in members:
        for other in members:
            if first.metrics["model"]["name"] == other.metrics["model"]["name"]:
                one, two = first.metrics["run"]["options"], other.metrics["run"]["options"]
                found |= {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}
    return found - _PLACES


def _data_set(source: str, members: Sequence[RecordedRun], shown: set[str]) -> DataSet:
    first = members[0].metrics
    names = [_name(run, shown) for run in members]
    # The same model with the same options: only where a run lies tells it from the other.
    places = [run.path.resolve().parent.name if run.path.name == METRICS else run.path.stem for run in members]
    names = [f"{name} ({place})" if names.count(name) > 1 else name for name, place in zip(names, places, strict=True)]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidInput(
                f"{members[names.index(name)].path} and {members[at].path} are the same run: nothing tells them apart"
            )
    return DataSet(source, first["run"]["target"], first["rows"]["answered"], dict(zip(names, members, strict=True)))


def _name(run: RecordedRun, shown: set[str]) -> str:
    """The model, and the options that matter: those in which it was run in several ways."""
    options = run.metrics["run"]["options"]
    told = [f"{option}={options[option]}" for option in sorted(shown) if options.get(option) not in (None, False, [])]
    return " ".join([run.metrics["model"]["name"], *told])
