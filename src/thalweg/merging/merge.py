"""Many models, or many parts, as one."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

from thalweg.errors import InvalidInput, NotAdditive
from thalweg.learners.base.estimator import StreamEstimator
from thalweg.merging.addable import join
from thalweg.merging.part import Part


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
        Where such models do not add up, or a model comes after a part; it says why.

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
    if isinstance(things, StreamEstimator | Part) or not isinstance(things, Iterable):
        got = f"a single {type(things).__name__}" if isinstance(things, StreamEstimator | Part) else repr(things)
        raise NotAdditive(f"merge takes a list of models or parts, got {got}")
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
    for before, after in pairwise(found):
        if isinstance(before, Part) and isinstance(after, StreamEstimator):
            raise NotAdditive("merge takes models, or parts, or a model and then parts, got a model after a part")
    if isinstance(found[0], StreamEstimator) and len(found) > 2:
        return found[0] + reduce(add, found[1:])
    return reduce(add, found)
