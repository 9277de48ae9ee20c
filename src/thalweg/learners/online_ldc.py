"""The online linear discriminant classifier, O-LDC: linear discriminant analysis that follows a stream.

L. I. Kuncheva, C. O. Plumpton, "Adaptive Learning Rate for Online Linear Discriminant Classifiers", SSPR & SPR
2008, LNCS 5342, 510-519; its covariance update corrected by S. Schnackenberg, U. Ligges, C. Weihs, "Online Linear
Discriminant Analysis for Data Streams with Concept Drift", Archives of Data Science A 5(1), 2018.

==================  ==========================  ==============  ==========================================
paper               here                        shape           meaning
==================  ==========================  ==============  ==========================================
lambda              ``rate``                                    weight of the new row against the old ones
N_i                 ``counts_``                 (classes,)      rows of a class (soft: forgotten ones too)
P^(i)               ``priors_``                 (classes,)      prior probabilities, eq. (11)
m^(i)               ``means_``                  (classes, p)    class means, eq. (10)
S^-1                ``precision_``              (p, p)          inverse of the common covariance, eq. (12)
g_i(x)              ``decision_function``       (rows,classes)  discriminants, eq. (3), less their common part
==================  ==========================  ==============  ==========================================

Where we depart from the printed paper
1. The covariance update is Schnackenberg's, which at rate 1/2 equals the batch covariance exactly; the printed
   one is ``covariance="2008"``.
2. The paper's formulas count rows hard (N grows by one), so that its memory lengthens with N; its results on
   real data need counts that fade. Both are here: ``counts="hard"`` and ``counts="soft"``.
3. Sherman-Morrison's formula on S^-1 itself breaks for good once its two triangles differ by one bit, and
   one large row after an identity start costs it all its digits. S^-1 is kept as L D L' instead, which cannot become
   indefinite (``kernels/linear_algebra/factor.hpp``). Directions without variance stop growing at 1e20 to 1e22 over the
   inverse variance.
4. Discriminants are relative to the first row ever seen, which adds the same to all classes and changes no
   prediction and no probability, but saves the digits of features with a large offset.
5. A class's first row has the prior 1 / (N + 1), and the others share the rest.
6. ``rate="auto"`` is ours: seven rates side by side over rows scaled on line, mixed by how often each was right.
7. Rows may have weights. One of weight w counts w times in `fit`. Later, with soft counts, it is w copies in sequence,
   lambda -> 1 - (1 - lambda)^w; with hard counts m_k <- m_k + lambda w / ((1 - lambda) N_k + lambda w) (x - m_k) and
   N_k <- N_k + w, S likewise, which at lambda = 1/2 is w copies too.

Cost: O(p^2 + p c) a row, 1.5 p^2 + 4 p c multiply-adds, memory 4 p (p + 4 c) bytes. The limit is the way of the
triangle of L through the processor: from p = 50 on it takes most of the time. A single row reads it twice, rows of a
chunk once each where there is neither a ridge nor a weight. From p = 128 on with AVX-512, with AVX2 from 256 (with a
ridge or weights from 128), without them from 256, blocks of 24 rows, or 48 from p = 1000 (in single precision up to
twice as many), read it twice together, whatever the rate, the ridge and the weights
(``kernels/discriminant/blocks.hpp``): another 24 p or 48 p multiply-adds a row, and the limit is that of a matrix
product. A block needs 40 p bytes for each of its rows while it is learned. It ends early where the rows before it have
faded to 1e-4 of their weight, where a row shrinks P by as much, and at the first row of a class: at rates so eager that
they remember fewer rows than there are features, rows go one by one as before.

Chunks change no bit below 128 features. From there the numbers of a block agree with those of single rows as well as
the latter do with themselves when the last digit of the data changes; to about 1e-12 where P is not close to singular.

In single precision (``dtype="float32"``) L alone is kept in floats, the one part that grows with p^2: 2 p (p + 8 c)
bytes. Means, counts, D, the discriminants and all sums over features stay in doubles, which costs nothing beside it:
no offset or scale of a feature costs digits. What is lost is the digits of P, more of them the closer P is to singular.
Beside doubles, a million rows of 50 features: where the covariance is well conditioned P agrees to 3e-7 and no
prediction differs; at a condition number of 1e4 P agrees to 2e-5 with memories of 100 or 1,000 rows and to 6e-4 where
nothing is forgotten, and 2e-5 of the predictions differ; at 1e8, to 3e-3 and 9e-5, with the same share of mistakes. A
ridge of 1e-3 brings that back to 2e-5 and none. Directions without variance stop growing at 1e8 to 1e10 over the
inverse variance. Where a memory lengthens for ever (hard counts) a row's share falls below the last digit of a float
after some ten million rows, and P stands still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thalweg.errors import InvalidParameter, NotAdditive
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithLogPosteriors, WithRate
from thalweg.learners.base.mixture import (
    BANK_DISCOUNT,
    BANK_RATES,
    BANK_RIDGE,
    BANK_SHARPNESS,
    prior_losses,
    remembered_means,
    remembered_rows,
)
from thalweg.learners.base.rows import Floats
from thalweg.parameters import OneOf, Real, Rules, Whole
from thalweg.rates import Constant, Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import Core
    from thalweg.merging.discriminant import DiscriminantMerging


class OnlineLDC(WithClassWeight, WithLogPosteriors, WithRate, StreamClassifier):
    """Linear discriminant classifier that is updated row by row and forgets at a rate.

    Parameters
    ----------
    rate : float in (0, 1), a rate of `thalweg.rates`, or "auto", default 0.5
        Weight of a new row. A larger rate follows drift faster and is noisier. With soft counts the memory is about 1 /
        rate rows. With hard counts 0.5 is the batch estimate of all rows so far; above it new rows count more, below it
        less. "auto", with soft counts, runs memories of 3 to 3,333 rows side by side and weights them by their recent
        mistakes. The rate is that of `partial_fit` and `learn_one`: `fit` weights all its rows equally.
    counts : {"hard", "soft"}, default "hard"
        How old rows fade. "hard" is the printed formulas, whose memory still grows with the rows seen. "soft" fades the
        counts as well, which is exact exponential forgetting. Use it for long streams.
    covariance : {"corrected", "2008"}, default "corrected"
        The update of the common covariance: exact, or as first printed.
    warmup : int >= 0, default 10
        Number of first rows of a fresh model that get equal weights, before the rate applies. While their covariance is
        singular the identity replaces it. After `fit` there is no warm-up. With "auto" each rate averages all rows
        until its memory is full.
    ridge : float >= 0, default 0.0
        Share of each feature's long-run variance that is added to the covariance and kept while rows are forgotten. The
        long run is all rows at first and some 5,000 later, with extreme values cut. A little (1e-3) steadies high rates
        and features that are constant for a while. More shrinks towards independent features. "auto" uses 1e-3 where
        this is 0.
    dtype : {"float64", "float32"}, default "float64"
        Precision of the inverse covariance. "float32" needs half the memory, and from 500 features on 0.5 to 0.7 of the
        time. Below 128 features it is slower. Where features nearly depend on each other, one prediction in ten
        thousand differs from "float64". More differ at rates so high that they remember fewer rows than there are
        features. Results are float64 in any case. Not with "auto".
    class_weight : mapping of label to number, "balanced" or None, default None
        Weight of the rows of each label, in priors and covariance. It multiplies the row's own weight. A label that is
        not named has weight 1. "balanced" weights a label by the inverse of its share of the last 5,000 rows.

    Attributes
    ----------
    rate_ : float
        The rate in use.
    effective_rows_ : float
        Number of rows that the model remembers: 1 / (share of the last row). Over time it is about 1 / the rates that
        ``predict_then_learn(…, with_rate=True)`` returns.
    class_effective_rows_ : ndarray of shape (classes,)
        The same by class, with soft counts. Hard counts do not fade, so it is not known there.
    counts_, priors_ : ndarray of shape (classes,)
        Rows per class (soft: their remaining weight), and the priors in use. These and the following attributes exist
        for a single rate, not for "auto".
    means_ : ndarray of shape (classes, features)
        Class means.
    precision_ : ndarray of shape (features, features)
        Inverse of the common covariance, exactly symmetric and positive definite.
    rates_, weights_ : ndarray
        With "auto": the rates, and the weight of each in the next prediction.

    See Also
    --------
    HiraokaLDA : the discriminant analysis the paper compares with.

    Examples
    --------
    >>> from thalweg import OnlineLDC
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(2000)
    >>> model = OnlineLDC(rate=0.05, counts="soft")
    >>> predicted = model.predict_then_learn(X, y)
    >>> bool((predicted != y).mean() < 0.15)
    True

    Rows that count more than once:

    >>> OnlineLDC().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"], sample_weight=[3, 1, 2]).means_.ravel().tolist()
    [0.25, 5.0]
    """

    _catalogue = CatalogueEntry(
        name="oldc",
        about="online linear discriminant; without --rate, seven memories side by side",
        when="correlated features, and a linear boundary that moves",
        parameters={"rate": "auto", "counts": "soft"},
        options={"rate": "rate"},
        rate=0.02,
        with_rate={"ridge": 1e-3},
    )
    _rules = Rules(
        counts=OneOf("hard", "soft"),
        covariance=OneOf("corrected", "2008"),
        warmup=Whole(0, 10**9),
        ridge=Real(0),
        dtype=OneOf("float64", "float32"),
    )

    def __init__(
        self,
        rate: float | Rate | Literal["auto"] = 0.5,
        *,
        counts: Literal["hard", "soft"] = "hard",
        covariance: Literal["corrected", "2008"] = "corrected",
        warmup: int = 10,
        ridge: float = 0.0,
        dtype: Literal["float64", "float32"] = "float64",
        class_weight: ClassWeight = None,
    ) -> None:
        self.rate = rate
        self.counts = counts
        self.covariance = covariance
        self.warmup = warmup
        self.ridge = ridge
        self.dtype = dtype
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        rate = None if self._is_bank else as_rate(self.rate, "OnlineLDC", also=', or "auto"')
        self._rules.check(self)
        if rate is None:
            return self._weighted_by_class(self._make_bank(features))
        return self._weighted_by_class(
            compiled.discriminant(
                features,
                rate.code(),
                soft_counts=self.counts == "soft",
                covariance_2008=self.covariance == "2008",
                warmup=int(self.warmup),
                ridge=float(self.ridge),
                in_floats=self.dtype == "float32",
            )
        )

    def _make_bank(self, features: int) -> Core:
        if self.counts != "soft" or self.covariance != "corrected":
            rule = 'come with counts="soft" and covariance="corrected" where it is "auto"'
            raise InvalidParameter.of("OnlineLDC", "rate", rule, (self.counts, self.covariance))
        if self.dtype != "float64":
            raise InvalidParameter.of("OnlineLDC", "dtype", 'be "float64" where rate is "auto"', self.dtype)
        ridge = float(self.ridge) or BANK_RIDGE
        start = prior_losses(BANK_RATES, BANK_SHARPNESS)
        return compiled.scaled(compiled.rate_bank(features, BANK_RATES, ridge, BANK_DISCOUNT, BANK_SHARPNESS, start))

    def _merging(self) -> DiscriminantMerging:
        from thalweg.merging.discriminant import DiscriminantMerging

        if self._is_bank:
            raise NotAdditive.of("an OnlineLDC", 'the rates of "auto" are weighed by their mistakes, row by row')
        if self.class_weight is not None:
            raise NotAdditive.of("an OnlineLDC", "moments of rows do not hold what class_weight made them count for")
        constant = isinstance(as_rate(self.rate, "OnlineLDC"), Constant)
        return DiscriminantMerging(
            self._make_core(1).rate if constant else None,
            soft=self.counts == "soft",
            printed_2008=self.covariance == "2008",
            ridge=self.ridge > 0,
            warmup=int(self.warmup),
        )

    @property
    def _is_bank(self) -> bool:
        return isinstance(self.rate, str) and self.rate == "auto"

    _keeps_class_means: Any = property(lambda self: not self._is_bank and self.class_weight is None)

    def _class_means(self) -> Floats:
        if not self._is_bank:
            return self.means_
        core = self._learned_core()
        return remembered_means(core.state(), core.shares())

    _keeps_covariance: Any = property(lambda self: not self._is_bank)
    _scores_linearly: Any = property(lambda self: not self._is_bank)

    @property
    def effective_rows_(self) -> float:
        """How many rows the model remembers: 1 / (share of the last row)."""
        if self.counts == "soft":
            return float(self.class_effective_rows_.sum())
        rate = self.rate_
        total = self._state("total").item()
        if self._state("warm_left").item() > 0:
            return float(total)
        return float(((1.0 - rate) * (total - 1.0) + rate) / rate)

    @property
    def class_effective_rows_(self) -> Floats:
        """How many rows of each class the model remembers."""
        if self.counts != "soft":
            raise AttributeError("hard counts do not fade: how many rows of each class are remembered is not known")
        if self._is_bank:
            core = self._learned_core()
            return remembered_rows(core.state(), core.shares())
        warm = self._state("warm_left").item() > 0
        return self.counts_ / (1.0 if warm else self.rate_)

    @property
    def rates_(self) -> Floats:
        """The rates in use: of "auto" all of them, else the one."""
        return np.array(BANK_RATES) if self._is_bank else np.array([self.rate_])

    @property
    def weights_(self) -> Floats:
        """The share of each of ``rates_`` in the next prediction."""
        return self._learned_core().shares() if self._is_bank else np.ones(1)

    @property
    def counts_(self) -> Floats:
        """Rows of each class; with soft counts, the weight that is left of them."""
        return self._state("counts").ravel()

    @property
    def priors_(self) -> Floats:
        """The prior probability of each class, as the discriminants use it."""
        weights = np.exp(self._state("log_prior").ravel())
        return np.asarray(weights / weights.sum())

    @property
    def means_(self) -> Floats:
        """The mean of each class."""
        return self._state("means") + self._state("origin")

    @property
    def precision_(self) -> Floats:
        """The inverse of the common covariance."""
        lower = self._state("factor_rows").T + np.eye(self.n_features_in_)
        if self.dtype == "float32":  # of features in units of their own
            lower *= self._state("factor_units").T
        product = (lower * self._state("factor_diagonal")) @ lower.T
        return np.asarray(np.tril(product) + np.tril(product, -1).T)

    def _state(self, name: str) -> Floats:
        core = self._learned_core()
        if self._is_bank:
            raise AttributeError('with rate="auto" there is one of these for each rate, and none of the whole')
        return np.asarray(core.state()[name])
