"""MOA's linear models through CapyMOA: row by row from Python, and by MOA's own loop over a file, inside Java.

Imported only when MOA is asked for: it starts a Java machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.contest import Contestant, Run, Unavailable
from benchmarks.operations import PREDICT_THEN_LEARN
from benchmarks.rows import Rows


def contestants(rows: Rows, folder: Path) -> Iterator[Contestant]:
    """Naive Bayes, perceptron and gradient descent, each in both ways."""
    schema, instances = _instances(rows)
    from capymoa.evaluation import prequential_evaluation
    from capymoa.stream import ARFFStream

    def in_java(make: Callable[[], Any]) -> Callable[[int], Run]:
        def prepare(count: int) -> Run:
            file = ARFFStream(str(_arff(rows, count, folder)))
            model = make()
            return lambda: prequential_evaluation(file, model, restart_stream=False)

        return prepare

    for name, make in _makers(schema).items():
        yield _row_by_row(f"MOA {name}, row by row", make, instances)
        over_a_file, count = f"MOA {name}, its own loop over a file", len(instances)
        yield Contestant(PREDICT_THEN_LEARN, over_a_file, in_java(make), count, least=count // 4)


def forest(name: str, trees: int, rows: Rows) -> Contestant:
    """Its adaptive random forest with the default settings, row by row and on one thread."""
    schema, instances = _instances(rows)
    from capymoa.classifier import AdaptiveRandomForestClassifier

    make = partial(AdaptiveRandomForestClassifier, schema=schema, ensemble_size=trees)
    return _row_by_row(name, make, instances)


def _instances(rows: Rows) -> tuple[Any, list[Any]]:
    """The schema, and as many rows as there are dicts."""
    try:
        from capymoa.stream import NumpyStream
    except Exception as error:  # without Java it raises an error of its own
        raise Unavailable(f"MOA: {error}") from error
    few = rows.X[: len(rows.dicts)]
    stream = NumpyStream(few, rows.y[: len(few)])
    return stream.get_schema(), [stream.next_instance() for _ in few]


def _row_by_row(name: str, make: Callable[[], Any], instances: list[Any]) -> Contestant:
    def prepare(count: int) -> Run:
        model = make()
        return lambda: _answer_then_learn(model, instances[:count])

    return Contestant(PREDICT_THEN_LEARN, name, prepare, len(instances))


def _makers(schema: Any) -> dict[str, Callable[[], Any]]:
    from capymoa.base import MOAClassifier
    from capymoa.classifier import NaiveBayes
    from moa.classifiers.functions import SGD, Perceptron

    return {
        "NaiveBayes": lambda: NaiveBayes(schema=schema),
        "Perceptron": lambda: MOAClassifier(schema=schema, moa_learner=Perceptron()),
        "SGD": lambda: MOAClassifier(schema=schema, moa_learner=SGD()),
    }


def _answer_then_learn(model: Any, instances: list[Any]) -> None:
    predict, train = model.predict, model.train
    for instance in instances:
        predict(instance)
        train(instance)


def _arff(rows: Rows, count: int, folder: Path) -> Path:
    path = folder / f"rows{rows.features}x{count}.arff"
    if not path.exists():
        names = "".join(f"@attribute {name} numeric\n" for name in rows.names)
        lines = (
            ",".join(f"{value:.6g}" for value in row) + f",{label}\n"
            for row, label in zip(rows.X[:count].tolist(), rows.y[:count].tolist(), strict=True)
        )
        head = f"@relation rows\n{names}@attribute label {{0,1}}\n@data\n"
        path.write_text(head + "".join(lines), encoding="utf-8")
    return path
