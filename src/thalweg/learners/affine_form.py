"""Classifiers whose discriminants are linear or quadratic in the row, written as such, so that many can be one matrix.

A row x becomes [1, z] or [1, z, z * z] with z = (x - centre) / spread; a form has a row of coefficients for each
discriminant. Two classes need one, the second's less the first's. Beside each coefficient stands a bound of what
rounding may have done to its term, in the form and in the classifier itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from thalweg.learners.contract import StreamClassifier
from thalweg.learners.rows import Floats

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
        return _probed(model, frame) if model._answers_linearly else None
    kind = f"{type(model).__module__}.{type(model).__qualname__}"  # a subclass might answer in another way
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
