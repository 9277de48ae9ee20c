"""Predictions as a client sees them: as columns over all rows, or row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, overload

from msgspec import UNSET

from thalweg.client.protocol import PredictResponse

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction for one row, and the id under which its label is given later.

    Parameters
    ----------
    id : str
        Keep it with the row: `Client.label` takes it.
    prediction : str, float or None
        The most likely class, as text, or the number that a regression model predicts; None before the model has seen
        any label.
    probability : float or None
        Of the prediction.
    probabilities : mapping or None
        Of every class; None where the rows went as an Arrow batch, which carries the prediction's alone.
    prediction_set : list of str or None
        Labels of which a known share holds the true one; None unless the model gives sets.
    lower, upper : float or None
        The ends of the interval of a regression model; None before it has seen any label, and of models that predict
        classes.
    contributions : mapping or None
        Where an explanation was asked for, what the columns contribute to the score, the largest first.
    base, score : float or None
        The mean score of recent rows, and with the contributions added that of this one: the probability of the
        prediction, or the number.

    Examples
    --------
    >>> Prediction("a1", "wet", 0.9, {"wet": 0.9, "dry": 0.1}).prediction
    'wet'
    >>> Prediction("a2", 3.5, lower=2.0, upper=5.0).upper
    5.0
    """

    id: str
    prediction: str | float | None
    probability: float | None = None
    probabilities: Mapping[str, float] | None = None
    prediction_set: list[str] | None = None
    lower: float | None = None
    upper: float | None = None
    contributions: Mapping[str, float] | None = None
    base: float | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Predictions(Sequence[Prediction]):
    """Predictions for some rows, in their order.

    Parameters
    ----------
    model : str
        Name of the model.
    version : int or None
        The last record of the journal with labels that it had learned by then.
    ids, predictions, probabilities, probability : list
        A value for each row; those of the prediction and of all classes are None for a regression model.
    prediction_sets : list or None
        The set of labels of each row; None unless the model gives sets.
    lower, upper : list or None
        Of a regression model, the ends of the interval of each row; None of other models.
    contributions, base, scores : list or None
        The explanation of each row; None unless it was asked for.
    recorded : bool
        Whether the rows can get labels; a replica does not record them.

    Examples
    --------
    >>> found = Predictions("rain", 12, ["a1", "a2"], ["wet", "dry"], [None, None], [0.9, 0.6])
    >>> len(found), found.predictions
    (2, ['wet', 'dry'])
    >>> found[1].id, found[1].prediction, found[1].probability
    ('a2', 'dry', 0.6)
    """

    model: str
    version: int | None
    ids: list[str]
    predictions: list[str | float | None]
    probabilities: list[Mapping[str, float] | None]
    probability: list[float | None]
    prediction_sets: list[list[str]] | None = None
    lower: list[float | None] | None = None
    upper: list[float | None] | None = None
    contributions: list[Mapping[str, float]] | None = None
    base: list[float] | None = None
    scores: list[float] | None = None
    recorded: bool = True

    @classmethod
    def of(cls, given: PredictResponse) -> Predictions:
        """From a response of JSON."""
        found = replace(cls._of(given), recorded=given.recorded)
        if not given.predictions or given.predictions[0].contributions is UNSET:
            return found
        each = [[getattr(row, name) for row in given.predictions] for name in ("contributions", "base", "score")]
        return replace(found, contributions=each[0], base=each[1], scores=each[2])

    @classmethod
    def _of(cls, given: PredictResponse) -> Predictions:
        rows = given.predictions
        ids = [row.id for row in rows]
        if rows and rows[0].lower is not UNSET:
            numbers = [[getattr(row, name) for row in rows] for name in ("prediction", "lower", "upper")]
            return cls.of_numbers(given.model, given.version, ids, *numbers)
        likely = [row.probabilities or {} for row in rows]
        return cls(
            given.model,
            given.version,
            ids,
            [row.prediction for row in rows],
            list(likely),
            [of_each.get(str(row.prediction)) for row, of_each in zip(rows, likely, strict=True)],
            [row.prediction_set or [] for row in rows] if rows and rows[0].prediction_set is not UNSET else None,
        )

    @classmethod
    def of_numbers(
        cls,
        model: str,
        version: int | None,
        ids: list[str],
        predictions: list[str | float | None],
        lower: list[float | None],
        upper: list[float | None],
    ) -> Predictions:
        """Those of a regression model, which have neither classes nor probabilities."""
        nothing = [None] * len(ids)
        return cls(model, version, ids, predictions, [*nothing], [*nothing], None, lower, upper)

    def __add__(self, later: Predictions) -> Predictions:
        return Predictions(
            self.model,
            later.version,
            self.ids + later.ids,
            self.predictions + later.predictions,
            self.probabilities + later.probabilities,
            self.probability + later.probability,
            _both(self.prediction_sets, later.prediction_sets),
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
    def __getitem__(self, at: int) -> Prediction: ...
    @overload
    def __getitem__(self, at: slice) -> list[Prediction]: ...
    def __getitem__(self, at: int | slice) -> Prediction | list[Prediction]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        columns: tuple[list[Any] | None, ...] = (self.prediction_sets, self.lower, self.upper)
        columns += (self.contributions, self.base, self.scores)
        return Prediction(
            self.ids[at],
            self.predictions[at],
            self.probability[at],
            self.probabilities[at],
            *(None if each is None else each[at] for each in columns),
        )


def _both(first: list[T] | None, second: list[T] | None) -> list[T] | None:
    return None if first is None or second is None else first + second
