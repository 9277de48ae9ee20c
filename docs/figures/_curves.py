"""What the figures of the algorithm pages share: mistakes as curves, and one legend below all panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def mistakes(model: Any, X: Floats, y: NDArray[Any]) -> Floats:
    """1 where a row was predicted wrongly before it was learned, else 0."""
    return np.asarray(model.predict_then_learn(X, y) != y, dtype=np.float64)


def blocks(values: Floats, size: int) -> tuple[NDArray[np.int64], Floats]:
    """The mean of every ``size`` values, and how many rows had been seen at the end of each."""
    means = values[: len(values) // size * size].reshape(-1, size).mean(axis=1)
    return size * np.arange(1, len(means) + 1), means


def legend_below(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """One legend for all panels, below them; a name that is in several is listed once."""
    named = {}
    for each in axes:
        for handle, name in zip(*each.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, handlelength=2.6)
