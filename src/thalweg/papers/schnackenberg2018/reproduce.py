"""Schnackenberg, Ligges & Weihs (2018), Online linear discriminant analysis for data streams with concept drift.

The paper's tables and figures, with its printed numbers as data. In each of four situations, O-LDC at five rates
predicts with its class means as they are and with their forecasts from four windows; `TrendForecast` with an automatic
window is measured beside them, and so is the Bayes error. Figures 1 to 3 explain and need no runs: they are in
`thalweg.papers.schnackenberg2018.figures`.

Where we depart
---------------
1. The window counts time points, of which a class owns about half, and shifted times carry the weights of the means:
   what the text says and (10) does not. Both were settled by the tables.
2. The ten start rows are drawn until both classes have two of them.
3. The first test follows the eleventh row, the last the 3,999th: 3,989 tests of 100 rows.

Where the numbers differ
------------------------
A mean of 100 runs is itself uncertain. Where runs differ so much that two such means can be more than 0.004 apart by
chance (95 %), the table's summary names the cell with its deviation and does not count it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.online_ldc import OnlineLDC
from thalweg.learners.trend_forecast import TrendForecast
from thalweg.papers.figures import Curve, Panel
from thalweg.papers.registry import Finding, Outcome, outcomes_of
from thalweg.papers.schnackenberg2018 import figures, protocol
from thalweg.papers.study import Request, Study
from thalweg.papers.trials import Batch, Candidate, Model
from thalweg.report import tables
from thalweg.streams import DriftingGaussians

if TYPE_CHECKING:
    from rich.table import Table

#: Runs behind the paper's means.
PAPER_RUNS = 100

# ---- what is tried --------------------------------------------------------------------------------------

#: The rate under the automatic window.
AUTO_RATE = 0.9
AUTO = Model("window auto", "λ", lambda rate, seed: TrendForecast(OnlineLDC(rate=rate), window="auto"))


def _at_window(window: int | None) -> Model:
    if window is None:
        return Model("O-LDC", "λ", lambda rate, seed: OnlineLDC(rate=rate))
    return Model(f"window {window}", "λ", lambda rate, seed: TrendForecast(OnlineLDC(rate=rate), window=window))


MODELS: Mapping[int | None, Model] = {window: _at_window(window) for window in protocol.WINDOWS}
CANDIDATES = (
    *(Candidate(model, rate) for rate in protocol.RATES for model in MODELS.values()),
    Candidate(AUTO, AUTO_RATE),
)
BAYES = "Bayes error"

# ---- where it is tried ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Situation:
    """One of the paper's four data situations, what the paper prints of it, and where its means jump."""

    name: str
    stream: DriftingGaussians
    printed: protocol.Printout
    changes: tuple[int, ...] = ()

    @cached_property
    def bayes_errors(self) -> NDArray[np.float64]:
        errors = [self.stream.bayes_error_at(row) for row in range(self.stream.length)]
        return np.array(errors, dtype=np.float64)


SITUATIONS: Mapping[str, Situation] = {
    "circular": Situation("Circular", DriftingGaussians(scenario="circular"), protocol.CIRCULAR),
    "crossing": Situation("Crossing", DriftingGaussians(scenario="crossing"), protocol.CROSSING),
    "passing": Situation("Passing", DriftingGaussians(scenario="passing"), protocol.PASSING),
    "sudden": Situation("Sudden", DriftingGaussians(scenario="sudden"), protocol.SUDDEN, changes=(1000, 2000, 3000)),
}
TABLES = {f"table{number}": name for number, name in enumerate(SITUATIONS, start=1)}
CURVES = {f"fig{number}": name for number, name in enumerate(SITUATIONS, start=4)}

#: How near the paper a mean should come; where chance alone may exceed it, the cell is named instead.
TOLERANCE = 0.004
#: Steps averaged into one point of a drawn curve.
STEPS_PER_POINT = 10

_NOTES = (
    "For each rate λ the paper's number left, ours right: mean error over time and runs, (standard deviation over "
    "time of the mean over runs), mean over time of the standard deviation over runs.",
    f"O-LDC: class means as they are. Windows: class means forecast from so many time points; auto: a bank of windows "
    f"weighed by their own mistakes, over O-LDC at λ = {AUTO_RATE}, the same for all four situations.",
)


