"""The item ``decisions``: which rules keep probabilities calibrated and sets covering while a stream drifts.

`AutoClassifier` goes over three data sets and the fraud stream, whose labels come 500 rows late. Its probabilities are
corrected by Platt's rule (two parameters, recursive Newton steps with a memory of 2,000 rows) and by `Recalibrated`.
Sets of 95 % coverage come from adaptive conformal inference (Gibbs & Candès 2021: quantiles of the last 1,000 scores,
step 0.005) and from `PredictionSets` with three steps; a block is 2,000 rows. Rows before the first label are left out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.decisions.prediction_sets import PredictionSets
from thalweg.learners.decisions.recalibrated import Recalibrated
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study
from thalweg.report import tables
from thalweg.streams import load_elec2, load_sea_concepts, load_weather
from thalweg.streams.fraud import Fraud
from thalweg.streams.stream import Rows

ITEM = "decisions"
COVERAGE, BLOCK, BINS = 0.95, 2000, 10
STEPS = (0.02, 0.1, 0.3)
#: Memory of Platt's rule, and rows and step of adaptive conformal inference.
_PLATT_MEMORY, _ACI_WINDOW, _ACI_STEP = 2000.0, 1000, 0.005
_LEAST = 1e-6

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def _coded(rows: Rows) -> tuple[Floats, Codes]:
    X, y = rows
    return X, np.unique(y, return_inverse=True)[1].astype(np.int64)


#: The streams, and how many rows late their labels come.
STREAMS: Mapping[str, tuple[Callable[[int], tuple[Floats, Codes]], int]] = {
    "ELEC2": (lambda _: _coded(load_elec2("all").take()), 0),
    "SEA": (lambda _: _coded(load_sea_concepts().take()), 0),
    "NOAA": (lambda _: _coded(load_weather().take()), 0),
    "fraud": (lambda seed: _coded(Fraud(seed=seed + 1).take()), 500),
}


def _measured(study: Study, stream: str) -> Mapping[str, float] | None:
    """What each rule reaches on a stream, by measure; None where the data are not at hand."""
    finished = study.stage(stream)
    take, delay = STREAMS[stream]
    rows = study.at_hand(stream, lambda: take(study.seed))
    if rows is None:
        return None
    X, y = rows
    values: dict[str, float] = {}
    order = follow_late(len(y), delay)
    alone = AutoClassifier().follow(X, y, order, with_proba=True)[1]
    corrected = Recalibrated(AutoClassifier()).follow(X, y, order, with_proba=True)[1]
    assert alone is not None
    assert corrected is not None
    p, labels = alone[delay:, 1], y[delay:]
    finished(0.4)
    rules = {"alone": p, "Platt": _platt(p, labels, delay), "Recalibrated": corrected[delay:, 1]}
    for name, given in rules.items():
        values[f"calibration, {name}"] = calibration_error(given, labels)
        right = np.where(labels == 1, given, 1 - given).clip(_LEAST, 1.0)
        values[f"log-loss, {name}"] = float(-np.log(right).mean())
    values |= _coverage("ACI", *_aci(p, labels, delay))
    finished(0.6)
    for step in STEPS:
        sets = PredictionSets(AutoClassifier(), COVERAGE, step=step).follow_sets(X, y, order).sets
        covered = sets[np.arange(len(y)), y][delay:]
        values |= _coverage(f"sets, step {step:g}", covered, sets.sum(axis=1)[delay:])
    finished(1.0)
    return values


def calibration_error(p: Floats, y: Codes) -> float:
    """Mean distance between probability and outcome in ten bins of the second label's probability.

    Examples
    --------
    >>> calibration_error(np.array([0.8, 0.8, 0.8, 0.8]), np.array([1, 1, 0, 0])).__round__(3)
    0.3
    """
    bins = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    return float(np.abs(np.bincount(bins, weights=y - p, minlength=BINS)).sum() / len(p))


def follow_late(rows: int, delay: int) -> Codes:
    """Steps of `follow`: each row is predicted when the labels of all rows ``delay`` before it are known."""
    numbers = np.arange(rows)
    if delay == 0:
        return np.stack([numbers, ~numbers], axis=1).ravel()
    return np.concatenate([numbers[:delay], np.stack([~numbers[:-delay], numbers[delay:]], axis=1).ravel()])


def _platt(p: Floats, y: Codes, delay: int) -> Floats:
    """Platt's rule on line: log-odds a + b z, by Newton steps with forgetting, from (0, 1)."""
    inside = p.clip(_LEAST, 1 - _LEAST)
    z = np.log(inside / (1 - inside)).tolist()
    (a, b), keep = (0.0, 1.0), 1 - 1 / _PLATT_MEMORY
    saa, sab, sbb = 1.0, 0.0, 20.0
    out = np.empty(len(p))
    for t in range(len(p)):
        late = t - (delay or 1)
        if late >= 0:
            q = 1 / (1 + np.exp(-(a + b * z[late])))
            w, e = max(q * (1 - q), 1e-4), y[late] - q
            saa, sab, sbb = keep * saa + w, keep * sab + w * z[late], keep * sbb + w * z[late] ** 2
            whole = saa * sbb - sab * sab
            a, b = a + e * (sbb - sab * z[late]) / whole, b + e * (saa * z[late] - sab) / whole
        out[t] = 1 / (1 + np.exp(-(a + b * z[t])))
    return out


