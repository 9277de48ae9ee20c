"""Passive-aggressive learning: make the smallest change that classifies the row with a margin of one.

K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online Passive-Aggressive Algorithms", Journal of
Machine Learning Research 7, 2006, 551-585.

==========  ==================  ===============  =====================================================
paper       here                shape            meaning
==========  ==================  ===============  =====================================================
C           ``C``                                the most a single row may change (PA-I), or its price
tau         the step                             min(C, loss / |z|^2) or loss / (|z|^2 + 1 / (2 C))
w           weights per class   (classes, p+1)   w = w_(+1) - w_(-1) for two classes
==========  ==================  ===============  =====================================================

Where we depart
1. Any number of classes: the true class gains half of the step and its best rival loses half, so that two classes are
   the paper's single vector.
2. The bias is the weight of a constant 1, and counts in |z|^2.
3. Rows may have weights: one of weight c has c C for C, its share in the objective.

Cost: O(p c) a row; the limit is reading the weights once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.parameters import OneOf, Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class PassiveAggressive(WithClassWeight, WithProbabilities, StreamClassifier):
    """Margin-driven linear classifier with the smallest sufficient step.

    Probabilities are the softmax of twice the scores: a rule of thumb, not a calibration. It wants features of similar
    scale.

    Parameters
    ----------
    C : positive float, default 1.0
        Aggressiveness. Larger follows drift, and noise, faster.
    variant : {"I", "II"}, default "I"
        PA-I cuts the step at C, PA-II softens every step by C.
    class_weight : mapping of label to number, "balanced" or None, default None
        What the rows of each label count for, times their own weight; a label that is not named counts 1. "balanced"
        counts them by the inverse of the label's share of the last 5,000 rows, so that rare labels count as much.

    Examples
    --------
    >>> from thalweg import PassiveAggressive
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(360)
    >>> bool((PassiveAggressive().predict_then_learn(X, y) != y).mean() < 0.2)
    True
    """

    _catalogue = CatalogueEntry(
        name="pa", about="passive-aggressive", when="a boundary that moves fast, clean labels", scaled=True
    )
    _fit_depends_on_order = True
    _scores_linearly = True
    _takes_sparse = True

    _rules = Rules(C=Real(0, 1e50, "neither", text="be a positive finite number"), variant=OneOf("I", "II"))

    def __init__(self, C: float = 1.0, *, variant: Literal["I", "II"] = "I", class_weight: ClassWeight = None) -> None:
        self.C = C
        self.variant = variant
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        return self._weighted_by_class(
            compiled.passive_aggressive(features, C=float(self.C), second=self.variant == "II")
        )
