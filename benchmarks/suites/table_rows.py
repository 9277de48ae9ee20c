"""A table as people have it: a frame through `TableClassifier`, the same rows through `thalweg run`, and one dict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.contest import Contestant, Effort, Run
from benchmarks.operations import predicting
from benchmarks.plots.dots import dots
from benchmarks.records import Finding, Record
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, TableClassifier

WORK = "a table of ten columns, test-then-train"
FRAME, COMMAND, START = "predict_then_learn over a frame", "thalweg run over its CSV", "thalweg run, its start"
#: Rows of the run that is taken for its start: it settles the columns by the first thousand.
FIRST = 1_000
ONES = 4_000


def flights(rows: int) -> tuple[pd.DataFrame, Any]:
    """Flights with carriers, airports, times and gaps, and which of them are late."""
    rng = np.random.default_rng(5)
    carrier, wind = rng.integers(0, 14, rows), rng.gamma(2.0, 5.0, rows)
    hour = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(rows) * 90, unit="s")
    frame = pd.DataFrame(
        {
            "carrier": np.array([f"C{i}" for i in range(14)])[carrier],
            "origin": rng.choice(["EWR", "JFK", "LGA"], rows),
            "night": rng.choice(["yes", "no"], rows),
            "scheduled": hour,
            "distance": rng.integers(80, 5000, rows),
            "seats": rng.integers(20, 400, rows),
            "wind": np.where(rng.random(rows) < 0.02, np.nan, wind.round(1)),
            "visibility": rng.uniform(0, 10, rows).round(2),
            "pressure": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(1013, 8, rows).round(1)),
            "waiting": rng.integers(0, 40, rows),
        }
    )
    late = wind + frame["waiting"] + 3 * (carrier % 5) + rng.normal(0, 5, rows) > 42
    return frame, np.where(late, "late", "on time")


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Whole tables, then single dicts."""
    rows = bench.effort.size
    frame, labels = flights(rows)
    contestants = [
        Contestant(WORK, FRAME, lambda _: lambda: TableClassifier().predict_then_learn(frame, labels), 1, "ours"),
        _command(COMMAND, frame, labels, bench.folder),
        _command(START, frame[:FIRST], labels[:FIRST], bench.folder),
    ]
    yield list(bench.measure(contestants, {"rows": rows}, per="run", effort=replace(bench.effort, seconds=0)))
    yield list(bench.measure(_single(*flights(ONES)), {"columns": 10}))


def _command(name: str, frame: pd.DataFrame, labels: Any, folder: Path) -> Contestant:
    path, out = folder / f"{len(frame)}.csv", folder / f"{len(frame)}"
    frame.assign(status=labels).to_csv(path, index=False)
    arguments = [sys.executable, "-m", "thalweg", "run", str(path), "--target", "status", "--quiet", "--out", str(out)]

    def prepare(_: int) -> Run:
        return lambda: subprocess.run(arguments, check=True, capture_output=True)

    return Contestant(WORK, name, prepare, 1, "ours")


def _single(frame: pd.DataFrame, labels: Any) -> Iterable[Contestant]:
    """A loop of dicts, whose columns were settled before."""
    words = np.random.default_rng(6).choice([f"word{i}" for i in range(500)], (len(frame), 6))
    written = frame.assign(scheduled=frame["scheduled"].dt.strftime("%m/%d/%Y %H:%M"))
    noted = frame.drop(columns="night").assign(note=[" ".join(row) for row in words])
    for name, table in {
        "one dict, no times": frame.drop(columns="scheduled"),
        "one dict": frame,
        "one dict, a time in text": written,
        "one dict, a column of text": noted,
    }.items():
        yield predicting(name, _settled(table, labels), table.to_dict("records"), labels.tolist(), side="ours")


def _settled(table: pd.DataFrame, labels: Any) -> Callable[[], TableClassifier]:
    return lambda: TableClassifier(AutoClassifier(curved=False)).fit(table[:FIRST], labels[:FIRST])


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The frame beside the command, and single rows."""
    best = {record.model: record.best for record in records}
    per_run = best.get(COMMAND, 0.0) - best.get(START, 0.0)
    if FRAME in best and per_run > 0:
        rows = next(record.setting["rows"] for record in records if record.model == FRAME)
        share = best[FRAME] * (1 - FIRST / rows) / per_run
        yield Finding("a frame × the rows of `thalweg run` less its start", share, at_most=1.3)
    for name, most in (("one dict, no times", 120.0), ("one dict, a time in text", 300.0)):
        if name in best:
            yield Finding(f"{name}: predicted and learned", 1e6 * best[name], at_most=most, unit="µs")


SUITE = Suite(
    name="table_rows",
    asks="What does a table cost in Python, beside `thalweg run` over its file, and one row of it as a dict?",
    measure=measure,
    plot=dots("table_rows", "A table of numbers, categories, times and gaps"),
    full=Effort(rounds=2, seconds=0.2, size=100_000),
    quick=Effort(rounds=1, seconds=0.1, size=20_000),
    findings=findings,
)
