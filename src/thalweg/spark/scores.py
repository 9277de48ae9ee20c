"""Scores of the predictions in a folder: of labels the share of wrong ones, of numbers the errors and
how well intervals hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.base import is_regressor

from thalweg.spark.columns import column
from thalweg.spark.packing import LOWER, PREDICTION, UPPER

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class LabelScores:
    names: tuple[str, ...] = ("error",)

    def columns(self, predictions: DataFrame, target: str) -> list[Column]:
        """For each row the numbers of which the means are taken; null for rows that are not scored."""
        return [(predictions[PREDICTION] != column(predictions, target)).cast("double")]

    def of(self, means: Sequence[float | None]) -> dict[str, float | None]:
        """The scores, by name, from the means."""
        return dict(zip(self.names, means, strict=True))


class NumberScores(LabelScores):
    names = ("absolute_error", "rmse", "coverage", "mean_width")

    def columns(self, predictions: DataFrame, target: str) -> list[Column]:
        from pyspark.sql import functions as F  # noqa: N812

        truth = column(predictions, target).cast("double")
        away = F.abs(predictions[PREDICTION] - truth)
        if LOWER not in predictions.columns:
            return [away, away * away, F.lit(None), F.lit(None)]
        lower, upper = predictions[LOWER], predictions[UPPER]
        held = truth.between(lower, upper).cast("double")
        wide = F.when((upper > lower) & truth.isNotNull(), upper - lower)  # one of no width is none
        return [away, away * away, F.when(wide.isNotNull(), held), wide]

    def of(self, means: Sequence[float | None]) -> dict[str, float | None]:
        absolute, squared, held, wide = means
        return super().of([absolute, None if squared is None else math.sqrt(squared), held, wide])


def scores_of(model: Any) -> LabelScores:
    return NumberScores() if is_regressor(model) else LabelScores()
