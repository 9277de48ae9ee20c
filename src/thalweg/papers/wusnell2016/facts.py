"""The table of facts: numbers that the paper prints, beside what the simulations measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from thalweg.papers.registry import Finding
from thalweg.papers.wusnell2016 import simulations as simulated
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

PAPER, ITEM = "wusnell2016", "facts"


def of_regression(curves: simulated.Curves) -> list[Finding]:
    """Distance to the true weights, and regret."""
    part = "Stochastic gradient, η₀ = 1"
    early, of_noise = simulated.NEAR_OPTIMAL_AFTER, simulated.NOISE**2
    regret = curves[simulated.REGRET, simulated.SGD]
    return [
        _mean(
            part,
            "distance to w",
            curves[simulated.DISTANCE, simulated.SGD][:, -1],
            note="The fifth weight is 2, as in the paper's vector; its formula has 1.",
        ),
        _mean(part, "…of recursive least squares", curves[simulated.DISTANCE, simulated.LEAST_SQUARES][:, -1]),
        _mean(part, f"regret after {early} rows", regret[:, early - 1]),
        _mean(part, f"regret after {simulated.ROWS:,} rows", regret[:, -1]),
        _mean(
            part,
            f"regret a row after row {early}",
            (regret[:, -1] - regret[:, early - 1]) / (simulated.ROWS - early),
            note=f"“They increase very slowly after {early} steps”; the noise itself costs {of_noise:g} a row.",
        ),
    ]


def of_perceptron(curves: simulated.Curves) -> list[Finding]:
    """The best accuracy possible, and the accuracy reached."""
    part = "Perceptron"
    accuracy = {name: runs for (quantity, name), runs in curves.items() if quantity == simulated.ACCURACY}
    best, printed = (simulated.line_name(line) for line in (simulated.BEST_LINE, simulated.PRINTED_LINE))
    said = {
        simulated.MARGIN_0: "Updates at y w'x ≤ margin, with η y x: the printed < never begins from w = 0, nor η y w.",
        simulated.MARGIN_1: "“The classification ability … is near optimal after some number of updates.”",
        simulated.AVERAGED: "",
    }
    return [
        _known(part, "best accuracy possible", float(ndtr(math.sqrt(2.0))), simulated.OPTIMAL_ACCURACY, "Φ(√2)."),
        _mean(part, f"{best} on these rows", accuracy[best]),
        _mean(
            part,
            f"{printed} on these rows",
            accuracy[printed],
            simulated.OPTIMAL_ACCURACY,
            "A misprint: that line goes through both means.",
        ),
        *(_mean(part, f"cumulative, {name}", accuracy[name][:, -1], note=why) for name, why in said.items()),
    ]


def of_component(curves: simulated.Curves) -> list[Finding]:
    """The first component, and the distance of each recursion to it."""
    part = "First principal component"
    length = math.hypot(*simulated.FIRST_COMPONENT)
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
            _known(part, f"v₁, entry {place + 1}", float(simulated.TRUE_AXIS[place]), number, note)
            for place, (number, note) in enumerate(zip(simulated.FIRST_COMPONENT[:2], misprints, strict=True))
        ),
        *(
            _mean(part, f"distance, {name}", _at_the_end(curves[simulated.DISTANCE, name]), note=why)
            for name, why in said.items()
        ),
    ]


def _known(part: str, quantity: str, value: float, printed: float, note: str) -> Finding:
    return Finding(PAPER, ITEM, part, quantity, value, printed=printed, note=note)


def _mean(part: str, quantity: str, runs: NDArray[np.float64], printed: float | None = None, note: str = "") -> Finding:
    return Finding.of_runs(PAPER, ITEM, part, quantity, runs, printed=printed, note=note)


def _at_the_end(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The last value of each run, given curves or values at the end only."""
    return values if values.ndim == 1 else np.asarray(values[:, -1])


def table(findings: Sequence[Finding]) -> Table:
    """The paper's numbers, if it prints any, beside ours, a section for each part.

    A number in brackets refers to the line of `remarks`.
    """
    notes = _notes(findings)
    with_paper = any(each.printed is not None for each in findings)
    groups: dict[str, list[list[str]]] = {}
    for each in findings:
        printed = ["" if each.printed is None else f"{each.printed:.4f}"] if with_paper else []
        interval = "" if each.ci95 is None else f" ± {each.ci95:.4f}"
        mark = f"({notes.index(each.note) + 1})" if each.note else ""
        groups.setdefault(each.data, []).append([f" {each.model}", *printed, f"{each.measured:.4f}{interval}", mark])
    headers = ("", "paper", "here", "") if with_paper else ("", "here", "")
    return tables.sections(headers, groups, left=(0, len(headers) - 1))


def remarks(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The notes of the findings, numbered as in the table."""
    return tuple(f"({number}) {note}" for number, note in enumerate(_notes(findings), start=1))


def _notes(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(each.note for each in findings if each.note))
