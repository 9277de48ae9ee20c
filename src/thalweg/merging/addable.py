"""Models that add up: ``a + b`` is the model that learned the rows of both, ``a - b`` the one that never saw b's.

A learner whose state is a handful of sums says so by `_sums` (``summing.py``); one whose models go together in another
way has a `_joined` of its own; all others say in one sentence why they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter, NotAdditive
from thalweg.learners.base.estimator import described
from thalweg.learners.base.labels import Labels
from thalweg.merging.moments import Moments
from thalweg.merging.summable import Learned, State, Sums


def join(models: Sequence[Any]) -> Any:
    """One model of several, the earliest first. Those that have learned nothing add nothing."""
    first = models[0]
    require_alike(models)
    joined = getattr(first, "_joined", None)
    if joined is None:
        refuse(first, first._sums().why_not_models())
    learned = [model for model in models if is_learned(model)]
    if len(learned) < 2:
        return deepcopy((learned or models)[0])
    return joined(learned) if joined is not None else _summed(learned)


def _summed(models: Sequence[Any]) -> Any:
    sums: Sums = models[0]._sums()
    known = united([labels_of(model) for model in models])
    learned = [_placed(sums.learned(model._core.state()), labels_of(model), known) for model in models]
    return made_of(models[0], sums, reduce(sums.then, learned), known, like=models[0])


def follow(model: Any, later: Moments, labels: Labels | None) -> Any:
    """The model that learned these rows after its own."""
    sums = model._sums()
    known = united([labels_of(model), labels])
    own = _placed(sums.learned(model._core.state()), labels_of(model), known)
    return made_of(model, sums, sums.then(own, _placed(Learned(later), labels, known)), known, like=model)


def take_out(model: Any, other: Any) -> Any:
    """The model that did not learn the rows of another, which are among its own."""
    sums = model._sums()
    require_alike([model, other])
    refuse(model, sums.why_not_taken_out() or sums.why_not_models())
    if not is_learned(other):
        return deepcopy(model)
    return take_rows_out(model, sums.as_part(sums.learned(other._core.state())), labels_of(other))


def take_rows_out(model: Any, part: Moments, labels: Labels | None) -> Any:
    """The model that did not learn these rows of its own."""
    owner = model._in_a_sentence()
    if not is_learned(model):
        raise InvalidInput(f"what is taken out of {owner} must have been learned by it, but it learned nothing")
    sums, known = model._sums(), labels_of(model)
    own = sums.learned(model._core.state())
    if known is not None and labels is not None:
        unknown = [label for label in labels.codes if label not in known.codes]
        if unknown:
            raise InvalidInput(f"what is taken out of {owner} must have been learned by it, got label {unknown[0]!r}")
        part = part.in_groups(places(labels, known), len(known))
    left = sums.without(own, part, owner)
    if left.moments.weight == 0:
        return clone(model)
    if known is not None:
        emptied = (own.moments.weights > 0) & (left.moments.weights == 0)
        left, known = left.of_groups(np.flatnonzero(~emptied)), Labels(known.values[~emptied])
    return made_of(model, sums, left, known, like=model)


def made_of(model: Any, sums: Sums, learned: Learned, known: Labels | None, like: Any) -> Any:
    """A model with these parameters that knows this, and has columns like those of another thing."""
    core = clone(model)._make_core(like.n_features_in_)
    if known is not None:
        for code in range(len(known)):
            core.announce(code)
    elif hasattr(like, "_columns"):
        core.widen(1 if like._columns is None else like._columns)
    return resumed(model, sums.state(learned, core.state()), known, like)


def resumed(model: Any, state: State, known: Labels | None, like: Any) -> Any:
    """A model with these parameters, the state of a core, and columns like those of another thing."""
    new = clone(model)
    learned: dict[str, Any] = {"_core": state, "n_features_in_": like.n_features_in_}
    learned |= {name: getattr(like, name) for name in ("feature_names_in_", "_columns") if hasattr(like, name)}
    if known is not None:
        learned |= {"_labels": known, "classes_": known.values}
    new.__setstate__({**new.get_params(deep=False), **learned})
    return new


# ---------------------------------------------------------------------- what can be added


def require_alike(models: Sequence[Any]) -> None:
    """That models are of one class, with the same parameters and columns; else an error says what is not."""
    first, *others = models
    for other in others:
        if type(other) is not type(first):
            reason = f"the other one is {other._in_a_sentence()}, which knows other things"
            raise NotAdditive.of(first._in_a_sentence(), reason)
    for model in models:
        if is_learned(model):
            model._require_same_parameters()
    for other in others:
        _require_same_parameters(first, other)
    learned = [model for model in models if is_learned(model)]
    for other in learned[1:]:
        require_same_columns(learned[0], other)


def _require_same_parameters(first: Any, other: Any) -> None:
    ours, theirs = described(first), described(other)
    for name, value in ours.items():
        if name in theirs and theirs[name] is not value and theirs[name] != value:
            rule = "be the same in all that is added"
            raise InvalidParameter.of(type(first).__name__, name, rule, (value, theirs[name]))


def require_same_columns(first: Any, other: Any) -> None:
    """That two of these have their columns in common, by number and name, and as many targets."""
    rule = "what is added must have the same columns"
    if first.n_features_in_ != other.n_features_in_:
        raise InvalidInput(f"{rule}, got {first.n_features_in_} and {other.n_features_in_} of them")
    ours, theirs = (getattr(each, "feature_names_in_", None) for each in (first, other))
    if (ours is None) != (theirs is None):
        raise InvalidInput(f"{rule}, got some with names and some without")
    if ours is not None and theirs is not None:
        for place, (was, now) in enumerate(zip(ours.tolist(), theirs.tolist(), strict=True)):
            if was != now:
                raise InvalidInput(f"{rule}, got {was!r} and {now!r} at place {place}")
    columns = [getattr(each, "_columns", None) for each in (first, other)]
    if columns[0] != columns[1]:
        raise InvalidInput(f"what is added must have the same targets, got {columns[0]} and {columns[1]} columns of y")


def refuse(model: Any, reason: str | None) -> None:
    """`NotAdditive`, where there is a reason."""
    if reason is not None:
        raise NotAdditive.of(model._in_a_sentence(), reason)


def is_learned(model: Any) -> bool:
    """Whether a model has learned a row."""
    return bool(model.__sklearn_is_fitted__())


# ---------------------------------------------------------------------- labels


def labels_of(thing: Any) -> Labels | None:
    """The labels that a model or a part knows, None where there are none to know."""
    found: Labels | None = getattr(thing, "_labels", None)
    return found


def united(each: Sequence[Labels | None]) -> Labels | None:
    """All labels of several sets, of one type; None where there are none to know."""
    known = [labels for labels in each if labels is not None]
    return reduce(lambda some, more: some.with_labels(more.values), known) if known else None


def places(labels: Labels, known: Labels) -> NDArray[np.int64]:
    """Where labels are among all that are known."""
    return np.array([known.codes[label] for label in labels.codes], dtype=np.int64)


def _placed(learned: Learned, labels: Labels | None, known: Labels | None) -> Learned:
    if labels is None or known is None or known is labels:
        return learned
    return learned.in_groups(places(labels, known), len(known))
