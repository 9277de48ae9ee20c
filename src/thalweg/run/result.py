"""Runs in memory when they are over, one by one and side by side: scores, predictions, figures, pages, models."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from thalweg.errors import InvalidParameter, MissingExtra
from thalweg.files import write_atomically
from thalweg.report.notebook import cell, table_html
from thalweg.report.page.formats import counted
from thalweg.report.score_table import verdict_of
from thalweg.report.tables import written
from thalweg.run.compare import DataSet, RecordedRun, columns_left_out, require_same_rows, rows_used
from thalweg.run.comparison import compared_scores, difference_table, draw_errors, verdict
from thalweg.run.pairs import Pair, pairs
from thalweg.run_metrics import as_metrics, loss_of
from thalweg.table_model import TableModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        loss = loss_of(self.metrics).name
        references = {
            name: {loss: ref["loss"], f"model_{loss}": ref["model"], "rows": ref["rows"], "fits": ref["fits"]}
            for name, ref in against["references"].items()
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
            ``"error"`` over time; where the run has them ``"against"``, ``"rate"``, ``"memory"``, ``"members"``,
            ``"means"``, ``"positive"``, ``"confusion"`` and ``"calibration"``; of numbers ``"last"``, ``"course"``,
            ``"residuals"`` and ``"coverage"``.
        """
        from thalweg.report import style
        from thalweg.report.run_figures import drawn

        style.require_matplotlib()
        known = []
        for name, draw in drawn(self.metrics):
            if name == figure:
                return draw
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
        if not isinstance(other, Result):
            raise InvalidParameter.of("compare", "other", "be a Result", type(other).__name__)
        names = [run.metrics["model"]["name"] for run in (self, other)]
        if names[0] == names[1]:
            names = [f"{names[0]}, first", f"{names[1]}, second"]
        return Comparison(dict(zip(names, (self, other), strict=True)))

    def __repr__(self) -> str:
        scores = self.metrics["scores"]
        loss = loss_of(self.metrics)
        error = loss.name
        others = ", ".join(
            f"{name.replace('_', ' ')} {_digits(score[error])}" for name, score in scores.items() if name != "model"
        )
        title, source = self.metrics["model"]["title"], self.metrics["run"]["source"]
        word = loss.title_in_full
        rows = f"{self.metrics['rows']['scored']:,} rows"
        return f"Result({title} on {source}: {word} {_digits(scores['model'][error])} over {rows}; {others})"

    def _repr_html_(self) -> str:
        from thalweg.report.notebook import run_html

        return run_html(self.metrics)


class Comparison:
    """Several results over the same rows. A notebook shows scores and differences.

    Parameters
    ----------
    results : dict of Result
        By name.

    Attributes
    ----------
    results : dict of Result
    pairs : list
        Every two of them: ``difference`` of their errors, ``errors`` (by kind, the mean difference with its interval
        over blocks of rows), ``rows`` (McNemar's test, of labels), ``windows`` (Wilcoxon's test), ``rare``. Each p is
        corrected for the number of pairs by Holm's method. All of them count the rows that were predicted and whose
        labels came by the end of the stream.
    verdict : str
        Which model has the lowest error, and whether the next one may be as good. Of a rare label the lowest cost, or
        without costs the highest PR AUC.
    notes : list of str
        Which models leave out columns that others learn, such as text.

    Examples
    --------
    >>> from thalweg import evaluate
    >>> from thalweg.streams import SEA
    >>> both = evaluate.compare(["oldc", "perceptron"], SEA(seed=0), rows=3000)
    >>> both
    Comparison(oldc 0.119, perceptron 0.247)
    >>> pair = both.pairs[0]
    >>> pair.first, pair.second, bool(pair.errors["error"].high < 0)
    ('oldc', 'perceptron', True)
    >>> both.verdict
    'oldc has the lowest error: 12.9 fewer mistakes in 100 rows than perceptron (95 % interval: 11.1 to 14.7).'
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        if len(results) < 2:
            raise InvalidParameter.of("Comparison", "results", "be at least two", list(results))
        self.results = dict(results)
        runs = {
            name: RecordedRun(Path(name), as_metrics(run.metrics), run.predictions) for name, run in results.items()
        }
        first, *others = runs.values()
        for other in others:
            require_same_rows(first, other)
        self._data = DataSet(first.source, first.metrics["run"]["target"], rows_used(first.metrics), runs)
        self.pairs: list[Pair] = pairs(self._data)
        self.verdict = verdict(self._data, self.pairs)

    @property
    def notes(self) -> list[str]:
        """Which models leave out columns that others learn: their errors are of other features."""
        return columns_left_out({name: as_metrics(result.metrics) for name, result in self.results.items()})

    def to_frame(self, library: Library = "pandas") -> Any:
        """The scores of each model, one row each, as a frame of pandas, polars or arrow.

        ``rows`` says over how many: those that were predicted and whose labels came by the end of the stream.
        """
        import pyarrow as pa

        lines = [
            {"model": name, "rows": result.metrics["rows"]["scored"], **result.metrics["scores"]["model"]}
            for name, result in self.results.items()
        ]
        return as_frame(pa.Table.from_pylist(lines), library, "to_frame")

    def plot(self) -> Figure:
        """The error of each model over time, drawn by matplotlib."""
        return draw_errors(self._data)

    def __repr__(self) -> str:
        error = loss_of(self._first.metrics).name
        scores = [f"{name} {result.metrics['scores']['model'][error]:.3g}" for name, result in self.results.items()]
        return f"Comparison({'; '.join([', '.join(scores), *self.notes])})"

    @property
    def _first(self) -> Result:
        return next(iter(self.results.values()))

    def _repr_html_(self) -> str:
        run, rows = self._first.metrics["run"], self._first.metrics["rows"]["scored"]
        about = f"{run['source']}, {run['target']}, {counted(rows, 'row')} scored"
        scores, (headers, groups) = compared_scores(self._data), difference_table(self._data, self.pairs)
        differences = [(f"{pair}, {name}", *cells) for pair, lines in groups.items() for name, *cells in lines]
        parts = [
            f'<p class="about">{escape(about)}</p>',
            f"<p>{escape(self.verdict)}</p>",
            table_html(("", *scores.measures), written(scores.lines, scores.forms)),
            table_html(headers, differences, even=True),
            "<p>Differences are the first’s less the second’s, with Student’s intervals over blocks of rows. "
            "McNemar’s test takes rows as independent: where mistakes cluster its p is too small.</p>",
            *(f"<p>{escape(note)}.</p>" for note in self.notes),
        ]
        return cell(parts)


def _digits(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}" if value >= 1.0 else f"{value:.3f}"
