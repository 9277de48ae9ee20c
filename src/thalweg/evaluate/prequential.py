"""Test, then train: every row is first answered, then learned."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from thalweg.evaluate.answering import Asker, Model, asker_of
from thalweg.evaluate.baselines import RunningBaselines
from thalweg.evaluate.chunked import Walkable, batches_of, classes_of
from thalweg.evaluate.record import Record, encode_truth
from thalweg.learners.labels import as_labels
from thalweg.streams.stream import Labels
from thalweg.streams.whole_number import whole_number


def prequential(
    model: Model,
    stream: Walkable,
    *,
    classes: ArrayLike | None = None,
    rows: int | None = None,
    chunk: int = 4096,
    with_proba: bool = True,
    delay: int = 0,
) -> Iterator[Record]:
    """Walk a stream past a model; every row is answered before its label is learned.

    The model goes on from what it knows and has learned the rows when the records are exhausted. A model
    that knows no class yet has no answer to its first row, which counts as a mistake, as it does for the
    baselines; its probabilities there are all alike.

    Parameters
    ----------
    model : learner
        One of ours (asked in one compiled call per chunk), or any scikit-learn classifier with
        ``partial_fit`` (asked row by row).
    stream : Stream, or iterable of (X, y)
        Where the rows come from; chunks may be arrays or frames, as `thalweg.frames.chunks` gives them.
    classes : array-like, optional
        Every label that chunks may hold. By default chunks are gone through once before to see; a generator, which
        cannot be gone through twice, needs them. A stream knows its own.
    rows : int, optional
        How many; by default the stream's length, or all chunks.
    chunk : int >= 1
        Rows per record, or fewer where chunks are shorter. It changes memory and the rhythm of the records, never the
        answers.
    with_proba : bool
        Whether to ask for probabilities (log-loss and Brier score need them) where the model has them.
    delay : int >= 0
        How many rows late a label comes: each row is answered when it arrives and learned that many rows later. The
        model is then asked row by row, for labels alone, and the last rows stay unlearned. The baselines are shown
        as if their labels came at once.

    Yields
    ------
    Record
        The truth, the answers of the model and of both baselines, probabilities, rate and weights of ``chunk`` rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from thalweg import OnlineLDC
    >>> from thalweg.evaluate import prequential, summarise
    >>> from thalweg.frames import chunks
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=0).take(1000)
    >>> table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "side": y})
    >>> summary = summarise(prequential(OnlineLDC(0.1, counts="soft"), chunks(table, "side")))
    >>> summary.rows, bool(summary.model.error < 0.1)
    (1000, True)
    """
    known = classes_of("prequential", stream, classes)
    late = whole_number("prequential", "delay", delay)
    asker = asker_of("prequential", model, known, with_proba=with_proba, delay=late)
    if rows is not None:
        rows = whole_number("prequential", "rows", rows)
    return _walk(asker, stream, known, rows, whole_number("prequential", "chunk", chunk, least=1))


def _walk(asker: Asker, stream: Walkable, classes: Labels, rows: int | None, chunk: int) -> Iterator[Record]:
    baselines = RunningBaselines(len(classes))
    start = 0
    for X, given in batches_of(stream, chunk, rows):
        labels = as_labels(given, len(given), "prequential")
        y = encode_truth(labels, classes)
        no_change, majority = baselines.before(y)
        codes, proba, rate, weights = asker(X, labels)
        yield Record(start, classes, y, codes, no_change, majority, proba, rate, weights)
        start += len(y)
