"""Predictions as lines of CSV, or of JSON, appended as they are made; labels by number; confidence in a prediction.

A resumed run cuts off what it will write again.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from thalweg.errors import InvalidInput
from thalweg.labels import Labels
from thalweg.saved import Saved

Codes = NDArray[np.int64]
#: Probabilities add up to 1 less this at the least.
_ROUNDING = 1e-9
#: Takes a column for each name, as arrays of NumPy or Arrow, or lists.
Write = Callable[[Sequence[Any]], None]
_NDJSON = (".ndjson", ".jsonl")
#: Columns whose texts are objects of JSON.
_OBJECTS = ("contributions",)


class LabelNumbers(Saved):
    """Words that were met, and their numbers.

    Examples
    --------
    >>> names = LabelNumbers()
    >>> names.numbers(["up", "down"], np.array([1, 0, -1, 1])).tolist()
    [2, 1, 0, 2]
    >>> names.words(np.array([2, 0])).tolist()
    ['down', '']
    """

    _saved = ("known",)

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = list(known)
        self._settle()

    def __len__(self) -> int:
        return len(self.known)

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._settle()

    def _settle(self) -> None:
        self._words: NDArray[np.str_] = np.array(["", *self.known])
        self._sorted = Labels.of(self._words)
        self._numbers = self._sorted.encode(self._words)[1].argsort()

    def numbers(self, words: Sequence[str], places: NDArray[Any]) -> Codes:
        """The numbers of the words at these places, -1 standing for none; words are in the order of their arrival."""
        new = [word for word in words if word not in self._sorted.codes]
        if new:
            self.known += new
            self._settle()
        return self.of_predictions(np.array([*words, ""])).take(places)

    def of_predictions(self, predictions: NDArray[np.str_]) -> Codes:
        """The numbers of words all of which were met."""
        return self._numbers.take(self._sorted.encode(predictions)[1])

    def places_among(self, classes: Sequence[str]) -> Codes:
        """By number, the place of each word among the classes; one past the last for what is none of them."""
        place = {name: at for at, name in enumerate(classes)}
        return np.array([place.get(word, len(classes)) for word in self._words.tolist()], dtype=np.int64)

    def words(self, numbers: Codes) -> NDArray[np.str_]:
        """The words with these numbers; the empty one for 0."""
        return self._words.take(numbers)


class PredictionsFile:
    """``predictions.csv``: a header, and lines that are appended while the caller continues; without a path, tables."""

    def __init__(self, path: Path | None, names: Sequence[str], *, length: int = 0) -> None:
        self._names = list(names)
        #: What is kept in memory, where there is no file.
        self.tables: list[Any] = []
        self._file: IO[bytes] | None = None
        self._under_way: Future[None] | None = None
        if path is None:
            return
        if length and (not path.exists() or path.stat().st_size < length):
            raise InvalidInput(f"{path} has fewer rows than its checkpoint: start over with --fresh")
        self._file = path.open("r+b" if length else "wb")
        self._file.truncate(length)
        self._file.seek(length)
        if not length:
            self._file.write(header(self._names))
        self._writer = ThreadPoolExecutor(1)

    def _hand_over(self, columns: Sequence[Any]) -> None:
        """Append some rows, while the caller continues; what went wrong is raised by the next call."""
        import pyarrow as pa

        table = pa.table(list(columns), names=self._names)
        if self._file is None:
            self.tables.append(table)
            return
        self._finish()
        self._under_way = self._writer.submit(self._append, table, self._file)

    def _append(self, table: Any, file: IO[bytes]) -> None:
        append_rows(table, file)
        file.flush()

    def _finish(self) -> None:
        """Wait until all that was handed over is written."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def synced(self) -> int:
        """The length of the file, all of which is now on the disk."""
        assert self._file is not None
        self._finish()
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        if self._file is not None and not self._file.closed:
            try:
                self.synced()
            finally:
                self._writer.shutdown()
                self._file.close()


COLUMNS = ("row", "label", "prediction", "probability")


class LabelPredictions(PredictionsFile):
    """The number of the row, its label or nothing, the prediction, and how probable it seemed.

    Without ``with_top`` it has no probability; each of the ``labels`` has a further column, P(label); ``with_sets``
    adds the labels of the prediction set.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        with_top: bool = True,
        labels: Sequence[str] = (),
        with_sets: bool = False,
        length: int = 0,
    ) -> None:
        self._columns = COLUMNS if with_top else COLUMNS[:-1]
        self._by_label = [f"P({label})" for label in labels]
        names = [*self._columns, *self._by_label, *(["prediction_set"] if with_sets else [])]
        super().__init__(path, names, length=length)

    def write(
        self,
        number: NDArray[np.int64],
        names: LabelNumbers,
        label: Codes,
        prediction: Codes,
        probability: NDArray[np.float64] | None,
        by_label: NDArray[np.float64] | None = None,
        held_labels: NDArray[np.object_] | None = None,
    ) -> None:
        import pyarrow as pa

        rows = len(number)
        columns = [pa.array(number), _texts(names, label), _texts(names, prediction), as_decimals(probability, rows)]
        columns = columns[: len(self._columns)]
        for at in range(len(self._by_label)):
            columns.append(as_decimals(None if by_label is None else by_label[:, at], rows))
        if held_labels is not None:
            columns.append(pa.array(held_labels, pa.string()))
        self._hand_over(columns)


class NumberPredictions(PredictionsFile):
    """The number of the row, its target or nothing, the prediction, and the ends of its interval."""

    def __init__(self, path: Path | None, *, length: int = 0) -> None:
        super().__init__(path, ("row", "target", "prediction", "lower", "upper"), length=length)

    def write(self, number: NDArray[np.int64], *columns: NDArray[np.float64]) -> None:
        """NaN is written as nothing, every other number by the fewest digits that give it back."""
        import pyarrow as pa

        self._hand_over([pa.array(number), *(pa.array(values, from_pandas=True) for values in columns)])


def _texts(names: LabelNumbers, numbers: Codes) -> Any:
    import pyarrow as pa

    words = pa.array([None, *names.known], pa.string())
    return words.take(pa.array(numbers))


def header(names: Sequence[str]) -> bytes:
    """The first line; a name that holds a comma, a quote or a line break is quoted."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names)
    return line.getvalue().encode()


