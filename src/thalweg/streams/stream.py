"""What every stream is: rows in time that can be read again and again, always the same.

A row of a generated stream is a pure function of its time and of a fixed number of uniform random numbers. From this
follow the laws: drawing 5 rows and then 5 more is drawing 10, and row 10⁹ is reached without drawing the rows before
it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.parameters import Rules, at_least, whole_number

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
#: X of shape (rows, n_features) and y of shape (rows,): labels, or numbers where a stream is for regression.
Rows: TypeAlias = tuple[Floats, Labels]

#: Rows fetched at a time when a stream is iterated row by row.
_ITERATION_BATCH = 1024


#: Below the smallest positive uniform number; a uniform 0 would be a normal minus infinity.
LEAST_UNIFORM = 2.0**-54


def standard_normals(uniforms: Floats) -> Floats:
    """Standard normal numbers from uniform ones, by the inverse of their distribution function."""
    return np.asarray(ndtri(np.maximum(uniforms, LEAST_UNIFORM)))


class Stream(ABC):
    """Rows in time.

    Row t is the same whichever way it is reached: by `take`, by `batches` of any size, or by iteration. A stream has no
    position, so any number of readers may use it at once. The arrays it hands out are the reader's own.

    Examples
    --------
    >>> from thalweg.streams import Stagger
    >>> stream = Stagger(seed=1)
    >>> [len(y) for _, y in stream.batches(50)]
    [50, 50, 20]
    >>> bool((stream.take(1, start=7)[0] == stream.take(10)[0][7]).all())
    True
    """

    @property
    @abstractmethod
    def length(self) -> int:
        """Rows of the data set; for a generated stream, which is endless, of its paper's protocol."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of X."""

    @property
    def given_names(self) -> tuple[Hashable, ...] | None:
        """The names that came with the data, which evaluation hands on to models; None where names are made up."""
        return None

    @property
    @abstractmethod
    def classes(self) -> Labels:
        """Every label that may occur, sorted; an error for a stream whose targets are numbers."""

    @abstractmethod
    def take(self, n: int | None = None, start: int = 0) -> Rows:
        """Rows ``start`` … ``start + n - 1``; without ``n``, all from ``start`` to the stream's length."""

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return len(self.feature_names)

    def batches(self, size: int, rows: int | None = None, start: int = 0) -> Iterator[Rows]:
        """``rows`` rows from ``start`` on (by default up to the stream's length), ``size`` at a time."""
        owner = type(self).__name__
        size = whole_number(owner, "size", size, least=1)
        first, stop = self._span("rows", rows, start)
        return (self.take(min(size, stop - at), at) for at in range(first, stop, size))

    def __iter__(self) -> Iterator[tuple[Floats, Any]]:
        for X, y in self.batches(_ITERATION_BATCH):
            yield from zip(X, y, strict=True)

    def _span(self, name: str, count: int | None, start: int) -> tuple[int, int]:
        owner = type(self).__name__
        first = whole_number(owner, "start", start)
        if count is None:
            return first, max(first, self.length)
        return first, first + whole_number(owner, name, count)


