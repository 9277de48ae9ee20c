"""Principal components of a stream, without a covariance matrix: each row turns the axes a little towards itself.

Q. Wu, D. Snell, "An introduction to incremental learning", Predictive Analytics and Futurism 13, 2016, for the first
component; J. Weng, Y. Zhang, W.-S. Hwang, "Candid covariance-free incremental principal component analysis", IEEE
Transactions on Pattern Analysis and Machine Intelligence 25(8), 2003, for several.

=============  ============================  =======  ===================================================
paper          here                          shape    meaning
=============  ============================  =======  ===================================================
t, n           ``n_samples_seen_``                    rows learned
v_i            lambda_i w_i                  (p,)     an axis w_i of length 1 times its variance lambda_i
|v_i|          ``explained_variance_``       (k,)     variance along the axes
v_i / |v_i|    ``components_``               (k, p)   the axes, made orthonormal
l              ``amnesic``                            how much more the late rows count than the early ones
=============  ============================  =======  ===================================================

Where we depart
1. Both papers take rows of mean zero; on raw rows the recursion goes to the second-moment direction, which in Wu &
   Snell's own simulation stays 0.80 from the component. Here rows are centred by their running mean, times
   sqrt(1 - g) for a row of weight g: the squares of such rows add up to the covariance exactly.
2. Wu & Snell's recursion weighs the old axis with length 1, so that its pace depends on the unit of the rows: it is
   ``recursion="2016"`` (with ``amnesic=0`` it is exactly theirs). Weng et al. weigh it with its variance: the default.
3. A component counts the rows it has seen itself, and averages plainly until they are more than 2 l + 1.
4. The axes are orthogonal only in the limit: they are orthonormalised when rows are projected.
5. Signs: the largest entry of an axis is positive. Which entry decides is looked at in each of the first 64 rows and
   every 64 later, and changes only once it is less than half of the largest: two like entries of opposite signs would
   else flip the axis back and forth under a learner that reads its projections.
6. A row may have a weight w. The mean is then that of w copies, m <- m + (w / n)(x - m) with n <- n + w; the axes turn
   towards the row once, with the weight g of w rows, w (1 + l) / n.

Cost: O(k p) a row to learn, in one pass over the axes, which is the limit; memory 8 k p bytes. Orthonormalising is
O(k^2 p), once per call of `transform` and once per row of `transform_then_learn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thalweg.errors import InvalidInput, InvalidParameter
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, as_rows
from thalweg.parameters import FORGETTING, OneOf, Real, Rules, Whole
from thalweg.transforms.base import StreamTransformer, WithRowWeights

if TYPE_CHECKING:
    from thalweg.kernels._base import TransformerCore


class CCIPCA(WithRowWeights, ClassNamePrefixFeaturesOutMixin, StreamTransformer):
    """Principal component analysis, updated row by row.

    Parameters
    ----------
    n_components : int from 1 to the number of features, default 2
        Axes kept. Until as many independent rows came, those that have not begun are zero.
    amnesic : float >= 0, default 2.0
        A row counts 1 + amnesic times its share, so that the early rows, whose axes were still far off, fade. 0
        averages plainly and is slow to forget its start; 2 to 4 is usual; larger is noisier.
    forgetting : float in [0, 1), default 0.0
        The least weight of a new row, in the mean and in the axes: the memory is about 1 / forgetting rows. Raising it
        follows drift faster and is noisier.
    recursion : {"2003", "2016"}, default "2003"
        How the old axis is weighed against the new row: by its variance (Weng et al.), or with length 1 (Wu & Snell).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, features)
        The axes, orthonormal, in the order in which each takes what those before it leave.
    explained_variance_ : ndarray of shape (n_components,)
        The variance along each, a running average.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share in the variance of all features. It underestimates, the more so the shorter the memory: even as many
        components as features add up to less than 1 (four of four: 0.999, 0.91 and 0.70 at forgetting 0, 0.1 and 0.5).
    mean_ : ndarray of shape (features,)
        The running mean.
    n_samples_seen_ : int
        Rows learned, whatever they count for.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import CCIPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3)) * [1.0, 5.0, 0.1] + 7.0
    >>> pca = CCIPCA(2).partial_fit(X[:1]).partial_fit(X[1:])
    >>> np.abs(pca.components_).round(1).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    >>> bool(np.abs(pca.inverse_transform(pca.transform(X)) - X).max() < 1)
    True
    """

    _rules = Rules(
        n_components=Whole(1),
        amnesic=Real(0, 1e6, text="be a number from 0 to 1e6"),
        recursion=OneOf("2003", "2016"),
        forgetting=FORGETTING,
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        amnesic: float = 2.0,
        forgetting: float = 0.0,
        recursion: Literal["2003", "2016"] = "2003",
    ) -> None:
        self.n_components = n_components
        self.amnesic = amnesic
        self.forgetting = forgetting
        self.recursion = recursion

    def _make_core(self, features: int) -> TransformerCore:
        self._rules.check(self)
        k = int(self.n_components)
        if k > features:
            rule = f"be at most the number of features (n_features = {features})"
            raise InvalidParameter.of("CCIPCA", "n_components", rule, self.n_components)
        amnesic, forgetting = float(self.amnesic), float(self.forgetting)
        return compiled.principal(features, k, amnesic, forgetting, self.recursion == "2016")

    _fit_depends_on_order = True
    _why_not_merged = "its axes are turned row by row and are no sums, so add whole models of it"

    def _merged(self, models: Sequence[Any]) -> Any:
        from thalweg.merging.transformers import merge_axes

        return merge_axes(models, float(self.forgetting))

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """The point of the axes' plane that each projected row stands for."""
        core = self._learned_core()
        rows = as_rows(X, self, "X")
        if rows.shape[1] != core.n_outputs:
            raise InvalidInput(f"X must have the model's {core.n_outputs} components, got {rows.shape[1]}")
        return np.asarray(rows @ self.components_ + self.mean_)

    @property
    def components_(self) -> Floats:
        """The axes, orthonormal; zero where one has not begun."""
        return np.asarray(compiled.orthonormal_axes(self._learned_core()))

    @property
    def explained_variance_(self) -> Floats:
        """The variance along each axis."""
        return np.asarray(self._learned_core().state()["variances"][0])

    @property
    def explained_variance_ratio_(self) -> Floats:
        """The share of each axis in the variance of all features; 0 while nothing has moved."""
        total = float(self._learned_core().state()["total"][0])
        return self.explained_variance_ / total if total > 0 else np.zeros(self.n_components)

    @property
    def mean_(self) -> Floats:
        """The running mean."""
        return np.asarray(self._learned_core().state()["mean"][0])

    @property
    def n_samples_seen_(self) -> int:
        """Rows learned."""
        return int(self._learned_core().state()["rows"][0])
