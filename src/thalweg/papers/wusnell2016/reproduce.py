"""Wu & Snell (2016), An introduction to incremental learning.

Three simulations of 1,000 rows: linear regression by stochastic gradients, the perceptron, and the first principal
component. The paper draws one run of each; here any number of runs is drawn, with bands. It prints few numbers; the
table of facts compares them with the measured ones and names the misprints. Two further tables show what the paper only
mentions: several components, on the digits, and the three algorithms behind a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr

from thalweg.papers.figures import Curve, Floats, Panel
from thalweg.papers.registry import Outcome, outcomes_of
from thalweg.papers.study import Request, Study, run_all, seeds_of_run
from thalweg.papers.wusnell2016 import beyond, facts, figures
from thalweg.papers.wusnell2016 import simulations as simulated
from thalweg.papers.wusnell2016.figures import band_panel, bands
from thalweg.papers.wusnell2016.simulations import CENTRE, ROWS
from thalweg.streams import DriftingGaussians
from thalweg.streams.stream import Rows

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


class SimulationStudy(Study):
    def __init__(self, request: Request) -> None:
        stages = (stage for item in request.items for stage in _NEEDS.get(item, ()))
        super().__init__(dict.fromkeys(stages, 1.0), request)

    def curves(self, name: str) -> simulated.Curves:
        """Runs by rows of one simulation, by quantity and learner."""
        return self.once(name, lambda: self._measure(name))

    def bands(self, name: str, quantity: str, learners: Iterable[str]) -> list[Curve]:
        curves = self.curves(name)
        return bands({learner: curves[quantity, learner] for learner in learners})

    def shown(self, stream: DriftingGaussians) -> Rows:
        """The rows of the first run."""
        return replace(stream, seed=seeds_of_run(self.seed, 0)[0]).take()

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
        "digits": lambda study: beyond.digits(study.runs, study.seed, study.stage("Digits")),
        "kernel": lambda study: beyond.kernel(study.runs, study.seed, study.stage("Kernel")),
    }
    return outcomes_of(study, request.items, makers)


def _facts(study: SimulationStudy) -> Outcome:
    stated = tuple(facts.stated(*map(study.curves, SIMULATIONS)))
    return Outcome(
        f"What the paper says in numbers, and what {study.runs} {'runs say' if study.runs > 1 else 'run says'}",
        stated,
        summary=facts.remarks(stated),
        notes=(f"Facts: means over runs ± the 95 % interval, after {ROWS:,} rows unless said otherwise.",),
        table=partial(facts.table, stated),
    )


# ---- figures --------------------------------------------------------------------------------------------


def _drawn(title: str, panels: Sequence[Panel], study: SimulationStudy) -> Outcome:
    full = f"{title}, {study.runs} run{'s' if study.runs > 1 else ''}"
    return Outcome(full, draw=partial(figures.draw_bands, panels, title=full))


def _twice(curves: Sequence[Curve], quantity: str, highest: float) -> list[Panel]:
    """As in the paper, and on logarithmic scales."""
    return [
        band_panel("As in the paper", quantity, curves, ylim=(0.0, highest)),
        band_panel("The same, logarithmic", quantity, curves, logarithmic=True),
    ]


def _distance_figure(study: SimulationStudy) -> Outcome:
    shown = study.bands("Regression", simulated.DISTANCE, _regressors_but(simulated.RIDGE))
    return _drawn("Figure 1. Estimation error", _twice(shown, "distance to the true weights (no unit)", 2.5), study)


def _regressors_but(name: str) -> list[str]:
    return [regressor for regressor in simulated.REGRESSORS if regressor != name]


def _regret_figure(study: SimulationStudy) -> Outcome:
    # Without a penalty the first predictions of least squares are far off, and its band would fill the panel.
    names, quantity = _regressors_but(simulated.LEAST_SQUARES), "regret (sum of squared losses)"
    known, hindsight = (
        study.bands("Regression", regret, names) for regret in (simulated.REGRET, simulated.REGRET_IN_HINDSIGHT)
    )
    panels = [
        band_panel("Against the true weights, as in the paper", quantity, known),
        band_panel("Against the best weights in hindsight, logarithmic", quantity, hindsight, logarithmic=True),
    ]
    return _drawn("Figure 2. Regret", panels, study)


def _accuracy_figure(study: SimulationStudy) -> Outcome:
    accuracy, mistakes = (
        study.bands("Perceptron", quantity, simulated.PERCEPTRONS)
        for quantity in (simulated.ACCURACY, simulated.EXTRA_MISTAKES)
    )
    best = {"best line, Φ(√2)": float(ndtr(math.sqrt(2.0)))}
    share = "accuracy on all rows so far (share)"
    panels = [
        band_panel("As in the paper", share, accuracy, levels=best, ylim=(0.75, 1.0)),
        band_panel("Against the best line, x₁ + x₂ = 0", "mistakes beyond the line's (rows)", mistakes),
    ]
    return _drawn("Figure 4. Cumulative accuracy of the perceptron", panels, study)


def _component_figure(study: SimulationStudy) -> Outcome:
    names = (simulated.CENTRED, simulated.VARIANCE_WEIGHED, simulated.RAW)
    shown = study.bands("First component", simulated.DISTANCE, names)
    panels = _twice(shown, "distance to the first component (no unit)", 1.42)
    return _drawn("Figure 6. Error of the first component", panels, study)


def _classes_figure(study: SimulationStudy) -> Outcome:
    X, y = study.shown(simulated.TWO_CLASSES)
    named = {"best": simulated.BEST_LINE, "printed": simulated.PRINTED_LINE}
    lines = [
        figures.Line(f"{name} {simulated.line_name((a, b))}", (0.0, 0.0), (-b, a)) for name, (a, b) in named.items()
    ]
    return _scattered("Figure 3. Rows of two classes", {"class +1": X[y == 1], "class −1": X[y == 0]}, lines)


def _cloud_figure(study: SimulationStudy) -> Outcome:
    X, _ = study.shown(simulated.ONE_CLOUD)
    lines = [
        figures.Line("first component", CENTRE[:2], simulated.TRUE_AXIS[:2]),
        figures.Line("where raw rows lead", (0.0, 0.0), simulated.RAW_AXIS[:2]),
    ]
    return _scattered("Figure 5. Rows and their first component", {"rows": X[:, :2]}, lines)


def _scattered(title: str, clouds: Mapping[str, Floats], lines: Sequence[figures.Line]) -> Outcome:
    return Outcome(title, draw=partial(figures.draw_scatter, clouds, lines, title=title))
