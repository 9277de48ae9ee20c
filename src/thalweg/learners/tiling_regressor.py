"""Random tilings for numbers: responses of any shape, learned row by row at a fixed cost.

The tilings, their replacement and the literature are those of `TilingClassifier`. Here a cell owns one number; a
prediction is the first target plus the sum of the M numbers of the cells that the row falls into. A row moves these
numbers so that the share ``step`` of its residual is gone (normalised steps, as in normalised least mean squares), each
by a part that is inversely proportional to the root of the visits to its cell: new cells learn fast, old ones average.
Visits are forgotten over 1,000 rows.

With ``step="auto"`` four steps (0.1, 0.25, 0.5, 0.8) learn side by side over the same tilings and are mixed by their
recent squared errors, as in `AutoRegressor`. Predictions are held to the range of the targets so far and a tenth of it
on either side.

Cost: O(M K) a row. The limit is the latency of M scattered reads and writes. Memory: 5.4 KB a tiling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import COVERAGES, CatalogueEntry
from thalweg.learners.base.intervals import INTERVAL_STEP, WithIntervals
from thalweg.learners.base.mixture import NUMBER_STEPS, number_tilings
from thalweg.parameters import FLAG, SEED, Real, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore


class TilingRegressor(WithIntervals):
    """A sum over random grids of cells, for responses of any shape.

    Parameters
    ----------
    tilings : int, 1 to 10,000, default 256
        How many grids. More give a smoother response, at a proportional cost.
    depth : int, 1 to 3, default 3
        Features of one grid at the most. 1 is an additive model; 3 finds interactions of three features.
    step : float in (0, 1] or "auto", default "auto"
        Share of a row's residual that learning it removes. Larger follows drift faster and is noisier. "auto" runs four
        steps side by side and weights them by their recent errors.
    replace_every : int >= 0, default 100
        Rows between two replacements of the least useful grids; 0 keeps them all for good.
    replace_share : float between 0 and 0.5, default 0.05
        The share of the grids replaced at a time.
    min_age : int >= 0, default 500
        Rows that a grid is given before it can be replaced.
    robust : bool, default False
        Whether residuals beyond twice their usual size count by that size only (Huber's loss), for targets with
        outliers.
    local_widths : bool, default True
        Whether intervals are wider at rows where residuals were larger, and not only after rows where they were.
    random_state : int >= 0, default 0
        Seed for the random number generator.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import TilingRegressor
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> y = np.hypot(*X.T)
    >>> model = TilingRegressor()
    >>> errors = model.predict_then_learn(X, y) - y
    >>> bool(errors[2000:].std() < 0.25 * y.std())
    True
    >>> lower, upper = model.predict_interval([[0.5, 0.5]], coverage=0.95)
    >>> bool(lower[0] < np.hypot(0.5, 0.5) < upper[0])
    True
    """

    _fit_depends_on_order = True

    _catalogue = CatalogueEntry(
        name="tiling",
        task="regression",
        about="256 random grids of cells that add up; --rate is their step, by default four at once",
        when="curved responses, jumps parallel to the axes, useless features",
        options={"rate": "step", "seed": "random_state"},
        parameters={"step": "auto"},
        rate=0.1,
        adaptive=False,
    )

    _rules = Rules(
        tilings=Whole(1, 10_000),
        depth=Whole(1, 3),
        step=Real(0, 1, "right").or_else("auto"),
        replace_every=Whole(0, 10**9),
        replace_share=Real(0, 0.5, "right"),
        min_age=Whole(0, 10**9),
        robust=FLAG,
        local_widths=FLAG,
        random_state=SEED,
    )

    def __init__(
        self,
        tilings: int = 256,
        *,
        depth: int = 3,
        step: float | Literal["auto"] = "auto",
        replace_every: int = 100,
        replace_share: float = 0.05,
        min_age: int = 500,
        robust: bool = False,
        local_widths: bool = True,
        random_state: int = 0,
    ) -> None:
        self.tilings = tilings
        self.depth = depth
        self.step = step
        self.replace_every = replace_every
        self.replace_share = replace_share
        self.min_age = min_age
        self.robust = robust
        self.local_widths = local_widths
        self.random_state = random_state

    def _make_core(self, features: int) -> RegressionCore:
        self._rules.check(self)
        tilings = number_tilings(
            int(self.tilings),
            int(self.depth),
            NUMBER_STEPS if self.step == "auto" else (float(self.step),),
            every=int(self.replace_every),
            young=int(self.min_age),
            share=float(self.replace_share),
            seed=int(self.random_state),
        )
        core = compiled.mixed_regression(
            features, [], [tilings], [], quadratic=False, baselines=False, robust=bool(self.robust), forests=[]
        )
        core.track_intervals(list(COVERAGES), INTERVAL_STEP, bool(self.local_widths))
        return core
