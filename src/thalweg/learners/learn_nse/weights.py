"""The mathematics of Learn++.NSE: from who was wrong to who may vote; equations (1) to (8).

Three readings of equation (6), where the paper prints a sum of f(beta) and says in words that errors on old
environments weigh less. With sigma(z) = 1 / (1 + exp(-z)), slope a and crossing b, the error that a member born in
block k makes in block t - j has at time t the weight

- "age": sigma(a (b - j)), by the age of the error, normalised over its life. The text's own reading.
- "lifetime": sigma(a (t - j - k - b)), by how long the member had lived when it erred, normalised over its life.
- "recursive": the same sigma over (itself + all weights before it), never normalised again.

The latter two are found in other implementations. Both trust a member less for errors of its youth than for those of
its old age, however long ago either was.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from thalweg.learners.base.python_core import Codes
from thalweg.learners.base.rows import Floats

Flags = NDArray[np.bool_]
Weighting = Literal["age", "lifetime", "recursive"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

#: A normalised error is taken as no less than this, so that a flawless member has a finite vote (ours).
LEAST_ERROR = 1e-3
#: A sigmoid is followed this far beyond its crossing; what is left is below 5e-15.
_SIGMOID_TAIL = 33.0
#: No further from its crossing than this may a sigmoid begin: smaller numbers lose their digits.
STEEPEST = 600.0


def distribution(ensemble_wrong: Flags) -> Floats:
    """D over the rows of a block: rows that the ensemble already knows count less, by its error."""
    error = ensemble_wrong.mean()  # eq. (1)
    if not 0.0 < error < 1.0:
        return np.full(len(ensemble_wrong), 1.0 / len(ensemble_wrong))  # ours: nothing distinguishes the rows
    weights = np.where(ensemble_wrong, 1.0, error)  # eq. (2)
    return np.asarray(weights / weights.sum())  # eq. (3)


def member_errors(wrong: Flags, ensemble_wrong: Flags, D: Floats) -> Floats:
    """The error of each member, a column of ``wrong``, under D.

    D has one value where the ensemble was wrong and one where it was right, so two counts give the sum exactly.
    """
    both = np.count_nonzero(wrong[ensemble_wrong], axis=0)
    alone = np.count_nonzero(wrong, axis=0) - both
    return np.asarray(_weight(D, ensemble_wrong) * both + _weight(D, ~ensemble_wrong) * alone)  # eq. (4)


def _weight(D: Floats, rows: Flags) -> float:
    return float(D[rows][0]) if rows.any() else 0.0


def normalised_errors(errors: Floats) -> Floats:
    """Errors beyond 1/2 are 1/2; the rest of the scale becomes [0, 1]."""
    halved = np.minimum(errors, 0.5)
    return np.asarray(halved / (1.0 - halved))  # eq. (5)


def voting_weights(averages: Floats) -> Floats:
    """The weight of each vote, never negative."""
    return np.maximum(np.log(1.0 / np.maximum(averages, LEAST_ERROR)), 0.0)  # eq. (7)


def ballots(weights: Floats) -> Floats:
    """The weights as they are counted; where all are zero the newest member decides.

    They are rounded to multiples of one power of two, 2^-51 of their sum, so that every sum of them is exact: equal
    sides are a tie in whatever order votes are added.
    """
    total = weights.sum()
    if total == 0.0:
        return np.asarray(np.arange(len(weights)) == len(weights) - 1, dtype=np.float64)
    unit = np.ldexp(1.0, int(np.frexp(total)[1]) - 51)
    return np.asarray(np.rint(weights / unit) * unit)


def count_votes(answers: Codes, votes: Floats, classes: int) -> Floats:
    """For each row the votes for each class; ``answers`` has a row per row and a column per member."""
    return np.column_stack([(answers == k) @ votes for k in range(classes)])  # eq. (8)


class ErrorHistory:
    """The errors of each member, block by block, and their averages.

    Errors older than the sigmoid reaches, ``crossing + 33 / slope`` blocks, are dropped; the weightings by lifetime,
    whose sigmoid does not fade with age, carry on two sums per member instead.

    Attributes
    ----------
    errors : ndarray of shape (members, kept blocks)
        The error of eq. (4), newest block last; NaN before a member's first block.
    ages : ndarray of shape (members,)
        For how many blocks each member has lived.
    sums, shares : ndarray of shape (members,)
        Of the weightings by lifetime: the weighted sum of normalised errors, and the sum of its weights.
    """

    def __init__(self, weighting: Weighting, slope: float, crossing: float) -> None:
        self._weighting = weighting
        self._slope = slope
        self._crossing = crossing
        self._kept = int(crossing + _SIGMOID_TAIL / slope) + 1
        self.errors = np.empty((0, 0))
        self.ages = np.empty(0, dtype=np.int64)
        self.sums = np.empty(0)
        self.shares = np.empty(0)

    def add(self, errors: Floats) -> None:
        """One more block; the last of these errors is that of a member born in it."""
        members, blocks = self.errors.shape
        kept = min(blocks, self._kept - 1)
        grown = np.full((members + 1, kept + 1), np.nan)
        grown[:members, :kept] = self.errors[:, blocks - kept :]
        grown[:, kept] = errors
        self.errors = grown
        self.ages = np.append(self.ages, 0) + 1
        self.sums, self.shares = np.append(self.sums, 0.0), np.append(self.shares, 0.0)
        if self._weighting != "age":
            self._carry_on(normalised_errors(errors))

    def _carry_on(self, beta: Floats) -> None:
        weight = expit(self._slope * (self.ages - 1 - self._crossing))
        if self._weighting == "recursive":
            weight = weight / (self.shares + weight)
        self.sums = self.sums + weight * beta
        self.shares = self.shares + weight

    def drop(self, member: int) -> None:
        self.errors = np.delete(self.errors, member, axis=0)
        self.ages = np.delete(self.ages, member)
        self.sums, self.shares = np.delete(self.sums, member), np.delete(self.shares, member)

    def resume(self, errors: Floats, ages: Codes, sums: Floats, shares: Floats) -> None:
        """Continue from these; ValueError where the sums cannot be those of this weighting."""
        if self._weighting != "age" and not (shares > 0.0).all():
            raise ValueError("the weights of the errors are not positive")
        self.errors, self.ages, self.sums, self.shares = errors.copy(), ages.copy(), sums.copy(), shares.copy()

    def averages(self) -> Floats:
        if self._weighting == "recursive":
            return self.sums  # eq. (6), its weights normalised as they came
        if self._weighting == "lifetime":
            return np.asarray(self.sums / self.shares)  # eq. (6)
        age = np.arange(self.errors.shape[1])[::-1]
        omega = expit(self._slope * (self._crossing - age))
        lived = ~np.isnan(self.errors)
        beta = normalised_errors(np.where(lived, self.errors, 0.0))
        return np.asarray(beta @ omega / (lived @ omega))  # eq. (6)
