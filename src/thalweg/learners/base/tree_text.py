"""A tree of a forest as text: its cuts, and which labels its leaves know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.base.rows import Floats

#: A label with a smaller share of a leaf is not named.
_LEAST_SHARE = 0.005


def tree_text(
    state: Mapping[str, NDArray[Any]],
    grove: str,
    number: int,
    *,
    labels: Sequence[Any],
    features: Sequence[str],
    max_depth: int | None = None,
) -> str:
    """A tree of a grove, whose name those in ``state`` begin with; ``labels`` in the order of the leaves' counts."""
    leaves = state[f"{grove}tree_leaves"]
    before = leaves[:number].sum()
    first = 2 * before - number  # a tree of n leaves has 2 n - 1 nodes
    cuts, targets = state[f"{grove}node_features"][first:], state[f"{grove}node_targets"][first:]
    thresholds = state[f"{grove}node_thresholds"].ravel()[first:]
    seen = state[f"{grove}leaf_seen"][before:]
    counts, inherited = state[f"{grove}leaf_numbers"][before:].reshape(-1, 4, len(labels))[:, :2].swapaxes(0, 1)

    def lines(node: int, depth: int) -> Iterator[str]:
        if cuts[node] < 0:
            leaf = targets[node]
            shares = _shares(counts[leaf] + inherited[leaf], labels)
            yield f"{_indent(depth)}{shares} ({seen[leaf]:,} row{'' if seen[leaf] == 1 else 's'})"
        elif depth == max_depth:
            yield f"{_indent(depth)}..."
        else:
            for side, sign in enumerate(("<=", "> ")):
                yield f"{_indent(depth)}{features[cuts[node]]} {sign} {thresholds[node]:.4g}"
                yield from lines(targets[node] + side, depth + 1)

    return "\n".join(lines(0, 0))


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def _shares(weights: Floats, labels: Sequence[Any]) -> str:
    shares = weights / weights.sum()
    heaviest = [k for k in np.argsort(-shares, kind="stable").tolist() if shares[k] >= _LEAST_SHARE]
    return ", ".join(f"{labels[k]} {shares[k]:.2f}" for k in heaviest)
