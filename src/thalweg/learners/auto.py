"""The classifier with nothing to choose: linear, kernel, tiling and tree members, mixed by how right they have been.

Both papers on online discriminants say that the learning rate is crucial, unknown, and different for every stream. So
is the kind of boundary. This learner holds, over rows scaled on line,

========  ===================================================================================================
linear    a bank of seven O-LDCs, soft counts, memories of 3 to 3,333 rows, side by side in vector lanes;
          a perceptron at rate 0.5; passive-aggressive at C = 1, 0.1, 0.01; logistic regression at rates 0.1,
          0.02, 0.003
products  logistic regression over the first 16 features and the products of any two of them
kernel    kernel mean machines of 32 centroids for each class, memories of 20, 200 and 2,000 rows
tilings   five sets of random tilings (`TilingClassifier`) over one, two or three features, four step sizes
          side by side in each; one more with a small step (0.002); they retire beyond eight classes
trees     a forest over the last 8,192 rows (`WindowForest`): ten trees that follow and fifteen that last, the
          votes and the refinement of each kind
shares    the shares of the labels over 100, 1,000 and all rows, which look at no feature
========  ===================================================================================================

and mixes their posteriors by the rule of `Committee`: sharpness 0.5, memories of 100, 200 and 1,000 rows, the zero-one
loss, and the log-loss where classes are rare. Where labels come late, members are judged by what they predicted, too.
Before there is evidence the weight of a linear member is proportional to its rate
(`thalweg.learners.base.mixture.prior_losses`); products, kernel and tiling members count like a rate of 0.03. The slow
tilings count like a rate of 0.003, the trees like 0.008, the shares like 0.1. Nothing is tuned to a stream. The mixing
rule was settled on ELEC2, SEA concepts, NOAA weather and STAGGER, its three memories on these and on the fifteen
streams of ``thalweg reproduce auto curved``, the rule for rare classes on two seeds of `thalweg.streams.Fraud`; the
kernel and tiling members on bananas, the rotating checkerboard, a wandering disc, a turning XOR, Agrawal, Sine,
Covertype and ELEC2; the trees on those fifteen streams and fifteen still tables of ``thalweg reproduce auto still``;
the products on the stability of an electrical grid. The members are the same everywhere.

A feature that is mostly zero is scaled by its other values, so that rare indicators are not blown up
(``kernels/ensemble/scaled.hpp``). Linear and kernel members see slow features, such as a clock, damped
(``kernels/ensemble/damped.hpp``): over a short memory they look like a trend. Trees see the rows as they come.

``curved=False`` leaves out the kernel, tiling and tree members, the damping and the scaling of rare values, and mixes
by the zero-one loss with a memory of 200 rows: a committee of fourteen linear members and the shares, which is many
times faster and cannot follow a curved boundary.

Over sparse rows the members are others: the most frequent label, and logistic regressions with a step size for each
feature, three at rates of 0.03, 0.1 and 0.3 that let a word act at its first sight (``initial_squares=0.001``) and one
at a rate of 3. They start with the same weight, over values relative to the root mean square of their feature's
(``kernels/ensemble/sparse_scaled.hpp``), and are mixed by the same rule. They were settled on generated topics, on
docstrings (``python -m benchmarks text``), and on newsgroups, news and tweets. With ``dense_features`` the members over
dense rows take part, too, with the first columns of sparse rows. Cost: about 26 ns for each value that is not zero, for
two classes with weights in the cache.

Tilings retire for good where two rows agree less often than among eight classes that are equally frequent
(``kernels/ensemble/few_classes.hpp``). On nine streams with ten classes or more all tilings together lower the error by
0.25 %, and take half of the time and most of the memory.

Arrays are learned member by member, some hundred rows at a time, so that what a member needs stays in the cache.
``THALWEG_THREADS=2`` in the environment lets a second thread take part. Neither changes a bit of the results.

Rows may have weights: each member takes them as it does by itself, and is charged for a mistake by the row's weight.

Cost: O(K p^2 + D p c + M c + T (d + c)) a row with K = 7 rates, D = 96 centroids, M = 576 tilings, each read with four
step sizes, and T = 25 trees of depth d. Memory: O(K p^2 + D p c + M c + T c) and 5 p bytes for each row held. Above 200
features the bank and the kernel means no longer pay and are left out, with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.base.forest import Grove, forest_core, rows_held, said_by_trees
from thalweg.learners.base.mixture import (
    BANK_DISCOUNT,
    BANK_RATES,
    BANK_RIDGE,
    BANK_SHARPNESS,
    CURVED_RATE,
    SHARE_MEMBERS,
    SHARPNESS,
    STEP_RULES,
    Member,
    StepRule,
    WithFamilies,
    mixed,
    prior_losses,
    remembered_means,
    remembered_rows,
    slow_tilings,
    tilings_core,
)
from thalweg.learners.base.rows import Floats, depth_in_thalweg
from thalweg.parameters import DENSE_FEATURES, FLAG, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core

WIDEST_BANK = 200
#: The features whose products are features.
_MULTIPLIED = 16
#: The prior weight of the forest is that of a linear member with this rate.
_TREES_RATE = 0.008
#: The memory of a bank that weighs less says nothing of the predictions.
_LEAST_WEIGHT = 0.01
#: The memory for losses of the linear committee.
_LINEAR_DISCOUNT = 0.995

#: The linear members beside the bank, by name.
LINEAR_MEMBERS: Mapping[str, Member] = {
    "perceptron": Member(
        partial(compiled.perceptron, rate=(0, 0.5, 0), margin=0.0, averaged=False, start_scale=0.01, seed=0), 0.5
    ),
    **{
        f"passive-aggressive C={C:g}": Member(partial(compiled.passive_aggressive, C=C, second=False), C)
        for C in (1.0, 0.1, 0.01)
    },
    **{
        f"logistic {rate:g}": Member(partial(compiled.logistic, rate=(0, rate, 0), penalty=0.0), rate)
        for rate in (0.1, 0.02, 0.003)
    },
}


def _products_core(features: int) -> Core:
    """Logistic regression over the first features and their products, with a step for each."""
    first = min(features, _MULTIPLIED)
    return compiled.products(features, compiled.logistic(first * (first + 3) // 2, (0, 0.1, 0), 0.0, True, 0.0))


#: Borders of the second order, by name.
PRODUCT_MEMBERS: Mapping[str, Member] = {"products of features": Member(_products_core, CURVED_RATE)}

#: Kernel means by name.
KERNEL_MEMBERS: Mapping[str, Member] = {
    f"kernel {forgetting:g}": Member(
        partial(compiled.kernel_mean, budget=32, forgetting=forgetting, sigma=0.0, rho=[], bias=[], single=True),
        CURVED_RATE,
    )
    for forgetting in (0.05, 0.005, 0.0005)
}


#: Of an additive model fewer weights meet in a row, so that its steps may be larger.
_ADDITIVE_RULES: tuple[StepRule, ...] = ((0.005, None), (0.02, None), (0.05, None), (0.1, 100))
#: Beyond so many classes tilings cost as much as all other members and add nothing.
_MOST_CLASSES = 8.0
#: Random tilings by name.
TILING_MEMBERS: Mapping[str, Member] = {
    name: Member(partial(tilings_core, tilings=tilings, depth=depth, rules=rules, seed=seed), CURVED_RATE)
    for seed, (name, tilings, depth, rules) in enumerate(
        (
            ("tilings of 1 feature", 64, 1, _ADDITIVE_RULES),
            ("tilings of 3 features, a", 128, 3, STEP_RULES),
            ("tilings of 3 features, b", 128, 3, STEP_RULES),
            ("tilings of 2 features, a", 128, 2, STEP_RULES),
            ("tilings of 2 features, b", 128, 2, STEP_RULES),
        )
    )
}
SLOW_MEMBERS: Mapping[str, Member] = {
    "tilings of 3 features, slow": slow_tilings(tilings=64, depth=3, seed=len(TILING_MEMBERS))
}


def trees_core(features: int) -> Core:
    """The forest of the default, which has the probabilities of all tree members."""
    return forest_core(features, 10, 15, rows=rows_held(features), seed=0, grove=Grove(10))


#: What each kind of tree says, by name, in the order of the forest's probabilities.
TREE_MEMBERS: Mapping[str, Member] = {name: Member(trees_core, _TREES_RATE) for name in said_by_trees(10, 15)}
#: The rates of the logistic regressions over sparse rows, and what their squared gradients start from.
SPARSE_RATES, SPARSE_SQUARES = (0.03, 0.1, 0.3, 3.0), (0.001, 0.001, 0.001, 1.0)
#: The members over sparse rows: all start with the same weight.
SPARSE_MEMBERS = (
    *(f"logistic {rate:g} at first sight" for rate in SPARSE_RATES[:3]),
    f"logistic {SPARSE_RATES[3]:g} per feature",
    "most frequent label",
)
_LAST: Mapping[str, Member] = {"persistence": Member(compiled.persistence, 1.0)}


class AutoClassifier(WithFamilies, WithClassWeight, WithProbabilities, StreamClassifier):
    """A committee of linear, kernel, tiling and tree members that needs no parameter.

    Parameters
    ----------
    curved : bool, default True
        Whether kernel, tiling and tree members take part. Without them the boundary is linear and a row costs a
        fraction.
    persistence : bool, default False
        Adds a member that predicts the label which usually follows the last one. It is valid only where each label is
        known before the next row arrives. Evaluation refuses it when labels are delayed.
    dense_features : int, default 0
        Number of leading columns of sparse rows that are dense, such as the numbers of a table beside its text. Members
        for dense rows learn these columns. Members for sparse rows learn all columns, with these ones centred.
    class_weight : mapping of label to number, "balanced" or None, default None
        Weight of the rows of each label, in every member and in the weights of the members. It multiplies the row's own
        weight. A label that is not named has weight 1. "balanced" weights a label by the inverse of its share of the
        last 5,000 rows.

    Attributes
    ----------
    members_ : tuple of str
        The members, in the order of ``weights_``.
    families_ : tuple of str
        The kind of boundary of each member: "linear", "products", "kernel", "tilings", "trees", "shares" or
        "persistence".
    weights_ : ndarray
        The weight of each member in the next prediction.
    family_weights_ : dict of str to float
        The weight of each family in the next prediction, which shows the kind of boundary of the stream.
    left_out_ : str
        What was left out because of the number of features. Empty where nothing was.
    effective_rows_ : float
        Number of rows that the bank of discriminants remembers, by the weights of its rates. NaN without a bank, or
        while the weight of the bank is below 0.01.
    class_effective_rows_ : ndarray
        The same, for each class of ``classes_``.

    Examples
    --------
    >>> from thalweg import AutoClassifier
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(3000)
    >>> model = AutoClassifier()
    >>> bool((model.predict_then_learn(X, y) != y).mean() < 0.1)
    True
    >>> print(model.explain().splitlines()[0])
    31 members over 2 features; the heaviest is O-LDC 0.1 with a weight of 0.70.

    A curved boundary, a disc and the ring around it, needs the curved members.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = (np.hypot(*X.T) > 1.2).astype(int)
    >>> bool((AutoClassifier().predict_then_learn(X, y) != y).mean() < 0.06)
    True
    >>> bool((AutoClassifier(curved=False).predict_then_learn(X, y) != y).mean() > 0.4)
    True
    """

    _catalogue = CatalogueEntry(
        name="auto",
        about="a committee of 14 linear, 3 kernel and 6 tiling members, products, a forest and shares of labels",
        about_sparse="a committee of four logistic regressions with a step size for each feature and a prior",
        when="start here: nothing to choose",
    )
    _more_entries = (
        CatalogueEntry(
            name="auto-linear",
            about="a committee of seven forgetting rates and seven linear learners",
            about_sparse="a committee of four logistic regressions with a step size for each feature and a prior",
            when="nothing to choose, less time: only linear boundaries",
            parameters={"curved": False},
        ),
    )
    _fit_depends_on_order = True
    _takes_sparse = True
    _same_from_sparse = False  # its members are others
    _linear_from_sparse = True
    _why_not_merged = "its members are weighed by their mistakes, row by row"

    _rules = Rules(curved=FLAG, persistence=FLAG, dense_features=DENSE_FEATURES)

    def __init__(
        self,
        *,
        curved: bool = True,
        persistence: bool = False,
        dense_features: int = 0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.curved = curved
        self.persistence = persistence
        self.dense_features = dense_features
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        if features:
            return self._weighted_by_class(self._dense_core(features))
        words = compiled.scaled(mixed([compiled.logistic_bank(SPARSE_RATES, SPARSE_SQUARES), compiled.majority(0)]))
        if self.dense_features:
            words = compiled.centred_columns(words, self.dense_features)
            both = [compiled.dense_columns(self._dense_core(self.dense_features)), words]
            words = mixed(both, [*self._prior(self.dense_features), *(0.0 for _ in SPARSE_MEMBERS)])
        return self._weighted_by_class(words)

    def _dense_core(self, features: int) -> Core:
        cores: dict[str, list[Core]] = {
            family: [member.make(features) for member in members.values()]
            for family, members in self._beside_the_bank(features).items()
            if family != "trees"
        }
        if features <= WIDEST_BANK:
            bank = compiled.rate_bank(features, BANK_RATES, BANK_RIDGE, BANK_DISCOUNT, BANK_SHARPNESS)
            cores["linear"].insert(0, bank)
        prior, apart = self._prior(features), [*cores["shares"], *cores.get("persistence", [])]
        if not self.curved:
            linear = [*cores["linear"], *apart]
            return compiled.scaled(compiled.committee(linear, [_LINEAR_DISCOUNT], SHARPNESS, "zero-one", prior))
        # Tilings cannot extrapolate, and keep what a slow feature says; trees need no scale at all.
        damped = compiled.damped(compiled.joined([*cores["linear"], *cores["products"], *cores["kernel"]]))
        tilings = compiled.few_classes(compiled.joined(cores["tilings"]), _MOST_CLASSES)
        scaled = compiled.scaled(compiled.joined([damped, tilings]), sparse=True)
        return mixed([scaled, trees_core(features), *apart], prior)

    def _prior(self, features: int) -> list[float]:
        """The loss that each member over dense rows starts with."""
        bank = BANK_RATES if features <= WIDEST_BANK else []
        beside = self._beside_the_bank(features).values()
        return prior_losses([*bank, *(member.rate for members in beside for member in members.values())], SHARPNESS)

    def _beside_the_bank(self, features: int) -> dict[str, Mapping[str, Member]]:
        members = {"linear": LINEAR_MEMBERS}
        if self.curved:
            kernels = KERNEL_MEMBERS if features <= WIDEST_BANK else {}
            members |= {
                "products": PRODUCT_MEMBERS,
                "kernel": kernels,
                "tilings": {**TILING_MEMBERS, **SLOW_MEMBERS},
                "trees": TREE_MEMBERS,
            }
        members["shares"] = SHARE_MEMBERS
        if self.persistence:
            members["persistence"] = _LAST
        return members

    def _begin_with(self, core: Core, names: tuple[str, ...] | None) -> None:
        super()._begin_with(core, names)
        if self.left_out_:
            warnings.warn(f"AutoClassifier: {self.left_out_}", stacklevel=depth_in_thalweg())

    _needs_labels_at_once: Any = property(lambda self: bool(self.persistence))

    def _what_is_left_out(self, features: int) -> str:
        what = "the bank of discriminants and the kernel means are" if self.curved else "the bank of discriminants is"
        return f"with {features} features {what} left out: they do not pay for their time beyond {WIDEST_BANK}"

    @property
    def left_out_(self) -> str:
        """What was left out because of the number of features."""
        self._learned_core()
        return "" if self._has_bank() or not self._width() else self._what_is_left_out(self.n_features_in_)

    def _width(self) -> int:
        """The features that the core was made for: 0 stands for sparse rows."""
        return cast("Core", self._learned_core()).n_features

    def _has_bank(self) -> bool:
        return 0 < self._width() <= WIDEST_BANK

    def _state(self, prefix: str) -> dict[str, NDArray[Any]]:
        """The part of the state whose names begin so; all of it would take tilings a millisecond."""
        return cast("Core", self._learned_core()).state(prefix)

    @property
    def _bank(self) -> str:
        """What the names of the bank's state begin with."""
        return "member0_member0_member0_" if self.curved else "member0_"

    def _class_means(self) -> Floats | None:
        if not self._width():
            return None
        if self.curved:
            return np.asarray(self._state("member0_class_")["member0_class_means"])
        if not self._has_bank():
            return None
        state = self._state("scaler_") | self._state(self._bank)
        return remembered_means(state, self.weights_, name=self._bank)

    def _members_and_families(self) -> list[tuple[str, str]]:
        features = self._width() or self.dense_features
        bank = BANK_RATES if 0 < features <= WIDEST_BANK else []
        named = [(f"O-LDC {rate:g}", "linear") for rate in bank]
        if features:
            beside = self._beside_the_bank(features)
            named += [(name, family) for family, members in beside.items() for name in members]
        return named if self._width() else named + [(name, "linear") for name in SPARSE_MEMBERS]

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        return self._learned_core().shares()

    @property
    def effective_rows_(self) -> float:
        """How many rows the bank remembers, by the weights of its rates."""
        return float(self.class_effective_rows_.sum())

    @property
    def class_effective_rows_(self) -> Floats:
        """How many rows of each class the bank remembers, by the weights of its rates."""
        self._learned_core()
        if not self._bank_counts():
            return np.full(len(self.classes_), np.nan)
        return remembered_rows(self._state(self._bank), self.weights_[: len(BANK_RATES)], name=self._bank)

    def _bank_counts(self) -> bool:
        """Whether the bank has a part in the next prediction that is worth a word."""
        return self._has_bank() and bool(self.weights_[: len(BANK_RATES)].sum() >= _LEAST_WEIGHT)

    def explain(self) -> str:
        """Which member carries the weight, how long the memory is, and how much is known of each class."""
        lines = self._heaviest_first("kind of boundary")
        if self._bank_counts():
            remembered = f"{self.effective_rows_:,.0f}"
            lines.append(f"The bank remembers about {remembered} row{'' if remembered == '1' else 's'}:")
            for label, rows in zip(self.classes_.tolist(), self.class_effective_rows_, strict=True):
                lines.append(f"  {rows:10,.1f}  of class {label!r}")
        if self.left_out_:
            lines.append(f"Left out: {self.left_out_}.")
        return "\n".join(lines)


def family_of(member: str) -> str | None:
    """The kind of boundary of a member of `AutoClassifier`; None for a name that is none of its members.

    Examples
    --------
    >>> family_of("O-LDC 0.1"), family_of("kernel 0.005"), family_of("tilings of 1 feature"), family_of("mine")
    ('linear', 'kernel', 'tilings', None)
    """
    families = {
        "linear": LINEAR_MEMBERS,
        "products": PRODUCT_MEMBERS,
        "kernel": KERNEL_MEMBERS,
        "tilings": {**TILING_MEMBERS, **SLOW_MEMBERS},
        "trees": TREE_MEMBERS,
        "shares": SHARE_MEMBERS,
        "persistence": _LAST,
    }
    if member in (*(f"O-LDC {rate:g}" for rate in BANK_RATES), *SPARSE_MEMBERS):
        return "linear"
    return next((family for family, members in families.items() if member in members), None)
