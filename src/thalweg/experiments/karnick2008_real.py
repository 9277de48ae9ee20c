"""Learn++.NSE on real data, where Karnick, Muhlbaier & Polikar (2008) leave it to future work.

A block is answered before it is learned, and so are the rows of learners that need no blocks. All are scored on the
same rows, those after the first block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from thalweg.learners.learn_nse import LearnNSE
from thalweg.learners.online_ldc import OnlineLDC
from thalweg.streams import Table, load_elec2, load_weather

FAST_ROWS = 3000

MEMBERS: Mapping[str, Callable[[], Any]] = {
    "naive Bayes": GaussianNB,
    "tree": DecisionTreeClassifier,
    # A full tree makes no mistake on its own block: the newest then outvotes all others, whatever they know.
    "tree of depth 3": partial(DecisionTreeClassifier, max_depth=3),
}
OLDC, OLDC_BY_BLOCK, NO_CHANGE = "O-LDC soft", "O-LDC soft, labels by block", "No change"


@dataclass(frozen=True)
class Case:
    """A data set cut into blocks; ``load`` raises `DataUnavailable` where it is not at hand."""

    name: str
    load: Callable[[], Table]
    block: int
    #: The name over a narrow column.
    header: str


WEATHER, ELEC2 = "NOAA weather", "ELEC2, 6 features"
CASES = (
    Case(WEATHER, load_weather, 30, "weather\nby 30"),
    Case(WEATHER, load_weather, 250, "weather\nby 250"),
    Case(ELEC2, partial(load_elec2, "six"), 48, "ELEC2\nby day"),
    Case(ELEC2, partial(load_elec2, "six"), 336, "ELEC2\nby week"),
)


def tasks_of(case: Case, fast: bool) -> list[Callable[[], dict[str, float]]]:
    """What is measured on a case: functions that give errors by model."""
    table = case.load()
    X, y = table.take(min(table.length, FAST_ROWS) if fast else None)
    members = [partial(_ensemble_errors, name, make, X, y, case.block) for name, make in MEMBERS.items()]
    return [*members, partial(_row_errors, X, y, case.block)]


def ensemble_of(member: str) -> str:
    """The printed name of an ensemble."""
    return f"Learn++.NSE, {member}"


def single_of(member: str) -> str:
    """The printed name of the newest classifier alone."""
    return f"newest {member} alone"


def _ensemble_errors(
    member: str, make: Callable[[], Any], X: NDArray[np.float64], y: NDArray[Any], block: int
) -> dict[str, float]:
    """Of the ensemble and of its newest classifier alone, each block answered before it is learned."""
    model = LearnNSE(make(), n_jobs=1).partial_fit(X[:block], y[:block])
    wrong = {ensemble_of(member): 0, single_of(member): 0}
    for start in range(block, len(y), block):
        rows, labels = X[start : start + block], y[start : start + block]
        wrong[ensemble_of(member)] += int(np.count_nonzero(model.predict(rows) != labels))
        wrong[single_of(member)] += int(np.count_nonzero(model.members_[-1].predict(rows) != labels))
        model.partial_fit(rows, labels)
    return {name: mistakes / (len(y) - block) for name, mistakes in wrong.items()}


def _row_errors(X: NDArray[np.float64], y: NDArray[Any], block: int) -> dict[str, float]:
    """Of what learns row by row; O-LDC also with labels that come a whole block at a time, as for the ensemble."""
    answers = OnlineLDC("auto", counts="soft").predict_then_learn(X, y)
    late = OnlineLDC("auto", counts="soft").partial_fit(X[:block], y[:block])
    mistakes = 0
    for start in range(block, len(y), block):
        rows, labels = X[start : start + block], y[start : start + block]
        mistakes += int(np.count_nonzero(late.predict(rows) != labels))
        late.partial_fit(rows, labels)
    return {
        OLDC: float(np.mean(answers[block:] != y[block:])),
        OLDC_BY_BLOCK: mistakes / (len(y) - block),
        NO_CHANGE: float(np.mean(y[block:] != y[block - 1 : -1])),
    }
