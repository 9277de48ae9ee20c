"""Merging of models: ``a + b`` is the model that learned the rows of both, ``a - b`` the one that never saw b's.

A learner that is made of moments of its rows returns a `Merging` from ``_merging``, which turns its state into moments
and back. One that merges in another way has a ``_merged`` of its own. All others say in one sentence why they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from thalweg.errors import InvalidInput, InvalidParameter, NotAdditive
from thalweg.labels import Labels
from thalweg.merging.moments import Moments

State: TypeAlias = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ModelMoments:
    """A model as moments of its rows; subclasses add what else the model needs to continue."""

    moments: Moments


class Merging:
    """How models of one kind become moments of their rows, and moments such models.

    Each ``why_not`` is the end of a sentence, None where there is no reason.
    """

    #: The share of the past that a later row makes such a model forget.
    forgetting: float = 0.0
    #: Whether later rows must come after earlier ones.
    ordered: bool = False
    #: Whether the scatter is about the means, whether its diagonal is enough, and whether features are used at all.
    centred, diagonal, uses_features = True, False, True
    #: Why moments of rows, in whatever order, are no start for such a model.
    why_not_fitted: str | None = None
    #: Why such a model cannot learn moments of later rows.
    why_not_extended: str | None = None
    #: Why two such models, each of which started by itself, cannot be merged.
    why_not_merged: str | None = None
    #: Why rows cannot be taken out of such a model again.
    why_not_subtracted: str | None = None

    def forget(self, share: float) -> None:
        """Set the forgetting, and what follows from it wherever it matters."""
        self.forgetting = share
        if share > 0:
            self.ordered = True
            self.why_not_fitted = "it forgets row by row, so that their order counts"
            self.why_not_subtracted = "what it has forgotten cannot be distinguished from what it never learned"

    def rows_first(self, state: State | None) -> int:
        """How many more rows a model must learn by itself before moments can follow; None: it has learned nothing."""
        return 0

    def moments_of(self, state: State) -> ModelMoments:
        raise NotImplementedError

    def fitted(self, moments: Moments) -> ModelMoments:
        """A model that started with these rows."""
        return ModelMoments(moments)

    def merge(self, model: Any, later: Any) -> ModelMoments:
        """A model that learned both; ``later`` may be plain `ModelMoments`, of rows and no model."""
        return ModelMoments(model.moments.merge(later.moments))

    def subtract(self, model: Any, other: Any, owner: str) -> ModelMoments:
        """A model that never learned the rows of the other, or of a part; ``owner`` names it in errors."""
        return ModelMoments(model.moments.subtract(other.moments, owner))

    def state_of(self, model: Any, fresh: State) -> State:
        """The state of a core with these moments; ``fresh`` is that of one that has learned nothing."""
        raise NotImplementedError


class CountMerging(Merging):
    """`MajorityClass`: rows per class."""

    uses_features = False

    def moments_of(self, state: State) -> ModelMoments:
        counts = state["counts"][0]
        none = Moments.none(0, len(counts))
        return ModelMoments(replace(none, rows=int(counts.sum()), last=int(counts.argmax()), weights=counts))

    def state_of(self, model: ModelMoments, fresh: State) -> State:
        return fresh | {"counts": model.moments.weights[np.newaxis]}


class LastLabelMerging(Merging):
    """`NoChange`: which class was last."""

    ordered, uses_features = True, False
    why_not_fitted = "its prediction is the label of the last row, so that their order counts"
    why_not_subtracted = "what it has forgotten cannot be distinguished from what it never learned"

    def moments_of(self, state: State) -> ModelMoments:
        last = int(state["last_class"].item())
        none = Moments.none(0, int(state["n_classes"].item()))
        return ModelMoments(replace(none, rows=int(last >= 0), last=last))

    def state_of(self, model: ModelMoments, fresh: State) -> State:
        return fresh | {"last_class": np.array([model.moments.last])}


def merge_models(models: Sequence[Any]) -> Any:
    """One model of several, the earliest first. Those that have learned nothing add nothing."""
    first = models[0]
    require_alike(models)
    merged = getattr(first, "_merged", None)
    if merged is None:
        refuse(first, first._merging().why_not_merged)
    require_dense(models)
    learned = [model for model in models if is_fitted(model)]
    if len(learned) < 2:
        return deepcopy((learned or models)[0])
    if merged is not None:
        return merged(learned)
    known = union([labels_of(model) for model in learned])
    merging: Merging = first._merging()
    moments = [_all_placed(merging.moments_of(model._core.state()), labels_of(model), known) for model in learned]
    return with_moments(learned[0], reduce(merging.merge, moments), known, like=learned[0])


def extend(model: Any, later: Moments, labels: Labels | None) -> Any:
    """The model that learned these rows after its own."""
    merging, known = model._merging(), union([labels_of(model), labels])
    own = _all_placed(merging.moments_of(model._core.state()), labels_of(model), known)
    return with_moments(model, merging.merge(own, ModelMoments(placed(later, labels, known))), known, like=model)


def subtract_model(model: Any, other: Any) -> Any:
    """The model that did not learn the rows of another, which are among its own."""
    merging = model._merging()
    require_alike([model, other])
    refuse(model, merging.why_not_subtracted or merging.why_not_merged)
    require_dense([model, other])
    if not is_fitted(other):
        return deepcopy(model)
    return subtract_rows(model, merging.moments_of(other._core.state()), labels_of(other))


def subtract_rows(model: Any, part: ModelMoments, labels: Labels | None) -> Any:
    """The model that did not learn these rows of its own."""
    owner = model._in_a_sentence()
    if not is_fitted(model):
        raise InvalidInput(f"what is taken out of {owner} must have been learned by it, but it learned nothing")
    merging, known = model._merging(), labels_of(model)
    own = merging.moments_of(model._core.state())
    if known is not None and labels is not None:
        unknown = [label for label in labels.codes if label not in known.codes]
        if unknown:
            raise InvalidInput(f"what is taken out of {owner} must have been learned by it, got label {unknown[0]!r}")
        part = _all_placed(part, labels, known)
    left = merging.subtract(own, part, owner)
    if left.moments.weight == 0:
        return clone(model)
    if known is not None:
        emptied = (own.moments.weights > 0) & (left.moments.weights == 0)
        left = replace(left, moments=left.moments.of_groups(np.flatnonzero(~emptied)))
        known = Labels(known.values[~emptied])
    return with_moments(model, left, known, like=model)


def with_moments(model: Any, moments: ModelMoments, known: Labels | None, like: Any) -> Any:
    """A model with the parameters of this one, these moments, and columns like those of another object."""
    core = clone(model)._make_core(like.n_features_in_)
    if known is not None:
        for code in range(len(known)):
            core.announce(code)
    elif hasattr(like, "_columns"):
        core.widen(1 if like._columns is None else like._columns)
    return with_state(model, model._merging().state_of(moments, core.state()), known, like)


def with_state(model: Any, state: State, known: Labels | None, like: Any) -> Any:
    """A model with the parameters of this one, the state of a core, and columns like those of another object."""
    new = clone(model)
    learned: dict[str, Any] = {"_core": state, "n_features_in_": like.n_features_in_}
    learned |= {name: getattr(like, name) for name in ("feature_names_in_", "_columns") if hasattr(like, name)}
    if known is not None:
        learned |= {"_labels": known, "classes_": known.values}
    new.__setstate__({**new.get_params(deep=False), **learned})
    return new


def require_dense(models: Sequence[Any]) -> None:
    """Raise `NotAdditive` where one of them learned sparse rows."""
    for model in models:
        if is_fitted(model) and getattr(model._core, "is_sparse", False):
            owner = model._in_a_sentence()
            raise NotAdditive.of(owner, "it learned sparse rows, whose features each model numbers itself")


def require_alike(models: Sequence[Any]) -> None:
    """Raise unless models are of one class, with the same parameters and columns; the error says what differs."""
    first, *others = models
    for other in others:
        if type(other) is not type(first):
            reason = f"the other one is {other._in_a_sentence()}, which knows other things"
            raise NotAdditive.of(first._in_a_sentence(), reason)
    fitted = [model for model in models if is_fitted(model)]
    for model in fitted:
        model._require_same_parameters()
    ours = first._parameters_now()
    for theirs in (other._parameters_now() for other in others):
        for name, value in ours.items():
            if name in theirs and theirs[name] is not value and theirs[name] != value:
                rule = "be the same in all that is added"
                raise InvalidParameter.of(type(first).__name__, name, rule, (value, theirs[name]))
    for other in fitted[1:]:
        require_same_columns(fitted[0], other)


def require_same_columns(first: Any, other: Any) -> None:
    """Raise unless two models or parts have the same columns, by number and name, and as many targets."""
    rule = "what is added must have the same columns"
    if first.n_features_in_ != other.n_features_in_:
        raise InvalidInput(f"{rule}, got {first.n_features_in_} and {other.n_features_in_} of them")
    ours, theirs = (getattr(model, "feature_names_in_", None) for model in (first, other))
    if (ours is None) != (theirs is None):
        raise InvalidInput(f"{rule}, got some with names and some without")
    if ours is not None and theirs is not None:
        for place, (was, now) in enumerate(zip(ours.tolist(), theirs.tolist(), strict=True)):
            if was != now:
                raise InvalidInput(f"{rule}, got {was!r} and {now!r} at place {place}")
    columns = [getattr(model, "_columns", None) for model in (first, other)]
    if columns[0] != columns[1]:
        raise InvalidInput(f"what is added must have the same targets, got {columns[0]} and {columns[1]} columns of y")


def refuse(model: Any, reason: str | None) -> None:
    if reason is not None:
        raise NotAdditive.of(model._in_a_sentence(), reason)


def is_fitted(model: Any) -> bool:
    return bool(model.__sklearn_is_fitted__())


def labels_of(source: Any) -> Labels | None:
    """The labels that a model or a part has seen, None where it has no labels."""
    labels: Labels | None = getattr(source, "_labels", None)
    return labels


def union(parts: Sequence[Labels | None]) -> Labels | None:
    known = [labels for labels in parts if labels is not None]
    return reduce(lambda some, more: some.with_labels(more.values), known) if known else None


def places(labels: Labels, known: Labels) -> NDArray[np.int64]:
    return np.array([known.codes[label] for label in labels.codes], dtype=np.int64)


def placed(moments: Moments, labels: Labels | None, known: Labels | None) -> Moments:
    """Moments in groups by these labels, with room for all labels known."""
    if labels is None or known is None or known is labels:
        return moments
    return moments.in_groups(places(labels, known), len(known))


def _all_placed(model: ModelMoments, labels: Labels | None, known: Labels | None) -> ModelMoments:
    return replace(model, moments=placed(model.moments, labels, known))
