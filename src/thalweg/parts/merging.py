"""Many models, or many parts, as one."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from functools import reduce
from operator import add
from typing import Any

from thalweg.errors import InvalidInput
from thalweg.learners.adding import join
from thalweg.learners.estimator import StreamEstimator
from thalweg.parts.part import Part


def merge(things: Iterable[Any]) -> Any:
    """One model of several, one part of several, or a model and the parts that came after it.

    Parameters
    ----------
    things : iterable of models, of parts, or of a model and then parts
        All of one class with the same parameters and columns; classes may differ. Where the model forgets, in order of
        time. None of them is changed.

    Returns
    -------
    model or Part
        What would have learned all their rows: a model where there is one among them, else a part.

    Raises
    ------
    thalweg.errors.NotAdditive
        Where such models do not add up; it says why.

    See Also
    --------
    Part : what rows add to a model.

    Examples
    --------
    >>> from thalweg import OnlineLDC, merge
    >>> north = OnlineLDC().fit([[0.0], [1.0], [5.0]], ["low", "low", "high"])
    >>> south = OnlineLDC().fit([[2.0], [6.0], [7.0]], ["low", "high", "high"])
    >>> merge([north, south]).means_.ravel().tolist()
    [6.0, 1.0]
    """
    found = list(things)
    if not found:
        raise InvalidInput("merge needs at least one model or part, got none")
    for thing in found:
        if not isinstance(thing, StreamEstimator | Part):
            raise InvalidInput(f"merge takes models and parts of thalweg, got {thing!r}")
    if len(found) == 1:
        return deepcopy(found[0])
    if all(isinstance(thing, StreamEstimator) for thing in found):
        return join(found)
    if isinstance(found[0], StreamEstimator) and len(found) > 2:
        return found[0] + reduce(add, found[1:])
    return reduce(add, found)
