"""The item ``curved``: errors and costs on fifteen streams beside MOA's ensembles and refitted batch models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.baselines import NoChange
from thalweg.learners.window_forest import WindowForest
from thalweg.papers.auto import peers
from thalweg.papers.auto.comparison import Comparison, SlowPeers, learner
from thalweg.papers.auto.sources import CURVED_STREAMS
from thalweg.papers.auto.study import AUTO, Ranking
from thalweg.papers.registry import Outcome
from thalweg.papers.study import Request
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

ITEM = "curved"
LINEAR = "AutoClassifier, linear"
TREES = "WindowForest, 30 trees"
#: The baseline has a column and no rank.
NO_CHANGE = "no change"
#: The models in the order of the columns, and the names over narrow ones.
_HEADERS = {
    AUTO: "Auto",
    LINEAR: "Auto,\nlinear",
    TREES: "Window\nforest",
    peers.ARF: "ARF\n30",
    peers.SRP: "SRP\n30",
    peers.BAGGING: "lev.\nbag.",
    peers.BOOSTING: "boosted\ntrees",
    peers.FOREST: "random\nforest",
    NO_CHANGE: "no\nchange",
}

OURS: Mapping[str, peers.Predict] = {
    AUTO: learner(AutoClassifier),
    LINEAR: learner(AutoClassifier, curved=False),
    TREES: learner(WindowForest, trees=30, lasting_trees=0),
    NO_CHANGE: learner(NoChange),
}

_NOTES = (
    "Error: share of rows predicted wrongly, each before its label was learned; the first row counts as a mistake. "
    "The streams are the same for every seed and number of runs. Least error of a stream in bold. "
    f"Auto is {AUTO}(), linear is {AUTO}(curved=False), and the window forest has 30 quick trees and no lasting ones. "
    "No change repeats the last label; it has no rank.",
    "Cost: processor time of a row, predicted and learned. MOA's models (adaptive random forest, streaming random "
    "patches, leveraging bagging of 10 trees) have their default settings and are called row by row through "
    "CapyMOA. scikit-learn's are refitted on a window: gradient-boosted trees every 500 rows on the last 5,000, "
    "the random forest every 250 on the last 2,000, both more often in the first rows.",
)


def outcome(request: Request) -> Outcome:
    """The table, the mean ranks and the critical-difference plot."""
    if request.with_moa:
        peers.require_moa()
    slow = (
        SlowPeers("MOA's", "with_moa", peers.MOA_PEERS),
        SlowPeers("scikit-learn's", "with_refitted", peers.REFITTED_PEERS),
    )
    comparison = Comparison(ITEM, CURVED_STREAMS, OURS, slow, request)
    title = f"Curved boundaries: prequential error and cost on {len(comparison.scores)} streams"
    if not comparison.scores:
        return Outcome(title, summary=("No stream is at hand.",), timing=comparison.study.timing())
    models = [name for name in comparison.on_all(list(_HEADERS)) if name != NO_CHANGE]
    errors = comparison.errors(models)
    ranking = Ranking.of(models, errors)
    return Outcome(
        title,
        comparison.findings(),
        summary=(ranking.sentence, *_against_each(models, errors)),
        notes=(*_NOTES, *comparison.notes()),
        table=partial(_table, models, comparison, ranking.mean_ranks),
        draw=ranking.drawn(f"Mean rank over {len(errors)} streams with boundaries of every shape (1 is best)"),
        timing=comparison.study.timing(),
    )


def _against_each(models: Sequence[str], errors: NDArray[np.float64]) -> list[str]:
    ours = errors[:, models.index(AUTO)]
    ahead = {name: int((ours < errors[:, place]).sum()) for place, name in enumerate(models) if name != AUTO}
    return [
        f"Of {len(errors)} streams, {AUTO} has the lower error on",
        *(f"  {count:>2}  against {name}" for name, count in ahead.items()),
    ]


def _table(models: Sequence[str], comparison: Comparison, mean_ranks: Mapping[str, float]) -> Table:
    with_baseline = (*models, NO_CHANGE)
    ranks = ["mean rank", *(f"{mean_ranks[name]:.2f}" for name in models)]
    groups: Mapping[str, Sequence[tables.Line]] = {
        "error": [*comparison.error_lines(with_baseline), ranks],
        "microseconds a row": comparison.cost_lines(models),
    }
    return tables.sections(("", *(_HEADERS[name] for name in with_baseline)), groups)
