"""A number of ours under a name, where a paper shows curves and prints no numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval
from thalweg.report.finding import Row


class MeasurementRow(Row):
    """A measurement as other programs read it."""

    measure: str


@dataclass(frozen=True)
class Measurement:
    """What was measured of a model on a data set."""

    paper: str
    item: str
    data: str
    model: str
    #: What the number is, such as "accuracy" or "blocks to recover".
    measure: str
    value: float
    #: Half-width of the 95 % interval; none for a single run.
    ci95: float | None
    runs: int

    @classmethod
    def of_runs(cls, paper: str, item: str, data: str, model: str, measure: str, runs: NDArray[np.float64]) -> Self:
        """The mean over runs, and how sure it is."""
        ci95 = mean_interval(runs).halfwidth if len(runs) > 1 else None
        return cls(paper, item, data, model, measure, float(runs.mean()), ci95, len(runs))

    def rows(self) -> list[MeasurementRow]:
        """The measurement as one JSON object."""
        return [
            MeasurementRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=None,
                paper_value=None,
                measured=self.value,
                ci95=self.ci95,
                runs=self.runs,
                measure=self.measure,
            )
        ]
