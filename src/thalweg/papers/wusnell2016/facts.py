"""The table of facts: numbers that the paper prints, beside what the simulations measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from thalweg.papers.registry import Finding
from thalweg.papers.wusnell2016 import simulations as simulated
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table


#: A fact: the quantity, its value or its values by run, what the paper prints, and a remark.
Fact: TypeAlias = tuple[str, "float | NDArray[np.float64]", float | None, str]


def stated(regression: simulated.Curves, perceptron: simulated.Curves, component: simulated.Curves) -> list[Finding]:
    """What the paper says of each simulation, by part of the paper."""
    parts = {
        "Stochastic gradient, η₀ = 1": _of_regression(regression),
        "Perceptron": _of_perceptron(perceptron),
        "First principal component": _of_component(component),
    }
    return [_finding(part, *fact) for part, facts in parts.items() for fact in facts]


def _finding(part: str, quantity: str, value: float | NDArray[np.float64], printed: float | None, note: str) -> Finding:
    if isinstance(value, float):
        return Finding(part, quantity, value, printed=printed, note=note)
    return Finding.of_runs(part, quantity, value, printed=printed, note=note)


def _of_regression(curves: simulated.Curves) -> list[Fact]:
    early, of_noise = simulated.NEAR_OPTIMAL_AFTER, simulated.NOISE**2
    regret, distances = curves[simulated.REGRET, simulated.SGD], simulated.DISTANCE
    misprint = "The fifth weight is 2, as in the paper's vector; its formula has 1."
    slowly = f"“They increase very slowly after {early} steps”; the noise itself costs {of_noise:g} a row."
    a_row = (regret[:, -1] - regret[:, early - 1]) / (simulated.ROWS - early)
    return [
        ("distance to w", curves[distances, simulated.SGD][:, -1], None, misprint),
        ("…of recursive least squares", curves[distances, simulated.LEAST_SQUARES][:, -1], None, ""),
        (f"regret after {early} rows", regret[:, early - 1], None, ""),
        (f"regret after {simulated.ROWS:,} rows", regret[:, -1], None, ""),
        (f"regret a row after row {early}", a_row, None, slowly),
    ]


def _of_perceptron(curves: simulated.Curves) -> list[Fact]:
    accuracy = {name: runs for (quantity, name), runs in curves.items() if quantity == simulated.ACCURACY}
    best, printed = (simulated.line_name(line) for line in (simulated.BEST_LINE, simulated.PRINTED_LINE))
    optimal, through = simulated.OPTIMAL_ACCURACY, "A misprint: that line goes through both means."
    said = {
        simulated.MARGIN_0: "Updates at y w'x ≤ margin, with η y x: the printed < never begins from w = 0, nor η y w.",
        simulated.MARGIN_1: "“The classification ability … is near optimal after some number of updates.”",
        simulated.AVERAGED: "",
    }
    return [
        ("best accuracy possible", float(ndtr(math.sqrt(2.0))), optimal, "Φ(√2)."),
        (f"{best} on these rows", accuracy[best], None, ""),
        (f"{printed} on these rows", accuracy[printed], optimal, through),
        *((f"cumulative, {name}", accuracy[name][:, -1], None, why) for name, why in said.items()),
    ]


def _of_component(curves: simulated.Curves) -> list[Fact]:
    length = math.hypot(*simulated.FIRST_COMPONENT)
    apart = float(np.linalg.norm(simulated.RAW_AXIS - simulated.TRUE_AXIS))
    swapped = f"A misprint, two digits being swapped: as printed, the vector is {length:.4f} long."
    said = {
        simulated.CENTRED: "",
        simulated.RAW: f"Raw rows lead to the first axis of E x x', {apart:.2f} away: they must be centred.",
        simulated.VARIANCE_WEIGHED: "As in Weng, Zhang & Hwang 2003, to which the paper refers.",
        simulated.BATCH: "",
    }
    # Curves by run, or values at the end only.
    distances = {name: curves[simulated.DISTANCE, name].T for name in said}
    entries = zip(simulated.TRUE_AXIS.tolist(), simulated.FIRST_COMPONENT[:2], (swapped, ""), strict=False)
    return [
        *((f"v₁, entry {place}", *entry) for place, entry in enumerate(entries, start=1)),
        *((f"distance, {name}", at[-1] if at.ndim > 1 else at, None, said[name]) for name, at in distances.items()),
    ]


def table(findings: Sequence[Finding]) -> Table:
    """The paper's numbers, if it prints any, beside ours, a section for each part.

    A number in brackets refers to the line of `remarks`.
    """
    notes = _notes(findings)
    with_paper = any(finding.printed is not None for finding in findings)
    groups: dict[str, list[list[str]]] = {}
    for finding in findings:
        printed = ["" if finding.printed is None else f"{finding.printed:.4f}"] if with_paper else []
        interval = "" if finding.ci95 is None else f" ± {finding.ci95:.4f}"
        mark = f"({notes.index(finding.note) + 1})" if finding.note else ""
        groups.setdefault(finding.data, []).append(
            [f" {finding.model}", *printed, f"{finding.measured:.4f}{interval}", mark]
        )
    headers = ("", "paper", "here", "") if with_paper else ("", "here", "")
    return tables.sections(headers, groups, left=(0, len(headers) - 1))


def remarks(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The notes of the findings, numbered as in the table."""
    return tuple(f"({number}) {note}" for number, note in enumerate(_notes(findings), start=1))


def _notes(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.note for finding in findings if finding.note))