def append_rows(table: Any, file: IO[bytes]) -> None:
    """Lines of CSV: words in quotes, numbers without, nothing where there is no prediction."""
    from pyarrow import csv as arrow_csv

    arrow_csv.write_csv(table, file, arrow_csv.WriteOptions(include_header=False, quoting_style="needed"))


def joined_labels(labels: Sequence[str], sets: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Sets of labels as text, joined by "|"; the empty text for the empty set.

    Examples
    --------
    >>> joined_labels(["dry", "wet"], np.array([[True, True], [False, True], [False, False]])).tolist()
    ['dry|wet', 'wet', '']
    """
    distinct, places = np.unique(sets, axis=0, return_inverse=True)
    texts = ["|".join(label for label, held in zip(labels, row, strict=True) if held) for row in distinct]
    return np.array(texts, dtype=object).take(places.ravel())


def as_decimals(values: NDArray[np.float64] | None, rows: int) -> Any:
    """Six decimals are enough; NaN, of a row predicted before any label, is nothing."""
    import pyarrow as pa

    return pa.nulls(rows) if values is None else pa.array(np.round(values, 6), mask=np.isnan(values))


def confidences(
    proba: NDArray[np.float64] | None, column: Codes, truth: Codes, predictions: Codes
) -> dict[str, NDArray[np.float64]]:
    """The probability of the truth and of the prediction, and the squared distance from the truth.

    NaN before the first label, when there is no class to have a probability. A label that is no class yet has what the
    classes leave, which is something while only one of them is known.

    Examples
    --------
    >>> one = confidences(np.array([[0.9]]), np.array([1, 0, 1]), np.array([2]), np.array([1]))
    >>> {name: values.round(3).tolist() for name, values in one.items()}
    {'of_truth': [0.1], 'of_prediction': [0.9], 'squared': [1.62]}
    >>> both = confidences(np.array([[0.9, 0.0]]), np.array([2, 0, 1]), np.array([2]), np.array([1]))
    >>> both["of_truth"].round(3).tolist()  # the second class came later in the same piece
    [0.1]
    """
    if proba is None:
        nothing = np.full(len(truth), np.nan)
        return {"of_truth": nothing, "of_prediction": nothing, "squared": nothing}
    table = np.nan_to_num(proba)
    rows = np.arange(len(truth))
    left = 1.0 - table.sum(axis=1, keepdims=True)
    table = np.concatenate([table, np.where(left > _ROUNDING, left, 0.0)], axis=1)
    own = table[rows, column[truth]]  # 0 of a class that came later among these rows
    of_truth = np.where(predictions == 0, np.nan, np.where(own > 0.0, own, table[:, -1]))
    return {
        "of_truth": of_truth,
        "of_prediction": np.where(predictions == 0, np.nan, table[rows, column[predictions]]),
        "squared": np.square(table).sum(axis=1) - 2 * of_truth + 1.0,
    }


def probabilities_of(proba: NDArray[np.float64] | None, places: Codes, predictions: Codes) -> NDArray[np.float64]:
    """The probabilities of the classes at these places, 0 past the last one; NaN for a row that was not predicted."""
    probabilities = np.full((len(predictions), len(places)), np.nan)
    if proba is not None:
        table = np.concatenate([np.nan_to_num(proba), np.zeros((len(proba), 1))], axis=1)
        probabilities[predictions > 0] = table[predictions > 0][:, places]
    return probabilities


def is_ndjson(path: Path | None) -> bool:
    """Whether a file gets objects of JSON, by the end of its name.

    Examples
    --------
    >>> is_ndjson(Path("out.ndjson")), is_ndjson(Path("out.csv")), is_ndjson(None)
    (True, False, False)
    """
    return path is not None and path.suffix.lower() in _NDJSON


def lines_for(path: Path | None, names: Sequence[str], file: IO[bytes]) -> Write:
    """What writes rows of these columns to a file that is to have this name."""
    import pyarrow as pa

    if is_ndjson(path):
        return lambda columns: _append_objects(names, columns, file)
    file.write(header(names))
    return lambda columns: append_rows(pa.table(list(columns), names=list(names)), file)


def _append_objects(names: Sequence[str], columns: Sequence[Any], file: IO[bytes]) -> None:
    values = [_values(name, column) for name, column in zip(names, columns, strict=True)]
    lines = (
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
        for row in zip(*values, strict=True)
    )
    file.write("".join(f"{line}\n" for line in lines).encode(errors="surrogatepass"))


def _values(name: str, column: Any) -> list[Any]:
    """Values as JSON has them; a number that is not known is null."""
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(getattr(column, "tolist", lambda: column)())
    if name in _OBJECTS:
        return [json.loads(value) for value in values]
    return [None if isinstance(value, float) and value != value else value for value in values]
