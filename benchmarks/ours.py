"""Our contestants: the whole stream in one compiled call, and row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from contest import Contestant, Run
from operations import ANSWER_THEN_LEARN, one_by_one
from rows import Rows

from thalweg import OnlineLDC, Perceptron

#: With hard counts, rate 1/2 is the batch estimate of all rows so far.
RATE = 0.5


def ours(rows: Rows) -> Iterator[Contestant]:
    """OnlineLDC and Perceptron in all their operations."""
    makers: tuple[Callable[[], OnlineLDC | Perceptron], ...] = (online_ldc, lambda: Perceptron(rate=RATE))
    for make in makers:
        name = type(make()).__name__
        yield in_one_call(name, make, rows)
        yield from one_by_one(f"{name}, dict rows", make, rows.dicts, rows.labels)
        yield from one_by_one(f"{name}, array rows", make, rows.arrays, rows.labels)


def online_ldc() -> OnlineLDC:
    return OnlineLDC(rate=RATE, counts="hard")


def in_one_call(name: str, make: Callable[[], OnlineLDC | Perceptron], rows: Rows) -> Contestant:
    def prepare(count: int) -> Run:
        model, X, y = make(), rows.X[:count], rows.y[:count]
        return lambda: model.predict_then_learn(X, y)

    return Contestant(ANSWER_THEN_LEARN, f"{name}.predict_then_learn", prepare, len(rows))
