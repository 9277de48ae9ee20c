"""Random tilings as features: linear learners behind them learn boundaries of any shape.

J. S. Albus, "A new approach to manipulator control: the cerebellar model articulation controller", 1975; R. S. Sutton,
A. G. Barto, "Reinforcement Learning", section 9.5.4 (tile coding). Each tiling cuts one to three features, squashed
into [0, 1], into equal cells at a random offset. A row falls into one cell of each tiling; the output is 1 for these
cells and 0 for all others.

`TilingClassifier` learns weights for the same cells without writing out the zeros, and replaces tilings that do not
help; this map is for other learners.

==============  =====================  ==============  ==========================================
book            here                   shape           meaning
==============  =====================  ==============  ==========================================
tilings         ``tilings``                            how many
tiles           ``n_cells_``           (tilings,)      cells of each tiling
x(s)            ``transform``          (rows, cells)   binary features, a one for each tiling
==============  =====================  ==============  ==========================================

Where we depart
1. A tiling looks at a few random features, not at all of them, with 2 to 32 cells for each, so that the number of cells
   does not grow with the features. Cells have exact places: nothing is hashed.

Cost: O(tilings + cells) a row, of which writing the zeros is the larger part.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_feature_names_in

from thalweg.kernels import compiled
from thalweg.parameters import SEED, Rules, Whole
from thalweg.transforms.base import StreamTransformer

if TYPE_CHECKING:
    from thalweg.kernels._base import TransformerCore


class RandomTilings(StreamTransformer):
    """Binary features: in which cell of each of several random tilings a row falls.

    Rows are expected at unit scale, so put a `StandardScaler` first. An output is named after its tiling, the features
    of that tiling and the place of the cell along each of them: "tiling4(x0,x2)[3,1]".

    Parameters
    ----------
    tilings : int from 1 to 10,000, default 32
        Number of tilings. More of them give finer boundaries and cost more time.
    depth : int from 1 to 3, default 2
        Most features of one tiling. With 1 a linear learner behind the tilings is additive.
    random_state : int >= 0, default 0
        Seed for the random number generator.

    Attributes
    ----------
    n_cells_ : ndarray of shape (tilings,)
        The cells of each tiling, in the order of the outputs.

    Examples
    --------
    Logistic regression learns a ring, which no line divides.

    >>> import numpy as np
    >>> from thalweg import OnlineLogistic, RandomTilings, StandardScaler, StreamPipeline
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> ring = (np.hypot(*X.T) > 1.2).astype(int)
    >>> model = StreamPipeline([StandardScaler(), RandomTilings(), OnlineLogistic(0.05)])
    >>> predictions = model.predict_then_learn(X, ring)
    >>> bool((predictions[2000:] == ring[2000:]).mean() > 0.94)
    True
    """

    _rules = Rules(tilings=Whole(1, 10_000), depth=Whole(1, 3), random_state=SEED)
    _learns = False
    _why_not_merged = "it learns nothing from rows"

    def __init__(self, tilings: int = 32, *, depth: int = 2, random_state: int = 0) -> None:
        self.tilings = tilings
        self.depth = depth
        self.random_state = random_state

    def _make_core(self, features: int) -> TransformerCore:
        self._rules.check(self)
        return compiled.random_tilings(features, int(self.tilings), int(self.depth), int(self.random_state))

    def _merged(self, models: Sequence[Any]) -> Any:
        return deepcopy(models[0])  # the seed and the number of features are all that it goes by

    @property
    def n_cells_(self) -> NDArray[np.int64]:
        """The cells of each tiling."""
        return np.asarray(self._cells_along().prod(axis=0))

    def _cells_along(self) -> NDArray[np.int64]:
        """The cells of each tiling along each of its three places for a feature; 1 where there is none."""
        return np.asarray(self._learned_core().state()["tiling_cuts"], dtype=np.int64).reshape(3, -1) + 1

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """A name for each cell: the number of its tiling, the features of that tiling, its place along each."""
        cells = self._cells_along()
        inputs = _check_feature_names_in(self, input_features)
        features = np.asarray(self._core.state()["tiling_features"]).reshape(3, -1)
        outputs: list[str] = []
        for tiling, along in enumerate(cells.T):
            looked_at = along > 1
            names = ",".join(map(str, inputs[features[looked_at, tiling]]))
            places = np.ndindex(*along[looked_at][::-1])  # the first feature's cells lie side by side
            outputs += (f"tiling{tiling}({names})[{','.join(map(str, place[::-1]))}]" for place in places)
        return np.array(outputs, dtype=object)
