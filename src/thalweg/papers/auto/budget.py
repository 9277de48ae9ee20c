"""The item ``budget``: the default with a tenth and with three hundredths of the labels, asked for or drawn at random.

Each run draws which rows are asked for anew; the fifteen streams of ``curved`` are the same in all runs. The first row
counts as a mistake. With all labels nothing is drawn, so there is one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gmean

from thalweg.label_budget.model import LabelBudget
from thalweg.label_budget.sampler import Strategy
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto.sources import CURVED_STREAMS, DataSet
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study, run_in_processes
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

ITEM = "budget"
#: No more runs than this: they differ only in which rows are asked for.
MOST_RUNS = 3
BUDGETS: tuple[float, ...] = (0.1, 0.03)
_STRATEGIES: tuple[Strategy, ...] = ("auto", "random")
_ALL = "all labels"
#: By model, the error of each run.
Errors: TypeAlias = Mapping[str, NDArray[np.float64]]


def _name(budget: float, strategy: Strategy) -> str:
    return f"{budget:.0%}, {'asked' if strategy == 'auto' else strategy}"


def measure(stream: DataSet, run: int, seed: int) -> Mapping[str, float]:
    """The error with each budget and strategy, and in the first run with all labels."""
    X, y = stream.table(run, seed).take()
    asked = {_name(budget, strategy): (budget, strategy) for budget in BUDGETS for strategy in _STRATEGIES}
    predictions: dict[str, Any] = {} if run else {_ALL: AutoClassifier().predict_then_learn(X, y)}
    for name, (budget, strategy) in asked.items():
        model = LabelBudget(AutoClassifier(), budget, strategy=strategy, seed=seed + run)
        predictions[name] = model.predict_then_learn(X, y).predictions
    return {name: float(np.append(True, np.not_equal(given, y)[1:]).mean()) for name, given in predictions.items()}


def _measured(study: Study, stream: DataSet) -> Errors | None:
    finished = study.stage(stream.name)
    if study.at_hand(stream.name, lambda: stream.table(0, study.seed)) is None:
        return None
    tasks = [partial(measure, stream, run, study.seed) for run in range(study.runs)]
    runs: dict[int, Mapping[str, float]] = {}
    for number, errors in run_in_processes(tasks, study.workers):
        runs[number] = errors
        finished(len(runs) / len(tasks))
    return {name: np.array([runs[run][name] for run in sorted(runs) if name in runs[run]]) for name in runs[0]}


def outcome(request: Request) -> Outcome:
    """The errors, and how many of those of random asking remain."""
    request = replace(request, runs=min(request.runs, MOST_RUNS))
    study = Study({stream.name: float(stream.rows) for stream in CURVED_STREAMS}, request)
    measured = {stream.name: errors for stream in CURVED_STREAMS if (errors := _measured(study, stream)) is not None}
    title = f"Label budgets: prequential error on {len(measured)} streams, mean of {study.runs} runs, seed {study.seed}"
    if not measured:
        return Outcome(title, summary=("No stream is at hand.",), notes=tuple(study.notes))
    ratios = {budget: np.array([_ratio(errors, budget) for errors in measured.values()]) for budget in BUDGETS}
    return Outcome(
        title,
        tuple(
            Finding.of_runs(stream, name, runs) for stream, errors in measured.items() for name, runs in errors.items()
        ),
        summary=tuple(
            f"With {budget:.0%} of the labels, asking leaves {gmean(of_streams):.3f} of the errors of random asking "
            f"(geometric mean; the most is {of_streams.max():.2f}, on {list(measured)[int(of_streams.argmax())]}). "
            f"All labels leave {gmean([_ratio(errors, budget, _ALL) for errors in measured.values()]):.3f}."
            for budget, of_streams in ratios.items()
        ),
        notes=("Ratio: the error where rows are asked for, divided by that where as many are drawn.", *study.notes),
        table=partial(_table, measured, ratios),
        timing=study.timing(),
    )


def _ratio(errors: Errors, budget: float, of: str | None = None) -> float:
    """The error with asked labels, or of another model, over that with as many drawn at random."""
    asked, drawn = (errors[_name(budget, strategy)].mean() for strategy in _STRATEGIES)
    return float((asked if of is None else errors[of].mean()) / drawn)


def _table(measured: Mapping[str, Errors], ratios: Mapping[float, NDArray[np.float64]]) -> Table:
    lines: list[Sequence[str]] = []
    for place, (stream, errors) in enumerate(measured.items()):
        cells = [f"{errors[_ALL].mean():.3f}"]
        for budget in BUDGETS:
            cells += [f"{errors[_name(budget, strategy)].mean():.3f}" for strategy in _STRATEGIES]
            cells.append(f"{ratios[budget][place]:.2f}")
        lines.append([stream, *cells])
    means = [text for budget in BUDGETS for text in ("", "", f"{gmean(ratios[budget]):.2f}")]
    headers = [header for budget in BUDGETS for header in (f"{budget:.0%}\nasked", "\nrandom", "\nratio")]
    return tables.lines(("", "all\nlabels", *headers), [*lines, ["geometric mean", "", *means]])