class SituationStudy(Study):
    def __init__(self, request: Request) -> None:
        needed = {TABLES.get(item, CURVES.get(item)) for item in request.items}
        self._trials = {
            name: protocol.NextStepTrial(situation.stream, request.seed, request.runs)
            for name, situation in SITUATIONS.items()
            if name in needed
        }
        super().__init__({SITUATIONS[name].name: trial.work for name, trial in self._trials.items()}, request)
        self._seconds = 0.0

    def batch(self, name: str) -> Batch[protocol.NextStep]:
        return self.once(name, lambda: self._measure(name))

    def _measure(self, name: str) -> Batch[protocol.NextStep]:
        began = time.perf_counter()
        measured = self._trials[name].measure(CANDIDATES, self.workers, self.stage(SITUATIONS[name].name))
        self._seconds += time.perf_counter() - began
        return Batch(CANDIDATES, measured)

    def timing(self) -> str:
        """How long everything so far took, and where the time went."""
        measured = {name: self.batch(name).measured for name in self._trials if name in self._results}
        if not measured:
            return ""
        efforts = [place.effort for place in measured.values()]
        share = sum(effort.drawing for effort in efforts) / sum(effort.whole for effort in efforts)
        predictions = len(CANDIDATES) * sum(self._trials[name].work for name in measured)
        return (
            f"{predictions:.2g} test predictions in {self._seconds:.0f} s on {self.workers} "
            f"thread{'s' if self.workers > 1 else ''}; {share:.0%} of the processors' time went into random numbers."
        )


def reproduce(request: Request) -> list[Outcome]:
    """Run the experiments behind the items."""
    study = SituationStudy(request)
    streams = {situation.name: situation.stream for situation in SITUATIONS.values()}
    makers: Mapping[str, Callable[[SituationStudy], Outcome]] = {
        **{item: partial(_table, item, name) for item, name in TABLES.items()},
        **{item: partial(_curves, item, name) for item, name in CURVES.items()},
        "fig1": lambda _: Outcome("Figure 1. A linear shift of a class mean", draw=figures.shift),
        "fig2": lambda _: Outcome("Figure 2. Shifted times", draw=partial(figures.shifted_times, request.seed)),
        "fig3": lambda _: Outcome("Figure 3. The four situations", draw=partial(figures.situations, streams)),
    }
    outcomes = outcomes_of(study, request.items, makers)
    return [replace(outcome, timing=study.timing() if outcome.findings else "") for outcome in outcomes]


def _cells(name: str, batch: Batch[protocol.NextStep]) -> list[Finding]:
    """Every candidate beside what the paper prints of it, and last the Bayes error."""
    situation, measured = SITUATIONS[name], batch.measured
    windows = {model.name: window for window, model in MODELS.items()} | {AUTO.name: "auto"}
    cells = []
    for place, candidate in enumerate(batch.candidates):
        assert isinstance(candidate.rate, float)
        window = windows[candidate.model.name]
        printed = None if isinstance(window, str) else situation.printed[candidate.rate, window]
        cell = _cell(situation.name, candidate.model.name, measured.summary(place), printed, window)
        cells.append(replace(cell, rate=candidate.rate, ci95=measured.ci95(place), runs=measured.runs))
    errors = situation.bayes_errors[measured.times()]
    least = protocol.CurveSummary(float(errors.mean()), float(errors.std(ddof=1)), None)
    return [*cells, replace(_cell(situation.name, BAYES, least), runs=measured.runs)]


def _cell(
    data: str,
    model: str,
    measured: protocol.CurveSummary,
    printed: protocol.CurveSummary | None = None,
    window: int | str | None = None,
) -> Finding:
    return Finding(
        data,
        model,
        measured.mean,
        printed=None if printed is None else printed.mean,
        more={
            "window": window,
            "sd_curve": measured.sd_curve,
            "mean_sd": measured.mean_sd,
            "paper_sd_curve": None if printed is None else printed.sd_curve,
            "paper_mean_sd": None if printed is None else printed.mean_sd,
        },
    )


def _table(item: str, name: str, study: SituationStudy) -> Outcome:
    cells = _cells(name, study.batch(name))
    *learners, least = cells
    number = item.removeprefix("table")
    return Outcome(
        f"Table {number}. {SITUATIONS[name].name}: mean error at five rates and windows, {least.runs} runs",
        tuple(cells),
        summary=(f"Bayes error {least.measured:.4f}.", *_deviations(learners)),
        notes=_NOTES,
        table=partial(_grid, learners),
    )


