"""The kernel mean machine: a weighted difference of class means in a kernel's space, with a bias.

A. Bounsiar, P. Beauseroy, E. Grall, "Fast training and efficient linear learning machine". Training is keeping the
rows. With the radial kernel the class means are Parzen estimates of the class densities, and the rule is a likelihood
ratio against a threshold that the bias lets vary with the row.

==================  ==========================  ==============  ==========================================
paper               here                        shape           meaning
==================  ==========================  ==============  ==========================================
sigma               ``sigma``, ``sigma_``                       width of the radial kernel, eq. (6)
rho                 ``rho``, ``weights_``       (classes,)      weight of the positive class, eq. (3)
b                   ``bias``, ``biases_``       (classes,)      bias, eq. (5)
p_+, p_-            ``decision_function``       (rows,classes)  log of w_c p_c(x) + b_c, eq. (2) and (5)
C_+, C_-            the rows kept, or           (rows, p)       class means in the kernel's space, eq. (4)
                    ``budget`` centroids
==================  ==========================  ==============  ==========================================

Where we depart from the printed paper
1. sigma, rho and b are tuned by leave-one-out on the training rows; the paper tunes them on test rows.
2. Densities are compared by their logarithms. At the paper's widths all kernel values of some rows underflow, and
   0 - 0 would decide them.
3. More than two classes: the largest w_c p_c(x) + b_c wins, one weight for each class, which for two classes are
   1 - rho and rho, and the biases 0 and b.
4. At a tie, f(x) = 0, the negative class wins, as in all our learners.
5. With a ``budget`` each class is a few weighted centroids that follow a stream (`kernel_mean_budget`).

Cost: nothing to learn a row but its memory, 8 (2 p + 1) bytes; O(n p) to predict one: a matrix product, an exponential
and an addition for each kept row. Tuning: O(n^2) exponentials for every fifth of the 39 widths, the others are
squarings. On a device the same work is done there in blocks (`backend`), and its memory's bandwidth is the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thalweg.errors import InvalidParameter
from thalweg.labels import Labels, as_labels
from thalweg.learners.base.catalogue_entry import CatalogueEntry
from thalweg.learners.base.classifier import StreamClassifier, StreamCore, WithProbabilities
from thalweg.learners.base.python_core import PythonCore
from thalweg.learners.base.rows import Floats, Row
from thalweg.learners.kernel_mean.backend import DeviceRows, device_rows, on_host
from thalweg.learners.kernel_mean.budget import begin_budget, budget_core
from thalweg.learners.kernel_mean.densities import OneOrEach, plain
from thalweg.learners.kernel_mean.exact import ExactCore, Given
from thalweg.learners.kernel_mean.gram import Gram, GramCore, linear, polynomial_core
from thalweg.learners.kernel_mean.parzen import ParzenCore
from thalweg.parameters import FLAG, FORGETTING, OneOf, Real, Rule, Rules, Whole

KERNELS = ("rbf", "linear", "poly")
#: Of a class: more would not fit into any memory.
MOST_CENTROIDS = 10**9
_FINITE = Real()


def _weight_or_weights(value: Any) -> bool:
    value = plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return len(value) > 0 and all(_FINITE.allows(item) and item > 0 for item in value)
    return value is None or (_FINITE.allows(value) and 0 <= value <= 1)


def _finite_or_each(value: Any) -> bool:
    value = plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return len(value) > 0 and all(_FINITE.allows(item) for item in value)
    return value is None or _FINITE.allows(value)


class KernelMeanClassifier(WithProbabilities, StreamClassifier):
    """Assigns a row to the class whose mean in kernel space matches it best; trained by storing the rows.

    Without a budget all rows are kept. Memory and the time of a prediction grow with them: 8 (2 features + 1) bytes a
    row for "rbf" and 8 features for other kernels. With a budget it is a stream learner of constant size.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or function, default "rbf"
        Kernel function. "rbf" is exp(-sigma |x - y|^2), whose class means are densities. "linear" is x'y, the nearest
        mean. Unless a bias is given, rows are then taken relative to each feature's median, so that an offset does no
        harm. "poly" is (sigma x'y + coef0) ^ degree. A function takes two arrays of rows, (n, p) and (m, p), and
        returns (n, m) finite numbers. A model with a function cannot be saved.
    sigma : positive float, optional
        Width of the kernel. A larger value uses nearer rows only. None: tuned for "rbf", and 1 / features for "poly".
    rho : float in [0, 1] or sequence or array of positive floats, optional
        Weight of the last class. A larger value predicts it more often. With two classes the weights are 1 - rho and
        rho. With more, the last class seen, in the order of ``classes_``, has the odds rho / (1 - rho) against each
        other one. A sequence or array has one weight for each class and is divided by its sum. All classes must then be
        known from the first call on. None: tuned.
    bias : float or sequence or array of floats, optional
        Added to the weighted density of the last class, or with a sequence to that of each class. A larger value
        predicts the last class more often, most of all where rows are rare. None: tuned. For "linear", "poly" and
        functions without tuning, the boundary is half way between the class means.
    degree, coef0 : int >= 1 and float >= 0, default 3 and 1.0
        Of the polynomial kernel.
    tune : {"loo", None}, default "loo"
        How `fit` finds those of sigma, rho and bias that are None. "loo" minimises the leave-one-out errors on its
        rows. It searches 39 widths, rho = 0, 0.01, … 1 and every bias. The bias is 0 unless it saves more than a
        standard error. With more than two classes it tunes width and weights, without bias. For kernels other than
        "rbf" it tunes only rho and bias of two classes, and takes the bias with the fewest errors. None, or fewer than
        16 rows: sigma = 1 / (features x mean variance), equal weights, no bias. After `partial_fit` the model tunes
        again whenever its rows have doubled. Widths are in units of the mean variance, so rows far away from all others
        spoil the tuning: remove them, or give sigma.
    budget : int from 1 to 1,000,000,000, optional
        Largest number of weighted centroids kept for each class, in place of all rows. Radial kernel only.
    forgetting : float in [0, 1), default 0.0
        Share of the past that each row removes, with a budget. The memory is about 1 / forgetting rows.
    dtype : {"float64", "float32"}, default "float64"
        Precision of the radial kernel's values. "float32" takes three quarters of memory and time. Rows are still kept,
        and parameters tuned, in double precision. So are predictions where single precision would cost more than about
        1e-3 of an exponent. Other kernels always use double precision.
    progress : bool, default True
        A bar on standard error while `fit` tunes for more than two seconds, if that is a terminal.

    Attributes
    ----------
    sigma_ : float
        Width in use, for "rbf" and "poly". Other kernels have no such attribute.
    weights_, biases_ : ndarray of shape (classes,)
        Weight and bias of each class in use. The biases of "linear", "poly" and functions are NaN where the boundary is
        half way.
    rho_, bias_ : float
        With two classes: the weight of the second, and its bias less that of the first.

    Notes
    -----
    With the radial kernel ``decision_function`` is the logarithm of w_c p_c(x) + b_c, up to a number that all classes
    of a row share. The biases are shifted until the smallest is 0. `predict_proba` is these sums over their total, so
    it ranks classes as `predict` does. Other kernels have no densities, and there it is the softmax of the scores.

    Inside ``sklearn.config_context(array_api_dispatch=True)`` arrays of CuPy and PyTorch stay where they are. A
    GPU then tunes and predicts, and predictions are arrays of the same kind (strings are NumPy's). This is for the
    radial kernel without a budget. Learned attributes are NumPy's, and a model may predict rows of any library,
    whichever it was fitted with. Scores agree with those of the host to rounding. The device holds a copy of the kept
    rows, 8 (features + 1) bytes each, and blocks of 2^25 kernel values, about 1 GB. Its memory bandwidth is the limit.

    Predicting in one thread while another learns, above all a new class, is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from thalweg import KernelMeanClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = np.hypot(*X.T) > 1.2  # a disc: no line separates it from what surrounds it
    >>> model = KernelMeanClassifier().fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.9)
    True
    """

    _catalogue = CatalogueEntry(
        name="kernel-mean",
        about="128 weighted centroids a class under a Gaussian kernel; --rate is its forgetting",
        when="curved boundaries that move",
        parameters={"budget": 128},
        options={"rate": "forgetting"},
        rate=0.01,
        adaptive=False,
        scaled=True,
    )
    _rules = Rules(
        kernel=Rule(
            'be "rbf", "linear", "poly" or a function',
            lambda value: callable(value) or (isinstance(value, str) and value in KERNELS),
        ),
        sigma=Real(1e-300, 1e300, "neither", text="be a positive number").or_else(None),
        rho=Rule("lie in [0, 1], or be one positive number for each class", _weight_or_weights),
        bias=Rule("be a finite number, or one for each class", _finite_or_each),
        degree=Whole(1),
        coef0=Real(0, text="be a number >= 0"),
        tune=OneOf("loo", None),
        budget=Whole(1, MOST_CENTROIDS).or_else(None),
        forgetting=FORGETTING,
        dtype=OneOf("float64", "float32"),
        progress=FLAG,
    )

    def __init__(
        self,
        kernel: Literal["rbf", "linear", "poly"] | Gram = "rbf",
        *,
        sigma: float | None = None,
        rho: OneOrEach | Floats | None = None,
        bias: OneOrEach | Floats | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        tune: Literal["loo"] | None = "loo",
        budget: int | None = None,
        forgetting: float = 0.0,
        dtype: Literal["float64", "float32"] = "float64",
        progress: bool = True,
    ) -> None:
        self.kernel = kernel
        self.sigma = sigma
        self.rho = rho
        self.bias = bias
        self.degree = degree
        self.coef0 = coef0
        self.tune = tune
        self.budget = budget
        self.forgetting = forgetting
        self.dtype = dtype
        self.progress = progress

    def _make_core(self, features: int) -> StreamCore:
        self._rules.check(self)
        if self.budget is None and self.forgetting != 0:
            raise InvalidParameter.of("KernelMeanClassifier", "forgetting", "be 0 without a budget", self.forgetting)
        if self.budget is not None and (self.kernel != "rbf" or self.dtype != "float64"):
            rule = 'be None unless kernel is "rbf" and dtype "float64"'
            raise InvalidParameter.of("KernelMeanClassifier", "budget", rule, self.budget)
        if self.budget is not None:
            return budget_core(
                features,
                budget=self.budget,
                forgetting=float(self.forgetting),
                sigma=None if self.sigma is None else float(self.sigma),
                rho=plain(self.rho),
                bias=plain(self.bias),
            )
        given = Given(
            None if self.sigma is None else float(self.sigma),
            plain(self.rho),
            plain(self.bias),
            self.tune == "loo",
            np.dtype(self.dtype),
            bool(self.progress),
        )
        if self.kernel == "rbf":
            return ParzenCore(features, given)
        if self.kernel == "linear":
            return GramCore(features, given, linear, additive=True)
        if callable(self.kernel):
            return GramCore(features, given, self.kernel)
        return polynomial_core(features, given, float(self.coef0), int(self.degree))

    def _begin(self, core: Any, rows: Floats, codes: NDArray[np.int64], **masses: Floats) -> None:
        if isinstance(core, PythonCore):
            core.begin(rows, codes)
        else:
            begin_budget(
                core,
                rows,
                codes,
                forgetting=float(self.forgetting),
                sigma=None if self.sigma is None else float(self.sigma),
                rho=plain(self.rho),
                bias=plain(self.bias),
                tune=self.tune,
            )

    def _new_core(self, features: int, known: Labels) -> StreamCore:
        core: StreamCore = super()._new_core(features, known)
        self._require_each(len(known))
        return core

    def _core_for_row(self, x: Row) -> StreamCore:
        core: StreamCore = super()._core_for_row(x)
        self._require_each(1)
        return core

    def _announce(self, wider: Labels) -> None:
        self._require_each(len(wider))
        super()._announce(wider)

    def _require_each(self, classes: int) -> None:
        """A sequence has one number for each class, no class missing."""
        for name, value in (("rho", plain(self.rho)), ("bias", plain(self.bias))):
            if isinstance(value, Sequence) and len(value) != classes:
                raise InvalidParameter.of(
                    "KernelMeanClassifier", name, f"be one number, or one for each of the {classes} classes", value
                )

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget everything and start from these rows; `partial_fit` continues from there."""
        return super().fit(self._dispatched(X), on_host(y))

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn these rows in order. ``classes`` may announce labels to come; it is never needed."""
        return super().partial_fit(self._dispatched(X), on_host(y), on_host(classes))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict each row; nothing is learned."""
        rows = self._dispatched(X)
        return self._like(rows, super().predict(rows))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of each class of ``classes_``; 0 for a class that was announced but never seen."""
        rows = self._dispatched(X)
        return self._like(rows, super().predict_proba(rows))

    def decision_function(self, X: ArrayLike) -> Floats:
        """The discriminant of each class (for two classes, the second's minus the first's; positive predicts it)."""
        rows = self._dispatched(X)
        return self._like(rows, super().decision_function(rows))

    def _dispatched(self, X: Any) -> Any:
        """X as it is, or as rows that stay on their device: for the radial kernel, if all rows are kept."""
        exact = self.budget is None and isinstance(self.kernel, str) and self.kernel == "rbf"
        return (device_rows(X, self) if exact else None) or X

    @staticmethod
    def _like(rows: Any, predictions: NDArray[Any]) -> NDArray[Any]:
        return cast("NDArray[Any]", rows.like(predictions)) if isinstance(rows, DeviceRows) else predictions

    def _take(self, X: Any, y: ArrayLike, name: str = "X", *, anew: bool = False) -> tuple[Any, NDArray[Any]]:
        if isinstance(X, DeviceRows):
            return X, as_labels(y, len(X), type(self).__name__)
        return super()._take(X, y, name, anew=anew)

    def _rows_to_predict(self, X: Any) -> Any:
        if isinstance(X, DeviceRows):
            self._learned_core()
            self._require_same_columns(X)
            return X
        return super()._rows_to_predict(X)

    def _keep_recent(self, rows: Any, targets: NDArray[Any]) -> None:
        super()._keep_recent(rows.on_host if isinstance(rows, DeviceRows) else rows, targets)

    _why_not_merged = "it is made of rows or centroids and not of sums, so add whole models of it"

    def _merged(self, models: Sequence[Any]) -> Any:
        from thalweg.merging.kernel_mean import merge_centroids, merge_rows
        from thalweg.merging.models import refuse

        if self.budget is None:
            return merge_rows(models)
        if self.sigma is None:
            refuse(self, "its widths are weighed by their mistakes, row by row, so give sigma")
        return merge_centroids(models, self.budget, self.forgetting)

    @property
    def sigma_(self) -> float:
        """The width in force."""
        core = self._learned_core()
        if not isinstance(core, ExactCore):
            return float(core.state()["sigma"].item())
        if core.sigma is None:
            raise AttributeError('sigma_ is the width of the kernels "rbf" and "poly"; this kernel has none')
        return core.sigma

    @property
    def weights_(self) -> Floats:
        """The weight of each class in force."""
        core = self._learned_core()
        return core.in_force.weights.copy() if isinstance(core, ExactCore) else np.ravel(core.state()["weights"])

    @property
    def biases_(self) -> Floats:
        """The bias of each class in force."""
        core = self._learned_core()
        return core.in_force.biases.copy() if isinstance(core, ExactCore) else np.ravel(core.state()["biases"])

    @property
    def rho_(self) -> float:
        """The weight of the second of two classes."""
        return float(self._of_two(self.weights_)[1])

    @property
    def bias_(self) -> float:
        """The bias of the second of two classes, less that of the first."""
        first, second = self._of_two(self.biases_)
        return float(second - first)

    def _of_two(self, pair: Floats) -> Floats:
        if len(pair) != 2:
            raise AttributeError(f"rho_ and bias_ are of two classes, not {len(pair)}: see weights_ and biases_")
        return pair
