"""Linear regression that follows a stream: the gradient steps of the paper, or exact recursive least squares.

Q. Wu, D. Snell, "An Introduction to Incremental Learning", Predictive Analytics and Futurism 13, July 2016; recursive
least squares with forgetting as in T. Söderström, P. Stoica, "System Identification", 1989, ch. 9; its factored form
after G. Bierman, "Factorization Methods for Discrete Sequential Estimation", 1977; averaging after B. T. Polyak,
A. B. Juditsky, SIAM J. Control Optim. 30(4), 1992. The paper's equations are not numbered.

=========  ====================  ===========  ==============================================================
paper      here                  shape        meaning
=========  ====================  ===========  ==============================================================
w_t        ``coef_``             (p,)         weights after t rows
eta_t      ``rate``                           step; eta_0 / sqrt(t) is `InverseSqrt`
y-hat_t    ``predict``           (rows,)      w_(t-1)'x_t
           ``inverse_scatter_``  (p, p)       P of least squares: inverse of the weighted scatter of the rows
=========  ====================  ===========  ==============================================================

Gradient: w <- w + eta_t (y_t - w'x_t) x_t, as printed. The gradient of the printed loss has a factor 2, which the
printed update leaves to eta_t; so do we.

Least squares: after every row the exact minimiser of sum_i gamma^(t-i) (y_i - b - w'x_i)^2 + penalty |w|^2, with
gamma = 1 - forgetting. It has no step to choose.

A row of weight c takes a gradient step of c eta_t; to least squares it is c copies in sequence, so that without
forgetting the sum is that of c_i (y_i - b - w'x_i)^2.

Where we depart
1. A constant term, on by default; the paper has none (``intercept=False``).
2. A step that would throw its own row's prediction beyond ten times every target so far is cut to the one that fits
   the row exactly, counted, and named in a warning. The paper's simulation never comes near it.
3. `fit` is the exact least-squares solution of its rows for both solvers, since the paper's remarks advise a batch
   method for the initial estimator. `partial_fit` continues from there, the gradient's step counting the rows of `fit`.
4. Least squares begins from a prior of 1e-13 of a feature's first squared deviation (in `fit`, of the mean of all of
   them, which does not depend on the order of the rows), so that its predictions exist from the second row on and are
   those of the batch to 1e-9. Directions that forgetting has emptied keep as much, so that P stays bounded; their
   weights stand still.
5. Along features that depend on each other linearly (a duplicate; one-hot columns beside a constant term) the rows say
   nothing, and without a penalty the weights wander there, by rounding, row after row. Predictions for rows that obey
   the dependency stay right; ``coef_``, and predictions for rows that break it, do not. ``penalty=1e-6`` keeps them in
   place.

Cost: gradient O(p) a row and target, the limit being to read and write the weights once; least squares O(p^2 + p m)
for m targets, 1.5 p^2 multiply-adds, the limit being two passes over the triangle of L. From p = 128 on (without AVX2
from 256) blocks of 24 rows of a chunk, or 48 from p = 1000, share the two passes, and the limit is that of a matrix
product; the numbers then agree with those of single rows to rounding, about 1e-13, and no longer to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.regressor import LinearRegressor
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, FORGETTING, NOT_NEGATIVE, OneOf, Rules
from thalweg.rates import ErrorDriven, InverseSqrt, Rate, as_rate

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore
    from thalweg.merging.models import Merging

_OWNER = "OnlineLinearRegression"


class OnlineLinearRegression(LinearRegressor):
    """Linear regression that learns one row at a time, for one target or several.

    Parameters
    ----------
    rate : positive float or a rate of `thalweg.rates`, default InverseSqrt(1.0), the paper's
        Step of ``solver="sgd"``. A decaying step settles, and a constant one keeps following drift. A larger step is
        faster and noisier. Features should have about unit scale. Least squares has no step.
    intercept : bool, default True
        Whether to learn a constant term; it is never penalised.
    solver : {"sgd", "rls"}, default "sgd"
        Stochastic gradient, O(p) a row, or recursive least squares, O(p^2) a row. Least squares is exact at every row
        and does not depend on the scales and offsets of the features.
    averaged : bool, default False
        With "sgd", predict with the average of all weights so far (Polyak). This is steadier on a stream without drift.
    penalty : float >= 0, default 0.0
        L2 penalty. A larger value shrinks the weights more. With "sgd" every step also shrinks the weights by this
        share of itself. With "rls" it is the alpha of ridge regression, kept to within a factor of two while rows are
        forgotten. About 0.01 of a typical squared feature keeps the first predictions small, while there are no more
        rows than features. Features may depend on each other linearly (duplicates, one-hot columns beside an
        intercept). Without a penalty ``coef_`` then drifts along the dependency: only rows that keep it are predicted
        correctly. There 1e-6 of a squared feature is enough.
    forgetting : float in [0, 1), default 0.0
        Share of their weight that old rows lose with every new row. The memory is about 1 / forgetting rows. A larger
        value follows drift faster and is noisier. With "rls" it applies to the squared errors, and with "sgd" to the
        average of ``averaged``.

    per_feature : bool, default False
        With "sgd", whether each feature has its own step size: ``rate`` over the root of its squared values so far. Use
        it for rare indicators and words.

    Attributes
    ----------
    coef_, intercept_ : ndarray, float
        The linear model. With several targets, one row and one entry for each.
    rate_ : float
        With "sgd", the step in use.
    cut_steps_ : int
        With "sgd", how many steps were too large and were cut. The first cut warns with `thalweg.errors.Diverging`.
    inverse_scatter_ : ndarray of shape (features, features)
        With "rls", P, the inverse of the weighted scatter of the rows (about their mean with an intercept). It is
        positive definite. Without forgetting, P times the noise's variance is the covariance of ``coef_``.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 5))
    >>> y = X @ [1.0, -1.0, 0.5, -0.5, 2.0] + 0.1 * rng.standard_normal(1000)
    >>> model = OnlineLinearRegression(intercept=False).partial_fit(X, y)
    >>> model.coef_.round(1).tolist()
    [1.0, -1.0, 0.5, -0.5, 2.0]
    >>> exact = OnlineLinearRegression(solver="rls").partial_fit(X, y)
    >>> bool(exact.score(X, y) > 0.98)
    True
    """

    _why_not_merged = "each of its gradient steps depends on what the rows before it had made of it"

    _rules = Rules(
        intercept=FLAG,
        averaged=FLAG,
        penalty=NOT_NEGATIVE,
        forgetting=FORGETTING,
        solver=OneOf("sgd", "rls"),
        per_feature=FLAG,
    )

    def __init__(
        self,
        rate: float | Rate | None = None,
        *,
        intercept: bool = True,
        solver: Literal["sgd", "rls"] = "sgd",
        averaged: bool = False,
        penalty: float = 0.0,
        forgetting: float = 0.0,
        per_feature: bool = False,
    ) -> None:
        self.rate = rate
        self.intercept = intercept
        self.solver = solver
        self.averaged = averaged
        self.penalty = penalty
        self.forgetting = forgetting
        self.per_feature = per_feature

    _takes_sparse: Any = property(lambda self: self.solver == "sgd")

    @property
    def _why_not_sparse(self) -> str:  # type: ignore[override]
        return 'solver="rls" keeps a matrix over all pairs of features; use solver="sgd" or X.toarray()'

    def _make_core(self, features: int) -> RegressionCore:
        self._rules.check(self)
        penalty, forgetting = float(self.penalty), float(self.forgetting)
        if self.solver == "sgd":
            if forgetting > 0 and not self.averaged:
                raise InvalidParameter.of(
                    _OWNER, "forgetting", 'be 0 with solver="sgd" unless averaged: its rate forgets', self.forgetting
                )
            flags = (bool(self.intercept), bool(self.averaged), penalty, forgetting, bool(self.per_feature))
            return compiled.gradient_regression(features, self._rate().code(), *flags)
        if self.per_feature:
            raise InvalidParameter.of(_OWNER, "per_feature", 'be False with solver="rls", which has no step', True)
        if self.averaged:
            raise InvalidParameter.of(_OWNER, "averaged", 'be False with solver="rls", which is exact', True)
        if self.rate is not None:
            raise InvalidParameter.of(_OWNER, "rate", 'be left out with solver="rls", which has no step', self.rate)
        return compiled.least_squares(features, bool(self.intercept), penalty, forgetting)

    def _merging(self) -> Merging:
        if self.solver != "rls":
            return super()._merging()
        from thalweg.merging.least_squares import LeastSquaresMerging

        self._make_core(1)  # refuses parameters that break their rules
        return LeastSquaresMerging(
            intercept=bool(self.intercept), penalty=float(self.penalty), forgetting=float(self.forgetting)
        )

    def _rate(self) -> Rate:
        rate = InverseSqrt(1.0) if self.rate is None else as_rate(self.rate, _OWNER, below_one=False)
        if isinstance(rate, ErrorDriven):
            raise InvalidParameter.of(_OWNER, "rate", "be a positive float, Constant or InverseSqrt", self.rate)
        if not rate.code()[1] < 1e50:
            raise InvalidParameter.of(_OWNER, "rate", "be below 1e50", self.rate)
        return rate

    def _of_solver(self, solver: str, name: str) -> RegressionCore:
        if self.solver != solver:
            raise AttributeError(f"{name} exists for solver={solver!r}")
        return self._learned_core()

    @property
    def rate_(self) -> float:
        """The step now in force."""
        return self._of_solver("sgd", "rate_").rate

    @property
    def cut_steps_(self) -> int:
        """How many steps were cut."""
        return self._of_solver("sgd", "cut_steps_").cuts[0]

    @property
    def inverse_scatter_(self) -> Floats:
        """P = L D L'."""
        state = self._of_solver("rls", "inverse_scatter_").state()
        unit = np.eye(self.n_features_in_) + state["factor_rows"]
        half = np.sqrt(state["factor_diagonal"][0])[:, np.newaxis] * unit
        return np.asarray(half.T @ half)
