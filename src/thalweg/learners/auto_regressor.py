"""The regressor with nothing to choose: linear and quadratic members, tilings and trees, mixed by their errors.

How fast to forget and what shape the response has is unknown, and different for every stream. This learner holds, over
rows scaled on line,

=============  ==============================================================================================
least squares  recursive least squares at seven forgetting rates, memories of 10 rows to all of them, side by
               side in vector lanes; of more than 200 features seven sizes of normalised gradient steps
quadratic      recursive least squares over the features and the products of any two, memory of 1,000 rows;
               for up to 15 features
tilings        two sets of 256 random tilings (`TilingRegressor`) over up to three features, four step sizes
               side by side in each: one over the target, one over what the smooth members leave of it
trees          ten trees that last over the target and five that follow over what the smooth members leave of it,
               their means and two steps of their refinement (`WindowForestRegressor`)
last value     the target of the row before
running mean   the mean of all targets
=============  ==============================================================================================

The prediction of a member is held to the range of the targets so far and a tenth of it on either side, and where
targets come late near their mean at first (``kernels/regression/late_mixing.hpp``). Members are weighted by exp(-0.25 L
/ v), where L <- discount L + e^2 sums a member's squared errors and v is the recent mean squared error of the mixture.
Three discounts, memories of 50, 200 and 1,000 rows, give three sets of weights, which are mixed by the same rule. What
the second set of tilings and the trees that follow learn is left by a mixture of least squares, quadratic member and
mean of its own (memory of 100 rows, 0.5 in place of 0.25). Nothing is tuned to a stream: steps, memories and members
were settled on two FriedmanDrift streams, Planes2D, Mv, ELEC2's next price and demand and a random walk, the number of
trees and their least gain also on three still tables (diamonds, loans and CASP), and are always the same.

A target that is farther from its prediction than 30 mean absolute residuals and the range of all targets so far is
learned as if it were at that distance, and one of the first 20 that is 30 standard deviations of the others away makes
all members start over (``kernels/regression/target_level.hpp``).

``robust=True`` is for targets with outliers that keep coming: residuals beyond twice their mean size over the last 100
rows count by that size only, in every member and in the weights (Huber's loss: P. J. Huber, "Robust estimation of a
location parameter", 1964). Rows of least squares count for less instead.

Over sparse rows the members are others: linear regressions with a step size for each feature, at rates of 0.03, 0.1 and
1, the last two also with a memory of 300 rows for the step sizes; the last value; and the running mean. They learn what
the running mean leaves of the target, over values relative to the root mean square of their feature's, and no step does
more than to fit its own row (``kernels/regression/sparse_mixed_regression.hpp``). With ``dense_features`` the members
over dense rows learn the first columns, and the linear ones learn what the mixture of those leaves, from the others.
Rates and memories were settled on generated texts and generated sparse numbers, some of which drift.

Intervals are tracked as in `PredictionIntervals`, at five coverages side by side, with local widths.

Features that are mostly zero, as those of categories, are scaled by the values that they have where they are not, and
their weights keep a ridge in least squares: a category that is new or rare is predicted like the others, where
forgetting would let its weight drift (``kernels/regression/linear_bank.hpp``).

Rows may have weights: a row of weight w is learned as w copies in sequence, and its error is charged w times. Several
targets are several models that share the scaling.

Cost: O(K p^2 + p^4 + M + T depth) a row and target with K = 7 rates, the p^4 up to 15 features, M = 512 tilings, each
read with four step sizes, and T = 15 trees, besides what growing these takes. Memory: the same in order, at most 15 MB
for the tilings and 12 MB for the leaves, and 10 bytes for each number of the rows held. Of sparse rows: O(1) for each
value that is not zero, with five linear members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import COVERAGES, CatalogueEntry
from thalweg.learners.base.forest import NUMBER_GROVE, CompiledNumberForest, number_answers, number_forest, rows_held
from thalweg.learners.base.intervals import INTERVAL_STEP, WithIntervals
from thalweg.learners.base.mixture import BASELINES, NUMBER_STEPS, WithFamilies, number_tilings
from thalweg.learners.base.rows import Floats
from thalweg.parameters import DENSE_FEATURES, FLAG, SEED, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import RegressionCore

#: Shares of what was learned that a row takes away: memories of all rows, 3,333, 1,000, …, 10.
FORGETTING_RATES = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
#: Shares of a row's residual, for rows too wide for least squares.
GRADIENT_STEPS = (0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8)
WIDEST_LEAST_SQUARES = 200
WIDEST_QUADRATIC = 15
#: Of each linear member over sparse rows: rate, and share of the squares behind its step sizes that a row takes away.
SPARSE_STEPS = ((0.03, 0.0), (0.1, 0.0), (1.0, 0.0), (0.1, 0.003), (1.0, 0.003))
#: Trees that follow, over what the smooth members leave of the target, and trees that last, over the target.
TREES, LASTING_TREES = 5, 10
_BASELINES = {name: (name,) for name in BASELINES}


class AutoRegressor(WithFamilies, WithIntervals):
    """A mixture of linear and quadratic members, tilings, trees, the last value and the mean, that needs no parameter.

    Parameters
    ----------
    curved : bool, default True
        Whether the quadratic member, tilings and trees take part. Without them the response is linear and a row costs
        a thirtieth.
    robust : bool, default False
        Whether large residuals count by their size only and not by its square, for targets with outliers.
    local_widths : bool, default True
        Whether intervals are wider at rows where residuals were larger, and not only after rows where they were. Only
        where ``curved``.
    random_state : int >= 0, default 0
        Seed for the random number generator, which draws tilings and trees.
    dense_features : int, default 0
        Of sparse rows, how many columns, the first ones, are dense: numbers of a table beside its text.

    Attributes
    ----------
    members_ : tuple of str
        The members, in the order of ``weights_``.
    families_ : tuple of str
        The kind of each member: "least squares" (or "gradient"), "quadratic", "tilings", "trees", "last value",
        "running mean", and over sparse rows "linear".
    weights_ : ndarray of shape (members,) or (outputs, members)
        The weight of each member in the next prediction.
    family_weights_ : dict of str to float
        The weight of each family in the next prediction; of several targets the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import AutoRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(3000, 5))
    >>> y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + rng.normal(size=3000)
    >>> model = AutoRegressor()
    >>> predicted, lower, upper = model.predict_interval_then_learn(X, y, coverage=0.9)
    >>> bool((predicted - y)[1000:].std() < 0.3 * y.std())
    True
    >>> bool(abs(np.mean((lower <= y) & (y <= upper)) - 0.9) < 0.01)
    True
    >>> print(model.explain().splitlines()[0])
    24 members over 5 features; the heaviest is tilings of the rest, step 0.5 with a weight of 0.56.
    """

    _fit_depends_on_order = True
    _takes_sparse = True
    _same_from_sparse = False  # its members are others
    _linear_from_sparse = True

    _catalogue = CatalogueEntry(
        name="auto",
        task="regression",
        about="least squares at seven forgetting rates, a quadratic surface, tilings and trees, mixed by their errors",
        about_sparse="linear regressions with a step size for each feature, mixed by their errors",
        when="start here: nothing to choose",
        options={"seed": "random_state"},
    )
    _more_entries = (
        CatalogueEntry(
            name="auto-linear",
            task="regression",
            about="least squares at seven forgetting rates, mixed by their errors",
            about_sparse="linear regressions with a step size for each feature, mixed by their errors",
            when="nothing to choose, less time: only linear responses",
            parameters={"curved": False},
        ),
        CatalogueEntry(
            name="robust",
            task="regression",
            about="auto in which large residuals count by their size and not by its square",
            about_sparse="five linear regressions in which large residuals count by their size and not by its square",
            when="targets with outliers",
            parameters={"robust": True},
            options={"seed": "random_state"},
        ),
    )

    _rules = Rules(curved=FLAG, robust=FLAG, local_widths=FLAG, random_state=SEED, dense_features=DENSE_FEATURES)

    def __init__(
        self,
        *,
        curved: bool = True,
        robust: bool = False,
        local_widths: bool = True,
        random_state: int = 0,
        dense_features: int = 0,
    ) -> None:
        self.curved = curved
        self.robust = robust
        self.local_widths = local_widths
        self.random_state = random_state
        self.dense_features = dense_features

    def _make_core(self, features: int) -> RegressionCore:
        self._rules.check(self)
        if features:
            core = self._dense_core(features)
        else:
            dense = self._dense_core(self.dense_features) if self.dense_features else None
            rates, forgetting = map(list, zip(*SPARSE_STEPS, strict=True))
            core = compiled.sparse_mixed_regression(rates, forgetting, dense, bool(self.robust))
        local = bool(features and self.curved and self.local_widths)
        core.track_intervals(list(COVERAGES), INTERVAL_STEP, local)
        return core

    def _dense_core(self, features: int) -> RegressionCore:
        seed = int(self.random_state)
        return compiled.mixed_regression(
            features,
            list(FORGETTING_RATES if features <= WIDEST_LEAST_SQUARES else GRADIENT_STEPS),
            [number_tilings(seed=2 * seed)] if self.curved else [],
            [number_tilings(seed=2 * seed + 1)] if self.curved else [],
            quadratic=self._has_quadratic(features),
            baselines=True,
            robust=bool(self.robust),
            forests=self._forests(features) if self.curved else [],
        )

    def _forests(self, features: int) -> list[CompiledNumberForest]:
        rows, seed = rows_held(features), 2 * int(self.random_state)
        return [
            number_forest(TREES, 0, rows=rows, seed=seed, grove=NUMBER_GROVE, of_rest=True),
            number_forest(0, LASTING_TREES, rows=rows, seed=seed + 1, grove=NUMBER_GROVE),
        ]

    def _has_quadratic(self, features: int) -> bool:
        return bool(self.curved) and features <= WIDEST_QUADRATIC

    def _by_family(self) -> dict[str, tuple[str, ...]]:
        """The names of the members, by family, in order; tilings come twice in a row."""
        features = self._learned_core().n_features
        if features:
            return self._by_dense_family(features)
        named = (
            f"linear, rate {rate:g}" + (f", forgetting {fading:g}" if fading else "") for rate, fading in SPARSE_STEPS
        )
        linear = {"linear": tuple(named)}
        dense = self._by_dense_family(self.dense_features) if self.dense_features else {}
        return {**dense, **linear, **({} if dense else _BASELINES)}

    def _by_dense_family(self, features: int) -> dict[str, tuple[str, ...]]:
        if features <= WIDEST_LEAST_SQUARES:
            members = {"least squares": tuple(f"least squares, forgetting {rate:g}" for rate in FORGETTING_RATES)}
        else:
            members = {"gradient": tuple(f"gradient, step {step:g}" for step in GRADIENT_STEPS)}
        if self._has_quadratic(features):
            members["quadratic"] = ("quadratic",)
        if self.curved:
            members["tilings"] = (
                *(f"tilings, step {step:g}" for step in NUMBER_STEPS),
                *(f"tilings of the rest, step {step:g}" for step in NUMBER_STEPS),
            )
            kinds = ("trees of the rest", "trees that last")
            members["trees"] = tuple(f"{kind}, {said}" for kind in kinds for said in number_answers(NUMBER_GROVE.step))
        return {**members, **_BASELINES}

    def _members_and_families(self) -> list[tuple[str, str]]:
        return [(name, family) for family, names in self._by_family().items() for name in names]

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        weights: Floats = self._learned_core().shares()
        return weights[0] if self._columns is None else weights

    def explain(self) -> str:
        """Which member carries the weight, and which family."""
        return "\n".join(self._heaviest_first("kind"))
