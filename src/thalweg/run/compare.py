"""Recorded runs, read from their ``metrics.json`` and set side by side: which belong together, and by what name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.report.page.formats import UNKNOWN, listed
from thalweg.report.page.rare_verdict import no_change_area
from thalweg.report.page.standing import baseline_names, cost_baselines
from thalweg.run_metrics import SCHEMA, Known, Metrics, as_metrics, is_regression, loss_of, target_word
from thalweg.tables import Block, Chunk, chunks, open_source

METRICS, PREDICTIONS = "metrics.json", "predictions.csv"
#: Rows of each file in memory at a time.
_ROWS = 1 << 16
#: Predictions, and which of their rows have a label that came by the end.
Part = tuple[Chunk, NDArray[np.bool_]]
#: Options that change no prediction: where things are, and what is reported besides.
_NOT_IN_NAMES = frozenset({"source", "target", "out", "model", "model_out"}) | {
    "against", "against_rows", "alert", "alerts", "chunk", "probabilities", "season",
}  # fmt: skip


@dataclass(frozen=True)
class RecordedRun:
    path: Path
    metrics: Metrics
    #: The predictions as a table of Arrow, of a run in memory; those of others are in a file.
    kept: Any = None

    @property
    def source(self) -> str:
        return self.metrics["run"]["source"]

    @property
    def of_numbers(self) -> bool:
        return is_regression(self.metrics)

    @property
    def error(self) -> float:
        """The share of mistakes, or the mean absolute error of numbers."""
        return self.score(loss_of(self.metrics).name)

    def score(self, kind: str) -> float:
        """A score of the model; ``cost`` and ``pr_auc`` are those of its rare label."""
        score = self.metrics["scores"]["model"][kind]
        assert score is not None
        return score

    def baselines(self, kind: str) -> dict[str, float]:
        """The same score of each baseline, by its name."""
        if kind == "cost":
            scores = {baseline.phrase: baseline.score for baseline in cost_baselines(self.metrics)}
        elif kind == "pr_auc":
            scores = {"no-change": no_change_area(self.metrics), "chance": self.metrics["rare"]["share"]}
        else:
            scores = {name: self.metrics["scores"][key][kind] for key, name in baseline_names(self.metrics).items()}
        return {name: score for name, score in scores.items() if score is not None}

    @property
    def errors_over_time(self) -> dict[int, Known]:
        """By row, the error over the window before it."""
        curve = self.metrics["curve"]
        windowed = curve[loss_of(self.metrics).name]["model"]  # type: ignore[literal-required]
        return dict(zip(curve["rows"], windowed, strict=True))

    @property
    def predictions(self) -> Path:
        """Where they are; of a run in memory, its name."""
        return self.path.parent / PREDICTIONS if self.kept is None else self.path

    def parts(self) -> Iterator[Part]:
        """The predictions, some rows at a time, and which of the rows have a label that came by the end of the run."""
        pending, first = self.metrics["rows"]["pending_rows"], 1
        for chunk in self._chunks():
            yield chunk, ~_in_ranges(pending, first, len(chunk))
            first += len(chunk)

    def _chunks(self) -> Iterator[Chunk]:
        if self.kept is None:
            return chunks(open_source(self.predictions, delimiter=",", header=True).blocks(), _ROWS)
        return chunks([Block(_without_nulls(self.kept), str(self.path), 1, typed=True)], _ROWS)


@dataclass(frozen=True)
class DataSet:
    """Runs over the same rows, by different names."""

    source: str
    target: str
    rows: int
    runs: Mapping[str, RecordedRun]


def _in_ranges(ranges: Sequence[Sequence[int]], first: int, count: int) -> NDArray[np.bool_]:
    """Which of ``count`` rows, numbered from ``first``, lie in one of the ranges.

    Examples
    --------
    >>> _in_ranges([[3, 5], [9, 9]], 5, 5).tolist()
    [True, False, False, False, True]
    """
    inside = np.zeros(count, dtype=np.bool_)
    for low, high in ranges:
        inside[max(low - first, 0) : max(high + 1 - first, 0)] = True
    return inside


def read_run(path: Path) -> RecordedRun:
    """A run from its ``metrics.json``, or from the folder that holds it."""
    file = path / METRICS if path.is_dir() else path
    try:
        metrics = as_metrics(json.loads(file.read_text(encoding="utf-8")))
        schema, scored = metrics["schema"], metrics["rows"]["scored"]
        _ = metrics["run"]["source"], metrics["run"]["options"], metrics["model"]["name"], metrics["curve"]["rows"]
        error = metrics["scores"]["model"][loss_of(metrics).name]
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
    ) as problem:  # a UnicodeDecodeError and a JSONDecodeError are ValueErrors
        raise InvalidInput(f"{file} is not the {METRICS} of a run") from problem
    if schema != SCHEMA:
        raise InvalidInput(f"{file} was written by another version of thalweg: its schema is {schema}, ours {SCHEMA}")
    if error is None or scored == 0:
        raise InvalidInput(f"{file} has nothing to compare: none of its rows had a {target_word(metrics)}")
    return RecordedRun(file, metrics)


def gather(runs: Sequence[RecordedRun]) -> list[DataSet]:
    """Runs by data set; an `InvalidInput` names two that do not belong together.

    At least two runs over every data set, of the same rows, and the same models over all of them.
    """
    for run in runs[1:]:
        if run.of_numbers != runs[0].of_numbers:
            labels, numbers = (run, runs[0]) if runs[0].of_numbers else (runs[0], run)
            raise InvalidInput(f"{labels.path} predicts labels and {numbers.path} numbers: they cannot be compared")
    by_source: dict[str, list[RecordedRun]] = {}
    for run in runs:
        by_source.setdefault(run.source, []).append(run)
    for source, members in by_source.items():
        if len(members) < 2:
            others = [run for run in runs if run.source != source]
            besides = f", unlike {others[0].path}, which learned {others[0].source}" if others else ""
            raise InvalidInput(f"{members[0].path} is the only run over {source}{besides}: there is nothing to compare")
        for run in members[1:]:
            require_same_rows(members[0], run)
    shown = {name for members in by_source.values() for name in _differing(members)}
    sets = [_data_set(source, members, shown) for source, members in by_source.items()]
    for rows in sets[1:]:
        if missing := sorted(set(sets[0].runs) ^ set(rows.runs)):
            having, lacking = (sets[0], rows) if missing[0] in sets[0].runs else (rows, sets[0])
            raise InvalidInput(
                f"{missing[0]} was run over {having.source} but not over {lacking.source}: "
                "a ranking needs every model over every data set"
            )
    return sets


def require_same_rows(first: RecordedRun, other: RecordedRun) -> None:
    def deeds(run: RecordedRun) -> tuple[str, ...]:
        target, rows = run.metrics["run"]["target"], run.metrics["rows"]
        return (
            f"learned the {target_word(run.metrics)} {target}",
            f"read {rows['read']:,} rows",
            f"used {rows_used(run.metrics):,} rows",
        )

    for one, two in zip(deeds(first), deeds(other), strict=True):
        if one != two:
            raise InvalidInput(
                f"{first.path} and {other.path} do not belong together: the first {one}, the second {two}"
            )


def columns_left_out(runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Which of these runs, by the metrics of each, leave out columns that others learn.

    Examples
    --------
    >>> lines = ("a", "number", "as it is"), ("b", "text", "hashed"), ("b", "–", "left out")
    >>> columns_left_out({"auto": {"columns": lines[:2]}, "oldc": {"columns": lines[::2]}})
    ["oldc leaves out column 'b', which auto learns"]
    """
    used = {run: [name for name, kind, _ in metrics["columns"] if kind != UNKNOWN] for run, metrics in runs.items()}
    sentences = []
    for run, own in used.items():
        lacking = list(dict.fromkeys(name for names in used.values() for name in names if name not in own))
        if lacking:
            others = [other for other, names in used.items() if set(lacking) & set(names)]
            columns = f"column{'s' if len(lacking) > 1 else ''} {listed([repr(name) for name in lacking])}"
            learn = "learns" if len(others) == 1 else "learn"
            sentences.append(f"{run} leaves out {columns}, which {listed(others)} {learn}")
    return sentences


