"""Hiraoka's online linear discriminant analysis: the axes climb a separability potential, the nearest mean decides.

K. Hiraoka et al., "Convergence analysis of online linear discriminant analysis", IJCNN 2000, as used in Kuncheva &
Plumpton 2008, section 2.3.

==========  ==================  =============  ==============================================
paper       here                shape          meaning
==========  ==================  =============  ==============================================
zeta        ``rate``                           step of the ascent, and of the means
m           ``n_components``                   axes; the paper takes all n features
A           ``axes_``           (p, m)         transformation y = A'x
B, W        bb', rr'            (p, p)         scatter between and within, by their one-row
                                               estimates b = m_k - m, r = x - m_k
==========  ==================  =============  ==============================================

Where we depart
1. The paper does not say how the means move: they move at the rate of the axes (running averages do not follow a
   drift at all: error 0.46 on the moving plane).
2. A step that would overshoot (zeta times its stiffness above 1) is cut to the largest stable one, and the axes'
   norm is held below 1e6, so that a runaway ends as a scale and not as NaN.
3. Rows may have weights: one of weight c moves the means as c copies would, zeta -> 1 - (1 - zeta)^c, and the axes by
   c zeta.

Cost: O(p m c) a row; the limit is reading the axes c + 2 times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier, WithRate, WithWeights
from thalweg.learners.base.rows import Floats
from thalweg.parameters import OneOf, Rules, Whole
from thalweg.rates import Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class HiraokaLDA(WithWeights, WithRate, StreamClassifier):
    """Online discriminant analysis by stochastic ascent, classified by the nearest class mean.

    Parameters
    ----------
    rate : float in (0, 1) or a rate of `thalweg.rates`, default 0.1
        zeta, the step of the ascent and of the means. Larger follows faster and is noisier. Features want a scale of
        about 1.
    n_components : int or None, default None
        Axes kept; None keeps as many as features, as the paper does.
    gradient : {"simplified", "full"}, default "simplified"
        BA - WAA'BA, as Hiraoka's analysis uses it, or the whole gradient of the potential.

    Attributes
    ----------
    rate_ : float
        The rate now in force.
    axes_ : ndarray of shape (features, components)
        The transformation A.

    Examples
    --------
    >>> from thalweg import HiraokaLDA
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(360)
    >>> bool((HiraokaLDA(rate=0.2).predict_then_learn(X, y) != y).mean() < 0.25)
    True
    """

    _catalogue = CatalogueEntry(
        name="hiraoka",
        about="Hiraoka's online LDA",
        when="comparison with the paper",
        options={"rate": "rate"},
        rate=0.05,
        scaled=True,
    )
    _scores_linearly = True
    _keeps_class_means = True
    _why_not_merged = "each turn of its axes depends on those before it"

    _rules = Rules(n_components=Whole(1).or_else(None), gradient=OneOf("simplified", "full"))

    def __init__(
        self,
        rate: float | Rate = 0.1,
        *,
        n_components: int | None = None,
        gradient: Literal["simplified", "full"] = "simplified",
    ) -> None:
        self.rate = rate
        self.n_components = n_components
        self.gradient = gradient

    def _make_core(self, features: int) -> Core:
        rate = as_rate(self.rate, "HiraokaLDA")
        self._rules.check(self)
        components = features if self.n_components is None else self.n_components
        if components > features:
            rule = f"be at most the number of features, {features}"
            raise InvalidParameter.of("HiraokaLDA", "n_components", rule, components)
        return compiled.hiraoka(features, rate.code(), int(components), self.gradient == "full")

    def _class_means(self) -> Floats:
        return np.asarray(self._learned_core().state()["means"])

    @property
    def axes_(self) -> Floats:
        """The transformation A, one column per axis."""
        return np.asarray(self._learned_core().state()["axes"])
