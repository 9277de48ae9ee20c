"""Learn++.NSE: a classifier for every block of the stream, none forgotten, each heard as far as it is right today.

M. Karnick, M. D. Muhlbaier, R. Polikar, "Incremental Learning in Non-stationary Environments with Concept Drift using a
Multiple Classifier Based Approach", ICPR 2008.

=================  ========================  =================  ==================================================
paper              here                      shape              meaning
=================  ========================  =================  ==================================================
D^t                a block                   (rows, p)          the rows of one environment
H^t                ``predict``                                  the weighted majority, eq. (8)
E^t                                                             error of H^(t-1) on the block, eq. (1)
D^t(i)                                       (rows,)            weights of the block's rows, eq. (2), (3)
h_k                ``members_``                                 one classifier per block
epsilon_k^t        ``errors_``               (members, blocks)  its error on a later block under D^t, eq. (4)
beta_k^t                                     (members, blocks)  epsilon / (1 - epsilon), eq. (5)
f                  ``weighting``                                how old errors fade, eq. (6)
W_k^t              ``weights_``              (members,)         log of 1 / (the average of beta), eq. (7)
=================  ========================  =================  ==================================================

Where we depart from the printed paper
1. Equation (6) as printed takes the sigmoid of the error. We weigh each error by the sigmoid of its age, as the text
   says ("less weight not to old classifiers, but to their error on old environments"), normalised over the member's
   life. Two other readings are there by name (``nse_weights.py``).
2. Members are trained on the block as it is. D enters through equation (4), where it is essential; ``train`` lets it
   into the training too.
3. The paper trains anew while the newest member errs on more than half of D. That need not end: it is tried ``tries``
   times where chance is involved, once where not, and the last one stays, with its error taken as 1/2.
4. An average of beta below 1e-3 is 1e-3: a flawless member has a finite vote. Where E is 0 or 1, D is uniform. Where no
   member has a vote the newest decides. At a tie the lowest class wins.
5. A block of one class has a member that always predicts it. A member votes for the classes of its own block only.
6. ``max_members`` and ``pruning`` are those of the authors' later work (R. Elwell, R. Polikar, "Incremental Learning of
   Concept Drift in Nonstationary Environments", 2011); a new member always joins.

Cost: each member predicts each block once, so T blocks need T^2 / 2 blocks of predictions: the price of never
forgetting. Members that are linear or Gaussian all predict by one matrix product, p or 2 p multiply-adds a prediction.
Memory grows with the members, by design; ``max_members`` bounds both. The limit is writing and counting one number per
row and member.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from thalweg.errors import InvalidParameter
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier
from thalweg.learners.base.rows import Floats
from thalweg.learners.learn_nse.core import LearnNSECore, Plan, Pruning
from thalweg.learners.learn_nse.members import Member, Train, Training
from thalweg.learners.learn_nse.weights import STEEPEST, WEIGHTINGS, Weighting
from thalweg.parameters import SEED, OneOf, Real, Rule, Rules, Whole, is_whole


@dataclass(frozen=True)
class BlockClassifier:
    """A member as it can be looked at.

    Attributes
    ----------
    model : estimator or None
        The trained classifier, whose predictions are places in ``classes``; None where its block had one class.
    classes : ndarray
        The labels of its block.
    born : int
        The number of its block, from 0.
    """

    model: Any
    classes: NDArray[Any]
    born: int

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        rows = np.asarray(X, dtype=np.float64)
        return self.classes[Member(self.model, np.arange(len(self.classes)), 0).answers(rows)]


def _is_classifier(value: Any) -> bool:
    can = not isinstance(value, type) and all(hasattr(value, name) for name in ("fit", "predict", "get_params"))
    return can and (is_classifier(value) if hasattr(value, "__sklearn_tags__") else True)


class LearnNSE(StreamClassifier):
    """An ensemble that adds a classifier per block and weighs all of them by their recent errors.

    It suits streams whose concepts come back, and base classifiers that cannot learn incrementally. Its memory and the
    time of a prediction grow with the blocks, unless ``max_members`` is given.

    `thalweg.save` accepts a base of thalweg, or one of six of scikit-learn: GaussianNB, LogisticRegression,
    LinearDiscriminantAnalysis, SVC, MLPClassifier and DecisionTreeClassifier. Their members are stored as typed arrays,
    which are checked when they are read. Nothing is pickled. Predicting while another thread learns a new class is not
    supported.

    Parameters
    ----------
    base : classifier
        Classifier of scikit-learn or thalweg. Each block trains a copy. If it takes a ``random_state``, each copy has a
        seed of its own. If its training raises an error, the blocks before it in the call are learned. Rows that were
        waiting keep waiting, and the others are not learned.
    slope : positive float, default 0.5
        How sharply errors fade around ``crossing``. A larger value is closer to a window of that many blocks.
    crossing : float >= 0, default 10.0
        Age in blocks at which an error counts half. A larger value is steadier and slower to notice a change.
    weighting : {"age", "lifetime", "recursive"}, default "age"
        What the sigmoid depends on. The default is the paper's. The others are found elsewhere and follow worse.
    train : {"plain", "weighted", "resampled"}, default "plain"
        How training uses the rows that the ensemble got wrong: not at all, with sample weights, or by resampling the
        block. Resampling helps naive Bayes a little where labels are clean. Both do great harm where labels are noisy.
    tries : int >= 1, default 5
        Largest number of attempts at a block while the new classifier is wrong on more than half of it and has a seed.
    block_size : int >= 1 or None, default None
        Rows of a block. With None each call of `fit` or `partial_fit` is a block, as in the paper. Rows that come one
        by one (`learn_one`, `predict_then_learn`, `learn_then_test`) are then gathered to blocks of 250, and those
        still waiting join the next `partial_fit`. With a number, rows are gathered to blocks of exactly that many,
        whatever the calls. Only `fit` leaves none waiting: its last block takes the rest. Until the first block is
        full, the most frequent class so far is predicted.
    max_members : int >= 1 or None, default None
        Largest number of members. None keeps all, as the paper does.
    pruning : {"age", "error"} or None, default None
        Which member is dropped when there are too many: the oldest, or the one with the largest error on the newest
        block.
    n_jobs : int or None, default None
        Threads for members that cannot predict in one matrix product (all but Gaussian naive Bayes and linear ones).
    random_state : int >= 0, default 0
        Seed for the members' seeds and for resampled blocks.

    Attributes
    ----------
    members_ : list of BlockClassifier
        The members, oldest first. Each can ``predict`` by itself.
    weights_ : ndarray of shape (members,)
        The vote of each.
    errors_ : ndarray of shape (members, blocks)
        The error of each member on the last blocks, newest last, as far back as errors count. NaN before it was
        trained.
    blocks_ : int
        How many blocks were learned.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from thalweg import LearnNSE
    >>> from thalweg.streams import MovingPlane
    >>> X, y = MovingPlane(seed=1).take(3000)
    >>> model = LearnNSE(GaussianNB(), block_size=20, crossing=0)
    >>> predicted = model.predict_then_learn(X, y)
    >>> bool((predicted != y).mean() < 0.2)
    True
    >>> model.blocks_, len(model.members_), model.errors_.shape
    (150, 150, (150, 67))
    """

    _catalogue = CatalogueEntry(
        name="nse",
        about="Learn++.NSE: a naive Bayes classifier for each 250 rows, the last 400 of them kept",
        when="concepts that come back, labels that come in blocks",
        parameters={"block_size": 250, "max_members": 400, "pruning": "age"},
        base="GaussianNB",
        options={"seed": "random_state"},
    )
    _why_not_merged = "its members are weighed by their errors on the blocks that came after them"

    _rules = Rules(
        slope=Real(1e-6, 1e6, "both", text="be a number from 1e-06 to 1,000,000"),
        crossing=Real(0, 1e6, "both", text="be a number from 0 to 1,000,000"),
        weighting=OneOf(*WEIGHTINGS, text=f"be one of {', '.join(WEIGHTINGS)}"),
        base=Rule("be a classifier with fit, predict and get_params", _is_classifier),
        train=OneOf(*get_args(Train), text="be plain, weighted or resampled"),
        tries=Whole(1),
        block_size=Whole(1).or_else(None),
        max_members=Whole(1).or_else(None),
        pruning=OneOf(*get_args(Pruning), None),
        n_jobs=Rule(
            "be an integer other than 0 or None",
            lambda value: value is None or (is_whole(value) and value != 0 and value >= -(10**6)),
        ),
        random_state=SEED,
    )

    def __init__(
        self,
        base: Any,
        *,
        slope: float = 0.5,
        crossing: float = 10.0,
        weighting: Weighting = "age",
        train: Train = "plain",
        tries: int = 5,
        block_size: int | None = None,
        max_members: int | None = None,
        pruning: Pruning | None = None,
        n_jobs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.base = base
        self.slope = slope
        self.crossing = crossing
        self.weighting = weighting
        self.train = train
        self.tries = tries
        self.block_size = block_size
        self.max_members = max_members
        self.pruning = pruning
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_core(self, features: int) -> LearnNSECore:
        self._rules.check(self)
        if self.slope * self.crossing > STEEPEST:
            rule = f"be at most {STEEPEST:g} when multiplied by crossing ({self.crossing:g})"
            raise InvalidParameter.of("LearnNSE", "slope", rule, self.slope)
        if self.train == "weighted" and not has_fit_parameter(self.base, "sample_weight"):
            raise InvalidParameter.of("LearnNSE", "base", 'take sample weights for train="weighted"', self.base)
        if (self.max_members is None) != (self.pruning is None):
            raise InvalidParameter.of("LearnNSE", "pruning", "come together with max_members", self.pruning)
        plan = Plan(
            float(self.slope),
            float(self.crossing),
            self.weighting,
            None if self.block_size is None else int(self.block_size),
            None if self.max_members is None else int(self.max_members),
            self.pruning,
            self.n_jobs,
        )
        training = Training(self.base, self.train, int(self.tries), int(self.random_state))
        return LearnNSECore(features, training, plan)

    def _learned_core(self) -> LearnNSECore:
        core = super()._learned_core()
        assert isinstance(core, LearnNSECore)
        return core

    @property
    def members_(self) -> list[BlockClassifier]:
        """The members, oldest first."""
        core = self._learned_core()
        born = core.blocks - core.history.ages
        return [
            BlockClassifier(member.model, self.classes_[member.classes], block)
            for member, block in zip(core.members, born.tolist(), strict=True)
        ]

    @property
    def weights_(self) -> Floats:
        """The vote of each member, W of eq. (7)."""
        return self._learned_core().weights.copy()

    @property
    def errors_(self) -> Floats:
        """The error of each member on the last blocks, epsilon of eq. (4); NaN before it was born."""
        return self._learned_core().history.errors.copy()

    @property
    def blocks_(self) -> int:
        """How many blocks were learned."""
        return self._learned_core().blocks

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_core" in state:
            state["_core"] = self._learned_core().snapshot()
            del state["_parameters_at_start"], state["_watched"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        snapshot = state.get("_core")
        if not isinstance(snapshot, tuple):  # from a file
            super().__setstate__(state)
            return
        self.__dict__.update(state)
        core = self._make_core(self.n_features_in_)
        if hasattr(self, "feature_names_in_"):
            core.name_features(tuple(self.feature_names_in_.tolist()))
        core.resume(*snapshot)
        self._core = core
        self._remember_parameters()