def rows_used(metrics: Mapping[str, Any]) -> int:
    """Rows that were predicted, or came before any label."""
    return int(metrics["rows"]["predicted"] + metrics["rows"]["unpredicted"])


def _differing(members: Sequence[RecordedRun]) -> set[str]:
    """The options in which runs of the same model over the same data differ."""
    options: set[str] = set()
    for first in members:
        for other in members:
            if first.metrics["model"]["name"] == other.metrics["model"]["name"]:
                one, two = first.metrics["run"]["options"], other.metrics["run"]["options"]
                options |= {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}
    return options - _NOT_IN_NAMES


def _data_set(source: str, members: Sequence[RecordedRun], shown: set[str]) -> DataSet:
    first = members[0].metrics
    # The same model with the same options: only its place distinguishes it, the folder or the path.
    folders = [run.path.resolve().parent.name if run.path.name == METRICS else run.path.stem for run in members]
    paths = [str(run.path.parent if run.path.name == METRICS else run.path) for run in members]
    models = [_name(run, shown) for run in members]
    names = _with_places(models, folders)
    if len(set(names)) < len(names):
        names = _with_places(models, paths)
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidInput(
                f"{members[names.index(name)].path} and {members[at].path} are the same run: give each run once"
            )
    return DataSet(source, first["run"]["target"], rows_used(first), dict(zip(names, members, strict=True)))


def _with_places(models: Sequence[str], places: Sequence[str]) -> list[str]:
    """The names of models, with their places where others have the same."""
    pairs = zip(models, places, strict=True)
    return [f"{model} ({place})" if models.count(model) > 1 else model for model, place in pairs]


def _name(run: RecordedRun, shown: set[str]) -> str:
    """The model, and the options that matter: those in which it was run in several ways."""
    options = run.metrics["run"]["options"]
    settings = []
    for option in sorted(shown):
        value = options.get(option)
        if value not in (None, False, []):
            written = ",".join(map(str, value)) if isinstance(value, list) else value
            settings.append(option if value is True else f"{option}={written}")
    return " ".join([run.metrics["model"]["name"], *settings])


def has_predictions(run: RecordedRun, among: Sequence[RecordedRun]) -> bool:
    """Whether a run's predictions are there; runs that share a folder cannot both have left them."""
    alone = sum(peer.predictions == run.predictions for peer in among) == 1
    return alone and (run.kept is not None or run.predictions.is_file())


def _without_nulls(table: Any) -> Any:
    """A table with empty words for missing ones, as a file holds them."""
    import pyarrow as pa

    columns = {name: table.column(name) for name in table.column_names}
    return pa.table(
        {name: column.fill_null("") if pa.types.is_string(column.type) else column for name, column in columns.items()}
    )