def _grid(cells: Sequence[Finding]) -> Table:
    """Three lines per rate, one column per model: mean, (SD over time) and mean SD over runs.

    Where the paper prints a cell, its number is left of ours. Leading zeros are omitted to make it fit.
    """
    models = list(dict.fromkeys(cell.model for cell in cells))
    printed = {cell.model for cell in cells if cell.printed is not None}
    headers = ["\nλ", *(f"{model}\n{'paper  here' if model in printed else ' here'}" for model in models)]
    rows: list[tables.Line] = []
    for rate in dict.fromkeys(cell.rate for cell in cells):
        line = {cell.model: cell.as_json() for cell in cells if cell.rate == rate}
        columns = [line.get(model, {}) for model in models]
        rows += [
            [f"{rate or 0:.1f}".lstrip("0"), *(_pair(cell, "paper_value", "measured") for cell in columns)],
            tables.Styled(["", *(_pair(cell, "paper_sd_curve", "sd_curve") for cell in columns)], "dim"),
            tables.Styled(["", *(_pair(cell, "paper_mean_sd", "mean_sd") for cell in columns)], "dim"),
        ]
    return tables.lines(headers, rows, left=range(len(headers)))


def _pair(cell: Mapping[str, Any], paper: str, here: str) -> str:
    """The paper's number and ours, or ours alone; the deviation over time in brackets and to three digits."""
    if not cell:
        return ""
    numbers = [cell[here]] if cell["paper_value"] is None else [cell[paper], cell[here]]
    digits = 3 if here == "sd_curve" else 4
    text = " ".join("" if number is None else f"{number:.{digits}f}".lstrip("0") for number in numbers)
    return f"({text})" if here == "sd_curve" else text


def _deviations(cells: Sequence[Finding]) -> list[str]:
    """The largest deviation from the paper, and the cells in which chance alone may exceed the tolerance."""
    telling: list[tuple[Finding, float, float]] = []
    uncertain: list[tuple[Finding, float, float]] = []
    for cell in cells:
        if cell.deviation is not None:
            by_chance = math.inf if cell.ci95 is None else cell.ci95 * math.sqrt(1.0 + cell.runs / PAPER_RUNS)
            (telling if by_chance <= TOLERANCE else uncertain).append((cell, cell.deviation, by_chance))
    said = []
    if telling:
        cell, deviation, _ = max(telling, key=lambda entry: abs(entry[1]))
        said.append(f"Largest deviation from the paper {deviation:+.4f} ({_where(cell)}), of {len(telling)} cells.")
    if uncertain and len(uncertain) < 10:
        listed = "; ".join(
            f"{deviation:+.4f} ± {by_chance:.4f} ({_where(cell)})" for cell, deviation, by_chance in uncertain
        )
        said.append(f"Runs differ too much to decide within {TOLERANCE}: {listed}.")
    elif uncertain:
        said.append(f"In {len(uncertain)} cells these runs are too few to decide within {TOLERANCE}.")
    return said


def _where(cell: Finding) -> str:
    return f"{cell.model}, λ = {cell.rate}"


def _curves(item: str, name: str, study: SituationStudy) -> Outcome:
    situation, batch = SITUATIONS[name], study.batch(name)
    measured = batch.measured
    times = figures.thinned(measured.times(), STEPS_PER_POINT)

    def drawn(model: Model, rate: float) -> Curve:
        return Curve(model.name, times, figures.thinned(measured.curve(batch.place(model, rate)), STEPS_PER_POINT))

    bayes = Curve(BAYES, times, figures.thinned(situation.bayes_errors[measured.times()], STEPS_PER_POINT))
    panel = partial(Panel, changes=situation.changes)
    panels = [
        panel(f"λ = {rate}", [*(drawn(model, rate) for model in MODELS.values()), bayes]) for rate in protocol.RATES
    ]
    best = min(
        (Candidate(model, rate) for rate in protocol.RATES for model in MODELS.values()),
        key=lambda candidate: measured.error(batch.place(candidate.model, candidate.rate)),
    )
    assert isinstance(best.rate, float)
    panels.append(
        panel(
            f"auto, and the best cell (λ = {best.rate})", [drawn(best.model, best.rate), drawn(AUTO, AUTO_RATE), bayes]
        )
    )
    number = item.removeprefix("fig")
    return Outcome(
        f"Figure {number}. {situation.name}: error over time",
        tuple(_cells(name, batch)),
        draw=partial(
            figures.draw_curves,
            panels,
            title=f"{situation.name}: mean error of {measured.runs} runs",
            steps_per_point=STEPS_PER_POINT,
        ),
    )
