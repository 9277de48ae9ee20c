"""Predictions as a client sees them: as columns over all rows, or row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

from msgspec import UNSET

from thalweg.client.protocol import Predictions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """Prediction for one row, and the id under which its label is given later.

    Parameters
    ----------
    id : str
        Keep it with the row: `Client.label` takes it.
    answer : str or None
        The most likely class, as text; None before the model has seen any label.
    probability : float or None
        Of the prediction.
    probabilities : mapping or None
        Of every class; None where the rows went as an Arrow batch, which carries the prediction's alone.
    prediction_set : list of str or None
        Labels of which a known share holds the true one; None unless the model gives sets.
    prediction, lower, upper : float or None
        What a regression model predicts, and the ends of its interval; None before it has seen any label, and of models
        that predict classes.
    contributions : mapping or None
        Where an explanation was asked for, what the columns contribute to the score, the largest first.
    base, score : float or None
        The mean score of recent rows, and with the contributions added that of this one: the probability of the
        prediction, or the number.

    Examples
    --------
    >>> Answer("a1", "wet", 0.9, {"wet": 0.9, "dry": 0.1}).answer
    'wet'
    >>> Answer("a2", None, prediction=3.5, lower=2.0, upper=5.0).upper
    5.0
    """

    id: str
    answer: str | None
    probability: float | None = None
    probabilities: Mapping[str, float] | None = None
    prediction_set: list[str] | None = None
    prediction: float | None = None
    lower: float | None = None
    upper: float | None = None
    contributions: Mapping[str, float] | None = None
    base: float | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Answers(Sequence[Answer]):
    """Predictions for some rows, in their order.

    Parameters
    ----------
    model : str
        Name of the model.
    version : int or None
        The last record of the journal with labels that it had learned by then.
    ids, answers, probabilities : list
        A value for each row.
    prediction_sets : list or None
        The set of labels of each row; None unless the model gives sets.
    predictions, lower, upper : list or None
        Of a regression model, a number for each row and the ends of its interval; None of other models.
    contributions, base, scores : list or None
        The explanation of each row; None unless it was asked for.
    recorded : bool
        Whether the rows can get labels; a replica does not record them.

    Examples
    --------
    >>> answers = Answers("rain", 12, ["a1", "a2"], ["wet", "dry"], [None, None], [0.9, 0.6])
    >>> len(answers), answers.answers
    (2, ['wet', 'dry'])
    >>> answers[1].id, answers[1].answer, answers[1].probability
    ('a2', 'dry', 0.6)
    """

    model: str
    version: int | None
    ids: list[str]
    answers: list[str | None]
    probabilities: list[Mapping[str, float] | None]
    probability: list[float | None]
    prediction_sets: list[list[str]] | None = None
    predictions: list[float | None] | None = None
    lower: list[float | None] | None = None
    upper: list[float | None] | None = None
    contributions: list[Mapping[str, float]] | None = None
    base: list[float] | None = None
    scores: list[float] | None = None
    recorded: bool = True

    @classmethod
    def of(cls, given: Predictions) -> Answers:
        """From a response of JSON."""
        found = replace(cls._of(given), recorded=given.recorded)
        if not given.answers or given.answers[0].contributions is UNSET:
            return found
        each = [[getattr(row, name) for row in given.answers] for name in ("contributions", "base", "score")]
        return replace(found, contributions=each[0], base=each[1], scores=each[2])

    @classmethod
    def _of(cls, given: Predictions) -> Answers:
        rows = given.answers
        ids = [row.id for row in rows]
        if rows and rows[0].prediction is not UNSET:
            numbers = [[getattr(row, name) for row in rows] for name in ("prediction", "lower", "upper")]
            return cls.of_numbers(given.model, given.version, ids, *numbers)
        answers = [None if row.answer is UNSET else row.answer for row in rows]
        likely = [row.probabilities or {} for row in rows]
        return cls(
            given.model,
            given.version,
            ids,
            answers,
            list(likely),
            [None if answer is None else of_each.get(answer) for answer, of_each in zip(answers, likely, strict=True)],
            [row.prediction_set or [] for row in rows] if rows and rows[0].prediction_set is not UNSET else None,
        )

    @classmethod
    def of_numbers(
        cls,
        model: str,
        version: int | None,
        ids: list[str],
        predictions: list[float | None],
        lower: list[float | None],
        upper: list[float | None],
    ) -> Answers:
        """Those of a regression model, which have neither classes nor probabilities."""
        nothing = [None] * len(ids)
        return cls(model, version, ids, [*nothing], [*nothing], [*nothing], None, predictions, lower, upper)

    def __add__(self, later: Answers) -> Answers:
        return Answers(
            self.model,
            later.version,
            self.ids + later.ids,
            self.answers + later.answers,
            self.probabilities + later.probabilities,
            self.probability + later.probability,
            _both(self.prediction_sets, later.prediction_sets),
            _both(self.predictions, later.predictions),
            _both(self.lower, later.lower),
            _both(self.upper, later.upper),
            _both(self.contributions, later.contributions),
            _both(self.base, later.base),
            _both(self.scores, later.scores),
            self.recorded and later.recorded,
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
        columns: tuple[list[Any] | None, ...] = (self.prediction_sets, self.predictions, self.lower, self.upper)
        columns += (self.contributions, self.base, self.scores)
        return Answer(
            self.ids[at],
            self.answers[at],
            self.probability[at],
            self.probabilities[at],
            *(None if each is None else each[at] for each in columns),
        )


def _both(first: list[T] | None, second: list[T] | None) -> list[T] | None:
    return None if first is None or second is None else first + second
