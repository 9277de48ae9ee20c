"""Many classifiers with affine forms and the same number of classes, asked by one matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.affine_form import AffineForm
from thalweg.learners.python_core import Codes
from thalweg.learners.rows import Floats

#: Answers as places among a member's own classes, a column per member; for two classes False and True are places.
Places = NDArray[np.bool_] | NDArray[np.intp]


class AffineStack:
    """Forms one behind the other, with room to grow.

    Parameters
    ----------
    form : AffineForm
        An example of those to come.
    classes : int
        The number of classes of each.

    Attributes
    ----------
    owners : ndarray of int
        Whose form each is, in rising order.
    width : int
        The width of a form.
    """

    def __init__(self, form: AffineForm, classes: int) -> None:
        lines, self.width = form.coefficients.shape
        self._coefficients = np.empty((8, lines, self.width))
        self._doubt = np.empty((8, lines, self.width))
        self._classes = np.empty((8, classes), dtype=np.int64)
        self.owners = np.empty(0, dtype=np.intp)

    def append(self, form: AffineForm, classes: Codes, owner: int) -> None:
        """One more form."""
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
        """A class takes its place at index ``at``."""
        self._classes[self._classes >= at] += 1

    def ask(self, features: Floats, members: NDArray[np.intp]) -> tuple[Places, NDArray[np.bool_] | None]:
        """The answers of these members, and where rounding could have turned them; None where it could nowhere."""
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
        each = np.arange(len(members))
        for place in range(classes.shape[1]) if places.dtype != np.bool_ else ():
            of_class = np.zeros((len(members), votes.shape[1]))
            of_class[each, classes[:, place]] = ballots
            votes += (places == place) @ of_class
        if places.dtype == np.bool_:  # the first class has the ballot, unless the second takes it over
            moved = np.zeros((len(members), votes.shape[1]))
            moved[each, classes[:, 0]] = -ballots
            votes -= moved.sum(axis=0)
            moved[each, classes[:, 1]] = ballots
            votes += places @ moved


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.empty_like(array)])
