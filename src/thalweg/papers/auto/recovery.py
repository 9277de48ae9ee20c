"""The item ``recovery``: a boundary that changes its kind, and how soon the running model is as good as a fresh one.

A stream of five normal features has a straight boundary for 20,000 rows and then a curved one, or the reverse. The
model that saw all rows is compared with one that starts at the change, on the same rows, in windows of 500.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.auto import AutoClassifier
from thalweg.papers.figures import Curve, Panel, draw, thousands
from thalweg.papers.registry import Finding, Outcome, ci95
from thalweg.papers.study import Request, Study, run_all, seeds_of_run
from thalweg.report import style, tables
from thalweg.streams import TurningXOR, WanderingDisc
from thalweg.streams.stream import Labels, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

ITEM = "recovery"
#: Rows before the change, rows after it, and rows of a window.
BEFORE, AFTER, WINDOW = 20_000, 5000, 500
#: No more runs than this: they give the mean error of a window to about 0.003.
MOST_RUNS = 20
#: How much more than a fresh model's error counts as recovered.
TOLERATED = 0.20
RUNNING, FRESH = "running", "fresh at the change"
_FEATURES, _NOISE = 5, 0.05

#: Errors of one model by run and window.
Errors: TypeAlias = NDArray[np.float64]


def _line(seed: int) -> Rows:
    """The features of the XOR, a fixed plane, and as many flipped labels."""
    stream = TurningXOR(seed=seed, features=_FEATURES, noise=_NOISE)
    X, y = stream.take(BEFORE + AFTER)
    _, clean = stream.clean.take(BEFORE + AFTER)
    beyond: Labels = (X @ np.array([1.0, -1.0, 0.5, 0.0, 0.0]) > 0.0).astype(np.int64)
    return X, np.where(y != clean, 1 - beyond, beyond)


def _xor(seed: int) -> Rows:
    return TurningXOR(seed=seed, features=_FEATURES, noise=_NOISE).take(BEFORE + AFTER)


def _disc(seed: int) -> Rows:
    return WanderingDisc(seed=seed, features=_FEATURES).take(BEFORE + AFTER)


#: What holds before the change and after it.
CHANGES: Mapping[str, tuple[Callable[[int], Rows], Callable[[int], Rows]]] = {
    "line to XOR": (_line, _xor),
    "XOR to line": (_xor, _line),
    "line to disc": (_line, _disc),
    "disc to line": (_disc, _line),
}


def _windows(change: str, run: int, seed: int) -> dict[str, list[float]]:
    """Errors of both models in each window after the change."""
    before, after = CHANGES[change]
    stream_seed, _ = seeds_of_run(seed, run)
    X, y = before(stream_seed)
    X_after, y_after = after(stream_seed)
    running = AutoClassifier().partial_fit(X[:BEFORE], y[:BEFORE])
    models = {RUNNING: running, FRESH: AutoClassifier()}
    rows, labels = X_after[BEFORE:], y_after[BEFORE:]
    predicted = {name: np.asarray(model.predict_then_learn(rows, labels)) for name, model in models.items()}
    mistakes = {name: given != labels for name, given in predicted.items()}
    mistakes[FRESH][0] = True  # there is no label yet
    return {name: wrong.reshape(-1, WINDOW).mean(axis=1).tolist() for name, wrong in mistakes.items()}


def _measured(study: Study, change: str) -> Mapping[str, Errors]:
    """Errors by model, of shape (runs, windows)."""
    tasks = [partial(_windows, change, run, study.seed) for run in range(study.runs)]
    results = run_all(tasks, study.workers, study.stage(change))
    return {name: np.array([result[name] for result in results]) for name in (RUNNING, FRESH)}


def outcome(request: Request) -> Outcome:
    """Errors by window, and the first window in which the running model has recovered."""
    study = Study(dict.fromkeys(CHANGES, 1.0), replace(request, runs=min(request.runs, MOST_RUNS)))
    measured = {change: _measured(study, change) for change in CHANGES}
    return Outcome(
        f"Recovery: error in windows of {WINDOW} rows after the change, mean of {study.runs} runs",
        tuple(
            Finding.of_runs(change, name, errors[:, window], more={"rows": (window + 1) * WINDOW})
            for change, by_model in measured.items()
            for name, errors in by_model.items()
            for window in range(errors.shape[1])
        ),
        summary=(
            "The running model's error against the fresh one's in the first window, the second, and the others. "
            f"Recovered: at the end of the first window in which it is at most {TOLERATED:.0%} higher.",
            *(_verdict(change, by_model) for change, by_model in measured.items()),
        ),
        notes=(
            f"{BEFORE:,} rows before the change; the fresh model starts at the change and gets the same rows. Both are "
            f"judged in windows of {WINDOW} rows, each row predicted before its label is learned.",
        ),
        table=partial(_table, measured),
        draw=partial(_draw, measured),
        timing=study.timing(),
    )


def _verdict(change: str, by_model: Mapping[str, Errors]) -> str:
    running, fresh = (by_model[name].mean(axis=0) for name in (RUNNING, FRESH))
    excess = running / fresh - 1.0
    recovered = np.flatnonzero(excess <= TOLERATED)
    when = f"at row {WINDOW * int(recovered[0] + 1):,}" if len(recovered) else "later than that"
    shares = " ".join(f"{share:+6.1%}" for share in (excess[0], excess[1], excess[2:].mean()))
    return f"  {change:<13} {shares}   recovered {when}"


def _table(measured: Mapping[str, Mapping[str, Errors]]) -> Table:
    columns = {
        "\n".join([*change.split(maxsplit=1), name.split()[0]]): errors.mean(axis=0)
        for change, by_model in measured.items()
        for name, errors in by_model.items()
    }
    rows = [
        [f"{WINDOW * (at + 1):,}", *(f"{means[at]:.3f}" for means in columns.values())] for at in range(AFTER // WINDOW)
    ]
    return tables.lines(("up to\nrow", *columns), rows)


def _draw(measured: Mapping[str, Mapping[str, Errors]]) -> Figure:
    """A panel for each change, the mean over runs and its 95 % interval."""
    looks = {RUNNING: style.MAIN, FRESH: style.Look(style.VERMILION, (0, (5, 1.6)), "s")}
    rows = WINDOW * (np.arange(AFTER // WINDOW) + 1)
    panels = []
    for place, (change, by_model) in enumerate(measured.items()):
        curves = []
        for name, errors in by_model.items():
            mean, half = errors.mean(axis=0), np.array([ci95(window) or 0.0 for window in errors.T])
            curves.append(Curve(name, rows, mean, band=(mean - half, mean + half), look=looks[name]))
        label = f"error in {WINDOW} rows" if place < 2 else ""  # the changes go down the columns
        panels.append(Panel(change, curves, "", label, marks=[thousands]))
    pairs = []
    for one, other in (panels[::2], panels[1::2]):
        top = max(float(curve.y.max()) for curve in (*one.curves, *other.curves))
        pairs += [one, replace(other, marks=[*other.marks, partial(style.share_from_zero, top=top)])]
    return draw(
        pairs,
        (9.0, 5.6),
        columns=2,
        share="x",
        sharey="row",
        labels=("rows after the change", ""),
        curve=lambda _: {"markersize": 4},
        legend={"handlelength": 3.0},
    )
