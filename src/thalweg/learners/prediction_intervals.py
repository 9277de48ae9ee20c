"""Prediction intervals for any regressor, which hold the target in a given share of the rows through any drift.

=========  ====================  ==================================================================
paper      here                  meaning
=========  ====================  ==================================================================
s_t        |y - prediction| / s score: the residual over the mean absolute one of the last rows
q_t        ``reach_``            an interval reaches from the prediction by q s to either side
alpha      1 - ``coverage``      share of rows whose target may lie outside
eta        ``step``              q <- q + eta (1[missed] - alpha)
=========  ====================  ==================================================================

A. N. Angelopoulos, E. J. Candès, R. J. Tibshirani, "Conformal PID Control for Time Series Prediction", NeurIPS 2023:
the rule, quantile tracking, and its guarantee. Over T rows the share of misses differs from alpha by at most the range
of q over eta T, whatever the rows are. I. Gibbs, E. Candès, "Adaptive Conformal Inference Under Distribution Shift",
NeurIPS 2021: the idea of steering by misses.

Where we depart
1. Residuals are scaled by their mean size over the last fifty rows, so that one step suits every unit and the width
   follows the noise at once, before misses move q.
2. A row of weight w moves q by w times as much, and the scale as w rows.
3. Targets that come late (`follow`) are judged by the interval that was given. Of delays beyond 50 rows the step is
   smaller in proportion, or q would swing.
4. With ``local_widths`` s is multiplied by what 64 random tilings of the features (`TilingRegressor`) say of the size
   of residuals around the row, relative to the recent one.
5. `fit` learns its rows one after the other, whatever the regressor inside does, since only residuals of rows not yet
   learned say anything of those to come.

Cost: that of the regressor, plus O(1) a row and target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.intervals import INTERVAL_STEP, WithIntervals
from thalweg.learners.base.regressor import StreamRegressor
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, POSITIVE, Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore


class PredictionIntervals(WithIntervals):
    """A regressor with intervals, of which a given share holds the target over the long run.

    `AutoRegressor` and `TilingRegressor` have intervals of their own for the usual coverages.

    Parameters
    ----------
    learner : regressor
        A regressor of thalweg, but no pipeline; at the end of a pipeline this one may stand itself.
    coverage : float in (0, 1), default 0.9
        Share of rows whose interval is to hold the target.
    step : positive float, default 0.05
        By how much a miss moves the ends, in mean absolute residuals. Larger restores the coverage sooner after a
        change, and makes the widths more uneven in between.
    local_widths : bool, default False
        Whether intervals are wider at rows where residuals were larger, and not only after rows where they were: about
        1.4 µs more a row.

    Attributes
    ----------
    half_width_ : float or ndarray of shape (outputs,)
        By how much the next interval reaches beyond its prediction, at a row of usual noise.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLinearRegression, PredictionIntervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = X @ [1.0, 2.0] + rng.normal(size=4000) * np.repeat([1.0, 3.0], 2000)  # the noise grows half-way
    >>> model = PredictionIntervals(OnlineLinearRegression(solver="rls"), coverage=0.9)
    >>> predicted, lower, upper = model.predict_interval_then_learn(X, y)
    >>> bool(abs(np.mean((lower <= y) & (y <= upper)) - 0.9) < 0.01)
    True
    """

    _fit_depends_on_order = True
    _why_not_merged = "its intervals depend on the order of the rows"

    _catalogue = CatalogueEntry(
        name="linear",
        task="regression",
        about="recursive least squares; --rate is its forgetting",
        when="a linear response that moves at a known pace",
        base="OnlineLinearRegression",
        parameters={"learner__solver": "rls", "learner__penalty": 0.01},
        options={"rate": "learner__forgetting"},
        rate=0.001,
        adaptive=False,
    )

    _rules = Rules(coverage=Real(0, 1, "neither"), step=POSITIVE, local_widths=FLAG)

    def __init__(
        self, learner: Any, coverage: float = 0.9, *, step: float = INTERVAL_STEP, local_widths: bool = False
    ) -> None:
        self.learner = learner
        self.coverage = coverage
        self.step = step
        self.local_widths = local_widths

    def _make_core(self, features: int) -> RegressionCore:
        self._rules.check(self)
        core = self.learner._make_core(features) if isinstance(self.learner, StreamRegressor) else None
        if not isinstance(core, compiled.RegressionCore):
            rule = "be a regressor of thalweg and no pipeline: make PredictionIntervals the last step of the pipeline"
            raise InvalidParameter.of("PredictionIntervals", "learner", rule, self.learner)
        core.track_intervals([float(self.coverage)], float(self.step), bool(self.local_widths))
        return core

    @property
    def _usual_coverage(self) -> float:
        return self.coverage

    @property
    def half_width_(self) -> float | Floats:
        """By how much the next interval reaches beyond its prediction."""
        half: Floats = self._learned_core().half_widths()[:, 0]
        return float(half[0]) if self._columns is None else half