def _aci(p: Floats, y: Codes, delay: int) -> tuple[NDArray[np.bool_], Codes]:
    """Adaptive conformal inference: whether each row is covered, and how many labels its set has."""
    scores = np.where(y == 1, 1 - p, p)
    window: deque[float] = deque()
    ordered: list[float] = []
    alpha, used = 1 - COVERAGE, deque[float]()
    covered, sizes = np.ones(len(p), dtype=np.bool_), np.full(len(p), 2, dtype=np.int64)
    for t in range(len(p)):
        limit = np.inf
        if ordered and alpha > 0:
            place = int(np.ceil((1 - alpha) * (len(ordered) + 1))) - 1
            limit = -np.inf if place < 0 else ordered[place] if place < len(ordered) else np.inf
        used.append(limit)
        covered[t] = scores[t] <= limit
        sizes[t] = int(1 - p[t] <= limit) + int(p[t] <= limit)
        if t >= delay:
            known = scores[t - delay]
            alpha += _ACI_STEP * ((1 - COVERAGE) - float(known > used.popleft()))
            window.append(known)
            insort(ordered, known)
            if len(window) > _ACI_WINDOW:
                del ordered[bisect_left(ordered, window.popleft())]
    return covered, sizes


def _coverage(name: str, covered: NDArray[np.bool_], sizes: NDArray[np.int64]) -> dict[str, float]:
    blocks = covered[: len(covered) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(axis=1)
    return {
        f"coverage, {name}": float(covered.mean()),
        f"worst block, {name}": float(blocks.min()),
        f"set size, {name}": float(sizes.mean()),
    }


def outcome(request: Request) -> Outcome:
    """Every measure on every stream."""
    study = Study(dict.fromkeys(STREAMS, 1.0), request)
    measured = {stream: values for stream in STREAMS if (values := _measured(study, stream)) is not None}
    names = list(next(iter(measured.values())))
    lines = [[name, *(f"{values[name]:.3f}" for values in measured.values())] for name in names]
    return Outcome(
        f"Probabilities of AutoClassifier: calibration error in {BINS} bins, and sets of {COVERAGE:.0%} coverage",
        tuple(Finding(stream, name, values[name]) for stream, values in measured.items() for name in names),
        notes=tuple(study.notes),
        table=partial(tables.lines, ("", *measured), lines),
        timing=study.timing(),
    )
