"""How a live model finds its positive label: areas, recall, precision and cost over the last labels."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate.averages import WindowedMean
from thalweg.kernels import compiled

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Labels that the scores look back on: with one positive in a hundred, a hundred of them.
WINDOW = 10_000


class RareProgress:
    """Of one learner; ``costs`` are those of a false positive (``fp``) and of a false negative (``fn``).

    Examples
    --------
    >>> progress = RareProgress({"fp": 1.0, "fn": 50.0})
    >>> progress.add(np.array([True, False]), np.array([True, True]), np.array([0.9, 0.6]))
    >>> progress.scores()
    {'roc_auc': 1.0, 'pr_auc': 1.0, 'recall': 1.0, 'precision': 0.5, 'cost': 0.5}
    """

    def __init__(self, costs: dict[str, float] | None) -> None:
        self._costs = costs
        self._auc, self._outcomes = compiled.WindowedAuc(WINDOW), WindowedMean(WINDOW, 3)
        #: As last reported: the walk for the PR AUC goes through the whole window.
        self._told: dict[str, float | None] | None = None

    def add(self, truth: Flags, said: Flags, scores: Floats) -> None:
        """Labels came: whether each is the positive one, whether it was predicted, and P(positive), NaN for none."""
        if len(truth) == 0:
            return
        self._outcomes.push(np.stack([truth & said, ~truth & said, truth & ~said], axis=1))
        known = ~np.isnan(scores)
        self._auc.push(np.ascontiguousarray(scores[known]), np.ascontiguousarray(truth[known]))
        self._told = None

    def scores(self) -> dict[str, float | None]:
        """Each over the last labels; None where it is not known."""
        if self._told is None:
            found, false, missed = self._outcomes.mean().tolist() if len(self._outcomes) else (0.0, 0.0, 0.0)
            self._told = {
                "roc_auc": _known(self._auc.roc_auc()),
                "pr_auc": _known(self._auc.average_precision()),
                "recall": found / (found + missed) if found + missed else None,
                "precision": found / (found + false) if found + false else None,
            }
            if self._costs is not None:
                cost = self._costs["fp"] * false + self._costs["fn"] * missed
                self._told["cost"] = cost if len(self._outcomes) else None
        return dict(self._told)

    def state(self) -> dict[str, Any]:
        scores, truth = self._auc.rows()
        return {
            "costs": self._costs,
            "scores": base64.b64encode(scores.astype("<f8").tobytes()).decode(),
            "truth": _packed(truth.astype(np.bool_)),
            "outcomes": [_packed(np.array(column, dtype=np.bool_)) for column in self._outcomes.state()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> RareProgress:
        found = cls(state["costs"])
        scores = np.frombuffer(base64.b64decode(state["scores"]), "<f8").astype(np.float64)
        found._auc.push(scores, _unpacked(state["truth"]))
        found._outcomes.restore([_unpacked(column).astype(int).tolist() for column in state["outcomes"]])
        return found


def _packed(flags: Flags) -> list[Any]:
    return [len(flags), base64.b64encode(np.packbits(flags).tobytes()).decode()]


def _unpacked(packed: list[Any]) -> Flags:
    count, bits = packed
    return np.unpackbits(np.frombuffer(base64.b64decode(bits), np.uint8), count=count).astype(np.bool_)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
