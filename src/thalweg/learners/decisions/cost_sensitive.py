"""The prediction of the lowest expected cost, by calibrated probabilities.

C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001: with probabilities p_t of the true label t and the
cost C(t, d) of predicting d, predict the d with the least sum_t p_t C(t, d). This is best only if the probabilities
come true, so the learner's are recalibrated on line first, as by `Recalibrated`.

Cost: that of the learner, recalibrated, plus O(classes^2) a row.
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
from thalweg.learners.base.inner_learner import DELAY, RECALIBRATION_MEMORY, Wrapper
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, NOT_NEGATIVE, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: The names of the two kinds of mistakes, where one label is the positive one.
_TWO_KINDS = {"fp", "fn"}


class CostSensitive(Wrapper):
    """Predicts the label of the lowest expected cost.

    Parameters
    ----------
    learner : classifier
        A learner of thalweg, or a scikit-learn classifier with ``partial_fit``, which is asked row by row and whose
        model can be copied and pickled but not saved to a file.
    costs : mapping or "balanced", default "balanced"
        ``{"fp": 1, "fn": 50}``: the costs of a false alarm and of a miss of the positive label. ``{(truth, prediction):
        cost}`` or ``{truth: {prediction: cost}}``: the cost of each prediction for rows of a label. ``{truth: cost}``:
        that of any wrong prediction. What is not named costs 1 where the prediction is wrong and 0 where it is right.
        "balanced": missing a label costs the inverse of its share of the last 5,000 rows, which makes all labels count
        alike.
    positive : label, optional
        The positive label of "fp" and "fn"; by default the last of ``classes_``.
    recalibrate : bool, default True
        Whether the learner's probabilities are corrected on line. Without it they must come true by themselves.
    delay : int >= 0, default 0
        How many rows late the labels come, for the correction (see `Recalibrated`).

    Examples
    --------
    A miss costs twenty times as much as a false alarm:

    >>> from thalweg import CostSensitive, OnlineLDC
    >>> from thalweg.streams.fraud import Fraud
    >>> X, y = Fraud(seed=1, share=0.05, change=0).take(20_000)
    >>> def cost(model):
    ...     predicted = model.predict_then_learn(X, y)
    ...     return int(((predicted == 1) & (y == 0)).sum() + 20 * ((predicted == 0) & (y == 1)).sum())
    >>> learner = OnlineLDC(0.001, counts="soft")
    >>> cost(CostSensitive(learner, {"fp": 1, "fn": 20})) < 0.5 * cost(learner)
    True
    """

    _catalogue = CatalogueEntry(
        name="cost-sensitive",
        about="auto that makes all labels count alike, however rare",
        with_costs="auto that predicts the label of the lowest expected cost",
        when="rare labels that must not be missed",
        base="AutoClassifier",
    )

    _rules = Rules(recalibrate=FLAG, delay=DELAY)

    def __init__(
        self,
        learner: Any,
        costs: Mapping[Any, Any] | Literal["balanced"] = "balanced",
        *,
        positive: Any = None,
        recalibrate: bool = True,
        delay: int = 0,
    ) -> None:
        self.learner = learner
        self.costs = costs
        self.positive = positive
        self.recalibrate = recalibrate
        self.delay = delay

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        balanced = isinstance(self.costs, str) and self.costs == "balanced"
        if not balanced:
            self._check_costs()
        inner = self._inner_core(features)
        if self.recalibrate:
            inner = compiled.recalibrated(inner, RECALIBRATION_MEMORY, int(self.delay))
        return compiled.cost_sensitive(inner, balanced)

    def _check_costs(self) -> None:
        owner = type(self).__name__
        if not isinstance(self.costs, Mapping) or not self.costs:
            raise InvalidParameter.of(owner, "costs", 'be a mapping of labels to costs or "balanced"', self.costs)
        meant = {key for key in self.costs if isinstance(key, str) and key.casefold() in _TWO_KINDS}
        if (meant or self.positive is not None) and self.costs.keys() != _TWO_KINDS:
            rule = 'have the keys "fp" and "fn", both and no others, for mistakes about a positive label'
            raise InvalidParameter.of(owner, "costs", rule, self.costs)
        for key, value in self.costs.items():
            for cost in value.values() if isinstance(value, Mapping) else (value,):
                NOT_NEGATIVE.check(owner, f"costs[{key!r}]", cost)

    _needs_label_names: Any = property(
        lambda self: isinstance(self.costs, Mapping) or self._of_learner("_needs_label_names")
    )

    def _name_classes(self, core: Core, known: Labels) -> None:
        super()._name_classes(core, known)
        if isinstance(self.costs, Mapping):
            compiled.set_costs(core, self._matrix(known))

    def _matrix(self, known: Labels) -> Floats:
        """The costs by true label and prediction."""
        costs = 1.0 - np.eye(len(known))
        assert isinstance(self.costs, Mapping)
        if self.costs.keys() == _TWO_KINDS:
            positive = known.codes.get(self.positive, -1) if self.positive is not None else len(known) - 1
            if positive >= 0:
                costs[:, positive] *= self.costs["fp"]
                costs[positive] *= self.costs["fn"]
            return costs
        for key, value in self.costs.items():
            named = value.items() if isinstance(value, Mapping) else ()
            pairs = [((key, decision), cost) for decision, cost in named] if named else [(key, value)]
            for labels, cost in pairs:
                if isinstance(labels, tuple):
                    truth, decision = (known.codes.get(label, -1) for label in labels)
                    if truth >= 0 and decision >= 0:
                        costs[truth, decision] = cost
                elif labels in known.codes:
                    costs[known.codes[labels]] *= cost
        return costs

    def decision_function(self, X: ArrayLike) -> Floats:
        """Minus the expected cost of each prediction; for two labels the first's cost minus the second's."""
        rows = self._rows_to_predict(X)
        costs = np.empty((len(rows), self._core.n_classes))
        compiled.expected_costs(self._core, rows, costs)
        costs = np.minimum(costs, 1e100)
        return costs[:, 0] - costs[:, 1] if costs.shape[1] == 2 else -costs
