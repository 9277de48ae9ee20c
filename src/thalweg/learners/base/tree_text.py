"""A tree of a forest as text: its cuts, and what its leaves know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats

#: A label with a smaller share of a leaf is not named.
_LEAST_SHARE = 0.005
#: A leaf in words, by what its rows say and what it inherited.
LeafText: TypeAlias = Callable[[Floats, Floats], str]


def tree_text(
    state: Mapping[str, NDArray[Any]],
    grove: str,
    number: int,
    leaf: LeafText,
    features: Sequence[str],
    max_depth: int | None = None,
) -> str:
    """A tree of a grove, whose name those in ``state`` begin with."""
    leaves = state[f"{grove}tree_leaves"]
    before = leaves[:number].sum()
    first = 2 * before - number  # a tree of n leaves has 2 n - 1 nodes
    cuts, targets = state[f"{grove}node_features"][first:], state[f"{grove}node_targets"][first:]
    thresholds = state[f"{grove}node_thresholds"].ravel()[first:]
    seen = state[f"{grove}leaf_seen"][before:]
    numbers = state[f"{grove}leaf_numbers"][before:]
    counts, inherited = numbers.reshape(len(numbers), 4, -1)[:, :2].swapaxes(0, 1)

    def lines(node: int, depth: int) -> Iterator[str]:
        if cuts[node] < 0:
            own = targets[node]
            known = leaf(counts[own], inherited[own])
            yield f"{_indent(depth)}{known} ({seen[own]:,} row{'' if seen[own] == 1 else 's'})"
        elif depth == max_depth:
            yield f"{_indent(depth)}..."
        else:
            for side, sign in enumerate(("<=", "> ")):
                yield f"{_indent(depth)}{features[cuts[node]]} {sign} {thresholds[node]:.4g}"
                yield from lines(targets[node] + side, depth + 1)

    return "\n".join(lines(0, 0))


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def shares_of_labels(labels: Sequence[Any]) -> LeafText:
    """The labels of a leaf with their shares; ``labels`` in the order of the leaves' counts."""
    return partial(_shares, labels)


def mean_of_numbers(origin: float) -> LeafText:
    """The mean of a leaf's numbers, which are relative to an origin."""
    return partial(_mean, origin)


def _shares(labels: Sequence[Any], counts: Floats, inherited: Floats) -> str:
    shares = (counts + inherited) / (counts + inherited).sum()
    heaviest = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] >= _LEAST_SHARE]
    return ", ".join(f"{labels[k]} {shares[k]:.2f}" for k in heaviest)


def _mean(origin: float, sums: Floats, inherited: Floats) -> str:
    rows, total = sums + inherited
    return f"{origin + total / rows:.4g}"
