"""A run in memory when it is over: scores, predictions, figures, the page of `thalweg run`, and the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.files import write_atomically
from thalweg.report.page.content import as_metrics
from thalweg.report.page.number_content import is_regression
from thalweg.report.score_table import verdict_of
from thalweg.table_model import TableModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from thalweg.run.comparison import Comparison

Library = Literal["pandas", "polars", "arrow"]


def as_frame(table: Any, library: Library, owner: str) -> Any:
    """A table of Arrow in another library."""
    if library == "arrow":
        return table
    if library == "polars":
        return MissingExtra.import_module("polars", "files", "a frame of polars").from_arrow(table)
    if library != "pandas":
        raise InvalidParameter.of(owner, "library", "be pandas, polars or arrow", library)
    MissingExtra.import_module("pandas", "files", "a frame of pandas")
    return table.to_pandas()


class Result:
    """Result of `thalweg.evaluate.run`. A notebook shows the verdict, the scores and the error over time.

    Attributes
    ----------
    metrics : dict
        All of it, as ``metrics.json`` of ``thalweg run`` holds it: scores, baselines, curves, changes, calibration,
        confusion, rare labels, and the references where they were asked for.
    predictions : pyarrow.Table
        The columns of ``predictions.csv``: row, counted from 1, label, prediction and probabilities, or target,
        prediction and the ends of its interval.
    model : TableClassifier or TableRegressor
        The model, which has learned the rows, behind the encoder of their columns.
    timing : dict
        ``seconds``, and ``processor_seconds`` of the model and of each reference.
    summary : dict
    headline : str

    Examples
    --------
    >>> from thalweg import evaluate
    >>> from thalweg.streams import SEA
    >>> result = evaluate.run("oldc", SEA(seed=0), rows=3000)
    >>> result
    Result(OnlineLDC on SEA: error 0.119 over 2,999 rows; no change 0.462, majority 0.354)
    >>> result.to_frame("arrow").column_names
    ['row', 'label', 'prediction', 'probability']
    >>> round(result.summary["model"]["kappa"], 2)
    0.73
    """

    def __init__(
        self, metrics: dict[str, Any], predictions: Any, model: TableModel, timing: Mapping[str, Any] | None = None
    ) -> None:
        self.metrics = metrics
        self.predictions = predictions
        self.model = model
        self.timing = dict(timing or {})

    @property
    def headline(self) -> str:
        """Better or worse than the baselines, in one sentence."""
        return verdict_of(self.metrics).headline

    @property
    def summary(self) -> dict[str, dict[str, Any]]:
        """Scores by name: of the model, of the baselines, and of the references over the rows that they predicted."""
        against = self.metrics.get("against", {"references": {}})
        loss = "absolute_error" if is_regression(self.metrics) else "error"
        references = {
            name: {loss: each["loss"], f"model_{loss}": each["model"], "rows": each["rows"], "fits": each["fits"]}
            for name, each in against["references"].items()
        }
        return {name: dict(scores) for name, scores in self.metrics["scores"].items()} | references

    def to_frame(self, library: Library = "pandas") -> Any:
        """The predictions as a frame of pandas, polars or arrow, one row each.

        A row that came before any label has no prediction. Labels are text.
        """
        return as_frame(self.predictions, library, "to_frame")

    def plot(self, figure: str = "error") -> Figure:
        """One of the figures of the run, drawn by matplotlib.

        Parameters
        ----------
        figure : str, default "error"
            ``"error"`` over time; where the run has them ``"against"``, ``"memory"``, ``"members"``, ``"means"``,
            ``"positive"``, ``"confusion"`` and ``"calibration"``; of numbers ``"last"``, ``"course"``, ``"residuals"``
            and ``"coverage"``.
        """
        from thalweg.report import style
        from thalweg.report.run_figures import drawn

        style.require_matplotlib()
        known = []
        for name, each in drawn(self.metrics):
            if name == figure:
                return each
            known.append(name)
        raise InvalidParameter.of("plot", "figure", f"be one of {', '.join(known)}", figure)

    def report(self, path: str | Path = "report.html") -> Path:
        """Write the page of `thalweg run` about this run: one HTML file that needs no network."""
        from thalweg.report.page import build

        file = Path(path)
        write_atomically(file, build(as_metrics(self.metrics)).encode())
        return file

    def compare(self, other: Result) -> Comparison:
        """Compare with another run over the same rows: differences, with intervals and tests."""
        from thalweg.run.comparison import Comparison

        if not isinstance(other, Result):
            raise InvalidParameter.of("compare", "other", "be a Result", type(other).__name__)
        names = [each.metrics["model"]["name"] for each in (self, other)]
        if names[0] == names[1]:
            names = [f"{names[0]}, first", f"{names[1]}, second"]
        return Comparison(dict(zip(names, (self, other), strict=True)))

    def __repr__(self) -> str:
        scores = self.metrics["scores"]
        error = "absolute_error" if is_regression(self.metrics) else "error"
        others = ", ".join(
            f"{name.replace('_', ' ')} {_digits(each[error])}" for name, each in scores.items() if name != "model"
        )
        title, source = self.metrics["model"]["title"], self.metrics["run"]["source"]
        word = error.replace("_", " ")
        rows = f"{self.metrics['rows']['scored']:,} rows"
        return f"Result({title} on {source}: {word} {_digits(scores['model'][error])} over {rows}; {others})"

    def _repr_html_(self) -> str:
        from thalweg.report.notebook import run_html

        return run_html(self.metrics)


def _digits(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}" if value >= 1.0 else f"{value:.3f}"
