"""Random tilings under logistic regression: boundaries of any shape, learned row by row at a fixed cost.

J. S. Albus, "A new approach to manipulator control: the cerebellar model articulation controller", 1975 (tile coding);
R. Sutton, A. Barto, "Reinforcement Learning", 2nd edition, section 9.5.4; M. Balog et al., "The Mondrian kernel", UAI
2016 (random cells); A. R. Mahmood, R. Sutton, "Representation search through generate and test", 2013 (replacement).

===========  ==================  =========================  ==================================================
symbol       here                shape                      meaning
===========  ==================  =========================  ==================================================
M            ``tilings``                                    grids of cells, each over a few features
K            ``depth``                                      features of one tiling at the most
W            cell weights        (M, cells, classes)        what a cell adds to the score of each class
eta          ``step``                                       step of the gradient
===========  ==================  =========================  ==================================================

A row is scaled by running means and deviations and squashed into [0, 1]. Each tiling cuts its features into 2 to 32
equal cells at a random offset; the cell that holds the row owns one weight per class. A score is the sum of M weights
and a bias, the probabilities are its softmax, and a row moves the weights it met along the gradient of its log-loss.

Every ``replace_every`` rows the 5 % of the tilings whose weights are spread least are replaced, half by fresh ones and
half by variations of the best quarter: the same features, finer or coarser, at times with one feature more.

Of more than 256 features each first gets a tiling of its own, before any tiling of several features is drawn; those
beyond the first M take the places of the least useful. Drawn at random, many would not be tried for a long time.

With ``step="auto"`` four step rules (0.005, 0.05; 0.03 with memories of 1,000 and 100 rows) learn side by side over the
same tilings, a vector lane each, and are mixed by their discounted mistakes. Their mixture is a member of a committee
like that of `AutoClassifier`. The other members are a quarter as many tilings with a step of 0.002, for noisy labels,
and the shares of the labels over 100, 1,000 and all rows. Where labels come late, members are judged by what they
predicted, too.

Where we depart
1. Cells have exact places, at most 729 to a tiling and 135 on average, so nothing collides. Memory is fixed: 0.5 KB a
   tiling for two classes and one step, the same for each further class, eight times that for ``step="auto"``. The first
   classes that fit in 256 MB have weights; a class that is seen after that is predicted by its frequency alone.
2. All randomness comes from ``random_state`` and the serial number of a tiling: chunks do not matter.

Cost: O(M (K + c)) a row. The limit is the latency of M scattered reads and writes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from thalweg.errors import InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.base.mixture import CURVED_RATE, STEP_RULES, Member, mixed_with_shares, slow_tilings, tilings_core
from thalweg.parameters import SEED, Real, Rules, Whole

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class TilingClassifier(WithClassWeight, WithProbabilities, StreamClassifier):
    """Logistic regression over random grids of cells, for boundaries of any shape.

    With more than 256 features it takes longer to find those that matter: some 5,000 rows for 300, over 10,000 for
    1,000. A larger ``replace_share`` (0.1) shortens that. Among 100 features or more it hardly finds an interaction of
    features that carry no information alone.

    Parameters
    ----------
    tilings : int, 1 to 10,000, default 256
        Number of grids. More give a smoother boundary, at a proportional cost.
    depth : int, 1 to 3, default 3
        Largest number of features of one grid. 1 is an additive model. 3 finds interactions of three features.
    step : positive float or "auto", default "auto"
        Step of the gradient. A larger one follows drift faster and is noisier. "auto" runs five rules and the shares
        of the labels, and weights them by their recent errors.
    memory : int >= 2 or None, default None
        Rows over which a cell remembers its squared gradients, which shrink its own step (AdaGrad with fading squares).
        None takes the same step in every cell. It is the only choice where ``step`` is "auto".
    replace_every : int >= 0, default 100
        Rows between two replacements of the least useful grids. 0 replaces none.
    replace_share : float between 0 and 0.5, default 0.05
        The share of the grids replaced at a time.
    min_age : int >= 0, default 500
        Rows that a grid is given before it can be replaced.
    random_state : int >= 0, default 0
        Seed for the random number generator.
    class_weight : mapping of label to number, "balanced" or None, default None
        Weight of the rows of each label. It multiplies the row's own weight. A label that is not named has weight 1.
        "balanced" weights a label by the inverse of its share of the last 5,000 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import TilingClassifier
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> y = np.where(np.hypot(*X.T) > 1.2, "ring", "disc")
    >>> model = TilingClassifier()
    >>> bool((model.predict_then_learn(X, y)[2000:] != y[2000:]).mean() < 0.06)
    True
    >>> model.predict([[0.1, 0.2], [2.0, -1.0]])
    array(['disc', 'ring'], dtype='<U4')
    """

    _catalogue = CatalogueEntry(
        name="tiling",
        about="logistic regression over 256 random grids of cells; --rate is its step, by default five at once",
        when="curved boundaries, rules parallel to the axes, useless features",
        options={"rate": "step", "seed": "random_state"},
        parameters={"step": "auto"},
        rate=0.01,
        adaptive=False,
    )
    _fit_depends_on_order = True

    _rules = Rules(
        tilings=Whole(1, 10_000),
        depth=Whole(1, 3),
        step=Real(0, 10, "right").or_else("auto"),
        memory=Whole(2, 10**9).or_else(None),
        replace_every=Whole(0, 10**9),
        replace_share=Real(0, 0.5, "right"),
        min_age=Whole(0, 10**9),
        random_state=SEED,
    )

    def __init__(
        self,
        tilings: int = 256,
        *,
        depth: int = 3,
        step: float | Literal["auto"] = "auto",
        memory: int | None = None,
        replace_every: int = 100,
        replace_share: float = 0.05,
        min_age: int = 500,
        random_state: int = 0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.tilings = tilings
        self.depth = depth
        self.step = step
        self.memory = memory
        self.replace_every = replace_every
        self.replace_share = replace_share
        self.min_age = min_age
        self.random_state = random_state
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        self._rules.check(self)
        if self.step == "auto" and self.memory is not None:
            raise InvalidParameter.of("TilingClassifier", "memory", 'be None where step is "auto"', self.memory)
        size = {"tilings": int(self.tilings), "depth": int(self.depth)}
        options: dict[str, Any] = {
            "every": int(self.replace_every),
            "young": int(self.min_age),
            "share": float(self.replace_share),
            "seed": int(self.random_state),
        }
        if self.step == "auto":
            side_by_side = Member(partial(tilings_core, **size, rules=STEP_RULES, **options), CURVED_RATE)
            slow = slow_tilings(-(-size["tilings"] // 4), size["depth"], **options)
            core = mixed_with_shares(features, [side_by_side, slow])
        else:
            core = tilings_core(features, **size, rules=((float(self.step), self.memory),), **options)
        return self._weighted_by_class(compiled.scaled(core))
