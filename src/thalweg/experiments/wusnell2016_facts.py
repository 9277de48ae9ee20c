"""What Wu & Snell (2016) say in numbers, and in words that can be measured, beside what runs of the simulations say."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from thalweg.evaluate import mean_interval
from thalweg.experiments import wusnell2016_simulations as simulated
from thalweg.experiments.wusnell2016_printed import FIRST_COMPONENT, NEAR_OPTIMAL_AFTER, NOISE, OPTIMAL_ACCURACY, ROWS
from thalweg.report.fact import Fact

PAPER, ITEM = "wusnell2016", "facts"


def of_regression(curves: simulated.Curves) -> list[Fact]:
    """How near the weights come, and what it costs on the way."""
    part = "Stochastic gradient, η₀ = 1"
    early = NEAR_OPTIMAL_AFTER
    regret = curves[simulated.REGRET, simulated.SGD]
    return [
        _mean(
            part,
            "distance to w",
            curves[simulated.DISTANCE, simulated.SGD][:, -1],
            remark="The fifth weight is 2, as in the paper's vector; its formula has 1.",
        ),
        _mean(part, "…of recursive least squares", curves[simulated.DISTANCE, simulated.LEAST_SQUARES][:, -1]),
        _mean(part, f"regret after {early} rows", regret[:, early - 1]),
        _mean(part, f"regret after {ROWS:,} rows", regret[:, -1]),
        _mean(
            part,
            f"regret a row after row {early}",
            (regret[:, -1] - regret[:, early - 1]) / (ROWS - early),
            remark=f"“They increase very slowly after {early} steps”; the noise itself costs {NOISE**2:g} a row.",
        ),
    ]


def of_perceptron(curves: simulated.Curves) -> list[Fact]:
    """What is possible, and what is reached."""
    part = "Perceptron"
    accuracy = {name: runs for (quantity, name), runs in curves.items() if quantity == simulated.ACCURACY}
    best, printed = (simulated.line_name(line) for line in (simulated.BEST_LINE, simulated.PRINTED_LINE))
    said = {
        simulated.MARGIN_0: "Updates at y w'x ≤ margin, with η y x: the printed < never begins from w = 0, nor η y w.",
        simulated.MARGIN_1: "“The classification ability … is near optimal after some number of updates.”",
        simulated.AVERAGED: "",
    }
    return [
        _known(part, "best accuracy possible", float(ndtr(math.sqrt(2.0))), OPTIMAL_ACCURACY, "Φ(√2)."),
        _mean(part, f"{best} on these rows", accuracy[best]),
        _mean(
            part,
            f"{printed} on these rows",
            accuracy[printed],
            OPTIMAL_ACCURACY,
            "A misprint: that line goes through both means.",
        ),
        *(_mean(part, f"cumulative, {name}", accuracy[name][:, -1], remark=why) for name, why in said.items()),
    ]


def of_component(curves: simulated.Curves) -> list[Fact]:
    """The component, and how near the recursions come to it."""
    part = "First principal component"
    length = math.hypot(*FIRST_COMPONENT)
    misprints = (f"A misprint, two digits being swapped: as printed, the vector is {length:.4f} long.", "")
    apart = float(np.linalg.norm(simulated.RAW_AXIS - simulated.TRUE_AXIS))
    said = {
        simulated.CENTRED: "",
        simulated.RAW: f"Raw rows lead to the first axis of E x x', {apart:.2f} away: they must be centred.",
        simulated.VARIANCE_WEIGHED: "As in Weng, Zhang & Hwang 2003, to which the paper refers.",
        simulated.BATCH: "",
    }
    return [
        *(
            _known(part, f"v₁, entry {place + 1}", float(simulated.TRUE_AXIS[place]), number, remark)
            for place, (number, remark) in enumerate(zip(FIRST_COMPONENT[:2], misprints, strict=True))
        ),
        *(
            _mean(part, f"distance, {name}", _at_the_end(curves[simulated.DISTANCE, name]), remark=why)
            for name, why in said.items()
        ),
    ]


def _known(part: str, quantity: str, value: float, printed: float, remark: str) -> Fact:
    return Fact(PAPER, ITEM, part, quantity, value, printed=printed, remark=remark)


def _mean(part: str, quantity: str, runs: NDArray[np.float64], printed: float | None = None, remark: str = "") -> Fact:
    ci95 = mean_interval(runs).halfwidth if len(runs) > 1 else None
    return Fact(PAPER, ITEM, part, quantity, float(runs.mean()), ci95, len(runs), printed, remark)


def _at_the_end(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last value of each run; values may be curves, or of the end only."""
    return values if values.ndim == 1 else np.asarray(values[:, -1])
