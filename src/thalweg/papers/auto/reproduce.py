"""The untuned default: `AutoClassifier` beside its members, the baselines and River's scaled linear models.

Prequential error over all rows of every stream, with one setting for all and nothing tuned. Data sets are passed once;
generated streams are drawn afresh in every run, and errors are means over runs. All models get the same rows in the
same order, and the first row, before any label, is a mistake for each.

Where comparisons stop
----------------------
1. River goes 50,000 rows into Covertype, which is therefore twice in the table; ranks use the part that all have seen.
2. Streams are not a sample of anything, and some are kin (ELEC2 twice, four Gaussians): Friedman's p is a description.
3. The adaptive random forest is an item of its own, on request: it takes minutes for a single run.
4. ``curved``, ``still``, ``recovery``, ``decisions``, ``rare``, ``budget``, ``checks``, ``numbers`` and ``late``, on
   request, are studies of their own, each in the module of its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from thalweg.errors import DataUnavailable, InvalidParameter
from thalweg.evaluate import prequential
from thalweg.learners.auto import AutoClassifier
from thalweg.papers.auto import budget, checks, curved, decisions, late, numbers, rare, recovery, still
from thalweg.papers.auto.sources import ELEC2, RIVER_ROWS, SOURCES, Source
from thalweg.papers.auto.study import (
    AUTO,
    BANK,
    MAJORITY,
    MEMBERS,
    NO_CHANGE,
    PERSISTENT,
    AutoStudy,
    Errors,
    Ranking,
    forest_sources,
    require_river,
)
from thalweg.papers.registry import Finding, Outcome, outcomes_of
from thalweg.papers.study import Request
from thalweg.report import tables
from thalweg.report.comparison_figures import draw_member_weights

#: How much worse than the best member in hindsight is still as promised.
TOLERATED = 0.03
#: Rows behind a point of the figure of weights: a week of half hours.
WEIGHT_BLOCK = 336

#: Items with a study of their own, and those of them with models of MOA's and with refitted ones.
_APART = {
    study.ITEM: study.outcome for study in (curved, still, recovery, decisions, rare, budget, checks, numbers, late)
}
_OF_MOA = (curved.ITEM, rare.ITEM, late.ITEM)
_REFITTED = (curved.ITEM, still.ITEM)
_TITLES = {"data": "Data sets", "generated": "Generated streams"}
_NOTES = (
    "Share of wrong predictions, test-then-train. Linear members of AutoClassifier alone, behind "
    "the same on-line scaling. Best of a stream in bold.",
    f"River goes no further than {RIVER_ROWS:,} rows; ranks use that part of Covertype. Its adaptive random forest is "
    "slow and has an item of its own: thalweg reproduce auto forest.",
)


def reproduce(request: Request) -> list[Outcome]:
    """Measure what the items need, each only once."""
    wanted = request.items
    for asked, items in ((request.with_moa, _OF_MOA), (request.with_refitted, _REFITTED)):
        if asked and not set(items) & set(wanted):
            raise InvalidParameter(
                f"MOA's models belong to the items {', '.join(_OF_MOA)}, refitted ones to {', '.join(_REFITTED)}, "
                f"got {', '.join(wanted)}"
            )
    if "forest" in wanted:
        require_river()
    main, outcomes = [item for item in wanted if item not in _APART], []
    if main:
        study = AutoStudy(replace(request, items=main))
        makers = {"ranks": _ranks, "fig-ranks": _ranks_figure, "fig-weights": _weights_figure, "forest": _forest}
        made = outcomes_of(study, main, {item: partial(makers.get(item, _table), item) for item in main})
        outcomes = [replace(outcome, notes=(*_NOTES, *study.notes), timing=study.timing()) for outcome in made]
    return outcomes + outcomes_of(request, [item for item in wanted if item in _APART], _APART)


def _table(item: str, study: AutoStudy) -> Outcome:
    measured = {source: errors for source in SOURCES[item] if (errors := study.errors(source)) is not None}
    names = list(dict.fromkeys(name for errors in measured.values() for name in errors))
    lines = {name: [_mean(errors, name) for errors in measured.values()] for name in names}
    ours, baselines = (AUTO, PERSISTENT, BANK), (NO_CHANGE, MAJORITY)
    peers = [name for name in names if name not in (*ours, *baselines, *MEMBERS)]
    groups = [{name: lines[name] for name in group if name in lines} for group in (ours, MEMBERS, peers, baselines)]
    return Outcome(
        f"{_TITLES[item]}: prequential error" + (f", mean of {study.runs} runs" if item == "generated" else ""),
        _findings(item, measured),
        summary=tuple(_against_best_member(measured)) if measured else ("No data set is at hand.",),
        table=partial(tables.errors, [source.header for source in measured], [group for group in groups if group]),
    )


def _mean(errors: Errors, name: str) -> float | None:
    return float(errors[name].mean()) if name in errors else None


def _findings(item: str, measured: Mapping[Source, Errors]) -> tuple[Finding, ...]:
    return tuple(
        Finding.of_runs(source.name, name, runs) for source, errors in measured.items() for name, runs in errors.items()
    )


def _against_best_member(measured: dict[Source, Errors]) -> list[str]:
    """How far the default is from the linear member that, afterwards, turns out to have been best."""
    said, beyond = [f"{AUTO} against its best linear member in hindsight:"], []
    for source, errors in measured.items():
        best = min(MEMBERS, key=lambda name: float(errors[name].mean()))
        distance = float(errors[AUTO].mean() / errors[best].mean()) - 1.0
        said.append(f"  {source.name:<22} {distance:+6.1%}  ({best} {float(errors[best].mean()):.4f})")
        if distance > TOLERATED:
            beyond.append(source.name)
    verdict = f"more than {TOLERATED:.0%} worse on {', '.join(beyond)}" if beyond else f"within {TOLERATED:.0%} on all"
    return [*said, f"  {verdict}."]


# ---- ranks ----------------------------------------------------------------------------------------------


def _ranked(study: AutoStudy) -> Ranking:
    """The models over the streams that all have seen."""
    sources = [source for group in SOURCES.values() for source in group if source.ranked]
    measured = [errors for source in sources if (errors := study.errors(source)) is not None]
    names = list(measured[0])
    return Ranking.of(names, [[errors[name].mean() for name in names] for errors in measured])


def _ranks(item: str, study: AutoStudy) -> Outcome:
    ranking = _ranked(study)
    mean_ranks = ranking.mean_ranks
    worse = [name for name, rank in mean_ranks.items() if rank - mean_ranks[AUTO] > ranking.difference]
    best_first = sorted(mean_ranks, key=lambda name: mean_ranks[name])
    data = f"{ranking.streams} streams"
    return Outcome(
        f"Mean ranks of {len(mean_ranks)} models over {data}",
        tuple(Finding(data, name, rank) for name, rank in mean_ranks.items()),
        summary=(ranking.sentence, f"Told apart from {AUTO}: {', '.join(worse) or 'none'}."),
        table=partial(tables.lines, ("", "mean rank"), [[name, f"{mean_ranks[name]:.2f}"] for name in best_first]),
    )


def _ranks_figure(item: str, study: AutoStudy) -> Outcome:
    ranking = _ranked(study)
    title = f"Mean rank over {ranking.streams} streams (1 is best)"
    return Outcome(title, draw=ranking.drawn(title))


# ---- the members' weights -------------------------------------------------------------------------------


def _weights_figure(item: str, study: AutoStudy) -> Outcome:
    title = f"{ELEC2.name}: weight of each member of {AUTO}"
    try:
        table = ELEC2.table(0, study.seed)
    except DataUnavailable as error:
        return Outcome(title, summary=(f"Left out: {error}",))
    model = AutoClassifier()
    records = prequential(model, table, with_proba=False, chunk=WEIGHT_BLOCK)
    shares = np.array([record.weights.mean(axis=0) for record in records if record.weights is not None])
    rows = np.minimum(WEIGHT_BLOCK * np.arange(1, len(shares) + 1), table.length)
    draw = partial(
        draw_member_weights, rows, dict(zip(model.members_, shares.T, strict=True)), title=title, block=WEIGHT_BLOCK
    )
    return Outcome(title, draw=draw)


# ---- the forest -----------------------------------------------------------------------------------------


def _forest(item: str, study: AutoStudy) -> Outcome:
    measured = {source: errors for source in forest_sources() if (errors := study.forest(source)) is not None}
    names = list(next(iter(measured.values())))
    lines = {source.name: [_mean(errors, name) for name in names] for source, errors in measured.items()}
    return Outcome(
        "River's adaptive random forest of 10 trees: prequential error in one run",
        _findings(item, measured),
        table=partial(tables.scores, names, lines),
    )
