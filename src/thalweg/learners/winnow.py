"""Balanced Winnow for streams: weights are multiplied, not added to, on a mistake.

N. Littlestone, "Learning quickly when irrelevant attributes abound", Machine Learning 2, 1988, balanced and with a
bias feature as in Kuncheva & Plumpton 2008, section 2.2.

==========  ====================  ===============  ============================================
paper       here                  shape            meaning
==========  ====================  ===============  ============================================
beta        ``rate``                               base of an update; smaller is more eager
w+, w-      weights per class     (classes, p+1)   positive and negative weights, eq. (1), (2)
==========  ====================  ===============  ============================================

Where we depart
1. Weights are kept as logarithms between -300 and 300, so that they stay finite for any row.
2. Any number of classes: the true class is promoted, the predicted one demoted. With two, the second starts and stays
   the mirror image of the first, which is the paper's rule.
3. A decaying rate (`InverseSqrt`) is read as ln(1 / beta), the size of the step; beta itself would grow bolder.
4. Rows may have weights: one of weight c multiplies by beta^c for beta.

Cost: O(p c) a row, and 4 p exponentials on a mistake; the limit is reading the weights once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithRate
from thalweg.parameters import SEED, Rules
from thalweg.rates import InverseSqrt, Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class BalancedWinnow(WithClassWeight, WithRate, StreamClassifier):
    """Mistake-driven linear classifier with multiplicative updates.

    It suits many features of which few matter, all within about [-1, 1].

    Parameters
    ----------
    rate : float in (0, 1) or a rate of `thalweg.rates`, default 0.5
        beta: a mistake multiplies weights by beta to the power of plus or minus the feature. Smaller is more eager.
        `ErrorDriven` multiplies beta by 1 + Delta, the paper's form for Winnow.
    random_state : int >= 0, default 0
        The seed of the starting weights, which are drawn from [0.01, 0.11].
    class_weight : mapping of label to number, "balanced" or None, default None
        What the rows of each label count for, times their own weight; a label that is not named counts 1. "balanced"
        counts them by the inverse of the label's share of the last 5,000 rows, so that rare labels count as much.

    Examples
    --------
    >>> from thalweg import BalancedWinnow
    >>> from thalweg.streams import Stagger
    >>> X, y = Stagger(seed=0).take(40)
    >>> int((BalancedWinnow(rate=0.1).predict_then_learn(X, y) != y).sum()) < 15
    True
    """

    _catalogue = CatalogueEntry(
        name="winnow",
        about="balanced Winnow",
        when="many features of which few matter; smaller --rate is more eager",
        options={"rate": "rate", "seed": "random_state"},
        rate=0.5,
        scaled=True,
    )
    _fit_depends_on_order = True
    _scores_linearly = True
    _takes_sparse = True

    _rules = Rules(random_state=SEED)

    def __init__(self, rate: float | Rate = 0.5, *, random_state: int = 0, class_weight: ClassWeight = None) -> None:
        self.rate = rate
        self.random_state = random_state
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        rate = as_rate(self.rate, "BalancedWinnow", below_one=not isinstance(self.rate, InverseSqrt))
        self._rules.check(self)
        return self._weighted_by_class(compiled.winnow(features, rate.code(), seed=int(self.random_state)))
