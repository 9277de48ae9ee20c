"""Features relative to their mean and standard deviation, both running.

B. P. Welford, "Note on a method for calculating corrected sums of squares and products", Technometrics 4(3), 1962.

==========  =====================  =======  =====================================================
paper       here                   shape    meaning
==========  =====================  =======  =====================================================
n           ``n_samples_seen_``             rows learned
m_n         ``mean_``              (p,)     mean of each feature
S_n / n     ``var_``               (p,)     variance of each feature
==========  =====================  =======  =====================================================

Where we depart
1. The recursion is written with the weight g of the new row, m <- m + g d and var <- (1 - g)(var + g d^2) with
   d = x - m. g = 1 / n is Welford's, exactly; ``forgetting`` keeps g from falling below it. A row of weight w is w
   copies of it: n <- n + w, g = w / n, and no less than 1 - (1 - forgetting)^w.
2. A feature that has never moved is transformed to 0, whatever comes, where scikit-learn gives x - mean: a unit that is
   not known yet must not let a first large value through. Without ``with_mean`` it is left as it is, as there.
3. Sparse rows are divided by the root mean square of the values of their feature that are not zero, where scikit-learn
   divides by the standard deviation of all, zeros among them: a word of one row in ten thousand would be a hundred
   times as large as the value it came with. A first value of a feature becomes 1 or -1.

4. ``robust`` cuts deviations at ten standard deviations before they are learned, from the fifth row on.

Cost: O(p) a row; the limit is reading mean and variance once. A row to transform right after one learned costs a square
root and a division per feature. Of a sparse row only the values that are not zero cost time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin

from thalweg.errors import InvalidInput
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats, as_rows
from thalweg.learners.base.sparse_rows import sparse_weights
from thalweg.parameters import FLAG, FORGETTING, POSITIVE, Rules
from thalweg.transforms.base import StreamTransformer, WithRowWeights

if TYPE_CHECKING:
    from thalweg.kernels._base import SparseScalerCore, TransformerCore
    from thalweg.merging.transformers import ScalerMerging


class StandardScaler(WithRowWeights, OneToOneFeatureMixin, StreamTransformer):
    """Scales each feature to mean 0 and standard deviation 1 of the rows so far.

    Parameters
    ----------
    forgetting : float in [0, 1), default 0.0
        The least weight of a new row: the memory is about 1 / forgetting rows. 0 weighs all rows alike. Raising it
        follows a change of level or of unit faster and is noisier.
    with_mean : bool, default True
        Whether the mean is taken off. Must be False for sparse rows, whose zeros would become values.
    with_std : bool, default True
        Whether rows are divided by the standard deviation.
    clip : positive float or None, default None
        Farthest value given out, in standard deviations. A deviation taken from two or three rows can be tiny, and the
        next row then enormous; learners that take long to forget it want a clip of about 10.
    robust : bool, default False
        Whether a value counts as at most ten standard deviations from the mean, from the fifth row on. Without it one
        wild value sets the scale of its feature for good; with it the scaler cannot be merged.

    Attributes
    ----------
    mean_, var_, scale_ : ndarray of shape (features,)
        Mean, variance and its root; a feature that has never moved has scale 1. After sparse rows there is ``scale_``
        alone, a `scipy.sparse.csr_array` of shape (1, features).
    n_samples_seen_ : int or float
        Rows learned; with weights, what they count for together.

    Examples
    --------
    >>> from thalweg import StandardScaler
    >>> scaler = StandardScaler().partial_fit([[0.0, 5.0], [2.0, 5.0]]).partial_fit([[4.0, 5.0]])
    >>> scaler.transform([[4.0, 5.0]]).round(3).tolist()
    [[1.225, 0.0]]
    """

    _rules = Rules(forgetting=FORGETTING, with_mean=FLAG, with_std=FLAG, clip=POSITIVE.or_else(None), robust=FLAG)

    def __init__(
        self,
        *,
        forgetting: float = 0.0,
        with_mean: bool = True,
        with_std: bool = True,
        clip: float | None = None,
        robust: bool = False,
    ) -> None:
        self.forgetting = forgetting
        self.with_mean = with_mean
        self.with_std = with_std
        self.clip = clip
        self.robust = robust

    _takes_sparse: Any = property(lambda self: bool(self.with_std and not self.with_mean))

    @property
    def _why_not_sparse(self) -> str:  # type: ignore[override]
        reason = "to take off a mean makes every zero a value" if self.with_mean else "it scales nothing"
        return f"{reason}; use StandardScaler(with_mean=False)"

    def _make_core(self, features: int) -> TransformerCore | SparseScalerCore:
        self._rules.check(self)
        farthest = compiled.largest_value if self.clip is None else min(float(self.clip), compiled.largest_value)
        if features == 0:
            memory = 1 / self.forgetting if self.forgetting > 0 else math.inf
            return compiled.SparseScalerCore(memory, farthest, bool(self.robust))
        flags = bool(self.with_mean), bool(self.with_std)
        return compiled.scaler(features, *flags, float(self.forgetting), farthest, bool(self.robust))

    def _merging(self) -> ScalerMerging:
        from thalweg.merging.transformers import ScalerMerging

        self._rules.check(self)
        return ScalerMerging(float(self.forgetting), robust=bool(self.robust))

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Rows that `transform` turns into these; clipped values do not come back."""
        core = self._dense_core()
        rows = as_rows(X, self, "X")
        if rows.shape[1] != core.n_features:
            raise InvalidInput(f"X must have the model's {core.n_features} features, got {rows.shape[1]}")
        back = rows * self.scale_ if self.with_std else rows
        return np.asarray(back + self.mean_ if self.with_mean else back)

    def _dense_core(self) -> TransformerCore:
        core: TransformerCore | SparseScalerCore = self._learned_core()
        if isinstance(core, compiled.SparseScalerCore):
            raise AttributeError("of sparse rows a StandardScaler keeps scale_ alone")
        return core

    @property
    def mean_(self) -> Floats:
        """The mean of each feature."""
        return np.asarray(self._dense_core().state()["mean"][0])

    @property
    def var_(self) -> Floats:
        """The variance of each feature."""
        return np.asarray(self._dense_core().state()["variance"][0])

    @property
    def scale_(self) -> Any:
        """The standard deviation of each feature; 1 for one that has never moved."""
        core = self._learned_core()
        if isinstance(core, compiled.SparseScalerCore):
            state = core.state()
            return sparse_weights(state["feature_ids"], np.sqrt(state["scaler_squares"]), self.n_features_in_)
        deviations = np.sqrt(self.var_)
        return np.where(deviations > 0, deviations, 1.0)

    @property
    def n_samples_seen_(self) -> int | float:
        """Rows learned; with weights, what they count for together."""
        rows = float(self._learned_core().state()["rows"][0])
        return int(rows) if rows.is_integer() else rows