Times: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class ConceptStream(Stream):
    """A generated, endless stream; subclasses say how uniform numbers become a row of the concept at a time.

    Parameters
    ----------
    seed : int >= 0
        Seed for the random number generator.

    Examples
    --------
    >>> from thalweg.streams import MovingPlane
    >>> stream = MovingPlane(seed=1)
    >>> isinstance(stream, ConceptStream), stream.concept(100).bayes_error
    (True, 0.0)
    >>> stream.take(1, start=10**9)[0].shape
    (1, 2)
    """

    seed: int = 0

    _rules = Rules(seed=at_least(0))

    def __post_init__(self) -> None:
        self._rules.check(self)

    @property
    def features(self) -> int:
        """The number of columns of X, for streams whose columns have no names of their own."""
        raise NotImplementedError

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per column of X: x1, x2, … where they have no names of their own."""
        return tuple(f"x{number}" for number in range(1, self.features + 1))

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return 2

    @property
    def classes(self) -> Labels:
        """Every label that may occur, sorted; by default the numbers from 0 on."""
        return np.arange(self.n_classes)

    @property
    def uniforms_per_row(self) -> int:
        """Random numbers a row is made of: by default one for the label or its noise, and one for each feature."""
        return 1 + self.features

    @abstractmethod
    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``.

        ``uniforms`` has shape (…, uniforms_per_row) and ``times`` broadcasts against the leading axes; X has
        shape (…, n_features) and y (…).
        """

    def bayes_error_at(self, time: int) -> float | None:
        """The least error any classifier can have on the concept at ``time``; None without a formula."""
        return None

    def sampler(self, *key: int | str) -> Sampler:
        """A source of rows whose randomness belongs to this seed and key alone.

        Without a key it draws the stream's own rows; every key gives rows independent of them.
        """
        return Sampler(self, key)

    def concept(self, time: int) -> Concept:
        """What holds at ``time``."""
        return Concept(self, whole_number(type(self).__name__, "time", time))

    def take(self, n: int | None = None, start: int = 0) -> Rows:
        """Rows ``start`` … ``start + n - 1``; without ``n``, all from ``start`` to the stream's length."""
        first, stop = self._span("n", n, start)
        return self.sampler().skip(first).rows_at(np.arange(first, stop))


@dataclass(frozen=True)
class ResponseStream(ConceptStream):
    """A generated stream whose targets are numbers: y is an array of floats, and asking for ``classes`` is an error.

    Examples
    --------
    >>> from thalweg.streams import LinearResponse
    >>> isinstance(LinearResponse(), ResponseStream)
    True
    """

    @property
    def classes(self) -> NoReturn:
        """There are none."""
        raise InvalidInput(
            f"The targets of a {type(self).__name__} are numbers and have no classes: it is for regression."
        )


class Sampler:
    """Draws rows from a stream's concepts at any times, one after the other.

    Splitting does not matter: ``rows_at(a)`` and then ``rows_at(b)`` are ``rows_at`` of both together.

    Examples
    --------
    >>> from thalweg.streams import MovingPlane
    >>> sampler = MovingPlane(seed=1).sampler("test")
    >>> X, y = sampler.sets_at([0, 90], n=5)
    >>> X.shape, y.shape
    ((2, 5, 2), (2, 5))
    """

    def __init__(self, stream: ConceptStream, key: Iterable[int | str] = ()) -> None:
        spawn_key = tuple(_as_number(part) for part in key)
        # A spawn key, unlike further entropy, keeps (7,) and (7, 0) apart.
        self._bits = np.random.PCG64(np.random.SeedSequence(stream.seed, spawn_key=spawn_key))
        self._generator = np.random.Generator(self._bits)
        self._stream = stream

    def rows_at(self, times: ArrayLike) -> Rows:
        """One row per time: row i is drawn from the concept at ``times[i]``."""
        moments = _as_times(times)
        uniforms = self._generator.random((len(moments), self._stream.uniforms_per_row))
        return self._stream.rows_from(moments, uniforms)

    def sets_at(self, times: ArrayLike, n: int) -> Rows:
        """One set of ``n`` rows per time, X of shape (times, n, n_features) and y of shape (times, n).

        The rows are those of ``rows_at`` with every time repeated ``n`` times.
        """
        moments = _as_times(times)
        size = whole_number("Sampler", "n", n)
        uniforms = self._generator.random((len(moments), size, self._stream.uniforms_per_row))
        return self._stream.rows_from(moments[:, np.newaxis], uniforms)

    def skip(self, rows: int) -> Sampler:
        """Continue as if ``rows`` rows had been drawn."""
        self._bits.advance(whole_number("Sampler", "rows", rows) * self._stream.uniforms_per_row)
        return self


@dataclass(frozen=True)
class Concept:
    """What holds at one time of a generated stream.

    Examples
    --------
    >>> from thalweg.streams import DriftingGaussians
    >>> concept = DriftingGaussians(seed=1).concept(100)
    >>> concept.draw(3)[0].shape, 0 < concept.bayes_error < 0.5
    ((3, 2), True)
    """

    stream: ConceptStream
    time: int

    @property
    def bayes_error(self) -> float | None:
        """The least error any classifier can have here; None where there is no formula."""
        return self.stream.bayes_error_at(self.time)

    def draw(self, n: int, seed: int | Sampler = 0) -> Rows:
        """``n`` labelled rows: afresh from a seed, or continuing with a sampler."""
        source = seed if isinstance(seed, Sampler) else self.stream.sampler("concept", self.time, seed)
        return source.rows_at(np.full(whole_number("Concept", "n", n), self.time))


