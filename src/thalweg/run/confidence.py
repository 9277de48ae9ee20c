"""How sure a model was of its answers, as scoring needs it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thalweg.run.names import Codes


def confidences(
    proba: NDArray[np.float64] | None, column: Codes, truth: Codes, answers: Codes
) -> dict[str, NDArray[np.float64]]:
    """The probability of the truth and of the answer, and the squared distance from the truth.

    NaN before the first label, when there is no class to have a probability.
    """
    if proba is None:
        nothing = np.full(len(truth), np.nan)
        return {"of_truth": nothing, "of_answer": nothing, "squared": nothing}
    table = np.nan_to_num(proba)
    rows = np.arange(len(truth))
    # A truth or an answer that is no class yet has its probability in a further column of zeros.
    table = np.concatenate([table, np.zeros((len(table), 1))], axis=1)
    of_truth = np.where(answers == 0, np.nan, table[rows, column[truth]])
    return {
        "of_truth": of_truth,
        "of_answer": np.where(answers == 0, np.nan, table[rows, column[answers]]),
        "squared": np.square(table).sum(axis=1) - 2 * of_truth + 1.0,
    }
