"""A forest over the last rows: trees that are cut, mended and grown anew from rows that are held.

It is not a forest of Hoeffding trees (H. M. Gomes et al., "Adaptive random forests for evolving data stream
classification", Machine Learning 106, 2017): a leaf keeps no statistics of features, only which of the last rows
reached it. A cut is sought among these rows and taken if it gains enough; both sides inherit their rows. So a tree can
be grown at once from rows that are held, which is how drift is met.

=============  ==========================  =====================  =================================================
symbol         here                        shape                  meaning
=============  ==========================  =====================  =================================================
W              ``rows``                                           rows held, once for all trees, six bits a number
T              ``trees``                                          trees that follow: fading 0.95 a row, ADWIN
               ``lasting_trees``                                  trees that keep what they know: fading 0.999
n, H           ``leaf_rows``                                      rows of a leaf and the entropy of their labels
g              ``least_gain``                                     n H - n_left H_left - n_right H_right, in nats
=============  ==========================  =====================  =================================================

Of 256 rows or more a cut that gains less than eight times the least (of numbers twice) is owed to chance: the rows are
halved at a random feature instead, since a pattern such as a board may show in the halves alone.

Each tree sees a row a Poisson number of times (N. Oza, S. Russell, "Online bagging and boosting", 2001). Every
``regrow_every`` rows, or up to four times as many while the newest tree is no better than the others, the short tree
with the most recent mistakes is grown anew, from the last 256 to 2,048 rows; of the lasting trees, whenever a tenth of
the rows held has come, one is grown anew from all of them. A short tree whose mistakes rise (ADWIN, A. Bifet, R.
Gavaldà 2007) is grown anew from the rows since then. Growing is spread over the rows that come meanwhile.

Two predictions come from the leaves of each kind of tree. Votes: the labels in the leaves, trees weighted by recent
mistakes. Refinement: softmax regression on which leaves were reached and on the logarithm of the votes, with a step of
its own for each weight (AdaGrad). Votes are better where labels are noisy, refinement elsewhere. A committee like that
of `AutoClassifier` mixes the four and the shares of the labels over 100, 1,000 and all rows. Where labels come late,
its members are judged by what they predicted, too.

The model holds rows: its file has the last W of them with their labels, in single precision. To erase a row from it,
learn the rest again, as the service does.

Cost: O(T (depth + c) + p) a row, and amortised O(T m) for cuts, where m is the number of features tried. The limit is
the latency of T walks from root to leaf. Memory: 5 p W bytes for rows, and for each leaf 4 ``leaf_rows`` + 16 c + 56
bytes, of which there are at most T ``max_leaves``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.class_weight import ClassWeight, WithClassWeight
from thalweg.learners.base.classifier import StreamClassifier, WithProbabilities
from thalweg.learners.base.forest import TREE_RULES, WithTrees, forest_core, said_by_trees
from thalweg.learners.base.mixture import EAGER, SHARE_MEMBERS, Member, WithFamilies, mixed_with_shares
from thalweg.learners.base.rows import Floats
from thalweg.learners.base.saved_tree import feature_importances
from thalweg.learners.base.tree_text import shares_in_leaf, shares_of_labels
from thalweg.parameters import Real, Rules

if TYPE_CHECKING:
    from thalweg.kernels._base import Core


class WindowForest(WithTrees, WithFamilies, WithClassWeight, WithProbabilities, StreamClassifier):
    """A forest grown from the last rows, for rules that are cuts of a few features.

    Parameters
    ----------
    trees : int, 0 to 1,000, default 10
        Number of trees that follow the stream.
    lasting_trees : int, 0 to 1,000, default 15
        Number of trees that keep what they know, for tables that hardly drift. They cost a little more each.
    rows : int, 64 to 1,000,000 or None, default None
        Number of rows held, rounded down to a power of two. None holds 8,192 rows, fewer above 256 features: two
        million numbers at most.
    feature_share : float in (0, 1], default 0.6
        Share of the features that are tried for a cut, at most 64 of them. Lasting trees try 5/6 as many.
    leaf_rows : int, 8 to 1,024, default 32
        Number of rows that a leaf holds.
    least_gain : float >= 0, default 4.0
        Nats that a cut has to gain. A larger value suits noisy labels.
    bagging : float, 0 to 20, default 3.0
        How often a tree sees a row, on average. 0 shows each row once to each tree.
    fading : float in (0, 1], default 0.95
        What remains of the counts of a leaf at its next row. Lasting trees fade a fiftieth as fast.
    change_level : float in [0, 1), default 0.001
        Level of the test that finds a tree's mistakes rising. 0 does not test.
    regrow_every : int >= 0, default 200
        Rows after which the worst tree is grown anew, up to four times as many while the trees grown last are no better
        than the others. Of lasting trees a tenth of the rows held where that is more. 0 regrows none.
    max_leaves : int, 2 to 65,536, default 1024
        Number of leaves of a tree at the most.
    step : float, 0 to 100, default 3.0
        Step of the refinement, shared by all trees. 0 refines nothing.
    random_state : int >= 0, default 0
        Seed for the random number generator.
    class_weight : mapping of label to number, "balanced" or None, default None
        Weight of the rows of each label. It multiplies the row's own weight. A label that is not named has weight 1.
        "balanced" weights a label by the inverse of its share of the last 5,000 rows.

    Attributes
    ----------
    members_ : tuple of str
        What the trees say and the shares of the labels, in the order of ``weights_``.
    families_ : tuple of str
        The kind of each member: "trees" or "shares".
    weights_ : ndarray
        The weight of each member in the next prediction.
    family_weights_ : dict of str to float
        The weight of all trees in the next prediction, and of the shares of the labels.
    feature_importances_ : ndarray of shape (features,)
        The share of each feature in what all cuts gain. Useless features have some of it, those of many values more.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import WindowForest
    >>> X = np.random.default_rng(0).normal(size=(4000, 3))
    >>> y = np.where((X[:, 0] > 0.3) ^ (X[:, 1] > -0.2), "in", "out")
    >>> model = WindowForest()
    >>> bool((model.predict_then_learn(X, y)[2000:] != y[2000:]).mean() < 0.03)
    True
    >>> model.predict([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0]]).tolist()
    ['in', 'out']
    """

    _catalogue = CatalogueEntry(
        name="forest",
        about="25 trees over the last 8,192 rows, grown anew as the stream drifts",
        when="rules that are cuts of a few features, tables that hardly drift",
        options={"seed": "random_state"},
    )
    _fit_depends_on_order = True
    _why_not_merged = "each cut depends on the rows before it"

    _rules = Rules(step=Real(0, 100, "both"), **TREE_RULES)

    def __init__(
        self,
        trees: int = 10,
        lasting_trees: int = 15,
        *,
        rows: int | None = None,
        feature_share: float = 0.6,
        leaf_rows: int = 32,
        least_gain: float = 4.0,
        bagging: float = 3.0,
        fading: float = 0.95,
        change_level: float = 0.001,
        regrow_every: int = 200,
        max_leaves: int = 1024,
        step: float = 3.0,
        random_state: int = 0,
        class_weight: ClassWeight = None,
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
        self.random_state = random_state
        self.class_weight = class_weight

    def _make_core(self, features: int) -> Core:
        forest = partial(forest_core, **self._forest(features))
        return self._weighted_by_class(mixed_with_shares(features, [Member(forest, EAGER)]))

    def _members_and_families(self) -> list[tuple[str, str]]:
        said = [(name, "trees") for name in said_by_trees(self.trees, self.lasting_trees)]
        return said + [(name, "shares") for name in SHARE_MEMBERS]

    @property
    def weights_(self) -> Floats:
        """The weight of each member in the next prediction."""
        return self._learned_core().shares()

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in what all cuts gain: by how much they lower the Gini impurity."""
        state = cast("Core", self._learned_core()).state("member0_")
        return feature_importances(state, "member0_", shares_in_leaf, self.n_features_in_)

    def explain(self) -> str:
        """Which members carry the weight: the votes of each kind of tree, their refinement, or the shares of labels."""
        return "\n".join(self._heaviest_first("kind"))

    def export_text(
        self, number: int = 0, *, feature_names: Sequence[str] | None = None, max_depth: int | None = None
    ) -> str:
        """A tree as text: its cuts, and of each leaf the shares of the labels there and how many rows reached it.

        Parameters
        ----------
        number : int, default 0
            The tree, from 0 to ``trees + lasting_trees - 1``. The lasting ones come last.
        feature_names : sequence of str or None, default None
            Names of the features. None takes those that rows had, or "feature_0", "feature_1" and so on.
        max_depth : int or None, default None
            Cuts below this depth are shown as dots.

        Examples
        --------
        >>> import numpy as np
        >>> from thalweg import WindowForest
        >>> X = np.random.default_rng(0).integers(0, 2, size=(2000, 2))
        >>> model = WindowForest().partial_fit(X, np.where(X[:, 0] == 1, "hot", "cold"))
        >>> print(model.export_text(feature_names=["heat", "load"]))  # doctest: +ELLIPSIS
        |--- heat <= 0.5
        |   |--- cold 0.99, hot 0.01 (... rows)
        |--- heat >  0.5
        |   |--- hot 0.99, cold 0.01 (... rows)
        """
        state = cast("Core", self._learned_core()).state("member0_")
        leaf = shares_of_labels(self.classes_[state["member0_arrivals"]].tolist())
        return self._tree_text(state, "member0_", number, leaf, feature_names, max_depth)
