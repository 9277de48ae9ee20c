"""Probabilities that come true: another learner's, corrected on line by how often each of them did.

For every class a curve over the log-odds of its probability holds the mean excess of the outcome over the probability,
with forgetting: binning with linear interpolation between the nodes. A coarse and a fine grid of nodes and the
uncorrected probabilities are mixed by their recent log-loss, so that a learner that is already calibrated is left so.

B. Zadrozny, C. Elkan, "Obtaining Calibrated Probability Estimates from Decision Trees and Naive Bayesian Classifiers",
ICML 2001: binning. V. Vovk, "A Game of Prediction with Expert Advice", 1998: mixing by exp(-log-loss) is hardly worse
than the best of what is mixed.

Why not Platt's two parameters, a + b logit: on SEA concepts, where some labels are turned round at random, the curve is
a step, into which a line cannot bend (``thalweg reproduce auto decisions``).

Cost: that of the learner, plus O(classes) a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.inner_learner import DELAY, RECALIBRATION_MEMORY, Wrapper
from thalweg.parameters import Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class Recalibrated(Wrapper):
    """Corrects the probabilities of a learner by recent observed frequencies.

    Parameters
    ----------
    learner : classifier
        A learner of thalweg, or a scikit-learn classifier with ``partial_fit``, which is asked row by row and whose
        model can be copied and pickled but not saved to a file.
    memory : float >= 10, default 5000
        Rows over which outcomes count. Larger corrects more finely and follows changes more slowly.
    delay : int >= 0, default 0
        How many rows late the labels come. With a delay a row is judged by a copy of the learner that is at least so
        many rows old, as the prediction was; at most nine copies are kept.

    Examples
    --------
    A learner that is far too sure of itself:

    >>> import numpy as np
    >>> from thalweg import PassiveAggressive, Recalibrated
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2))
    >>> y = (X[:, 0] + rng.normal(size=5000) > 0).astype(int)
    >>> def gap(model):
    ...     p = model.predict_then_learn(X, y, with_proba=True).proba[2000:, 1]
    ...     sure = p > 0.9
    ...     return round(float(abs(p[sure].mean() - y[2000:][sure].mean())), 2)
    >>> gap(PassiveAggressive()), gap(Recalibrated(PassiveAggressive()))
    (0.2, 0.03)
    """

    _catalogue = CatalogueEntry(
        name="calibrated",
        about="auto with recalibrated probabilities",
        when="probabilities that must come true",
        base="AutoClassifier",
    )

    _rules = Rules(memory=Real(10, 1e12, "both", text="be a number from 10 to 1e12"), delay=DELAY)

    def __init__(self, learner: Any, *, memory: float = RECALIBRATION_MEMORY, delay: int = 0) -> None:
        self.learner = learner
        self.memory = memory
        self.delay = delay

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        return compiled.recalibrated(self._inner_core(features), float(self.memory), int(self.delay))
