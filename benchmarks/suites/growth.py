"""How the cost of a row grows with the features and with the classes, as an exponent where it is a power."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.contest import Contestant, Effort, Run, Unavailable
from benchmarks.growth_law import law_of
from benchmarks.operations import learn_all, predict_then_learn, predicting
from benchmarks.ours import online_ldc
from benchmarks.peers.river_models import river
from benchmarks.plots.lines import Axis, lines
from benchmarks.records import Finding, Record
from benchmarks.rows import Rows
from benchmarks.suite import Bench, Suite
from thalweg import AutoClassifier, OnlineLogistic, Perceptron

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
CLASSES = (2, 4, 8, 16, 32, 64, 128, 256)
FEATURES_OF_CLASSES = 10
BY_WIDTH, BY_CLASSES = "over features, 2 classes", f"over classes, {FEATURES_OF_CLASSES} features"
#: Where the growing part of the work outweighs the rest.
AXES = {BY_WIDTH: Axis("features", law_from=256), BY_CLASSES: Axis("classes", law_from=32)}
#: Rows that a model has seen when the clock starts, at least: every class among them.
SEEN = 2048
ROWS = 8192
OURS: dict[str, Callable[[], Any]] = {
    "OnlineLDC": online_ldc,
    "Perceptron": Perceptron,
    "OnlineLogistic": OnlineLogistic,
}
#: Above 200 features the default leaves its discriminants out, and is another model.
WIDEST_DEFAULT = 128


def measure(bench: Bench) -> Iterator[list[Record]]:
    """Each width, then each number of classes."""
    for width in WIDTHS:
        rows = Rows(width, numbers=(SEEN + ROWS) * width)
        own = OURS | ({"AutoClassifier": AutoClassifier} if width <= WIDEST_DEFAULT else {})
        yield _at(bench, BY_WIDTH, {"features": width}, _ours(own, rows), partial(_logistic, rows))
    for count in CLASSES:
        rows = Rows(FEATURES_OF_CLASSES, count, numbers=(SEEN + ROWS) * FEATURES_OF_CLASSES)
        yield _at(bench, BY_CLASSES, {"classes": count}, _ours(OURS, rows), partial(_bayes, rows))


def _at(
    bench: Bench, work: str, setting: dict[str, int], own: list[Contestant], theirs: Callable[[], Contestant]
) -> list[Record]:
    try:
        own.append(theirs())
    except Unavailable as reason:
        bench.leave_out(reason)
    return [replace(record, work=work) for record in bench.measure(own, setting)]


def _ours(makers: dict[str, Callable[[], Any]], rows: Rows) -> list[Contestant]:
    return [_after_some(name, make, rows) for name, make in makers.items()]


def _after_some(name: str, make: Callable[[], Any], rows: Rows) -> Contestant:
    """A model that goes on from where it is: its cost does not depend on what it has seen."""
    model = make().partial_fit(rows.X[:SEEN], rows.y[:SEEN])
    X, y = rows.X[SEEN:], rows.y[SEEN:]

    def prepare(count: int) -> Run:
        return lambda: model.predict_then_learn(X[:count], y[:count])

    return Contestant("", name, prepare, len(y), "ours")


def _logistic(rows: Rows) -> Contestant:
    labels = rows.y[: len(rows.dicts)].tolist()
    return predicting("River LogisticRegression", river().linear_model.LogisticRegression, rows.dicts, labels)


def _bayes(rows: Rows) -> Contestant:
    """Naive Bayes for many classes, which goes on from where it is as well."""
    model = river().naive_bayes.GaussianNB()
    X, y = rows.dicts, rows.y.tolist()
    learn_all(model, X[:SEEN], y[:SEEN])

    def prepare(count: int) -> Run:
        return lambda: predict_then_learn(model, X[SEEN : SEEN + count], y[SEEN : SEEN + count])

    return Contestant("", "River GaussianNB", prepare, len(X) - SEEN)


def findings(records: Sequence[Record]) -> Iterable[Finding]:
    """The exponents."""
    for work, axis in AXES.items():
        for model in dict.fromkeys(record.model for record in records if record.work == work):
            own = [record for record in records if (record.work, record.model) == (work, model)]
            law = law_of(own, axis.over, axis.law_from or 0)
            if law is not None:
                yield Finding(f"exponent of {model} {work}, from {law.first} to {law.last}", law.exponent)


SUITE = Suite(
    name="growth",
    asks="How does the cost of a row grow with features and with classes?",
    measure=measure,
    plot=lines("growth", "The cost of a row; behind ~ the fitted exponent", AXES),
    full=Effort(rounds=7, seconds=0.1),
    quick=Effort(rounds=3, seconds=0.02),
    ratios={"× River": "River"},
    findings=findings,
)
