"""Responses of the service, by type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, overload

from thalweg.client.transport import read

#: As classes may be given; the service speaks of them as text: 1 and "1" are one class.
Label: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says of one row, and the id under which its label is given later.

    Parameters
    ----------
    id : str
        Keep it with the row: `Client.label` takes it.
    answer : str or None
        The most likely class, as text; None before the model has seen any label.
    probability : float or None
        Of the answer.
    probabilities : mapping or None
        Of every class; None where the rows went as an Arrow batch, which carries the answer's alone.

    Examples
    --------
    >>> Answer("a1", "wet", 0.9, {"wet": 0.9, "dry": 0.1}).answer
    'wet'
    """

    id: str
    answer: str | None
    probability: float | None = None
    probabilities: Mapping[str, float] | None = None

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """As it stands in a reply."""
        probabilities = given.get("probabilities")
        answer = given["answer"]
        return cls(given["id"], answer, (probabilities or {}).get(answer), probabilities)


@dataclass(frozen=True, slots=True)
class Answers(Sequence[Answer]):
    """The answers to some rows, in their order.

    Parameters
    ----------
    model : str
        Who answered.
    version : int or None
        The last record of the journal with labels that it had learned by then.
    ids, answers, probabilities : list
        A value for each row.

    Examples
    --------
    >>> answers = Answers("rain", 12, ["a1", "a2"], ["wet", "dry"], [None, None], [0.9, 0.6])
    >>> len(answers), answers.answers
    (2, ['wet', 'dry'])
    >>> answers[1]
    Answer(id='a2', answer='dry', probability=0.6, probabilities=None)
    """

    model: str
    version: int | None
    ids: list[str]
    answers: list[str | None]
    probabilities: list[Mapping[str, float] | None]
    probability: list[float | None]

    @classmethod
    def of(cls, model: str, version: int | None, answers: Iterable[Answer]) -> Self:
        """From single ones."""
        kept = list(answers)
        return cls(
            model,
            version,
            [each.id for each in kept],
            [each.answer for each in kept],
            [each.probabilities for each in kept],
            [each.probability for each in kept],
        )

    def __add__(self, later: Answers) -> Answers:
        return Answers(
            self.model,
            later.version,
            self.ids + later.ids,
            self.answers + later.answers,
            self.probabilities + later.probabilities,
            self.probability + later.probability,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Answer: ...
    @overload
    def __getitem__(self, at: slice) -> list[Answer]: ...
    def __getitem__(self, at: int | slice) -> Answer | list[Answer]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        return Answer(self.ids[at], self.answers[at], self.probability[at], self.probabilities[at])


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of some labels.

    Parameters
    ----------
    model : str
        Who learned.
    seq : int
        The journal's number after them.
    learned, revised, repeated : int
        Labels that were new, that replaced an earlier one, that were known already.
    replayed : int
        Labels learned again because of a revision.
    unknown, expired, conflicts : tuple of str
        Ids that were never given out, whose row is no longer kept, that have another label already (see `revise`).

    Examples
    --------
    >>> receipt = Receipt("rain", 40, learned=2, unknown=("a9",))
    >>> receipt.learned, receipt.complete
    (2, False)
    """

    model: str
    seq: int
    learned: int = 0
    revised: int = 0
    repeated: int = 0
    replayed: int = 0
    unknown: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every label found its row."""
        return not (self.unknown or self.expired or self.conflicts)

    def __add__(self, later: Receipt) -> Receipt:
        return Receipt(
            self.model,
            later.seq,
            self.learned + later.learned,
            self.revised + later.revised,
            self.repeated + later.repeated,
            self.replayed + later.replayed,
            self.unknown + later.unknown,
            self.expired + later.expired,
            self.conflicts + later.conflicts,
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Champion and challenger, answer for answer on the same labels.

    Parameters
    ----------
    champion, challenger : str
        Their names.
    labels : int
        On how many both have answered.
    difference : float or None
        The champion's share of errors less the challenger's: above 0 the challenger errs less.
    interval : pair of float, or None
        Holds the true difference at all times at once with the probability of `level`, however often one looks.
    level : float
        Of confidence.
    winner : str or None
        Who errs less, as far as the level makes sure; None while it is open.

    Examples
    --------
    >>> seen = Comparison("rain", "rain-auto", 900, 0.04, (0.01, 0.07), 0.95, "rain-auto")
    >>> seen.winner
    'rain-auto'
    """

    champion: str
    challenger: str
    labels: int
    difference: float | None
    interval: tuple[float, float] | None
    level: float
    winner: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Something was decided: a model made, promoted, archived or restored.

    Parameters
    ----------
    name : str
        The model's.
    seq : int
        The journal's number of the decision.

    Examples
    --------
    >>> Decision("rain", 41).seq
    41
    """

    name: str
    seq: int


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the service, or a challenger of one.

    Parameters
    ----------
    name : str
        By which it is asked.
    kind : str
        What learns, as ``thalweg serve --new`` names it.
    rows, labels, waiting : int
        Rows answered, labels learned, rows whose label may still come.
    error : float or None
        The share of wrong answers, over all labels.
    created : float
        When, in seconds since 1970.
    archived : bool
        Whether it was put away.
    challenger_of : str or None
        In whose shadow it learns; None for a model that answers.
    parameters, schema : mapping or None
        How it was made, and its columns; None in a list of models, and a schema where no row has come yet.
    labels_seen : tuple of str
        The classes it knows; empty in a list of models.

    Examples
    --------
    >>> Model("rain", "oldc", rows=52, labels=40, waiting=12).waiting
    12
    """

    name: str
    kind: str
    rows: int = 0
    labels: int = 0
    waiting: int = 0
    error: float | None = None
    created: float = 0.0
    archived: bool = False
    challenger_of: str | None = None
    parameters: Mapping[str, Any] | None = None
    schema: Mapping[str, Any] | None = None
    labels_seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """How a model stood at one moment.

    Parameters
    ----------
    time : float
        Seconds since 1970.
    labels : int
        Learned by then.
    error, no_change : float or None
        The share of wrong answers of late; of the model, and of repeating the last label.
    rate : float or None
        How eager the model was, where it has a rate.
    memory, half_life : mapping
        By class: the rows it remembers, and after how many rows half of one is forgotten.
    waiting : int
        Rows whose label had not come.
    delay : float or None
        Seconds from a row to its label, of late.
    means : mapping or None
        By class, then by column: where the class's mean stood.

    Examples
    --------
    >>> Point(1.8e9, 20, 0.1, 0.4).error
    0.1
    """

    time: float
    labels: int
    error: float | None
    no_change: float | None
    rate: float | None = None
    memory: Mapping[str, float | None] | None = None
    half_life: Mapping[str, float | None] | None = None
    waiting: int | None = None
    delay: float | None = None
    means: Mapping[str, Mapping[str, float | None]] | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """Some hundred points as columns: each field of `Point` as a list.

    Examples
    --------
    >>> Points(time=[1.8e9, 1.8e9 + 60], labels=[20, 40], error=[0.1, 0.2], no_change=[0.4, 0.4]).error[-1]
    0.2
    """

    time: Sequence[float]
    labels: Sequence[int]
    error: Sequence[float | None]
    no_change: Sequence[float | None]
    rate: Sequence[float | None] | None = None
    memory: Mapping[str, Sequence[float | None]] | None = None
    half_life: Mapping[str, Sequence[float | None]] | None = None
    waiting: Sequence[int] | None = None
    delay: Sequence[float | None] | None = None
    means: Mapping[str, Mapping[str, Sequence[float | None]]] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A moment at which the error changed.

    Examples
    --------
    >>> Change(time=1.8e9, labels=400).labels
    400
    """

    time: float
    labels: int


@dataclass(frozen=True, slots=True)
class Course:
    """How a model has been doing since it was made.

    Parameters
    ----------
    name : str
        The model's.
    rows, labels, waiting : int
        Rows answered, labels learned, rows whose label has not come.
    version : int
        Of the model.
    throughput : float or None
        Rows a second, of late.
    points : Points
        Some hundred moments, as columns.
    changes : tuple of Change
        When the error changed.

    Examples
    --------
    >>> points = {"time": [1.8e9], "labels": [20], "error": [0.1], "no_change": [0.4]}
    >>> course = Course.from_json({"name": "rain", "rows": 30, "labels": 20, "waiting": 10, "version": 20,
    ...                            "throughput": 2.5, "points": points, "changes": []})
    >>> course.points.error
    [0.1]
    """

    name: str
    rows: int
    labels: int
    waiting: int
    version: int
    throughput: float | None
    points: Points
    changes: tuple[Change, ...]

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """As it stands in a reply."""
        changes = tuple(read(Change, change) for change in given["changes"])
        return read(cls, {**given, "points": read(Points, given["points"]), "changes": changes})
