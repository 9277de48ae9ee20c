"""Predictions as a client sees them: as columns over all rows, or row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from msgspec import UNSET

from thalweg.client.protocol import Predictions


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
    prediction_set : list of str or None
        Labels of which a known share holds the true one; None unless the model gives sets.

    Examples
    --------
    >>> Answer("a1", "wet", 0.9, {"wet": 0.9, "dry": 0.1}).answer
    'wet'
    """

    id: str
    answer: str | None
    probability: float | None = None
    probabilities: Mapping[str, float] | None = None
    prediction_set: list[str] | None = None


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
    prediction_sets : list or None
        The set of labels of each row; None unless the model gives sets.

    Examples
    --------
    >>> answers = Answers("rain", 12, ["a1", "a2"], ["wet", "dry"], [None, None], [0.9, 0.6])
    >>> len(answers), answers.answers
    (2, ['wet', 'dry'])
    >>> answers[1]
    Answer(id='a2', answer='dry', probability=0.6, probabilities=None, prediction_set=None)
    """

    model: str
    version: int | None
    ids: list[str]
    answers: list[str | None]
    probabilities: list[Mapping[str, float] | None]
    probability: list[float | None]
    prediction_sets: list[list[str]] | None = None

    @classmethod
    def of(cls, given: Predictions) -> Answers:
        """From a response of JSON."""
        rows = given.answers
        return cls(
            given.model,
            given.version,
            [row.id for row in rows],
            [row.answer for row in rows],
            [row.probabilities for row in rows],
            [None if row.answer is None else row.probabilities.get(row.answer) for row in rows],
            [row.prediction_set or [] for row in rows] if rows and rows[0].prediction_set is not UNSET else None,
        )

    def __add__(self, later: Answers) -> Answers:
        return Answers(
            self.model,
            later.version,
            self.ids + later.ids,
            self.answers + later.answers,
            self.probabilities + later.probabilities,
            self.probability + later.probability,
            None
            if self.prediction_sets is None or later.prediction_sets is None
            else self.prediction_sets + later.prediction_sets,
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
        sets = self.prediction_sets
        return Answer(
            self.ids[at],
            self.answers[at],
            self.probability[at],
            self.probabilities[at],
            None if sets is None else sets[at],
        )
