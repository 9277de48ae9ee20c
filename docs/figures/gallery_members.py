"""Weight of each member of AutoClassifier while a stream changes its speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _gallery import tile

from thalweg import AutoClassifier
from thalweg.report import style
from thalweg.streams import Circling, DriftingGaussians

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROWS = 3000


def draw() -> Figure:
    """The weights of its members, those of long memory below, over rows that stand still and then circle."""
    still = DriftingGaussians(seed=1, scenario=Circling(degrees_per_row=0.0)).take(ROWS)
    moving = DriftingGaussians(seed=2, scenario=Circling(degrees_per_row=1.0)).take(ROWS)
    X, y = (np.concatenate(parts) for parts in zip(still, moving, strict=True))
    model = AutoClassifier()
    shares = model.predict_then_learn(X, y, with_weights=True).weights
    smooth = shares.reshape(-1, 60, shares.shape[1]).mean(axis=1)
    bank = [at for at, name in enumerate(model.members_) if name.startswith("O-LDC")]
    order = sorted(bank, key=lambda at: float(model.members_[at].split()[-1]))
    others = smooth[:, [at for at in range(shares.shape[1]) if at not in bank]].sum(axis=1)
    figure, (axes,) = tile()
    blues = [style.BLUE, style.SKY, style.GREEN, style.ORANGE, style.VERMILION, style.PURPLE, style.GREY]
    rows = 60 * np.arange(1, len(smooth) + 1)
    axes.stackplot(rows, *smooth[:, order].T, others, colors=[*blues, "#A8A8A8"], linewidth=0)
    axes.axvline(ROWS, color=style.INK, linewidth=1)
    axes.set(xlim=(60, 2 * ROWS), ylim=(0, 1), xticks=[], yticks=[])
    axes.set_xlabel("still  →  circling", fontsize=9)
    axes.grid(visible=False)
    return figure
