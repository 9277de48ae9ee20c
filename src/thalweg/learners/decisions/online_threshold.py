"""A threshold on the probability of one label that follows the stream.

Fading histograms of that probability's log-odds, one for the positive label and one for the others, say of every
threshold what it would have done over the recent rows. After each row the best one by the objective is taken anew.

=========  =================================================================================
objective  the threshold
=========  =================================================================================
"f1"       had the highest F1 score
"cost"     had the lowest cost, ``costs["fp"]`` a false alarm and ``costs["fn"]`` a miss
"recall"   found the share ``target`` of the positive rows
"alerts"   flagged the share ``target`` of all rows
=========  =================================================================================

The best threshold for F1 is half of the best F1 where probabilities are calibrated (Z. C. Lipton, C. Elkan,
B. Naryanaswamy, "Optimal Thresholding of Classifiers to Maximize F1 Measure", 2014); this one needs no calibration.

Cost: that of the learner, plus O(80) a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.labels import Labels
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.inner_learner import DELAY, Wrapper
from thalweg.learners.base.python_core import posteriors
from thalweg.learners.base.rows import Floats
from thalweg.parameters import NOT_NEGATIVE, OneOf, Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

_OBJECTIVES = ("f1", "cost", "recall", "alerts")
_WITH_TARGET = ("recall", "alerts")
#: Where the core learns that the positive label is the last one, or is not known yet.
_LAST, _UNKNOWN = -1, -2
#: Probabilities closer to 0 or 1 count as this close.
_LEAST = 1e-6
#: Stands for minus infinity; small enough, and not so small that a difference of log-odds is lost in it.
_NEVER = -1e6


class OnlineThreshold(Wrapper):
    """Predicts the positive label where its probability reaches a threshold that follows the stream.

    Below it the prediction is the likeliest of the other labels. The probabilities are those of the learner.

    Parameters
    ----------
    learner : classifier
        A learner of thalweg, or a scikit-learn classifier with ``partial_fit``, which is asked row by row and whose
        model can be copied and pickled but not saved to a file.
    objective : {"f1", "cost", "recall", "alerts"}, default "f1"
        What the threshold is chosen by: the highest F1 score, the lowest cost, a share of the positive rows to be
        found, or a share of all rows to be flagged.
    target : float in (0, 1), optional
        The share, for "recall" and "alerts".
    costs : mapping, optional
        ``{"fp": 1, "fn": 50}``, the costs of a false alarm and of a miss, for "cost".
    positive : label, optional
        The positive label; by default the last of ``classes_``.
    memory : float >= 10, default 5000
        Rows over which thresholds are compared. Larger is steadier, and follows changes more slowly.
    delay : int >= 0, default 0
        How many rows late the labels come. With a delay a row is judged by a copy of the learner that is at least so
        many rows old, as the prediction was; at most nine copies are kept.

    Attributes
    ----------
    threshold_ : float
        The probability from which on the prediction is the positive label; NaN while there is nothing to choose it by.

    Examples
    --------
    >>> from thalweg import OnlineLDC, OnlineThreshold
    >>> from thalweg.streams.fraud import Fraud
    >>> X, y = Fraud(seed=1, share=0.05, change=0).take(20_000)
    >>> model = OnlineThreshold(OnlineLDC(0.001, counts="soft"), objective="recall", target=0.9)
    >>> flagged = model.predict_then_learn(X, y) == 1
    >>> round(float(flagged[5000:][y[5000:] == 1].mean()), 2), round(model.threshold_, 2)
    (0.9, 0.04)
    """

    _catalogue = CatalogueEntry(
        name="threshold",
        about="auto with the threshold of the highest F1 score on the positive label, by default the last",
        with_costs="auto with the threshold of the lowest cost on the positive label",
        when="a rare label to be flagged",
        base="AutoClassifier",
    )

    _rules = Rules(
        objective=OneOf(*_OBJECTIVES), memory=Real(10, 1e12, "both", text="be a number from 10 to 1e12"), delay=DELAY
    )

    def __init__(
        self,
        learner: Any,
        objective: Literal["f1", "cost", "recall", "alerts"] = "f1",
        *,
        target: float | None = None,
        costs: Mapping[str, float] | None = None,
        positive: Any = None,
        memory: float = 5000,
        delay: int = 0,
    ) -> None:
        self.learner = learner
        self.objective = objective
        self.target = target
        self.costs = costs
        self.positive = positive
        self.memory = memory
        self.delay = delay

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        owner, objective = type(self).__name__, self.objective
        if (self.target is not None) != (objective in _WITH_TARGET):
            rule = "lie in (0, 1)" if objective in _WITH_TARGET else "be left out"
            raise InvalidParameter.of(owner, "target", f'{rule} for objective="{objective}"', self.target)
        if (self.costs is not None) != (objective == "cost"):
            rule = 'be {"fp": …, "fn": …}' if objective == "cost" else "be left out"
            raise InvalidParameter.of(owner, "costs", f'{rule} for objective="{objective}"', self.costs)
        if self.target is not None:
            Real(0, 1, "neither").check(owner, "target", self.target)
        costs = self._checked_costs()
        return compiled.online_threshold(
            self._inner_core(features),
            objective=_OBJECTIVES.index(objective),
            target=0.0 if self.target is None else float(self.target),
            false_positive=float(costs["fp"]),
            false_negative=float(costs["fn"]),
            memory=float(self.memory),
            delay=int(self.delay),
        )

    def _checked_costs(self) -> Mapping[str, float]:
        if self.costs is None:
            return {"fp": 1.0, "fn": 1.0}
        if not isinstance(self.costs, Mapping) or self.costs.keys() != {"fp", "fn"}:
            raise InvalidParameter.of(type(self).__name__, "costs", 'be {"fp": …, "fn": …}', self.costs)
        for kind, cost in self.costs.items():
            NOT_NEGATIVE.check(type(self).__name__, f"costs[{kind!r}]", cost)
        return self.costs

    _needs_label_names: Any = property(lambda self: self.positive is not None or self._of_learner("_needs_label_names"))

    def _name_classes(self, core: Core, known: Labels) -> None:
        super()._name_classes(core, known)
        index = _LAST if self.positive is None else known.codes.get(self.positive, _UNKNOWN)
        compiled.set_positive(core, index)

    @property
    def threshold_(self) -> float:
        """The probability from which on the prediction is the positive label."""
        _, log_odds = compiled.threshold(self._learned_core())
        return float(1.0 / (1.0 + np.exp(-log_odds)))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Log-probabilities, the positive label's shifted so that the highest is predicted; a difference for two."""
        scores = np.maximum(self._scores(X), _NEVER)
        positive, limit = compiled.threshold(self._learned_core())
        if np.isfinite(limit):
            others = np.delete(scores, positive, axis=1).max(axis=1, initial=_NEVER)
            odds = posteriors(scores, 1.0)[:, positive].clip(_LEAST, 1 - _LEAST)
            scores[:, positive] = others + np.log(odds / (1 - odds)) - limit
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
