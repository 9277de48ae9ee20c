"""The item ``curved``: errors and costs on fifteen streams beside MOA's ensembles and refitted batch models.

The peers take minutes, so their results are on record: ``recorded.json`` beside this file holds what ``thalweg
reproduce auto curved --with-moa --with-refitted --json FILE`` wrote (CapyMOA 0.15.1, scikit-learn 1.9.1). With either
option the peers concerned are measured anew. Streams are measured one after the other in one thread whatever the number
of workers, because processor time is part of the result.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.auto import AutoClassifier
from thalweg.learners.baselines import NoChange
from thalweg.papers.auto import peers
from thalweg.papers.auto.sources import CURVED_STREAMS
from thalweg.papers.auto.study import AUTO, Ranking
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study
from thalweg.report import tables

if TYPE_CHECKING:
    from rich.table import Table

ITEM = "curved"
#: By stream and model.
Scores: TypeAlias = Mapping[str, Mapping[str, peers.Score]]

LINEAR = "AutoClassifier, linear"
#: The baseline has a column and no rank.
NO_CHANGE = "no change"
#: The models in the order of the columns, and the names over narrow ones.
_HEADERS = {
    AUTO: "Auto",
    LINEAR: "Auto,\nlinear",
    peers.ARF: "ARF\n30",
    peers.SRP: "SRP\n30",
    peers.BAGGING: "lev.\nbag.",
    peers.BOOSTING: "boosted\ntrees",
    peers.FOREST: "random\nforest",
    NO_CHANGE: "no\nchange",
}


def _committee(X: NDArray[np.float64], codes: peers.Codes, *, curved: bool) -> peers.Codes:
    return np.asarray(AutoClassifier(curved=curved).predict_then_learn(X, codes))


def _no_change(X: NDArray[np.float64], codes: peers.Codes) -> peers.Codes:
    return np.asarray(NoChange().predict_then_learn(X, codes))


OURS: Mapping[str, peers.Predict] = {
    AUTO: partial(_committee, curved=True),
    LINEAR: partial(_committee, curved=False),
    NO_CHANGE: _no_change,
}


def on_record(item: str) -> list[dict[str, Any]]:
    """The results of an item that are on record."""
    kept = json.loads(files(__package__).joinpath("recorded.json").read_text(encoding="utf-8"))
    return [finding for finding in kept if finding["item"] == item]


def recorded() -> Scores:
    """Results on record, of all models."""
    kept: dict[str, dict[str, peers.Score]] = {}
    for finding in on_record(ITEM):
        of_stream = kept.setdefault(finding["data"], {})
        of_stream[finding["model"]] = peers.Score(finding["measured"], finding["microseconds"])
    return kept


def _scores(study: Study, measured: Mapping[str, peers.Predict]) -> Scores:
    """The scores on every stream that is at hand, measured or on record."""
    kept, found = recorded(), {}
    on_record = [name for name in (*peers.MOA_PEERS, *peers.REFITTED_PEERS) if name not in measured]
    for stream in CURVED_STREAMS:
        finished = study.stage(stream.name)
        table = study.at_hand(stream.name, partial(stream.table, 0, 0))
        if table is None:
            continue
        scores = {}
        for done, (name, predict) in enumerate(measured.items(), start=1):
            scores[name] = peers.score(predict, table)
            finished(done / len(measured))
        old = kept.get(stream.name, {})
        found[stream.name] = {**scores, **{name: old[name] for name in on_record if name in old}}
    return found


def outcome(request: Request) -> Outcome:
    """The table, the mean ranks and the critical-difference plot."""
    if request.with_moa:
        peers.require_moa()
    study = Study({stream.name: float(stream.rows) for stream in CURVED_STREAMS}, request)
    # Peers are measured where that is asked for; else what is on record is read.
    measured = {
        **OURS,
        **(peers.MOA_PEERS if request.with_moa else {}),
        **(peers.REFITTED_PEERS if request.with_refitted else {}),
    }
    scores = _scores(study, measured)
    there = [name for name in _HEADERS if all(name in of_stream for of_stream in scores.values())]
    models = [name for name in there if name != NO_CHANGE]
    findings = tuple(
        Finding(stream, name, each.error, more={"microseconds": each.microseconds})
        for stream, of_stream in scores.items()
        for name, each in of_stream.items()
        if name in measured
    )
    title = f"Curved boundaries: prequential error and cost on {len(scores)} streams"
    if not scores:
        return Outcome(title, summary=("No stream is at hand.",), timing=study.timing())
    errors = np.array([[of_stream[name].error for name in models] for of_stream in scores.values()])
    ranking = Ranking.of(models, errors)
    return Outcome(
        title,
        findings,
        summary=(ranking.sentence, *_against_each(models, errors)),
        notes=(*_notes(scores, measured), *study.notes),
        table=partial(_table, models, scores, ranking.mean_ranks),
        draw=ranking.drawn(f"Mean rank over {len(errors)} streams with boundaries of every shape (1 is best)"),
        timing=study.timing(),
    )


def _against_each(models: Sequence[str], errors: NDArray[np.float64]) -> list[str]:
    """On how many streams the default has the lower error, beside each other model."""
    ours = errors[:, models.index(AUTO)]
    ahead = {name: int((ours < errors[:, place]).sum()) for place, name in enumerate(models) if name != AUTO}
    return [
        f"Of {len(errors)} streams, {AUTO} has the lower error on",
        *(f"  {count:>2}  against {name}" for name, count in ahead.items()),
    ]


def _table(models: Sequence[str], scores: Scores, mean_ranks: Mapping[str, float]) -> Table:
    from rich.text import Text

    by_error: list[tables.Line] = []
    by_cost: list[tables.Line] = []
    for stream, of_stream in scores.items():
        errors = [of_stream[name].error for name in (*models, NO_CHANGE)]
        cells = [Text(f"{each:.4f}".lstrip("0"), style="bold" if each == min(errors) else "") for each in errors]
        by_error.append([stream, *cells])
        by_cost.append([stream, *(_microseconds(of_stream[name].microseconds) for name in models), ""])
    by_error.append(["mean rank", *(f"{mean_ranks[name]:.2f}" for name in models), ""])
    groups = {"error": by_error, "microseconds a row": by_cost}
    return tables.sections(("", *(_HEADERS[name] for name in (*models, NO_CHANGE))), groups)


def _microseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.1f}"


def _notes(scores: Scores, measured: Collection[str]) -> list[str]:
    notes = [
        "Error: share of rows predicted wrongly, each before its label was learned; the first row counts as a mistake. "
        "The streams are the same for every seed and number of runs. Least error of a stream in bold. "
        f"Auto is {AUTO}(), linear is {AUTO}(curved=False). No change repeats the last label; it has no rank.",
        "Cost: processor time of a row, predicted and learned. MOA's models (adaptive random forest, streaming random "
        "patches, leveraging bagging of 10 trees) have their default settings and are called row by row through "
        "CapyMOA. scikit-learn's are refitted on a window: gradient-boosted trees every 500 rows on the last 5,000, "
        "the random forest every 250 on the last 2,000, both more often in the first rows.",
    ]
    owners = {"MOA's": peers.MOA_PEERS, "scikit-learn's": peers.REFITTED_PEERS}
    on_record = [owner for owner, models in owners.items() if not set(models) <= set(measured)]
    if on_record:
        there = float(np.median([of_stream[AUTO].microseconds for of_stream in recorded().values()]))
        here = float(np.median([of_stream[AUTO].microseconds for of_stream in scores.values()]))
        notes.append(
            f"The numbers of {' and '.join(on_record)} models are on record, from another run, in which {AUTO} took "
            f"{_microseconds(there)} µs a row (median; {_microseconds(here)} here). --with-moa measures MOA's models, "
            "--with-refitted scikit-learn's."
        )
    return notes
