"""Predictions as a client sees them: as columns over all rows, or row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, overload

from msgspec import UNSET

from thalweg.client.protocol import PredictResponse


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
    ask : bool or None
        Of a model with a label budget, whether the label of the row is asked for.
    ask_probability : float or None
        How probable it was that it is asked for.
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
    ask: bool | None = None
    ask_probability: float | None = None
    contributions: Mapping[str, float] | None = None
    base: float | None = None
    score: float | None = None


#: By field of a prediction, the column of `Predictions`.
_COLUMNS = {field.name: field.name for field in fields(Prediction)} | {
    "id": "ids",
    "prediction": "predictions",
    "prediction_set": "prediction_sets",
    "score": "scores",
}


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
    ask, ask_probability : list or None
        Of a model with a label budget, whether the label of each row is asked for, and how probable that was.
    contributions, base, scores : list or None
        The explanation of each row; None unless it was asked for.
    recorded : bool
        Whether the rows can get labels; a replica does not record them.

    Examples
    --------
    >>> predictions = Predictions("rain", 12, ["a1", "a2"], ["wet", "dry"], [None, None], [0.9, 0.6])
    >>> len(predictions), predictions.predictions
    (2, ['wet', 'dry'])
    >>> predictions[1].id, predictions[1].prediction, predictions[1].probability
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
    ask: list[bool] | None = None
    ask_probability: list[float] | None = None
    contributions: list[Mapping[str, float]] | None = None
    base: list[float] | None = None
    scores: list[float] | None = None
    recorded: bool = True

    @classmethod
    def of(cls, given: PredictResponse) -> Predictions:
        """From a response of JSON."""
        rows = given.predictions
        known = [name for name in _COLUMNS if rows and getattr(rows[0], name, UNSET) is not UNSET]
        columns: dict[str, list[Any]] = {name: [getattr(row, name) for row in rows] for name in ("id", *known)}
        if "probabilities" in columns:
            pairs = zip(columns["prediction"], columns["probabilities"], strict=True)
            columns["probability"] = [likely.get(str(prediction)) for prediction, likely in pairs]
        return cls.of_columns(given.model, given.version, columns, given.recorded)

    @classmethod
    def of_columns(
        cls, model: str, version: int | None, given: Mapping[str, list[Any]], recorded: bool = True
    ) -> Predictions:
        """From columns by the names of the fields of `Prediction`; a regression model has no probabilities."""
        nothing: dict[str, list[Any]] = {name: [None] * len(given["id"]) for name in ("probability", "probabilities")}
        columns = {_COLUMNS[name]: column for name, column in (nothing | dict(given)).items()}
        return cls(model, version, **columns, recorded=recorded)

    def __add__(self, later: Predictions) -> Predictions:
        lists = {name: (getattr(self, name), getattr(later, name)) for name in _COLUMNS.values()}
        together: dict[str, Any] = {name: None if None in both else both[0] + both[1] for name, both in lists.items()}
        return Predictions(self.model, later.version, **together, recorded=self.recorded and later.recorded)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Prediction: ...
    @overload
    def __getitem__(self, at: slice) -> list[Prediction]: ...
    def __getitem__(self, at: int | slice) -> Prediction | list[Prediction]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        columns = {name: getattr(self, column) for name, column in _COLUMNS.items()}
        own: dict[str, Any] = {name: None if column is None else column[at] for name, column in columns.items()}
        return Prediction(**own)
