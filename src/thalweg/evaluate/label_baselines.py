"""What is always compared with where labels are predicted: no change and the majority, in the order of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.learners.baselines import MajorityClass, NoChange
from thalweg.tables.late_labels import Places


def new_baselines() -> dict[str, Any]:
    return {"no_change": NoChange(), "majority": MajorityClass()}


def follow_baselines(baselines: dict[str, Any], labels: NDArray[Any], order: Places | None) -> dict[str, NDArray[Any]]:
    """What the baselines predict, in the order in which the model predicts and learns.

    Parameters
    ----------
    baselines : dict
        From `new_baselines`.
    labels : array
        Words, or numbers from 1 in the order of the labels: at a tie the majority is the lowest.
    order : array or None
        The steps, as `follow` takes them; None where each row is predicted and then learned.

    Returns
    -------
    dict of arrays
        By name, the predicted labels; the empty word or 0 before any label.

    Examples
    --------
    >>> follow_baselines(new_baselines(), np.array([2, 1, 1]), np.array([0, 1, ~0, 2, ~1]))["no_change"].tolist()
    [0, 0, 2]
    """
    nothing = np.zeros((len(labels), 1))
    return {
        name: model.predict_then_learn(nothing, labels) if order is None else model.follow(nothing, labels, order)[0]
        for name, model in baselines.items()
    }
