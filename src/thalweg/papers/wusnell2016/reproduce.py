"""Wu & Snell (2016), An introduction to incremental learning.

Three simulations of 1,000 rows: linear regression by stochastic gradients, the perceptron, and the first principal
component. The paper draws one run of each; here any number of runs is drawn, with bands. It prints few numbers; the
table of facts compares them with the measured ones and names the misprints. Two further tables show what the paper only
mentions: several components, on the digits, and the three algorithms behind a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from thalweg.papers.registry import PAPERS, Outcome
from thalweg.papers.study import Request, Study, run_all, seeds_of_run
from thalweg.papers.wusnell2016 import beyond, facts, figures
from thalweg.papers.wusnell2016 import simulations as simulated
from thalweg.papers.wusnell2016.simulations import CENTRE, ROWS

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


class SimulationStudy(Study):
    def __init__(self, request: Request) -> None:
        stages = (stage for item in request.items for stage in _NEEDS.get(item, ()))
        super().__init__(dict.fromkeys(stages, 1.0), request)

    def curves(self, name: str) -> simulated.Curves:
        """Runs by rows of one simulation, by quantity and learner."""
        return self.once(name, lambda: self._measure(name))

    def _measure(self, name: str) -> simulated.Curves:
        tasks = [partial(SIMULATIONS[name], seeds_of_run(self.seed, run)[0]) for run in range(self.runs)]
        runs = run_all(tasks, self.workers, self.stage(name))
        return {key: np.array([run[key] for run in runs]) for key in runs[0]}


def reproduce(request: Request) -> list[Outcome]:
    """Run the simulations behind the items."""
    study = SimulationStudy(request)
    makers: Mapping[str, Callable[[SimulationStudy], Outcome]] = {
        "facts": _facts,
        "fig1": _distance_figure,
        "fig2": _regret_figure,
        "fig3": _classes_figure,
        "fig4": _accuracy_figure,
        "fig5": _cloud_figure,
        "fig6": _component_figure,
        "digits": lambda study: beyond.digits(PAPER, study.runs, study.seed, study.stage("Digits")),
        "kernel": lambda study: beyond.kernel(PAPER, study.runs, study.seed, study.stage("Kernel")),
    }
    return [makers[item](study) for item in request.items]


def _facts(study: SimulationStudy) -> Outcome:
    stated = (
        *facts.of_regression(study.curves("Regression")),
        *facts.of_perceptron(study.curves("Perceptron")),
        *facts.of_component(study.curves("First component")),
    )
    return Outcome(
        PAPER,
        "facts",
        f"What the paper says in numbers, and what {study.runs} {'runs say' if study.runs > 1 else 'run says'}",
        stated,
        summary=facts.remarks(stated),
        notes=(f"Facts: means over runs ± the 95 % interval, after {ROWS:,} rows unless said otherwise.",),
        table=partial(facts.table, stated),
    )


# ---- figures --------------------------------------------------------------------------------------------


def _bands(curves: simulated.Curves, quantity: str, names: Sequence[str]) -> list[figures.Band]:
    return [figures.Band.of(name, curves[quantity, name]) for name in names]


def _drawn(item: str, title: str, panels: Sequence[figures.BandPanel], study: SimulationStudy) -> Outcome:
    number = item.removeprefix("fig")
    full = f"Figure {number}. {title}, {study.runs} run{'s' if study.runs > 1 else ''}"
    return Outcome(PAPER, item, full, (), draw=partial(figures.draw_bands, panels, title=full))


def _regressors_but(name: str) -> list[str]:
    return [each for each in simulated.REGRESSORS if each != name]


def _distance_figure(study: SimulationStudy) -> Outcome:
    shown = _bands(study.curves("Regression"), simulated.DISTANCE, _regressors_but(simulated.RIDGE))
    quantity = "distance to the true weights (no unit)"
    panels = [
        figures.BandPanel("As in the paper", quantity, TIMES, shown, limits=(0.0, 2.5)),
        figures.BandPanel("The same, logarithmic", quantity, TIMES, shown, logarithmic_time=True, logarithmic=True),
    ]
    return _drawn("fig1", "Estimation error", panels, study)


def _regret_figure(study: SimulationStudy) -> Outcome:
    # Without a penalty the first predictions of least squares are far off, and its band would fill the panel.
    curves, names = study.curves("Regression"), _regressors_but(simulated.LEAST_SQUARES)
    quantity = "regret (sum of squared losses)"
    panels = [
        figures.BandPanel(
            "Against the true weights, as in the paper", quantity, TIMES, _bands(curves, simulated.REGRET, names)
        ),
        figures.BandPanel(
            "Against the best weights in hindsight, logarithmic",
            quantity,
            TIMES,
            _bands(curves, simulated.REGRET_IN_HINDSIGHT, names),
            logarithmic_time=True,
            logarithmic=True,
        ),
    ]
    return _drawn("fig2", "Regret", panels, study)


def _accuracy_figure(study: SimulationStudy) -> Outcome:
    curves, names = study.curves("Perceptron"), list(simulated.PERCEPTRONS)
    panels = [
        figures.BandPanel(
            "As in the paper",
            "accuracy on all rows so far (share)",
            TIMES,
            _bands(curves, simulated.ACCURACY, names),
            levels={"best line, Φ(√2)": float(ndtr(math.sqrt(2.0)))},
            limits=(0.75, 1.0),
        ),
        figures.BandPanel(
            "Against the best line, x₁ + x₂ = 0",
            "mistakes beyond the line's (rows)",
            TIMES,
            _bands(curves, simulated.EXTRA_MISTAKES, names),
        ),
    ]
    return _drawn("fig4", "Cumulative accuracy of the perceptron", panels, study)


def _component_figure(study: SimulationStudy) -> Outcome:
    names = (simulated.CENTRED, simulated.VARIANCE_WEIGHED, simulated.RAW)
    shown = _bands(study.curves("First component"), simulated.DISTANCE, names)
    quantity = "distance to the first component (no unit)"
    panels = [
        figures.BandPanel("As in the paper", quantity, TIMES, shown, limits=(0.0, 1.42)),
        figures.BandPanel("The same, logarithmic", quantity, TIMES, shown, logarithmic_time=True, logarithmic=True),
    ]
    return _drawn("fig6", "Error of the first component", panels, study)


def _classes_figure(study: SimulationStudy) -> Outcome:
    X, y = replace(simulated.TWO_CLASSES, seed=seeds_of_run(study.seed, 0)[0]).take()
    clouds = {"class +1": X[y == 1], "class −1": X[y == 0]}
    (a, b), (c, d) = simulated.BEST_LINE, simulated.PRINTED_LINE
    lines = [
        figures.Line(f"best {simulated.line_name((a, b))}", (0.0, 0.0), (-b, a)),
        figures.Line(f"printed {simulated.line_name((c, d))}", (0.0, 0.0), (-d, c)),
    ]
    title = "Figure 3. Rows of two classes"
    return Outcome(PAPER, "fig3", title, (), draw=partial(figures.draw_scatter, clouds, lines, title=title))


def _cloud_figure(study: SimulationStudy) -> Outcome:
    X, _ = replace(simulated.ONE_CLOUD, seed=seeds_of_run(study.seed, 0)[0]).take()
    centre = CENTRE[0], CENTRE[1]
    lines = [
        figures.Line(name, through, (float(axis[0]), float(axis[1])))
        for name, through, axis in (
            ("first component", centre, simulated.TRUE_AXIS),
            ("where raw rows lead", (0.0, 0.0), simulated.RAW_AXIS),
        )
    ]
    title = "Figure 5. Rows and their first component"
    return Outcome(
        PAPER,
        "fig5",
        title,
        (),
        draw=partial(figures.draw_scatter, {"rows": X[:, :2]}, lines, title=title),
    )
