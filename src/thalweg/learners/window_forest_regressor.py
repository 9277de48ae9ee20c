"""A forest over the last rows whose targets are numbers: trees grown from rows that are held, as in `WindowForest`.

What differs from `WindowForest`:

- A cut gains g = N / 2 ln(S / S_inside) nats, with S the sum of the squares around the mean of N rows and S_inside that
  around the means of both sides.
- A leaf predicts the fading mean of its rows. Votes are the means of the leaves that a row reaches, trees weighted by
  their recent absolute errors.
- The refinement adds to the votes a weight for each leaf that was reached. A row moves these so that the share ``step``
  of its residual is gone, leaves that were moved less often by more. A fifth of the step goes side by side.
- A mixture like that of `AutoRegressor` weights means and refinements of each kind of tree, the last value and the
  running mean. Intervals are tracked as there.

Cost: O(T depth + p) a row and target, and amortised O(T m) for cuts, where m is the number of features tried. The limit
is the latency of T walks from root to leaf. Memory: as for `WindowForest`, with 64 bytes of numbers in a leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import COVERAGES, CatalogueEntry
from thalweg.learners.base.forest import TREE_RULES, WithTrees, number_answers, number_forest, said_by_trees
from thalweg.learners.base.intervals import INTERVAL_STEP, WithIntervals
from thalweg.learners.base.mixture import BASELINES, WithFamilies
from thalweg.learners.base.rows import Floats
from thalweg.learners.base.saved_tree import feature_importances
from thalweg.learners.base.tree_text import mean_in_leaf, mean_of_numbers
from thalweg.parameters import FLAG, Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore


class WindowForestRegressor(WithTrees, WithFamilies, WithIntervals):
    """A forest grown from the last rows, for numbers that depend on cuts of a few features.

    Parameters
    ----------
    trees : int, 0 to 1,000, default 10
        Number of trees that follow the stream.
    lasting_trees : int, 0 to 1,000, default 15
        Number of trees that keep what they know, for tables that hardly drift.
    rows : int, 64 to 1,000,000 or None, default None
        Number of rows held, rounded down to a power of two. None holds 8,192 rows, fewer above 256 features: two
        million numbers at most.
    feature_share : float in (0, 1], default 0.6
        Share of the features that are tried for a cut, at most 64 of them. Lasting trees try 5/6 as many.
    leaf_rows : int, 8 to 1,024, default 32
        Number of rows that a leaf holds.
    least_gain : float >= 0, default 8.0
        Nats that a cut has to gain. A larger value suits noisy targets.
    bagging : float, 0 to 20, default 3.0
        How often a tree sees a row, on average. 0 shows each row once to each tree.
    fading : float in (0, 1], default 0.95
        What remains of the sums of a leaf at its next row. Lasting trees fade a fiftieth as fast.
    change_level : float in [0, 1), default 0.001
        Level of the test that finds a tree's errors rising. 0 does not test.
    regrow_every : int >= 0, default 200
        Rows after which the worst tree is grown anew, up to four times as many while the trees grown last are no better
        than the others. Of lasting trees a tenth of the rows held where that is more. 0 regrows none.
    max_leaves : int, 2 to 65,536, default 2048
        Number of leaves of a tree at the most.
    step : float, 0 to 1, default 0.2
        Share of a row's residual that the refinement removes. 0 refines nothing.
    robust : bool, default False
        Whether large residuals count by their size only and not by its square, for targets with outliers.
    local_widths : bool, default True
        Whether intervals are wider at rows where residuals were larger, and not only after rows where they were.
    random_state : int >= 0, default 0
        Seed for the random number generator.

    Attributes
    ----------
    members_ : tuple of str
        What the trees say, the last value and the running mean, in the order of ``weights_``.
    families_ : tuple of str
        The kind of each member: "trees", "last value" or "running mean".
    weights_ : ndarray of shape (members,) or (outputs, members)
        The weight of each member in the next prediction.
    family_weights_ : dict of str to float
        The weight of each family in the next prediction; of several targets the mean.
    feature_importances_ : ndarray of shape (features,)
        The share of each feature in what all cuts gain; of several targets the mean. Useless features have some of it,
        those of many values more.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import WindowForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(4000, 3))
    >>> y = np.where(X[:, 0] > 0.3, 5.0, 1.0) + np.where(X[:, 1] > -0.2, 2.0, 0.0)
    >>> model = WindowForestRegressor()
    >>> errors = model.predict_then_learn(X, y) - y
    >>> bool(np.abs(errors[2000:]).mean() < 0.05)
    True
    >>> model.predict([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]).round(1).tolist()
    [5.0, 3.0]
    """

    _fit_depends_on_order = True
    _why_not_merged = "each cut depends on the rows before it"

    _catalogue = CatalogueEntry(
        name="forest",
        task="regression",
        about="25 trees over the last 8,192 rows, grown anew as the stream drifts",
        when="responses that are cuts of a few features, tables that hardly drift",
        options={"seed": "random_state"},
    )

    _rules = Rules(step=Real(0, 1, "both"), robust=FLAG, local_widths=FLAG, **TREE_RULES)

    def __init__(
        self,
        trees: int = 10,
        lasting_trees: int = 15,
        *,
        rows: int | None = None,
        feature_share: float = 0.6,
        leaf_rows: int = 32,
        least_gain: float = 8.0,
        bagging: float = 3.0,
        fading: float = 0.95,
        change_level: float = 0.001,
        regrow_every: int = 200,
        max_leaves: int = 2048,
        step: float = 0.2,
        robust: bool = False,
        local_widths: bool = True,
        random_state: int = 0,
    ) -> None:
        self.trees = trees
        self.lasting_trees = lasting_trees
        self.rows = rows
        self.feature_share = feature_share
        self.leaf_rows = leaf_rows
        self.least_gain = least_gain
        self.bagging = bagging
        self.fading = fading
        self.change_level = change_level
        self.regrow_every = regrow_every
        self.max_leaves = max_leaves
        self.step = step
        self.robust = robust
        self.local_widths = local_widths
        self.random_state = random_state

    def _make_core(self, features: int) -> RegressionCore:
        core = compiled.mixed_regression(
            features,
            [],
            [],
            [],
            quadratic=False,
            baselines=True,
            robust=bool(self.robust),
            forests=[number_forest(**self._forest(features))],
        )
        core.track_intervals(list(COVERAGES), INTERVAL_STEP, bool(self.local_widths))
        return core

    def _members_and_families(self) -> list[tuple[str, str]]:
        said = said_by_trees(self.trees, self.lasting_trees, number_answers(self.step))
        return [(name, "trees") for name in said] + [(name, name) for name in BASELINES]

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        weights: Floats = self._learned_core().shares()
        return weights[0] if self._columns is None else weights

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in what all cuts gain: by how much they lower the variance."""
        core, names = self._learned_core(), [f"target{output}_" for output in range(self._learned_core().n_outputs)]
        features = self.n_features_in_
        shares = [feature_importances(core.state(name), f"{name}forest0_", mean_in_leaf, features) for name in names]
        mean: Floats = np.mean(shares, axis=0)
        return mean

    def explain(self) -> str:
        """Which members carry the weight: means or refinement of each kind of tree, the last value, the mean."""
        return "\n".join(self._heaviest_first("kind"))

    def export_text(
        self,
        number: int = 0,
        *,
        output: int = 0,
        feature_names: Sequence[str] | None = None,
        max_depth: int | None = None,
    ) -> str:
        """A tree as text: its cuts, and of each leaf the mean of the targets there and how many rows reached it.

        Parameters
        ----------
        number : int, default 0
            The tree, from 0 to ``trees + lasting_trees - 1``. The lasting ones come last.
        output : int, default 0
            Of several targets, which one the tree is for.
        feature_names : sequence of str or None, default None
            Names of the features. None takes those that rows had, or "feature_0", "feature_1" and so on.
        max_depth : int or None, default None
            Cuts below this depth are shown as dots.

        Examples
        --------
        >>> import numpy as np
        >>> from thalweg import WindowForestRegressor
        >>> X = np.random.default_rng(0).integers(0, 2, size=(2000, 2))
        >>> model = WindowForestRegressor().partial_fit(X, 3 * X[:, 0] + 1)
        >>> print(model.export_text(feature_names=["heat", "load"]))  # doctest: +ELLIPSIS
        |--- heat <= 0.5
        |   |--- 1.023 (... rows)
        |--- heat >  0.5
        |   |--- 3.975 (... rows)
        """
        core = self._learned_core()
        if not 0 <= output < core.n_outputs:
            rule = f"be from 0 to {core.n_outputs - 1}"
            raise InvalidParameter.of("WindowForestRegressor.export_text", "output", rule, output)
        state = core.state(f"target{output}_")
        leaf = mean_of_numbers(float(state[f"target{output}_origin"][0]))
        return self._tree_text(state, f"target{output}_forest0_", number, leaf, feature_names, max_depth)
