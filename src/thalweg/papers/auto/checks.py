"""The item ``checks``: a hundred checks in ten thousand payments, of which one in a hundred is fraud.

The six numbers of `Fraud` go past the linear default. All labels of the first 5,000 rows are known; from there on one
in a hundred is asked for, and comes 500 rows late. In row 30,000 the fraud changes its ways. Each run is a seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from thalweg.label_budget.model import LabelBudget
from thalweg.label_budget.sampler import Strategy
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto.rare import DELAY, FEATURES, SEED
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study, run_in_processes
from thalweg.report import tables
from thalweg.streams.fraud import Fraud

ITEM = "checks"
BUDGET, START = 0.01, 5_000
#: By name the strategy, and the share of the budget spent on all rows alike.
SHOPS: Mapping[str, tuple[Strategy, float]] = {
    "highest scores only": ("flagged", 0.0),
    "and 5 % at random": ("flagged", 0.05),
    "and 20 % at random": ("flagged", 0.2),
    "rare": ("rare", 0.05),
    "uncertain": ("uncertain", 0.1),
    "random": ("random", 1.0),
}
_MEASURES = ("recall before", "PR AUC before", "recall after", "PR AUC after")


def measure(name: str, seed: int) -> tuple[float, ...]:
    """Recall among the checked, and the area under the precision-recall curve, before and after the change."""
    strategy, explore = SHOPS[name]
    stream = Fraud(seed=seed)
    X, y = stream.take()
    X = np.ascontiguousarray(X[:, :FEATURES])
    model = LabelBudget(
        AutoClassifier(curved=False), BUDGET, strategy=strategy, explore=explore, positive=1, seed=seed
    ).partial_fit(X[:START], y[:START])
    rows = np.arange(START, len(y))
    steps = np.stack([rows[DELAY:], ~rows[:-DELAY]], axis=1).ravel()
    checked = model.follow(X, y, np.concatenate([rows[:DELAY], steps]))
    scores: list[float] = []
    for part in (slice(START, stream.change), slice(stream.change, None)):
        fraud = y[part] == 1
        area = average_precision_score(fraud, checked.positive[part])
        scores += [float(checked.asked[part][fraud].mean()), float(area)]
    return tuple(scores)


def outcome(request: Request) -> Outcome:
    """Recall among the checked and PR AUC of each shop, before and after the change."""
    study = Study(dict.fromkeys(SHOPS, 1.0), request)
    scores: dict[str, NDArray[np.float64]] = {}
    for name in SHOPS:
        finished = study.stage(name)
        tasks = [partial(measure, name, SEED + study.seed + run) for run in range(study.runs)]
        runs: dict[int, tuple[float, ...]] = {}
        for number, score in run_in_processes(tasks, study.workers):
            runs[number] = score
            finished(len(runs) / len(tasks))
        scores[name] = np.array([runs[run] for run in sorted(runs)])
    lines = [[name, *(f"{mean:.3f}" for mean in runs.mean(axis=0))] for name, runs in scores.items()]
    return Outcome(
        f"A hundred checks in ten thousand payments, mean of {study.runs} seeds from {SEED + study.seed}",
        tuple(
            Finding.of_runs(measured, name, runs[:, place])
            for name, runs in scores.items()
            for place, measured in enumerate(_MEASURES)
        ),
        notes=(
            f"Fraud is 1 % of the rows and changes its ways in row 30,000. All labels of the first {START:,} rows are "
            f"known, then those of a hundred in ten thousand rows, {DELAY} rows late.",
            *study.notes,
        ),
        table=partial(tables.lines, ("", *(name.replace(" ", "\n", 1) for name in _MEASURES)), lines),
        timing=study.timing(),
    )
