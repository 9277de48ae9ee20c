"""A tree of a forest, as the forest's state has it, and how much each feature counts in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats

Whole = NDArray[np.int64]


class SavedTree(NamedTuple):
    """Nodes, parents before their children, and leaves."""

    features: Whole  # of a node's cut; -1 is a leaf
    targets: Whole  # the first of a node's two children, or the number of its leaf
    thresholds: Floats
    seen: Whole  # rows that reached a leaf
    counts: Floats
    inherited: Floats

    @classmethod
    def of(cls, state: Mapping[str, NDArray[Any]], grove: str, number: int) -> SavedTree:
        """A tree of a grove, whose name those in ``state`` begin with."""
        leaves = state[f"{grove}tree_leaves"].tolist()
        before, own = sum(leaves[:number]), leaves[number]
        nodes = slice(2 * before - number, 2 * (before + own) - number - 1)  # a tree of n leaves has 2 n - 1 nodes
        numbers = state[f"{grove}leaf_numbers"][before : before + own]
        counts, inherited = numbers.reshape(own, 4, -1)[:, :2].swapaxes(0, 1)
        features, targets, thresholds = (
            state[f"{grove}node_{name}"].ravel()[nodes] for name in ("features", "targets", "thresholds")
        )
        seen = state[f"{grove}leaf_seen"][before : before + own]
        return cls(features, targets, thresholds, seen, counts, inherited)


#: What a leaf predicts, by what its rows say and what it inherited.
Said = Callable[[Floats, Floats], Floats]


def gains(tree: SavedTree, said: Said, features: int) -> Floats:
    """How much the cuts of each feature lower the Gini impurity of a row, or the variance of its number."""
    rows, gained = np.zeros(len(tree.features)), np.zeros(features)
    known = said(tree.counts, tree.inherited).astype(float)
    mean = np.zeros((len(rows), known.shape[1]))
    for node in reversed(range(len(rows))):
        at, feature = tree.targets[node], tree.features[node]
        if feature < 0:
            rows[node], mean[node] = tree.seen[at], known[at]
            continue
        left, right = rows[at : at + 2]
        rows[node] = both = max(left + right, 1.0)
        mean[node] = (left * mean[at] + right * mean[at + 1]) / both
        gained[feature] += left * right / both * np.sum((mean[at] - mean[at + 1]) ** 2)
    gained /= max(rows[0], 1.0)
    return gained


def feature_importances(state: Mapping[str, NDArray[Any]], forest: str, said: Said, features: int) -> Floats:
    """The share of each feature in what all cuts of a forest gain, trees weighted as in its votes."""
    shares = np.zeros(features)
    for grove in (f"{forest}grove0_", f"{forest}grove1_"):
        votes = state.get(f"{grove}tree_votes", np.zeros(0)).ravel()
        for number, vote in enumerate(votes.tolist()):
            shares += vote * gains(SavedTree.of(state, grove, number), said, features)
    shares /= shares.sum() or 1.0
    return shares
