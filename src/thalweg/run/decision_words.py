"""Words that carry the decision: the hashed features with the largest weights, by label, where they have names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.learners.auto import SPARSE_MEMBERS
from thalweg.tables import Plan
from thalweg.text.strings import strings_of

#: Words of a label, at the most.
_MOST_WORDS = 15
_WEIGHTS = re.compile(r"(?:member(\d++)_)*+weights")


def decision_words(model: Any, plan: Plan, labels: Sequence[str]) -> dict[str, Any] | None:
    """For each label its words with the largest weights in the heaviest linear member; None where none has a name.

    A weight is that of the word itself: the sign by which its feature is hashed is undone.
    """
    names, places, signs = _names(plan)
    found = _heaviest_member(model) if names else None
    if found is None:
        return None
    share, features, weights = found
    order = np.argsort(features)
    at = order[np.minimum(np.searchsorted(features, places, sorter=order), len(order) - 1)]
    seen = features[at] == places
    own = np.where(seen[:, None], weights[at] * signs[:, None], 0.0)
    classes = [str(label) for label in model.classes_]
    by_label = []
    for label in filter(classes.__contains__, labels):
        of_label = own[:, classes.index(label)]
        best = np.argsort(-of_label, kind="stable")[:_MOST_WORDS]
        words = [[names[i], float(of_label[i])] for i in best if of_label[i] > 0.0]
        by_label.append({"label": label, "words": words})
    return {"share": share, "labels": by_label} if any(each["words"] for each in by_label) else None


def _names(plan: Plan) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """The known names of hashed features, where those are among all features, and the signs of the names."""
    names: list[str] = []
    places: list[NDArray[np.int64]] = []
    signs: list[NDArray[np.float64]] = []
    columns = plan.sparse_columns
    several = sum(column.words is not None for column in columns) > 1
    start = len(plan.feature_names)
    for column in columns:
        if column.words is not None and len(column.words):
            found = [column.words[index] for index in column.words]
            indices, of_column = compiled.hash_strings(*strings_of(found), column.words.hash_bits)
            prefix = f"{column.name}: " if several and column.declared_as != "categories" else ""
            names += [prefix + name for name in found]
            places.append(start + indices.astype(np.int64))
            signs.append(of_column.astype(np.float64))
        start += column.width
    if not names:
        return [], np.empty(0, np.int64), np.empty(0)
    return names, np.concatenate(places), np.concatenate(signs)


def _heaviest_member(model: Any) -> tuple[float, NDArray[np.int64], NDArray[np.float64]] | None:
    """Of the linear member with the largest share in the prediction: that share, the features seen, their weights."""
    core = model._learned_core()
    if not core.is_sparse:
        return None
    state, shares = core.state(), core.shares().tolist() or [1.0]
    of_dense = "member0_"
    while hasattr(model, "learner"):
        model, of_dense = model.learner, f"member0_{of_dense}"
    if getattr(model, "dense_features", 0):  # its members over dense columns come first
        shares = shares[-len(SPARSE_MEMBERS) :]
        state = {name: values for name, values in state.items() if not name.startswith(of_dense)}
    features, classes, best = state["feature_ids"], core.n_classes, None
    if not len(features):  # no row that was learned had any
        return None
    for name, weights in state.items():
        match = _WEIGHTS.fullmatch(name)
        if match and weights.shape == (len(features), classes):
            share = shares[int(match[1] or 0)]
            if best is None or share > best[0]:
                best = share, features, weights
    return best
