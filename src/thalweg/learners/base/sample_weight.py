"""What a row counts for: ``sample_weight``, and what it means to each learner that takes it.

A weight w says that a row counts as w rows. 1 is no weight at all, to the last bit; 0 leaves the model as it was,
though the row is still predicted; w need not be whole. All weights here are ours, since the papers have none.

=========================  =============================================================================================
where                      what a weight w does
=========================  =============================================================================================
`fit` of a batch start     means, scatters and sums of squares are weighted: a whole w equals w times the same row, in
                           whatever order (O-LDC, Hiraoka's LDA, trend forecast, both regressions, scaler; least squares
                           and a scaler that forget go row by row, so that the order counts)
soft counts                w copies in sequence: lambda -> 1 - (1 - lambda)^w
hard counts                lambda w is set against (1 - lambda) N and the count grows by w; at lambda = 1/2 w copies
Hiraoka's LDA              means as w copies, zeta -> 1 - (1 - zeta)^w; the axes take a step of w zeta
perceptron, logistic, SGD  a step w times as large: eta -> w eta
passive-aggressive         the row's own C -> w C: its share in the objective
Winnow                     beta -> beta^w
recursive least squares    w copies in sequence: gamma -> gamma^w, the row's square counts 1 + gamma + … + gamma^(w-1)
scaler, means of CCIPCA    w copies in sequence: g -> w / n, or 1 - (1 - forgetting)^w
axes of CCIPCA             one turn towards the row with the weight g of w rows
mixtures (auto, windows)   each member as above; a mistake is charged w times
pipelines                  transformers and the last step each as above
deciding learners          the learner inside as above; what they count of its outcomes counts w times
=========================  =============================================================================================

What counts rows rather than weighs them takes each row of positive weight for one: the warm-up, a decaying rate, an
error-driven one, the time of a trend, and an average of weights. A learner whose `fit` learns its rows one after the
other depends on their order, with weights as without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import has_fit_parameter

from thalweg.errors import InvalidInput
from thalweg.frames.reading import as_plain
from thalweg.kernels import compiled
from thalweg.learners.base.rows import Floats

#: Less than this counts for nothing: its inverse, times that of a rate, would be infinite.
_NOTHING = 1e-200


def require_weights_taken(learner: Any, owner: str) -> None:
    """Raise TypeError where ``owner`` cannot pass weights on to ``learner``, or that one to a learner inside it."""
    if not has_fit_parameter(learner, "sample_weight"):
        raise TypeError(f"{type(learner).__name__} takes no sample_weight, so {owner} with it takes none")
    if not hasattr(learner, "_require_weights_taken"):
        raise TypeError(f"{owner} passes sample_weight on to learners of thalweg only, got {type(learner).__name__}")
    learner._require_weights_taken()


def as_masses(sample_weight: ArrayLike | None, rows: int, *, first: bool) -> dict[str, Floats]:
    """The weights as a core's methods take them, by name; none where none are given.

    ``first`` says that a model is to begin with these rows, which then cannot all count for nothing.

    Examples
    --------
    >>> as_masses(None, 2, first=True)
    {}
    >>> as_masses([1, 2], 2, first=True)
    {'masses': array([1., 2.])}
    """
    if sample_weight is None:
        return {}
    try:
        masses = np.asarray(as_plain(sample_weight, "sample_weight"), dtype=np.float64)
    except InvalidInput:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"sample_weight must hold numbers: {error}") from error
    if masses.shape != (rows,):
        raise InvalidInput(f"sample_weight must hold a number for each of the {rows} rows, got shape {masses.shape}")
    lawful = (masses >= 0) & (masses <= compiled.largest_value)
    if not lawful.all():
        at = int(np.flatnonzero(~lawful)[0])
        rule = f"hold finite numbers from 0 to {compiled.largest_value:g}"
        raise InvalidInput(f"sample_weight must {rule}, got {masses[at]} at row {at}")
    masses = np.where(masses < _NOTHING, 0.0, masses)
    if first and not masses.any():
        raise InvalidInput("sample_weight must not be zero for every row that a model begins with")
    return {"masses": masses}
