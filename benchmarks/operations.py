"""What is done with rows. River's models and ours have the same two methods for single rows, hence the same loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from contest import Contestant, Run

ANSWER_THEN_LEARN = "answer each row, then learn it"
LEARN_ONE = "learn_one"
PREDICT_ONE = "predict_one"
OPERATIONS = (ANSWER_THEN_LEARN, LEARN_ONE, PREDICT_ONE)


def answer_then_learn(model: Any, rows: Sequence[Any], labels: Sequence[bool]) -> None:
    predict, learn = model.predict_one, model.learn_one
    for x, y in zip(rows, labels, strict=True):
        predict(x)
        learn(x, y)


def learn_all(model: Any, rows: Sequence[Any], labels: Sequence[bool]) -> None:
    learn = model.learn_one
    for x, y in zip(rows, labels, strict=True):
        learn(x, y)


def predict_all(model: Any, rows: Sequence[Any]) -> None:
    predict = model.predict_one
    for x in rows:
        predict(x)


def one_by_one(
    name: str, make: Callable[[], Any], rows: Sequence[Any], labels: Sequence[bool], *, river: bool = False
) -> Iterator[Contestant]:
    """A model's three contests with single rows."""

    def to_answer_then_learn(count: int) -> Run:
        model, some, answers = make(), rows[:count], labels[:count]
        return lambda: answer_then_learn(model, some, answers)

    def to_learn(count: int) -> Run:
        model, some, answers = make(), rows[:count], labels[:count]
        return lambda: learn_all(model, some, answers)

    trained = make()
    learn_all(trained, rows[:1000], labels[:1000])

    def to_predict(count: int) -> Run:
        some = rows[:count]
        return lambda: predict_all(trained, some)

    prepared = zip(OPERATIONS, (to_answer_then_learn, to_learn, to_predict), strict=True)
    for operation, prepare in prepared:
        yield Contestant(operation, name, prepare, len(rows), river)
