"""A learner made of learners, each weighted by how often it has recently been right.

The posteriors of the members are mixed with weights exp(-sharpness L), where each row sets L to discount L + loss. A
member that was right while the others erred gains within 1 / (1 - discount) rows, and loses as fast. The rule looks at
no label before the prediction is given. With the zero-one loss it is within a few per cent of the best member in
hindsight on every stream we tried; the log-loss fails where members are overconfident.

`AutoClassifier` uses two extensions. Several discounts, from a short memory to a long one, give as many sets of
weights; their mixtures are weighted by the same rule, each by its own mistakes with a discount of 0.998. And the loss
``"auto"`` is the zero-one loss unless classes are rare: with 1 % positives a member that never says yes hardly errs.
With q the share of the rows outside the most frequent class, the weights go over between q = 0.1 and q = 0.05 to
weights by log-loss, cut at 6 and discounted by 1 - q / 20, so that about twenty rows of the rare classes count.

Where labels come late, a member with a short memory has learned a row's neighbours by the time its label comes. So
`follow` keeps what members predicted, and from the first late label on there are six judges: the zero-one loss and the
log-loss, each of what was predicted, of what would be predicted just before learning, and of half of both. The mixtures
of all are weighted by the mistakes they made as predicted (``kernels/ensemble/mixing.hpp``).

Cost: the sum of the members', plus O(members (classes + discounts)) for the mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.base.inner_learner import compiled_core_of
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, OneOf, Real, Rule, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

LOSSES = ("zero-one", "brier", "log", "auto")


def _are_discounts(value: Any) -> bool:
    discounts = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    one = Real(0, 1, "neither")
    return 0 < len(discounts) <= 8 and all(one.allows(discount) for discount in discounts)


class Committee(WithProbabilities, StreamClassifier):
    """Mixture of learners, weighted by their recent losses.

    Parameters
    ----------
    members : sequence of classifiers
        Learners of thalweg (the loop is then compiled throughout), or scikit-learn classifiers with ``partial_fit``
        (called row by row in Python). A scikit-learn member takes part once two classes were seen, and restarts when
        another class arrives, because it cannot add one. Invalid probabilities are ignored. A committee with such a
        member can be copied and pickled, but not saved to a file. Where one raises an error, the rows of the call
        before it are learned and its own row is not.
    discount : float in (0, 1) or sequence of them, default 0.995
        Fading of the losses: a loss counts for about 1 / (1 - discount) rows. With several values, the weights from
        each are mixed by their own recent losses.
    sharpness : positive float, default 0.5
        Strength of the losses in the weights. Larger values follow the best member more closely, and its luck.
    loss : {"zero-one", "brier", "log", "auto"}, default "zero-one"
        Loss of a prediction. "log" is cut at 5. "auto" is "zero-one", and the log-loss where more than nine rows in ten
        belong to one class.
    persistence : bool, default False
        Adds a member that predicts the label which usually follows the last one. It is valid only where each label is
        known before the next row arrives: evaluation refuses it when labels are delayed.
    handicaps : sequence of float >= 0, optional
        Initial loss of each member, in the order of ``weights_``, which fades like later ones. A slow learner should
        start with a lower prior weight, hence with a loss (default: all members start with the same weight).

    Attributes
    ----------
    weights_ : ndarray
        The weight of each member in the next prediction. One that is made of members, such as a bank of rates or
        `TilingClassifier`, counts as these.

    Examples
    --------
    >>> from thalweg import Committee, OnlineLDC, Perceptron
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(2000)
    >>> model = Committee([OnlineLDC(0.02, counts="soft"), OnlineLDC(0.2, counts="soft"), Perceptron()])
    >>> bool((model.predict_then_learn(X, y) != y).mean() < 0.15)
    True
    >>> model.weights_.round(2).tolist()
    [0.0, 0.98, 0.02]
    """

    _why_not_merged = "its members are weighed by their mistakes, row by row"

    _rules = Rules(
        members=Rule(
            "be a sequence of at least one classifier",
            lambda value: isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0,
        ),
        persistence=FLAG,
        discount=Rule("be a number between 0 and 1, or a sequence of up to eight of them", _are_discounts),
        sharpness=Real(0, 1e6, "neither", text="be a positive finite number"),
        loss=OneOf(*LOSSES, text=f"be one of {', '.join(LOSSES)}"),
    )

    def __init__(
        self,
        members: Sequence[Any],
        *,
        discount: float | Sequence[float] = 0.995,
        sharpness: float = 0.5,
        loss: Literal["zero-one", "brier", "log", "auto"] = "zero-one",
        persistence: bool = False,
        handicaps: Sequence[float] | None = None,
    ) -> None:
        self.members = members
        self.discount = discount
        self.sharpness = sharpness
        self.loss = loss
        self.persistence = persistence
        self.handicaps = handicaps

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        for member in self.members:
            if getattr(member, "_needs_label_names", False):
                raise InvalidParameter.of("Committee", "members", "have no weights or costs by label", member)
        cores = [compiled_core_of(member, features, "Committee", "members") for member in self.members]
        if self.persistence:
            cores.append(compiled.persistence(features))
        start = _as_handicaps(self.handicaps, sum(core.n_posteriors for core in cores))
        discounts = [float(discount) for discount in np.atleast_1d(self.discount)]
        return compiled.committee(cores, discounts, float(self.sharpness), self.loss, start)

    _takes_sparse: Any = property(
        lambda self: all(getattr(member, "_takes_sparse_inside", False) for member in self.members)
    )
    _same_from_sparse: Any = property(
        lambda self: all(getattr(member, "_same_from_sparse", False) for member in self.members)
    )
    _needs_labels_at_once: Any = property(
        lambda self: self.persistence or any(getattr(member, "_needs_labels_at_once", False) for member in self.members)
    )

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        return self._learned_core().shares()


def _as_handicaps(given: Sequence[float] | None, members: int) -> list[float]:
    if given is None:
        return [0.0] * members
    rule = f"be {members} finite numbers >= 0, one for each member"
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter.of("Committee", "handicaps", rule, given) from error
    if values.shape != (members,) or not (values >= 0).all() or not np.isfinite(values).all():
        raise InvalidParameter.of("Committee", "handicaps", rule, given)
    return list(values.tolist())
