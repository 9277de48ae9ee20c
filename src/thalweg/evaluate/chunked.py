"""Chunks of rows as evaluation walks them: a stream of its own, or any iterable of pairs of features and labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.frames.reading import as_array, sliced
from thalweg.learners.labels import Labels as KnownLabels
from thalweg.learners.labels import as_labels
from thalweg.streams import Stream
from thalweg.streams.stream import Labels

#: A stream, or chunks of features and labels in arrays or in frames of any library.
Walkable: TypeAlias = Stream | Iterable[tuple[Any, Any]]


class ChunkedRows:
    """An iterable of chunks, cut where they are longer than asked for."""

    def __init__(self, chunks: Iterable[tuple[Any, Any]]) -> None:
        self._chunks = chunks

    def batches(self, size: int, rows: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The chunks, each of at most ``size`` rows, up to so many rows in all."""
        left = rows
        for X, y in self._chunks:
            labels = as_array(y)
            stop = len(labels) if left is None else min(left, len(labels))
            for start in range(0, stop, size):
                upto = min(start + size, stop)
                yield sliced(X, start, upto), labels[start:upto]
            if left is not None:
                left -= stop
                if left == 0:
                    return


def batches_of(stream: Walkable, size: int, rows: int | None) -> Iterator[tuple[Any, Any]]:
    """The rows of either, some at a time."""
    return (stream if isinstance(stream, Stream) else ChunkedRows(stream)).batches(size, rows)


def classes_of(owner: str, stream: Walkable, classes: ArrayLike | None) -> Labels:
    """Every label that may occur, sorted; chunks that can be gone through twice are asked for theirs."""
    if isinstance(stream, Stream):
        if classes is not None:
            raise InvalidParameter.of(owner, "classes", "be left out for a Stream, which knows them", classes)
        return stream.classes
    if classes is not None:
        listed = list(as_array(classes))
        return KnownLabels.none().with_labels(as_labels(listed, len(listed), owner)).values
    if iter(stream) is stream:
        rule = "tell the labels that may occur where chunks can be gone through only once"
        raise InvalidParameter.of(owner, "classes", rule, classes)
    known = KnownLabels.none()
    for _, y in stream:
        labels = as_array(y)
        known = known.with_labels(as_labels(labels, len(labels), owner))
    return known.values
