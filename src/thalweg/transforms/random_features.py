"""A Gaussian kernel as a fixed number of features: linear learners behind it learn what is not linear.

A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 2007; orthogonal frequencies by F. X. Yu et
al., "Orthogonal random features", NIPS 2016. Wu & Snell 2016 close with "all these algorithms can be extended to
nonlinear models by using the so-called kernel trick"; on a stream the trick itself would keep a growing share of the
rows, this map keeps none.

==============  =====================  ==========  ==================================================
paper           here                   shape       meaning
==============  =====================  ==========  ==================================================
k(x, y)                                            exp(-|x - y|^2 / (2 sigma^2))
D               ``n_components``                   features given out, a cosine and a sine per omega
omega           ``frequencies_``       (D/2, p)    drawn from N(0, I / sigma^2)
z(x)            ``transform``          (rows, D)   [cos omega'x, sin omega'x] sqrt(2 / D)
==============  =====================  ==========  ==================================================

Where we depart
1. The pair of cosine and sine, in place of one cosine with a random phase: z'z is then exactly 1, and the error of the
   kernel is smaller for this kernel.
2. The frequencies are drawn when the width is known from the first row, from the seed and the width. Files hold the
   frequencies themselves, so that a loaded model is the same under any version of NumPy.

Cost: O(D p) a row and D / 2 sines and cosines, which are computed as many at a time as the processor has lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats
from thalweg.parameters import FLAG, SEED, Real, Rules, Whole
from thalweg.transforms.base import StreamTransformer

if TYPE_CHECKING:
    from thalweg.kernels._base import TransformerCore


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, StreamTransformer):
    """Features whose inner products approximate a Gaussian kernel.

    Parameters
    ----------
    n_components : int >= 1, default 256
        Features given out, better an even number: of an odd one the last cosine has no sine. Raising it makes the error
        of the kernel fall as 1 / sqrt(n_components), and the cost of everything behind rise.
    sigma : positive float, default 1.0
        The width of the kernel: rows much nearer than this are alike, rows much farther have nothing in common. It is
        measured in the unit of the rows, so scale them first. Raising it gives smoother functions.
    orthogonal : bool, default True
        Whether frequencies are drawn orthogonal to one another, in groups of as many as there are features: the same
        kernel, with less error.
    random_state : int >= 0, default 0
        The seed of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_components / 2, features)
        What was drawn, half a frequency counting as one.

    Examples
    --------
    The perceptron learns a ring, which no line divides:

    >>> import numpy as np
    >>> from thalweg import CCIPCA, OnlineLinearRegression, Perceptron, RandomFeatures, StreamPipeline
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> ring = (np.hypot(*X.T) > 1.2).astype(int)
    >>> predicted = StreamPipeline([RandomFeatures(sigma=1.0), Perceptron()]).predict_then_learn(X, ring)
    >>> bool((predicted[2000:] == ring[2000:]).mean() > 0.95)
    True

    Linear regression learns a function that is not linear:

    >>> wave = np.sin(2 * X[:, 0]) * X[:, 1]
    >>> predicted = StreamPipeline([RandomFeatures(), OnlineLinearRegression(solver="rls")]).predict_then_learn(X, wave)
    >>> bool(((predicted - wave)[2000:] ** 2).mean() < 0.01 * wave.var())
    True

    Principal components of the kernel: two circles, one within the other, part along the third.

    >>> inner = np.arange(4000) % 2 == 0
    >>> circles = X / np.hypot(*X.T)[:, None] * np.where(inner, 1.0, 3.0)[:, None]
    >>> kernel_pca = StreamPipeline([RandomFeatures(sigma=2.0), CCIPCA(3)]).fit(circles)
    >>> bool(abs(np.corrcoef(kernel_pca.transform(circles)[:, 2], inner)[0, 1]) > 0.95)
    True
    """

    _rules = Rules(
        n_components=Whole(1, 10**6),
        sigma=Real(1e-40, 1e40, "both", text="be a number from 1e-40 to 1e40"),
        orthogonal=FLAG,
        random_state=SEED,
    )

    def __init__(
        self, n_components: int = 256, *, sigma: float = 1.0, orthogonal: bool = True, random_state: int = 0
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.orthogonal = orthogonal
        self.random_state = random_state

    def _make_core(self, features: int) -> TransformerCore:
        self._rules.check(self)
        rng = np.random.default_rng([int(self.random_state), features])
        draw = _orthogonal if self.orthogonal else _independent
        outputs = int(self.n_components)
        return compiled.random_features(outputs, draw(rng, (outputs + 1) // 2, features) / float(self.sigma))

    _learns = False
    _why_not_merged = "it learns nothing from rows"

    def _merged(self, models: Sequence[Any]) -> Any:
        return deepcopy(models[0])  # the seed and the number of features are all that it goes by

    @property
    def frequencies_(self) -> Floats:
        """The frequencies drawn, one a row."""
        return np.asarray(self._learned_core().state()["frequencies"])


def _independent(rng: np.random.Generator, count: int, features: int) -> Floats:
    return rng.standard_normal((count, features))


def _orthogonal(rng: np.random.Generator, count: int, features: int) -> Floats:
    """Groups of orthogonal directions, each with the length of an independent Gaussian row."""
    groups = -(-count // features)
    factors = [np.linalg.qr(rng.standard_normal((features, features))) for _ in range(groups)]
    directions = np.vstack([q * np.sign(np.diag(r)) for q, r in factors])  # signs: else not uniform on the sphere
    lengths = np.linalg.norm(rng.standard_normal((count, features)), axis=1)
    return np.asarray(directions[:count] * lengths[:, None])
