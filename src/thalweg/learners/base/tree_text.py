"""A tree of a forest as text: its cuts, and what its leaves know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from thalweg.learners.base.rows import Floats
from thalweg.learners.base.saved_tree import SavedTree

#: A label with a smaller share of a leaf is not named.
_LEAST_SHARE = 0.005
#: A leaf in words, by what its rows say and what it inherited.
LeafText: TypeAlias = Callable[[Floats, Floats], str]


def tree_text(tree: SavedTree, leaf: LeafText, features: Sequence[str], max_depth: int | None = None) -> str:
    """A tree as text, its features by name."""

    def lines(node: int, depth: int) -> Iterator[str]:
        if tree.features[node] < 0:
            own = tree.targets[node]
            known = leaf(tree.counts[own], tree.inherited[own])
            yield f"{_indent(depth)}{known} ({tree.seen[own]:,} row{'' if tree.seen[own] == 1 else 's'})"
        elif depth == max_depth:
            yield f"{_indent(depth)}..."
        else:
            for side, sign in enumerate(("<=", "> ")):
                yield f"{_indent(depth)}{features[tree.features[node]]} {sign} {tree.thresholds[node]:.4g}"
                yield from lines(tree.targets[node] + side, depth + 1)

    return "\n".join(lines(0, 0))


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def shares_of_labels(labels: Sequence[Any]) -> LeafText:
    """The labels of a leaf with their shares; ``labels`` in the order of the leaves' counts."""
    return partial(_shares, labels)


def mean_of_numbers(origin: float) -> LeafText:
    """The mean of a leaf's numbers, which are relative to an origin."""
    return partial(_mean, origin)


def shares_in_leaf(counts: Floats, inherited: Floats) -> Floats:
    """The shares of the labels in leaves, one row each."""
    known = counts + inherited
    known /= known.sum(axis=-1, keepdims=True)
    return known


def mean_in_leaf(sums: Floats, inherited: Floats) -> Floats:
    """The mean of the numbers in leaves, one row each."""
    known = sums + inherited
    return known[..., 1:] / known[..., :1]


def _shares(labels: Sequence[Any], counts: Floats, inherited: Floats) -> str:
    shares = shares_in_leaf(counts, inherited)
    heaviest = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] >= _LEAST_SHARE]
    return ", ".join(f"{labels[k]} {shares[k]:.2f}" for k in heaviest)


def _mean(origin: float, sums: Floats, inherited: Floats) -> str:
    return f"{origin + mean_in_leaf(sums, inherited)[0]:.4g}"
