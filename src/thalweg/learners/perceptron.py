"""The perceptron for streams: weights move only on a mistake, or within a margin of one.

F. Rosenblatt, "Principles of Neurodynamics", 1962, as in Kuncheva & Plumpton 2008, section 2.1; the margin
as in Q. Wu, D. Snell, "An introduction to incremental learning", Predictive Analytics and Futurism 13, 2016; the
average of weights as in Y. Freund, R. Schapire, "Large margin classification using the perceptron algorithm", 1999.

==========  =================  ===============  =========================================
paper       here               shape            meaning
==========  =================  ===============  =========================================
eta         ``rate``                            step of an update
w           weights per class  (classes, p+1)   w = w_(+1) - w_(-1) for two classes
z = [1, x]  augmented row      (p+1,)           the bias is the weight of the constant 1
==========  =================  ===============  =========================================

Where we depart
1. Any number of classes: the true class gains eta z / 2, its best rival loses as much. For two classes their
   difference moves by eta z: the paper's rule.
2. An update happens at score(true) - score(rival) <= margin, with "<=": from zero weights a strict "<" would never
   learn anything. Wu & Snell print "<".
3. While only one class has come there is no rival, and nothing to learn.
4. Rows may have weights: one of weight c takes the step c eta.

Cost: O(p c) a row, two dot products for two classes; the limit is reading the weights once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithRate
from thalweg.parameters import FLAG, NOT_NEGATIVE, SEED, Rules
from thalweg.rates import Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class Perceptron(WithClassWeight, WithRate, StreamClassifier):
    """Mistake-driven linear classifier with additive updates.

    Parameters
    ----------
    rate : positive float or a rate of `thalweg.rates`, default 0.5
        The step. With a constant rate it matters only against the starting weights; with one that changes, a larger
        step forgets more.
    margin : float >= 0, default 0.0
        Rows predicted correctly by no more than this are learned as well. Larger learns from more rows, steadier.
    averaged : bool, default False
        Predict with the average of all weights so far: steadier on a still stream, slower on a drifting one.
    start_scale : float >= 0, default 0.01
        Starting weights are drawn from [-start_scale, start_scale], as the paper's "small random numbers". Wu & Snell
        start from 0.
    intercept : bool, default True
        Whether there is a bias. Without one, as in Wu & Snell, the boundary passes through the origin.
    random_state : int >= 0, default 0
        The seed of the starting weights.
    class_weight : mapping of label to number, "balanced" or None, default None
        What the rows of each label count for, times their own weight; a label that is not named counts 1. "balanced"
        counts them by the inverse of the label's share of the last 5,000 rows, so that rare labels count as much.

    Examples
    --------
    >>> from thalweg import Perceptron
    >>> model = Perceptron(rate=0.7)
    >>> for _ in range(3):
    ...     model = model.learn_one({"a": 1.0, "b": 0.0}, "left").learn_one({"a": 0.0, "b": 1.0}, "right")
    >>> model.predict_one({"a": 0.9, "b": 0.1})
    'left'
    """

    _catalogue = CatalogueEntry(
        name="perceptron",
        about="perceptron",
        when="many features, little time",
        options={"rate": "rate", "seed": "random_state"},
        rate=0.5,
        scaled=True,
    )
    _fit_depends_on_order = True
    _scores_linearly = True
    _takes_sparse = True

    _rules = Rules(margin=NOT_NEGATIVE, start_scale=NOT_NEGATIVE, averaged=FLAG, intercept=FLAG, random_state=SEED)

    def __init__(
        self,
        rate: float | Rate = 0.5,
        *,
        margin: float = 0.0,
        averaged: bool = False,
        start_scale: float = 0.01,
        intercept: bool = True,
        random_state: int = 0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.rate = rate
        self.margin = margin
        self.averaged = averaged
        self.start_scale = start_scale
        self.intercept = intercept
        self.random_state = random_state
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        rate = as_rate(self.rate, "Perceptron", below_one=False)
        self._rules.check(self)
        return self._weighted_by_class(
            compiled.perceptron(
                features,
                rate.code(),
                margin=float(self.margin),
                averaged=bool(self.averaged),
                start_scale=float(self.start_scale),
                seed=int(self.random_state),
                intercept=bool(self.intercept),
            )
        )
