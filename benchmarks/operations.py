"""What is done with rows. River's models and ours have the same two methods for single rows, hence the same loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks.contest import Contestant, Run, Side

PREDICT_THEN_LEARN = "predict each row, then learn it"
LEARN_ONE = "learn_one"
PREDICT_ONE = "predict_one"


def predict_then_learn(model: Any, rows: Iterable[Any], labels: Iterable[Any]) -> None:
    predict, learn = model.predict_one, model.learn_one
    for x, y in zip(rows, labels, strict=True):
        predict(x)
        learn(x, y)


def learn_all(model: Any, rows: Iterable[Any], labels: Iterable[Any]) -> None:
    learn = model.learn_one
    for x, y in zip(rows, labels, strict=True):
        learn(x, y)


def predict_all(model: Any, rows: Iterable[Any]) -> None:
    predict = model.predict_one
    for x in rows:
        predict(x)


def predicting(
    name: str, make: Callable[[], Any], rows: Sequence[Any], labels: Sequence[Any], *, side: Side = "peer"
) -> Contestant:
    """A model that predicts single rows and learns them."""

    def prepare(count: int) -> Run:
        model, some, targets = make(), rows[:count], labels[:count]
        return lambda: predict_then_learn(model, some, targets)

    return Contestant(PREDICT_THEN_LEARN, name, prepare, len(rows), side)


def one_by_one(
    name: str, make: Callable[[], Any], rows: Sequence[Any], labels: Sequence[Any], *, side: Side = "peer"
) -> Iterator[Contestant]:
    """A model's three contests with single rows."""

    def to_learn(count: int) -> Run:
        model, some, targets = make(), rows[:count], labels[:count]
        return lambda: learn_all(model, some, targets)

    trained = make()
    learn_all(trained, rows[:1000], labels[:1000])

    def to_predict(count: int) -> Run:
        some = rows[:count]
        return lambda: predict_all(trained, some)

    yield predicting(name, make, rows, labels, side=side)
    yield Contestant(LEARN_ONE, name, to_learn, len(rows), side)
    yield Contestant(PREDICT_ONE, name, to_predict, len(rows), side)
