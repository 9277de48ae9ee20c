"""A model's test error over many splits of one data set, printed and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thalweg.evaluate import mean_interval
from thalweg.report.finding import Row


class Spread(NamedTuple):
    """A mean error and its standard deviation over the splits, as shares of the test rows."""

    mean: float
    #: None for a single split.
    sd: float | None

    def __str__(self) -> str:
        """In per cent, as papers print it."""
        return f"{100.0 * self.mean:.1f}" + ("" if self.sd is None else f"±{100.0 * self.sd:.1f}")


class SplitErrorRow(Row):
    """A split error as other programs read it."""

    sd: float | None
    paper_sd: float | None
    parameters: dict[str, float]


@dataclass(frozen=True)
class SplitError:
    """A mean error over splits measured here, and the paper's."""

    paper: str
    item: str
    data: str
    model: str
    measured: Spread
    #: Half-width of the mean's 95 % interval; none for a single split.
    ci95: float | None
    splits: int
    printed: Spread | None = None
    #: With which the model was measured, where all splits share them.
    parameters: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        paper: str,
        item: str,
        data: str,
        model: str,
        errors: NDArray[np.float64],
        printed: Spread | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> SplitError:
        """From the error of each split.

        Examples
        --------
        >>> str(SplitError.of("p", "table1", "heart", "METH.", np.array([0.16, 0.18])).measured)
        '17.0±1.4'
        """
        several = len(errors) > 1
        measured = Spread(float(errors.mean()), float(errors.std(ddof=1)) if several else None)
        ci95 = mean_interval(errors).halfwidth if several else None
        return cls(paper, item, data, model, measured, ci95, len(errors), printed, parameters or {})

    @property
    def deviation(self) -> float | None:
        """Measured mean less the printed one."""
        return None if self.printed is None else self.measured.mean - self.printed.mean

    def rows(self) -> list[SplitErrorRow]:
        """The error as one JSON object."""
        printed = self.printed
        return [
            SplitErrorRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=None,
                paper_value=None if printed is None else printed.mean,
                measured=self.measured.mean,
                ci95=self.ci95,
                runs=self.splits,
                sd=self.measured.sd,
                paper_sd=None if printed is None else printed.sd,
                parameters=dict(self.parameters),
            )
        ]
