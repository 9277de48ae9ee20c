"""Text streams, test-then-train: what each library takes for the same rows, and how often it errs.

Vowpal Wabbit reads a file of its own format, in which the words are already found, and writes its predictions. So do a
loop of ours in Python and `thalweg run`, which keeps all scores of its report; the others begin with the text.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.contest import Contestant, Effort, Side, Unavailable
from benchmarks.contest import Run as Timed
from benchmarks.peers.river_models import river
from benchmarks.plots.dots import dots
from benchmarks.records import Record
from benchmarks.suite import Bench, Suite
from benchmarks.text_rows import TextRows, docstrings, topics
from thalweg import AutoClassifier, OnlineLogistic, TextHasher
from thalweg.run.options import RunOptions
from thalweg.run.runner import Run

WORK = "predict each text, then learn it"
HASH_BITS, CHUNK = 20, 100
ROWS = 50_000
#: The predictions of a contestant's last run.
Predictions = dict[str, Sequence[Any]]


def measure(bench: Bench) -> Iterator[list[Record]]:
    """The same rows for everybody, all of them in each round."""
    size = bench.effort.size or ROWS
    for rows in (topics(size), docstrings(size)):
        predictions: Predictions = {}
        contestants: list[Contestant] = []
        for make in (_river, _vowpal_wabbit, _scikit_learn, _ours):
            try:
                contestants += make(rows, predictions, bench.folder)
            except Unavailable as reason:
                bench.leave_out(reason)
        records = bench.measure(contestants, {"rows": len(rows.y), "classes": rows.n_classes})
        yield [replace(record, also={"share wrong": _wrong(predictions[record.model], rows.y)}) for record in records]


def _wrong(predictions: Sequence[Any], y: Sequence[int]) -> float:
    return sum(given != label for given, label in zip(predictions, y, strict=True)) / len(y)


def _contestant(
    model: str,
    rows: TextRows,
    predictions: Predictions,
    prepare: Callable[[], Callable[[], Sequence[Any]]],
    side: Side = "peer",
) -> Contestant:
    def run_of(count: int) -> Timed:
        predict = prepare()

        def run() -> None:
            predictions[model] = predict()

        return run

    return Contestant(WORK, model, run_of, len(rows.y), side, least=len(rows.y))


def _river(rows: TextRows, predictions: Predictions, folder: Path) -> Iterator[Contestant]:
    """Words as a dict of counts, row by row; the classifier of two classes, or one for each class."""
    found = river()
    from river import feature_extraction, multiclass

    def model(optimizer: Any) -> Any:
        learner = found.linear_model.LogisticRegression(optimizer)
        learner = learner if rows.n_classes == 2 else multiclass.OneVsRestClassifier(learner)
        return feature_extraction.BagOfWords(lowercase=True) | learner

    def prepare(optimizer: Any) -> Callable[[], Callable[[], Sequence[Any]]]:
        def prepared() -> Callable[[], Sequence[Any]]:
            learner, given = model(optimizer()), []

            def run() -> Sequence[Any]:
                for text, label in zip(rows.texts, rows.y, strict=True):
                    given.append(learner.predict_one(text))
                    learner.learn_one(text, label)
                return given

            return run

        return prepared

    name = "River BagOfWords | LogisticRegression"
    yield _contestant(name, rows, predictions, prepare(found.optim.SGD))
    yield _contestant(f"{name}, AdaGrad", rows, predictions, prepare(found.optim.AdaGrad))


def _vowpal_wabbit(rows: TextRows, predictions: Predictions, folder: Path) -> Iterator[Contestant]:
    try:
        from vowpalwabbit import Workspace
    except ImportError as error:
        raise Unavailable(f"Vowpal Wabbit: {error}") from error
    two = rows.n_classes == 2
    table, answers = folder / f"{rows.name}.vw", folder / f"{rows.name}.answers"
    labels = [2 * label - 1 if two else label + 1 for label in rows.y]
    lines = (f"{label} | {words}\n" for label, words in zip(labels, rows.words, strict=True))
    table.write_text("".join(lines), encoding="utf-8")
    options = ["--loss_function", "logistic", "-b", str(HASH_BITS), "--quiet"]
    options += ["--binary"] if two else ["--oaa", str(rows.n_classes)]

    def prepare() -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            Workspace(arg_list=["-d", str(table), "-p", str(answers), *options]).finish()
            given = [int(float(line)) for line in answers.read_text().split()]
            return [(label + 1) // 2 if two else label - 1 for label in given]

        return run

    yield _contestant("Vowpal Wabbit, from its own format", rows, predictions, prepare)


def _scikit_learn(rows: TextRows, predictions: Predictions, folder: Path) -> Iterator[Contestant]:
    """Chunks of 100 rows are predicted, then learned: a label is known up to a chunk later than to the others."""
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    y, classes = np.array(rows.y), list(range(rows.n_classes))

    def prepare(vectorizer: Any, **options: Any) -> Callable[[], Callable[[], Sequence[Any]]]:
        def prepared() -> Callable[[], Sequence[Any]]:
            learner = SGDClassifier(loss="log_loss", random_state=0, **options)

            def run() -> Sequence[Any]:
                given: list[Any] = []
                for start in range(0, len(y), CHUNK):
                    X = vectorizer.transform(rows.texts[start : start + CHUNK])
                    given += learner.predict(X).tolist() if start else [0] * X.shape[0]
                    learner.partial_fit(X, y[start : start + CHUNK], classes=classes)
                return given

            return run

        return prepared

    peer, name = HashingVectorizer(n_features=2**HASH_BITS), "scikit-learn HashingVectorizer, SGDClassifier"
    yield _contestant(name, rows, predictions, prepare(peer))
    constant = {"learning_rate": "constant", "eta0": 1.0, "alpha": 1e-6}
    yield _contestant(f"{name}, constant rate", rows, predictions, prepare(peer, **constant))
    ours = prepare(TextHasher(hash_bits=HASH_BITS))
    yield _contestant("TextHasher, scikit-learn SGDClassifier", rows, predictions, ours, side="ours")


def _ours(rows: TextRows, predictions: Predictions, folder: Path) -> Iterator[Contestant]:
    """Every row is predicted before its label is seen, in chunks of 1,000 rows; and `thalweg run` over a file."""
    hasher, y = TextHasher(hash_bits=HASH_BITS), np.array(rows.y)

    def prepare(model: Any) -> Callable[[], Callable[[], Sequence[Any]]]:
        def prepared() -> Callable[[], Sequence[Any]]:
            learner = clone(model)

            def run() -> Sequence[Any]:
                given: list[Any] = []
                for start in range(0, len(y), 1000):
                    X = hasher.transform(rows.texts[start : start + 1000])
                    given += learner.predict_then_learn(X, y[start : start + 1000]).tolist()
                return given

            return run

        return prepared

    yield _contestant("TextHasher, AutoClassifier", rows, predictions, prepare(AutoClassifier()), side="ours")
    logistic = OnlineLogistic(3.0, per_feature=True)
    yield _contestant("TextHasher, OnlineLogistic", rows, predictions, prepare(logistic), side="ours")
    table = folder / f"{rows.name}.run.vw"
    lines = (f"{label} | {words}\n" for label, words in zip(rows.y, rows.words, strict=True))
    table.write_text("".join(lines), encoding="utf-8")

    def from_lines() -> Callable[[], Sequence[Any]]:
        learner = AutoClassifier()

        def run() -> Sequence[Any]:
            given: list[int] = []
            with table.open(encoding="utf-8") as lines, (folder / f"{rows.name}.predicted").open("w") as written:
                while chunk := list(islice(lines, 1000)):
                    labels, texts = zip(*(line.split(" | ", 1) for line in chunk), strict=True)
                    found = learner.predict_then_learn(hasher.transform(texts), np.array(labels, np.int64)).tolist()
                    written.writelines(f"{label}\n" for label in found)
                    given += found
            return given

        return run

    yield _contestant("TextHasher, AutoClassifier, from the same file", rows, predictions, from_lines, side="ours")

    def from_file() -> Callable[[], Sequence[Any]]:
        out = Path(tempfile.mkdtemp(dir=folder))

        def run() -> Sequence[Any]:
            Run(RunOptions.of({"source": str(table), "out": str(out)})).go()
            with (out / "predictions.csv").open(newline="") as file:
                return [int(row["prediction"] or 0) for row in csv.DictReader(file)]

        return run

    yield _contestant("thalweg run, from Vowpal Wabbit's format", rows, predictions, from_file, side="ours")


SUITE = Suite(
    name="text",
    asks="What does a stream of texts cost, and how often does each library err on it?",
    measure=measure,
    plot=dots("text", "Texts"),
    full=Effort(rounds=3),
    quick=Effort(rounds=1),
    ratios={"× River": "River", "× Vowpal Wabbit": "Vowpal Wabbit", "× scikit-learn": "scikit-learn"},
)
