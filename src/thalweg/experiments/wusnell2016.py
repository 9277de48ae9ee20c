"""Wu & Snell (2016), An introduction to incremental learning.

Three simulations of 1,000 rows: linear regression by stochastic gradients, the perceptron, and the first principal
component. The paper draws one run of each; here are as many as one likes, with bands. It prints few numbers; they are
in `wusnell2016_printed`, and the table of facts sets them beside what was measured and names the misprints. Two
further tables show what the paper only promises: several components, on the digits, and the three algorithms behind a
kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from thalweg.evaluate import mean_interval
from thalweg.experiments import wusnell2016_digits as digits
from thalweg.experiments import wusnell2016_kernels as kernels
from thalweg.experiments import wusnell2016_simulations as simulated
from thalweg.experiments.outcome import Outcome
from thalweg.experiments.papers import PAPERS
from thalweg.experiments.progress import Meter, Progress
from thalweg.experiments.workers import run_all, seeds_of_run
from thalweg.experiments.wusnell2016_printed import (
    CENTRE,
    FIRST_COMPONENT,
    NEAR_OPTIMAL_AFTER,
    NOISE,
    OPTIMAL_ACCURACY,
    ROWS,
)
from thalweg.report import bands, scatter, tables
from thalweg.report.fact import Fact, remarks

PAPER = "wusnell2016"
ITEMS = PAPERS[PAPER].items

SIMULATIONS: Mapping[str, Callable[[int], simulated.Curves]] = {
    "Regression": simulated.regression,
    "Perceptron": simulated.classification,
    "First component": simulated.components,
}
_NEEDS = {
    "facts": tuple(SIMULATIONS),
    "fig1": ("Regression",),
    "fig2": ("Regression",),
    "fig4": ("Perceptron",),
    "fig6": ("First component",),
    "digits": ("Digits",),
    "kernel": ("Kernel",),
}
TIMES = np.arange(1, ROWS + 1)


class Study:
    """The simulations, each measured once, when it is first asked for: by quantity and learner, runs by rows."""

    def __init__(self, items: Sequence[str], *, runs: int, seed: int, workers: int, progress: Progress) -> None:
        self.runs, self.seed = runs, seed
        self._workers = workers
        stages = (stage for item in items for stage in _NEEDS.get(item, ()))
        self._meter = Meter(dict.fromkeys(stages, 1.0), progress)
        self._measured: dict[str, simulated.Curves] = {}

    def curves(self, name: str) -> simulated.Curves:
        """Of all runs of one simulation."""
        if name not in self._measured:
            seeds = [seeds_of_run(self.seed, run)[0] for run in range(self.runs)]
            tasks = [partial(SIMULATIONS[name], seed) for seed in seeds]
            runs = run_all(tasks, self._workers, self.stage(name))
            self._measured[name] = {key: np.array([run[key] for run in runs]) for key in runs[0]}
        return self._measured[name]

    def stage(self, name: str) -> Callable[[float], None]:
        """Begin a stage: a function to call with the share of it that is done."""
        return self._meter.stage(name)


def reproduce(
    items: Sequence[str],
    *,
    runs: int = 100,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = lambda share, label: None,
) -> list[Outcome]:
    """Run the simulations behind the items, as `Reproduction` says."""
    wanted = PAPERS[PAPER].wanted(items, runs)
    study = Study(wanted, runs=runs, seed=seed, workers=workers, progress=progress)
    makers: Mapping[str, Callable[[Study], Outcome]] = {
        "facts": _facts,
        "fig1": _distance_figure,
        "fig2": _regret_figure,
        "fig3": _classes_figure,
        "fig4": _accuracy_figure,
        "fig5": _cloud_figure,
        "fig6": _component_figure,
        "digits": lambda study: digits.outcome(PAPER, study.runs, study.seed, study.stage("Digits")),
        "kernel": lambda study: kernels.outcome(PAPER, study.runs, study.seed, study.stage("Kernel")),
    }
    return [makers[item](study) for item in wanted]


# ---- the printed facts ----------------------------------------------------------------------------------


def _facts(study: Study) -> Outcome:
    facts = (*_regression_facts(study), *_perceptron_facts(study), *_component_facts(study))
    return Outcome(
        PAPER,
        "facts",
        f"What the paper says in numbers, and what {study.runs} runs say",
        facts,
        summary=remarks(facts),
        notes=(f"Facts: means over runs ± the 95 % interval, after {ROWS:,} rows unless said otherwise.",),
        table=partial(tables.facts, facts),
    )


def _fact(part: str, quantity: str, runs: NDArray[np.float64], printed: float | None = None, remark: str = "") -> Fact:
    ci95 = mean_interval(runs).halfwidth if len(runs) > 1 else None
    return Fact(PAPER, "facts", part, quantity, float(runs.mean()), ci95, len(runs), printed, remark)


def _regression_facts(study: Study) -> list[Fact]:
    part, curves = "Stochastic gradient, η₀ = 1", study.curves("Regression")
    early = NEAR_OPTIMAL_AFTER
    regret = curves[simulated.REGRET, simulated.SGD]
    a_row = (regret[:, -1] - regret[:, early - 1]) / (ROWS - early)
    return [
        _fact(
            part,
            "distance to w",
            curves[simulated.DISTANCE, simulated.SGD][:, -1],
            remark="The fifth weight is 2, as in the paper's vector; its formula has 1.",
        ),
        _fact(part, "…of recursive least squares", curves[simulated.DISTANCE, simulated.LEAST_SQUARES][:, -1]),
        _fact(part, f"regret after {early} rows", regret[:, early - 1]),
        _fact(part, f"regret after {ROWS:,} rows", regret[:, -1]),
        _fact(
            part,
            "regret a row from then on",
            a_row,
            remark=f"“They increase very slowly after {early} steps”; the noise itself costs {NOISE**2:g} a row.",
        ),
    ]


def _perceptron_facts(study: Study) -> list[Fact]:
    part, curves = "Perceptron", study.curves("Perceptron")
    accuracy = {name: runs for (quantity, name), runs in curves.items() if quantity == simulated.ACCURACY}
    best, printed = (simulated.line_name(line) for line in (simulated.BEST_LINE, simulated.PRINTED_LINE))
    said = {
        simulated.MARGIN_0: "Updates at y w'x ≤ margin, with η y x: the printed < never begins from w = 0, nor η y w.",
        simulated.MARGIN_1: "“The classification ability … is near optimal after some number of updates.”",
        simulated.AVERAGED: "",
    }
    return [
        Fact(
            PAPER,
            "facts",
            part,
            "best accuracy possible",
            float(ndtr(math.sqrt(2.0))),
            printed=OPTIMAL_ACCURACY,
            remark="Φ(√2).",
        ),
        _fact(part, f"{best} on these rows", accuracy[best]),
        _fact(
            part,
            f"{printed} on these rows",
            accuracy[printed],
            OPTIMAL_ACCURACY,
            "A misprint: that line goes through both means.",
        ),
        *(_fact(part, f"cumulative, {name}", accuracy[name][:, -1], remark=why) for name, why in said.items()),
    ]


def _component_facts(study: Study) -> list[Fact]:
    part, curves = "First principal component", study.curves("First component")
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
            Fact(
                PAPER,
                "facts",
                part,
                f"v₁, entry {place + 1}",
                float(simulated.TRUE_AXIS[place]),
                None,
                1,
                number,
                remark,
            )
            for place, (number, remark) in enumerate(zip(FIRST_COMPONENT[:2], misprints, strict=True))
        ),
        *(
            _fact(
                part, f"distance, {name}", curves[simulated.DISTANCE, name].reshape(study.runs, -1)[:, -1], remark=why
            )
            for name, why in said.items()
        ),
    ]


# ---- figures --------------------------------------------------------------------------------------------


def _bands(curves: simulated.Curves, quantity: str, names: Sequence[str]) -> list[bands.Band]:
    return [bands.Band.of(name, curves[quantity, name]) for name in names]


def _drawn(item: str, title: str, panels: Sequence[bands.Panel], study: Study) -> Outcome:
    number = item.removeprefix("fig")
    full = f"Figure {number}. {title}, {study.runs} run{'s' if study.runs > 1 else ''}"
    return Outcome(PAPER, item, full, (), draw=partial(bands.draw, panels, title=full))


def _distance_figure(study: Study) -> Outcome:
    shown = _bands(study.curves("Regression"), simulated.DISTANCE, list(simulated.REGRESSORS))
    quantity = "distance to the true weights (no unit)"
    panels = [
        bands.Panel("As in the paper", quantity, TIMES, shown, limits=(0.0, 2.5)),
        bands.Panel("The same, logarithmic", quantity, TIMES, shown, logarithmic_time=True, logarithmic=True),
    ]
    return _drawn("fig1", "Estimation error", panels, study)


def _regret_figure(study: Study) -> Outcome:
    curves, names = study.curves("Regression"), list(simulated.REGRESSORS)
    quantity = "regret (sum of squared losses)"
    panels = [
        bands.Panel(
            "Against the true weights, as in the paper", quantity, TIMES, _bands(curves, simulated.REGRET, names)
        ),
        bands.Panel(
            "Against the best weights in hindsight, logarithmic",
            quantity,
            TIMES,
            _bands(curves, simulated.REGRET_IN_HINDSIGHT, names),
            logarithmic_time=True,
            logarithmic=True,
        ),
    ]
    return _drawn("fig2", "Regret", panels, study)


def _accuracy_figure(study: Study) -> Outcome:
    curves, names = study.curves("Perceptron"), list(simulated.PERCEPTRONS)
    panels = [
        bands.Panel(
            "As in the paper",
            "accuracy on all rows so far (share)",
            TIMES,
            _bands(curves, simulated.ACCURACY, names),
            levels={"best line, Φ(√2)": float(ndtr(math.sqrt(2.0)))},
            limits=(0.75, 1.0),
        ),
        bands.Panel(
            "Against the best line, x₁ + x₂ = 0",
            "mistakes beyond the line's (rows)",
            TIMES,
            _bands(curves, simulated.EXTRA_MISTAKES, names),
        ),
    ]
    return _drawn("fig4", "Cumulative accuracy of the perceptron", panels, study)


def _component_figure(study: Study) -> Outcome:
    names = (simulated.CENTRED, simulated.VARIANCE_WEIGHED, simulated.RAW)
    shown = _bands(study.curves("First component"), simulated.DISTANCE, names)
    quantity = "distance to the first component (no unit)"
    panels = [
        bands.Panel("As in the paper", quantity, TIMES, shown, limits=(0.0, 1.42)),
        bands.Panel("The same, logarithmic", quantity, TIMES, shown, logarithmic_time=True, logarithmic=True),
    ]
    return _drawn("fig6", "Error of the first component", panels, study)


def _classes_figure(study: Study) -> Outcome:
    X, y = replace(simulated.TWO_CLASSES, seed=seeds_of_run(study.seed, 0)[0]).take()
    clouds = [scatter.Cloud(name, X[y == label]) for label, name in ((1, "class +1"), (0, "class −1"))]
    (a, b), (c, d) = simulated.BEST_LINE, simulated.PRINTED_LINE
    lines = [
        scatter.Line(f"best {simulated.line_name((a, b))}", (0.0, 0.0), (-b, a)),
        scatter.Line(f"printed {simulated.line_name((c, d))}", (0.0, 0.0), (-d, c)),
    ]
    title = "Figure 3. Rows of two classes"
    return Outcome(PAPER, "fig3", title, (), draw=partial(scatter.draw, clouds, lines, title=title))


def _cloud_figure(study: Study) -> Outcome:
    X, _ = replace(simulated.ONE_CLOUD, seed=seeds_of_run(study.seed, 0)[0]).take()
    centre = CENTRE[0], CENTRE[1]
    lines = [
        scatter.Line(name, through, (float(axis[0]), float(axis[1])))
        for name, through, axis in (
            ("first component", centre, simulated.TRUE_AXIS),
            ("where raw rows lead", (0.0, 0.0), simulated.RAW_AXIS),
        )
    ]
    title = "Figure 5. Rows and their first component"
    return Outcome(
        PAPER, "fig5", title, (), draw=partial(scatter.draw, [scatter.Cloud("rows", X[:, :2])], lines, title=title)
    )
