"""Forecasting discriminants: the class means of the next row instead of those of the past.

S. Schnackenberg, U. Ligges, C. Weihs, "Online Linear Discriminant Analysis for Data Streams with Concept Drift",
Archives of Data Science A 5(1), 2018.

==================  =======================  =================  ===============================================
paper               here                     shape              meaning
==================  =======================  =================  ===============================================
n_trend             ``window``                                  time points behind the line
y_i^(c)             recorded means           (records, p)       a class's running mean after its own updates
z_i^(c)             shifted times            (records,)         the time that mean stands for, eq. (10)
alpha_0, alpha_1    the line                 (classes, p)       least squares of y on z over the window, (12)
y_hat_(t+1)^(c)     ``forecast_.means``      (classes, p)       the line at the next time, eq. (11)
==================  =======================  =================  ===============================================

Where we depart from the printed paper
1. The window counts time points, of which a class owns those of its own rows; not rows of the class.
2. Shifted times carry the weights of the means: eq. (10) as printed is the plain mean of the times and right only for
   a rate of 1/2. The time follows recursion (1) itself, with the time in place of the row.
3. Until ``window`` rows have been learned after the start, and for a class with fewer than two records, the base's mean
   decides. Two make a line, because the paper's tables for a window of 10 need it (with three as the least they miss by
   up to 0.027); it is a bold one, so give rare classes a wide window. A class that stays away falls back to the base's
   mean smoothly, over the second half of the window: its line would otherwise fly off.
4. ``window="auto"`` is ours: a bank of windows over the same records, each with the covariance of its own forecast
   residuals, their posteriors mixed by how often each was right recently.
5. Rows may have weights, which are the base's; each row is one step of time whatever its weight. In a bank of windows a
   mistake is charged, and a residual counted, by the weight.

Cost: O(p c) a row and window for the lines, whatever the window, and O(p^2 c) to weigh the forecast means. Memory
O(window c p) for the records. Merging are taken afresh once per turnover of a window, so nothing drifts in 10^9 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier, WithLogPosteriors, WithRate, WithWeights
from thalweg.learners.base.rows import Floats
from thalweg.parameters import Rule, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

#: The bank of ``window="auto"``, and how it is mixed: discount and sharpness of the count of mistakes, and the rate at
#: which each window's residual covariance forgets. One setting for all streams.
BANK = (10, 20, 50, 100, 200, 400)
_DISCOUNT, _SHARPNESS, _RESIDUAL_RATE = 0.985, 0.5, 0.005


class Forecast(NamedTuple):
    """Where each class is heading; rows as in ``classes_``."""

    means: Floats
    standard_errors: Floats


class TrendForecast(WithWeights, WithLogPosteriors, WithRate, StreamClassifier):
    """A discriminant that decides by where the class means will be, not by where they were.

    Parameters
    ----------
    base : OnlineLDC or HiraokaLDA
        The learner whose running means are extrapolated; any rate, hard or soft counts.
    window : int >= 2 or "auto", default 50
        Time points behind the line. Larger is steadier, and blind to turns shorter than itself. "auto" weighs the
        windows 10, 20, 50, 100, 200 and 400 by how often each was right recently (needs an `OnlineLDC` base).
    horizon : int >= 1, default 1
        How many rows ahead to forecast, counted from the last row learned: labels that come h rows late need h + 1.

    Attributes
    ----------
    forecast_ : Forecast
        The forecast class means and their standard errors, infinite where the base's mean stands in and for a line
        through two records; of the heaviest window in a bank. Recorded means follow one another closely, so the errors
        are the line's, not the drift's.
    windows_ : tuple of int
        The windows in use.
    weights_ : ndarray
        The share of each window in the next prediction.
    window_ : int
        The window that carries the most weight.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import OnlineLDC, TrendForecast
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(2000)
    >>> y = rng.integers(0, 2, 2000)
    >>> centre = 2 * np.column_stack([np.cos(np.deg2rad(t)), np.sin(np.deg2rad(t))])  # two classes on a turning wheel
    >>> X = np.where(y[:, None] == 0, centre, -centre) + rng.normal(size=(2000, 2))
    >>> base, ahead = OnlineLDC(0.9), TrendForecast(OnlineLDC(0.9), window=20)
    >>> bool((ahead.predict_then_learn(X, y) != y).mean() < 0.2 * (base.predict_then_learn(X, y) != y).mean())
    True
    """

    _catalogue = CatalogueEntry(
        name="trend",
        about="discriminant with forecast class means",
        when="class means that move along lines",
        base="OnlineLDC",
        options={"rate": "base__rate", "window": "window"},
        rate=0.9,
    )
    _why_not_merged = "its trend runs through the class means in the order of their rows"

    _rules = Rules(
        window=Whole(2, 10**9, text="be an integer >= 2").or_else("auto"),
        horizon=Whole(1, 10**9, text="be an integer >= 1"),
        base=Rule(
            "be a discriminant with running class means (OnlineLDC without class_weight, HiraokaLDA)",
            lambda value: not isinstance(value, type) and getattr(value, "_keeps_class_means", False),
        ),
    )

    def __init__(self, base: StreamClassifier, window: int | Literal["auto"] = 50, *, horizon: int = 1) -> None:
        self.base = base
        self.window = window
        self.horizon = horizon

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        windows = self._windows()
        if len(windows) > 1 and not self.base._keeps_covariance:
            rule = 'keep a covariance (OnlineLDC) for window="auto"'
            raise InvalidParameter.of("TrendForecast", "base", rule, self.base)
        base = self.base._make_core(features)
        assert isinstance(base, compiled.Core)  # all that keep class means are compiled
        return compiled.forecaster(
            base,
            windows=windows,
            horizon=int(self.horizon),
            discount=_DISCOUNT,
            sharpness=_SHARPNESS,
            residual_rate=_RESIDUAL_RATE,
        )

    def _windows(self) -> tuple[int, ...]:
        return BANK if self.window == "auto" else (int(self.window),)

    def _class_means(self) -> Floats:
        state = self._learned_core().state()
        return np.asarray(state["means"] + state.get("origin", 0.0))

    @property
    def windows_(self) -> tuple[int, ...]:
        """The windows in use."""
        return self._windows()

    @property
    def weights_(self) -> Floats:
        """The share of each window in the next prediction."""
        return self._learned_core().shares()

    @property
    def window_(self) -> int:
        """The window that carries the most weight."""
        return self.windows_[int(np.argmax(self.weights_))]

    @property
    def forecast_(self) -> Forecast:
        """Where each class is heading."""
        core = self._learned_core()
        assert isinstance(core, compiled.Core)
        return Forecast(*compiled.forecast(core, int(np.argmax(self.weights_))))