@dataclass(frozen=True)
class RuleStream(ConceptStream):
    """A generated stream whose features do not drift and whose labels follow from them by the time's rule.

    Examples
    --------
    >>> from thalweg.streams import Stagger
    >>> stream = Stagger(seed=1)
    >>> X, y = stream.take(40)
    >>> isinstance(stream, RuleStream), bool((stream.concept(0).label(X) == y).all())
    (True, True)
    """

    @abstractmethod
    def features_from(self, uniforms: Floats) -> Floats:
        """Rows of shape (…, n_features) made of uniform numbers of shape (…, uniforms_per_row)."""

    @abstractmethod
    def label_at(self, times: Times, X: Floats) -> Labels:
        """The labels of rows X (…, n_features) under the rules at ``times`` (broadcast against …)."""

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        X = self.features_from(uniforms)
        return X, self.label_at(times, X)

    def bayes_error_at(self, time: int) -> float | None:
        """Zero: the rule is always right."""
        return 0.0

    def concept(self, time: int) -> RuleConcept:
        """What holds at ``time``."""
        return RuleConcept(self, whole_number(type(self).__name__, "time", time))


@dataclass(frozen=True)
class RuleConcept(Concept):
    """A concept with a rule that gives the label of any row.

    Examples
    --------
    >>> from thalweg.streams import MovingPlane
    >>> MovingPlane(seed=1).concept(0).label([[0.5, 0.0], [-0.5, 0.0]]).tolist()
    [1, 0]
    """

    stream: RuleStream

    def label(self, X: ArrayLike) -> Labels:
        """The right labels of rows X, of shape (…, n_features)."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim == 0 or rows.shape[-1] != self.stream.n_features:
            raise InvalidInput(
                f"The rows given to a concept of {type(self.stream).__name__} must have "
                f"{self.stream.n_features} features, got an array of shape {rows.shape}."
            )
        return self.stream.label_at(np.asarray(self.time), rows)


def _as_number(part: int | str) -> int:
    if isinstance(part, str):
        return int.from_bytes(part.encode(), "big")
    return whole_number("Sampler", "key", part)


def _as_times(times: ArrayLike) -> Times:
    given = np.asarray(times)
    if given.ndim != 1 or (given.size and (given.dtype.kind not in "iu" or given.min() < 0)):
        raise InvalidParameter.of("Sampler", "times", "be a sequence of whole numbers of at least 0", times)
    return given.astype(np.int64)


@dataclass(frozen=True)
class NoisyRuleStream(RuleStream):
    """A rule stream with noise in what is drawn: in the features, or in the labels.

    Examples
    --------
    >>> from thalweg.streams import SEA
    >>> stream = SEA(seed=1, noise=0.1)
    >>> isinstance(stream, NoisyRuleStream), stream.clean.noise
    (True, 0.0)
    """

    @property
    @abstractmethod
    def noise(self) -> float:
        """How much of it; 0 is none at all."""

    @abstractmethod
    def blurred(self, X: Floats, y: Labels, uniforms: Floats) -> Rows:
        """Points X with their right labels y, as they are drawn; made of the numbers that the features leave over."""

    @property
    def clean(self) -> Self:
        """The same points without noise, under their right labels: what test sets are drawn from."""
        twin: Self = replace(cast(Any, self), noise=0.0)  # a field of every subclass, of which the type says nothing
        return twin

    def bayes_error_at(self, time: int) -> float | None:
        """Zero without noise; with it, none unless the stream has a formula."""
        return 0.0 if self.noise == 0 else None

    def rows_from(self, times: Times, uniforms: Floats) -> Rows:
        """Rows of the concepts at ``times``, made of ``uniforms``."""
        X, y = super().rows_from(times, uniforms)
        return self.blurred(X, y, uniforms)
