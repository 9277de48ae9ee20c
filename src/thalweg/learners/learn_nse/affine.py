"""Members of Learn++.NSE whose scores are affine in the row: stacked, so that all vote by one matrix product."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.python_core import Codes
from thalweg.learners.base.rows import Floats

#: How far rounding may reach, as a share of the terms' sizes: some thousand units in the last place for coefficients
#: from formulas, more for those found by asking.
_ROUNDING, _ROUNDING_OF_PROBES = 1e-12, 1e-10


class Frame(NamedTuple):
    """Where rows lie and how widely: the origin and the units of the forms."""

    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, X: Floats) -> Frame:
        """The frame of these rows; a constant feature keeps its unit."""
        spread = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(spread > 0.0, spread, 1.0))

    def features(self, X: Floats, width: int) -> Floats:
        """The rows as a form of this width takes them."""
        Z = (X - self.centre) / self.spread
        rows, p = Z.shape
        features = np.empty((rows, width))
        features[:, 0] = 1.0
        features[:, 1 : p + 1] = Z
        if width > p + 1:
            np.square(Z, out=features[:, p + 1 :])
        return features


class AffineForm(NamedTuple):
    """Discriminants as coefficients, and how far off rounding may put each term."""

    coefficients: Floats
    doubt: Floats


def affine_form(model: Any, frame: Frame) -> AffineForm | None:
    """The form of a fitted classifier of the classes 0, 1, …; None for one that has no such form."""
    if isinstance(model, StreamClassifier):
        return _probed(model, frame) if model._scores_linearly else None
    kind = f"{type(model).__module__}.{type(model).__qualname__}"  # a subclass might predict in another way
    if kind == "sklearn.naive_bayes.GaussianNB":
        return _gaussian(model, frame)
    if kind in (
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    ):
        return _linear(model, frame)
    return None


def _linear(model: Any, frame: Frame) -> AffineForm:
    coefficients = np.column_stack([model.intercept_ + model.coef_ @ frame.centre, model.coef_ * frame.spread])
    sizes = np.abs(model.coef_) * frame.spread
    constant = np.abs(model.intercept_) + np.abs(model.coef_) @ np.abs(frame.centre)
    return AffineForm(coefficients, _ROUNDING * np.column_stack([constant, sizes]))


def _gaussian(model: Any, frame: Frame) -> AffineForm:
    # log P(c) - 1/2 sum_i (log 2 pi v_i + (x_i - m_i)^2 / v_i), expanded around the centre
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # no variance: the rows will be asked singly
        offset = frame.centre - model.theta_
        logs = np.log(2.0 * np.pi * model.var_)
        log_prior = np.log(model.class_prior_)
        square = -0.5 * frame.spread**2 / model.var_
        linear = -frame.spread * offset / model.var_
        distance = 0.5 * (offset**2 / model.var_).sum(axis=1)
        coefficients = np.column_stack([log_prior - 0.5 * logs.sum(axis=1) - distance, linear, square])
        constant = np.abs(log_prior) + 0.5 * np.abs(logs).sum(axis=1) + distance
        sizes = np.column_stack([constant, np.abs(linear), np.abs(square)])
        return _of_two(coefficients, _ROUNDING * sizes)


def _probed(model: StreamClassifier, frame: Frame) -> AffineForm:
    """Of a learner of ours, by asking at the centre and one spread along each feature."""
    steps = np.vstack([np.zeros_like(frame.centre), np.diag(frame.spread)])
    scores = model._scores(frame.centre + steps)
    with np.errstate(invalid="ignore"):  # a score that is no number: the rows will be asked singly
        scores = scores - scores[:, :1]  # what all classes share need not be linear
        slopes = scores[1:] - scores[0]
    doubt = np.abs(scores).max(axis=0) + np.abs(slopes).sum(axis=0)
    coefficients = np.column_stack([scores[0], slopes.T])
    return _of_two(coefficients, _ROUNDING_OF_PROBES * np.repeat(doubt[:, None], coefficients.shape[1], axis=1))


def _of_two(coefficients: Floats, doubt: Floats) -> AffineForm:
    if len(coefficients) != 2:
        return AffineForm(coefficients, doubt)
    return AffineForm(coefficients[1:] - coefficients[:1], doubt[1:] + doubt[:1])


#: Predictions as places among a member's own classes, a column per member; for two classes False and True are places.
Places = NDArray[np.bool_] | NDArray[np.intp]


class AffineStack:
    """Forms like the given one, of so many classes, one behind the other, with room to grow.

    ``owners`` says whose form each is, in rising order; ``width`` is that of a form.
    """

    def __init__(self, form: AffineForm, classes: int) -> None:
        lines, self.width = form.coefficients.shape
        self._coefficients = np.empty((8, lines, self.width))
        self._doubt = np.empty((8, lines, self.width))
        self._classes = np.empty((8, classes), dtype=np.int64)
        self.owners = np.empty(0, dtype=np.intp)

    def append(self, form: AffineForm, classes: Codes, owner: int) -> None:
        at = len(self.owners)
        if at == len(self._coefficients):
            self._coefficients, self._doubt = _doubled(self._coefficients), _doubled(self._doubt)
            self._classes = _doubled(self._classes)
        self._coefficients[at], self._doubt[at], self._classes[at] = form.coefficients, form.doubt, classes
        self.owners = np.append(self.owners, owner)

    def drop(self, owner: int) -> None:
        """Forget an owner, whether it has a form here or not; the owners behind it move up."""
        at = np.flatnonzero(self.owners == owner)
        self._coefficients, self._doubt = np.delete(self._coefficients, at, 0), np.delete(self._doubt, at, 0)
        self._classes = np.delete(self._classes, at, 0)
        owners = np.delete(self.owners, at)
        self.owners = owners - (owners > owner)

    def insert_class(self, at: int) -> None:
        self._classes[self._classes >= at] += 1

    def ask(self, features: Floats, members: NDArray[np.intp]) -> tuple[Places, NDArray[np.bool_] | None]:
        """The predictions of these members, and where rounding could have turned them; None where it could nowhere."""
        coefficients = self._coefficients[members]
        with np.errstate(invalid="ignore", over="ignore"):
            scores = features @ coefficients.reshape(-1, self.width).T
            reach = (self._doubt[members] @ np.abs(features).max(axis=0)).max(axis=1)
            if coefficients.shape[1] == 1:
                places: Places = scores > 0.0
                margins = np.abs(scores, out=scores)
            else:
                by_class = scores.reshape(len(features), len(members), -1)
                places = by_class.argmax(axis=2)
                top = np.partition(by_class, -2, axis=2)
                margins = top[:, :, -1] - top[:, :, -2]
            if (margins.min(axis=0) > 2.0 * reach).all():  # false where something is no number, too
                return places, None
            return places, ~(margins > 2.0 * reach)

    def classes_at(self, places: Places) -> Codes:
        """Places of all members as class indices."""
        classes = self._classes[: len(self.owners)]
        if places.dtype == np.bool_:
            return np.where(places, classes[:, 1], classes[:, 0])
        return np.asarray(classes[np.arange(len(classes)), places])

    def count(self, places: Places, members: NDArray[np.intp], ballots: Floats, votes: Floats) -> None:
        """Add the ballots of these members to the votes for each class."""
        classes = self._classes[members]
        rows = np.arange(len(members))
        for place in range(classes.shape[1]) if places.dtype != np.bool_ else ():
            of_class = np.zeros((len(members), votes.shape[1]))
            of_class[rows, classes[:, place]] = ballots
            votes += (places == place) @ of_class
        if places.dtype == np.bool_:  # the first class has the ballot, unless the second takes it over
            moved = np.zeros((len(members), votes.shape[1]))
            moved[rows, classes[:, 0]] = -ballots
            votes -= moved.sum(axis=0)
            moved[rows, classes[:, 1]] = ballots
            votes += places @ moved


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.empty_like(array)])
