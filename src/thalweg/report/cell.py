"""A cell of a table of error curves: what a curve over time comes to, printed and measured."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.report.finding import Row


class CellRow(Row):
    """A cell as other programs read it."""

    window: int | str | None
    sd_curve: float
    mean_sd: float | None
    paper_sd_curve: float | None
    paper_mean_sd: float | None


@dataclass(frozen=True)
class Curve:
    """An error curve in three numbers."""

    #: Mean over time of the mean over runs.
    mean: float
    #: Standard deviation over time of the mean over runs.
    sd_curve: float
    #: Mean over time of the standard deviation over runs; none for a single run.
    mean_sd: float | None


@dataclass(frozen=True)
class Cell:
    """A curve measured here, and the paper's."""

    paper: str
    item: str
    data: str
    model: str
    #: The model's rate; none where it has none.
    rate: float | None
    #: Time points behind the trend; none without one.
    window: int | str | None
    measured: Curve
    #: Half-width of the mean's 95 % interval; none for a single run.
    ci95: float | None
    runs: int
    printed: Curve | None = None

    @property
    def deviation(self) -> float | None:
        """Measured mean less the printed one."""
        return None if self.printed is None else self.measured.mean - self.printed.mean

    def rows(self) -> list[CellRow]:
        """The cell as one JSON object."""
        printed = self.printed
        return [
            CellRow(
                paper=self.paper,
                item=self.item,
                data=self.data,
                model=self.model,
                rate=self.rate,
                paper_value=None if printed is None else printed.mean,
                measured=self.measured.mean,
                ci95=self.ci95,
                runs=self.runs,
                window=self.window,
                sd_curve=self.measured.sd_curve,
                mean_sd=self.measured.mean_sd,
                paper_sd_curve=None if printed is None else printed.sd_curve,
                paper_mean_sd=None if printed is None else printed.mean_sd,
            )
        ]
