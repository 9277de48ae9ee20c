"""Bounsiar, Beauseroy & Grall, Fast training and efficient linear learning machine.

Table 1 by the paper's protocol (`study`, `table1`), beside scikit-learn's SVC by the same protocol; Figures 1 to 3,
computed (`sketches`); and what the paper claims or leaves for later: how time grows with the rows and fewer rows kept
(`beyond`), and rows that drift (`stream`).

Where we depart
---------------
1. sigma = 2^-12 … 2^7 in half octaves and rho = 0 … 1 in hundredths, where the paper says "a grid". b is searched
   exactly, over every threshold.
2. image and splice have 20 splits, as they are published, not 100.
3. The toy's sizes are ours; the paper gives its shapes alone.
4. Densities are compared by their logarithms, so that rows far from all training rows are predicted too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from thalweg.errors import DataUnavailable
from thalweg.papers.bounsiar import beyond, sketches, stream, table1
from thalweg.papers.bounsiar.printed import PAPER
from thalweg.papers.bounsiar.study import SETS, Table1Study
from thalweg.papers.registry import PAPERS, Outcome
from thalweg.papers.study import Request, Study

ITEMS = PAPERS[PAPER].items

#: Approximate minutes of the items on two cores, for the progress bar.
_WORK = {"table1": 20.0, "fig1": 0.5, "fig2": 0.02, "fig3": 0.02, "growth": 4.0, "compression": 2.0, "stream": 2.0}


def reproduce(request: Request) -> list[Outcome]:
    """Measure what the items need. A run is a split of each data set."""
    runs, seed, workers = request.runs, request.seed, request.workers
    study = Study({item: _WORK[item] for item in request.items}, request)

    def table_1() -> list[Outcome]:
        of_table = Table1Study(SETS, replace(request, progress=study.part("table1")))
        if not of_table.sets:
            raise DataUnavailable(of_table.notes[0].removeprefix("Left out: "))
        return table1.outcomes(of_table)

    def sketched(item: str, sketch: Callable[[int], Outcome]) -> list[Outcome]:
        finished = study.stage(item)
        outcomes = [sketch(seed)]
        finished(1.0)
        return outcomes

    makers: Mapping[str, Callable[[], list[Outcome]]] = {
        "table1": table_1,
        "fig1": lambda: [sketches.disc_and_bow(seed, runs, workers, study.stage("fig1"))],
        "fig2": partial(sketched, "fig2", sketches.turning_weight),
        "fig3": partial(sketched, "fig3", sketches.rotated_hyperplane),
        "growth": lambda: [beyond.growth(seed, study.stage("growth"))],
        "compression": lambda: [beyond.compression(runs, workers, study.stage("compression"))],
        "stream": lambda: [stream.outcome(seed, runs, workers, study.stage("stream"))],
    }
    outcomes = [outcome for item in request.items for outcome in makers[item]()]
    return [replace(outcome, timing=outcome.timing or study.timing()) for outcome in outcomes]
