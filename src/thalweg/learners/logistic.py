"""Multinomial logistic regression by stochastic gradient: w_c += eta ([c = k] - p_c) [1, x].

========  =================  ===============  ==============================
symbol    here               shape            meaning
========  =================  ===============  ==============================
eta       ``rate``                            step
w_c       weights per class  (classes, p+1)   p = softmax(w_c'[1, x])
========  =================  ===============  ==============================

A step above 4 / |[1, x]|^2, which would overshoot the very row it learns, is cut to that. Rows may have weights:
one of weight c takes the step c eta, and is held to the same bound.

With ``per_feature`` the step of feature j is eta / sqrt(g + G_j), G_j the sum of its squared gradients over all classes
and g ``initial_squares`` (AdaGrad: Duchi, Hazan & Singer 2011), held to 4 / x'Sx with S the steps at eta = 1: rare
features still take large steps when frequent ones have settled. On five text streams it made 9 to 46 % fewer mistakes
than the best constant step. With a small g, such as 0.001, the first step of a feature is about eta however small its
gradient is, so that a word acts at its first sight.

With ``products`` the row is also that of the products of any two features, each also with itself, so that borders are
of the second order (``kernels/second_order.hpp``).

Cost: O(p c) a row and c exponentials, O(p^2 c) with ``products``; the limit is reading and writing the weights once. Of
sparse rows, O(c) for each value that is not zero: about 3 ns for two classes with weights in the cache, 8 with a step
for each feature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities, WithRate
from thalweg.parameters import FLAG, FORGETTING, NOT_NEGATIVE, POSITIVE, Rules
from thalweg.rates import Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class OnlineLogistic(WithClassWeight, WithProbabilities, WithRate, StreamClassifier):
    """Logistic regression that learns one row at a time.

    Parameters
    ----------
    rate : positive float or a rate of `thalweg.rates`, default 0.02
        The step. A constant one keeps following drift; `InverseSqrt` settles. It wants features of about unit scale.
    penalty : float >= 0, default 0.0
        L2 penalty: every step also shrinks the weights by this share of itself.
    per_feature : bool, default False
        Whether each feature has a step size of its own, ``rate`` over the root of its squared gradients so far: for
        text and rare indicators, with rates of about 0.1 to 3.
    forgetting : float in [0, 1), default 0.0
        With ``per_feature``, squared gradients lose this share of their weight with every row, so that steps grow
        again.
    initial_squares : positive float, default 1.0
        With ``per_feature``, what the sum of squared gradients of each feature starts from. With 0.001 a feature acts
        at its first sight, and rates are about 0.03 to 0.3.
    products : bool, default False
        Whether the products of any two features are features, too, so that boundaries are curves of the second order.
        Rows must be dense and at unit scale; products are of values cut at 3. p features become p (p + 3) / 2.
    class_weight : mapping of label to number, "balanced" or None, default None
        What the rows of each label count for, times their own weight; a label that is not named counts 1. "balanced"
        counts them by the inverse of the label's share of the last 5,000 rows, so that rare labels count as much.

    Examples
    --------
    >>> from thalweg import OnlineLogistic
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(360)
    >>> bool((OnlineLogistic(0.5).predict_then_learn(X, y) != y).mean() < 0.3)
    True
    """

    _catalogue = CatalogueEntry(
        name="logistic",
        about="logistic regression by gradient steps",
        when="noisy labels, categories, slow drift",
        options={"rate": "rate"},
        rate=0.02,
        scaled=True,
    )
    _fit_depends_on_order = True
    _scores_linearly: Any = property(lambda self: not self.products)
    _takes_sparse: Any = property(lambda self: not self.products)
    _why_not_sparse = "with products a row has a value for every two features; set products=False, or use X.toarray()"

    _rules = Rules(
        penalty=NOT_NEGATIVE, per_feature=FLAG, forgetting=FORGETTING, initial_squares=POSITIVE, products=FLAG
    )

    def __init__(
        self,
        rate: float | Rate = 0.02,
        *,
        penalty: float = 0.0,
        per_feature: bool = False,
        forgetting: float = 0.0,
        initial_squares: float = 1.0,
        products: bool = False,
        class_weight: ClassWeight = None,
    ) -> None:
        self.rate = rate
        self.penalty = penalty
        self.per_feature = per_feature
        self.forgetting = forgetting
        self.initial_squares = initial_squares
        self.products = products
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        rate = as_rate(self.rate, "OnlineLogistic", below_one=False)
        self._rules.check(self)
        if self.forgetting and not self.per_feature:
            raise InvalidParameter.of("OnlineLogistic", "forgetting", "be 0 unless per_feature", self.forgetting)
        if self.initial_squares != 1 and not self.per_feature:
            raise InvalidParameter.of(
                "OnlineLogistic", "initial_squares", "be 1 unless per_feature", self.initial_squares
            )
        squares = float(self.forgetting), float(self.initial_squares)
        options = (float(self.penalty), bool(self.per_feature), *squares)
        if not self.products:
            return self._weighted_by_class(compiled.logistic(features, rate.code(), *options))
        terms = features * (features + 3) // 2
        core = compiled.products(features, compiled.logistic(terms, rate.code(), *options))
        return self._weighted_by_class(core)
