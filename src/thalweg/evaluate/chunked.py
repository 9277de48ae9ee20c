"""Chunks of rows as evaluation walks them: a stream of its own, or any iterable of pairs of features and labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.frames.frame import NamedRows
from thalweg.frames.reading import as_array, frame_of, names_of_columns, sliced
from thalweg.learners.labels import Labels as KnownLabels
from thalweg.learners.labels import as_labels
from thalweg.learners.rows import as_rows
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
        for X, y in _pairs(self._chunks):
            labels = as_array(y)
            stop = len(labels) if left is None else min(left, len(labels))
            for start in range(0, stop, size):
                upto = min(start + size, stop)
                yield sliced(X, start, upto), labels[start:upto]
            if left is not None:
                left -= stop
                if left == 0:
                    return


def _pairs(chunks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for chunk in chunks:
        if not isinstance(chunk, list | tuple) or len(chunk) != 2:
            hint = "rows and their labels are Table(X, y), and a frame with a target is chunks(frame, target)"
            raise InvalidInput(f"a chunk must be a pair of features and labels, got a {type(chunk).__name__}: {hint}")
        yield chunk[0], chunk[1]


def require_walkable(owner: str, stream: Any) -> None:
    """Raise `InvalidParameter` for what is neither a stream nor chunks."""
    table = isinstance(stream, np.ndarray | Mapping | str) or frame_of(stream) is not None
    if table or not isinstance(stream, Iterable):
        rule = "be a Stream, as Table(X, y) is, or pairs of features and labels, as thalweg.frames.chunks gives them"
        raise InvalidParameter(f"The 'stream' parameter of {owner} must {rule}, got a {type(stream).__name__}.")


def batches_of(stream: Walkable, size: int, rows: int | None) -> Iterator[tuple[Any, Any]]:
    """The rows of either, some at a time; those of a stream that knows its columns with their names."""
    if not isinstance(stream, Stream):
        return ChunkedRows(stream).batches(size, rows)
    names = stream.given_names
    batches = stream.batches(size, rows)
    return batches if names is None else ((NamedRows(X, names), y) for X, y in batches)


def single_rows(X: Any, model: Any) -> Iterator[Any]:
    """Chunks of one row each, with their names for a model that has a use for them."""
    rows, names = as_rows(X, model, "X"), names_for(model, X)
    for start in range(len(rows)):
        row = rows[start : start + 1]
        yield row if names is None else NamedRows(row, names)


def chunk_for(model: Any, X: Any) -> Any:
    """X as it came; a stream's named rows as a plain array for a model that has no use for the names."""
    return X.values if isinstance(X, NamedRows) and names_for(model, X) is None else X


def names_for(model: Any, X: Any) -> list[Any] | None:
    """The names of X's columns where they say something to the model; None otherwise."""
    names = names_of_columns(X) if hasattr(model, "_has_use_for") else None
    return names if names is not None and model._has_use_for(names) else None


def classes_of(owner: str, stream: Walkable, classes: ArrayLike | None) -> Labels:
    """Every label that may occur, sorted; chunks that can be gone through twice are asked for theirs."""
    require_walkable(owner, stream)
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
    for _, y in _pairs(stream):
        labels = as_array(y)
        known = known.with_labels(as_labels(labels, len(labels), owner))
    return known.values
